import { randomUUID } from 'node:crypto'
import { type Db, sqlState } from '../db/db.ts'
import { query } from '../db/query.ts'
import type { Logger } from '../log/log.ts'

const RENEW_MS = 1_000
const LEASE_LOST = 'LQ001'

/** The right to do a job, until another worker has a higher epoch. */
export interface Lease {
  job: string
  workerId: string
  epoch: number
}

/** Three seconds by the database's clock: three renewals may fail before others take over. */
const renewWorker = query<{ workerId: string }>(
  'leases.renew',
  `insert into workers (worker_id, expires_at)
   values (:workerId, clock_timestamp() + interval '3 seconds')
   on conflict (worker_id) do update set expires_at = excluded.expires_at`,
)

const removeWorker = query<{ workerId: string }>(
  'leases.removeWorker',
  'delete from workers where worker_id = :workerId',
)

/** A lease is free when its worker has expired. One's own is taken anew, with a higher epoch. */
const takeLease = query<{ job: string; workerId: string }, { epoch: number }>(
  'leases.take',
  `insert into leases as held (job, worker_id, epoch)
   values (:job, :workerId, 1)
   on conflict (job) do update
   set worker_id = excluded.worker_id, epoch = held.epoch + 1
   where held.worker_id = excluded.worker_id or not exists (
     select from workers w
     where w.worker_id = held.worker_id and w.expires_at > clock_timestamp()
   )
   returning epoch`,
)

/** Whether the database refused a write because the lease has gone to another worker. */
export const isLeaseLost = (error: unknown) => sqlState(error) === LEASE_LOST

/** This process among the workers of one cell. */
export class Worker {
  readonly id = randomUUID()
  readonly #db: () => Db
  readonly #log: Logger
  #timer: NodeJS.Timeout | undefined
  #renewing: Promise<void> = Promise.resolve()

  /** `db` is asked each time: a cell can get another address while we run. */
  constructor(db: () => Db, log: Logger) {
    this.#db = db
    this.#log = log
  }

  start(): void {
    const renew = () => {
      this.#renewing = this.#renew()
    }
    renew()
    this.#timer = setInterval(renew, RENEW_MS)
  }

  /** Takes the lease on a job if it is free. */
  async take(job: string): Promise<Lease | undefined> {
    // Without a live row of our own, whoever looked next would take the lease away again.
    await renewWorker.many(this.#db(), { workerId: this.id })
    const row = await takeLease.maybeOne(this.#db(), { job, workerId: this.id })
    return row && { job, workerId: this.id, epoch: row.epoch }
  }

  /** Gives every lease up at once, instead of letting it expire. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    // A renewal that came after would bring the row back.
    await this.#renewing
    await removeWorker.many(this.#db(), { workerId: this.id }).catch(() => {})
  }

  async #renew(): Promise<void> {
    await renewWorker
      .many(this.#db(), { workerId: this.id })
      .catch((error: Error) => this.#log.warn({ err: error }, 'leases were not renewed'))
  }
}
