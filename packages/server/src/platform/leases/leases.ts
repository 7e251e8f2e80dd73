import { randomUUID } from 'node:crypto'
import { type Db, sqlState } from '../db/db.ts'
import { query } from '../db/query.ts'
import type { Logger } from '../log/log.ts'

const RENEW_MS = 1_000
/** How long a worker's row is valid after its renewal, unless told otherwise. */
const LEASE_SECONDS = 3
const LEASE_LOST = 'LQ001'

/** The right to run a job, until another worker gets a higher epoch. */
export interface Lease {
  job: string
  workerId: string
  epoch: number
}

/** Valid by the database's clock. */
const renewWorker = query<{ workerId: string; seconds: number }>(
  'leases.renew',
  `insert into workers (worker_id, expires_at)
   values (:workerId, clock_timestamp() + :seconds * interval '1 second')
   on conflict (worker_id) do update set expires_at = excluded.expires_at`,
)

const removeWorker = query<{ workerId: string }>(
  'leases.removeWorker',
  'delete from workers where worker_id = :workerId',
)

/** Takes a lease whose worker has expired, or renews the worker's own lease with a higher epoch. */
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

/** Sets the holder to nobody. The next worker takes the lease with a higher epoch. */
const releaseLease = query<{ job: string; workerId: string; epoch: number }>(
  'leases.release',
  `update leases set worker_id = '00000000-0000-0000-0000-000000000000'
   where job = :job and worker_id = :workerId::uuid and epoch = :epoch`,
)

/** Whether the database rejected a write because another worker holds the lease. */
export const isLeaseLost = (error: unknown) => sqlState(error) === LEASE_LOST

/** This process as a worker of one cell. */
export class Worker {
  readonly id = randomUUID()
  readonly #db: () => Db
  readonly #log: Logger
  readonly #seconds: number
  #timer: NodeJS.Timeout | undefined
  #renewing: Promise<void> = Promise.resolve()
  #renewedAt = Number.NEGATIVE_INFINITY

  /** `db` is called each time, because a cell's URL can change while the process runs. */
  constructor(db: () => Db, log: Logger, seconds = LEASE_SECONDS) {
    this.#db = db
    this.#log = log
    this.#seconds = seconds
  }

  start(): void {
    const renew = () => {
      this.#renewing = this.#tryToRenew()
    }
    renew()
    this.#timer = setInterval(renew, RENEW_MS)
  }

  /**
   * Whether the last renewal is so recent that no other worker can have taken a lease. Work outside the database
   * can't check the lease in a transaction, so a process that was suspended has to check this.
   */
  get alive(): boolean {
    return performance.now() - this.#renewedAt < this.#seconds * 1_000
  }

  /** Takes the lease on a job if it is free. */
  async take(job: string): Promise<Lease | undefined> {
    // Without a valid row of our own, another worker would take the lease right away.
    await this.renew()
    const row = await takeLease.maybeOne(this.#db(), { job, workerId: this.id })
    return row && { job, workerId: this.id, epoch: row.epoch }
  }

  /** Gives up a lease, so that another worker can take it. */
  async release(lease: Lease): Promise<void> {
    await releaseLease.run(this.#db(), { ...lease })
  }

  /** Gives up all leases at once, instead of letting them expire. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    // A later renewal would restore the row.
    await this.#renewing
    await removeWorker.run(this.#db(), { workerId: this.id }).catch(() => {})
  }

  async #tryToRenew(): Promise<void> {
    await this.renew().catch((error: Error) =>
      this.#log.warn({ err: error }, "couldn't renew the worker's leases"),
    )
  }

  /** Makes the worker's row valid again, so that nobody takes over what it holds. */
  async renew(): Promise<void> {
    // The row is valid from some time after this.
    const startedAt = performance.now()
    await renewWorker.run(this.#db(), { workerId: this.id, seconds: this.#seconds })
    this.#renewedAt = Math.max(this.#renewedAt, startedAt)
  }
}
