import { randomUUID } from 'node:crypto'
import { type Db, sqlState } from '../db/db.ts'
import { query } from '../db/query.ts'
import type { Logger } from '../log/log.ts'

const RENEW_MS = 1_000
/** As long as a worker's row is good after its renewal. */
const EXPIRY_MS = 3_000
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

/** Nobody's: whoever looks next takes it, with a higher epoch. */
const releaseLease = query<{ job: string; workerId: string; epoch: number }>(
  'leases.release',
  `update leases set worker_id = '00000000-0000-0000-0000-000000000000'
   where job = :job and worker_id = :workerId::uuid and epoch = :epoch`,
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
  #renewedAt = Number.NEGATIVE_INFINITY

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

  /**
   * Whether the last renewal is so recent that nobody can have taken a lease away. For work outside
   * the database, which can't be checked inside a transaction: a process that was stopped sees it.
   */
  get alive(): boolean {
    return performance.now() - this.#renewedAt < EXPIRY_MS
  }

  /** Takes the lease on a job if it is free. */
  async take(job: string): Promise<Lease | undefined> {
    // Without a live row of our own, whoever looked next would take the lease away again.
    await this.#renewNow()
    const row = await takeLease.maybeOne(this.#db(), { job, workerId: this.id })
    return row && { job, workerId: this.id, epoch: row.epoch }
  }

  /** Gives a lease to whoever wants it. */
  async release(lease: Lease): Promise<void> {
    await releaseLease.run(this.#db(), { ...lease })
  }

  /** Gives every lease up at once, instead of letting it expire. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    // A renewal that came after would bring the row back.
    await this.#renewing
    await removeWorker.run(this.#db(), { workerId: this.id }).catch(() => {})
  }

  async #renew(): Promise<void> {
    await this.#renewNow().catch((error: Error) =>
      this.#log.warn({ err: error }, 'leases were not renewed'),
    )
  }

  async #renewNow(): Promise<void> {
    // The row is good from some time after this on.
    const asked = performance.now()
    await renewWorker.run(this.#db(), { workerId: this.id })
    this.#renewedAt = Math.max(this.#renewedAt, asked)
  }
}
