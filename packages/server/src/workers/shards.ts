import type { Deps } from '../deps.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { query } from '../platform/db/query.ts'
import type { Lease, Worker } from '../platform/leases/leases.ts'

/** The number of shards that work of one kind is divided into. Must match the columns `shard` of its tables. */
const SHARDS = 64

/** How many workers share the shards of this cell. */
const countWorkers = query<Record<string, never>, { count: number }>(
  'shards.countWorkers',
  'select count(*) from workers where expires_at > clock_timestamp()',
)

/** The shards of a kind whose leases a worker holds, according to the database. */
const listOwnShards = query<{ kind: string; workerId: string }, { shard: number; epoch: number }>(
  'shards.listOwn',
  `select split_part(job, '/', 2)::int as shard, epoch from leases
   where job like :kind || '/%' and worker_id = :workerId::uuid`,
)

/** Shards that no live worker holds, in random order, so that workers don't compete for the same ones. */
const listFreeShards = query<{ kind: string; shards: number; limit: number }, { shard: number }>(
  'shards.listFree',
  `select shard from generate_series(0, :shards::int - 1) as shard
   where not exists (
     select from leases l join workers w on w.worker_id = l.worker_id
     where l.job = :kind || '/' || shard and w.expires_at > clock_timestamp())
   order by random() limit :limit`,
)

export interface ShardsContext {
  deps: Pick<Deps, 'log'>
  cell: Cell
  worker: Worker
}

/** The shards of one kind of work that this worker holds. All workers of a cell hold equally many. */
export class Shards {
  readonly leases = new Map<number, Lease>()
  /** Shards were added since this was last set to false. */
  changed = false
  readonly #context: ShardsContext
  readonly #kind: string
  /** Ends the work of a shard, before another worker gets it. */
  readonly #end: (lease: Lease) => Promise<void>
  readonly #releasing = new Set<Promise<void>>()
  readonly #releasingShards = new Set<number>()

  constructor(context: ShardsContext, kind: string, end: (lease: Lease) => Promise<void>) {
    this.#context = context
    this.#kind = kind
    this.#end = end
  }

  /** Takes or releases shards until all workers hold equally many. */
  async balance(): Promise<void> {
    await this.#refresh()
    const { count } = await countWorkers.one(this.#context.cell.db, {})
    const share = Math.ceil(SHARDS / Math.max(count, 1))
    if (this.leases.size < share) await this.#take(share - this.leases.size)
    else if (this.leases.size > share) this.#release(this.leases.size - share)
  }

  /** Waits until the shards that were released are free. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#releasing)
  }

  #jobOf(shard: number): string {
    return `${this.#kind}/${shard}`
  }

  /** Adopts the leases in the database: another worker may have taken a shard while this process was suspended. */
  async #refresh(): Promise<void> {
    const { cell, worker } = this.#context
    const own = await listOwnShards.many(cell.db, { kind: this.#kind, workerId: worker.id })
    const epochs = new Map(own.map(({ shard, epoch }) => [shard, epoch]))
    for (const [shard, lease] of this.leases) {
      if (epochs.get(shard) !== lease.epoch) this.leases.delete(shard)
    }
    // A shard may have been taken by a statement whose answer got lost.
    for (const [shard, epoch] of epochs) {
      if (this.leases.has(shard) || this.#releasingShards.has(shard)) continue
      this.leases.set(shard, { job: this.#jobOf(shard), workerId: worker.id, epoch })
      this.changed = true
    }
  }

  async #take(limit: number): Promise<void> {
    const { cell, worker } = this.#context
    const wanted = { kind: this.#kind, shards: SHARDS, limit }
    const free = await listFreeShards.many(cell.db, wanted)
    await Promise.all(
      free.map(async ({ shard }) => {
        const lease = await worker.take(this.#jobOf(shard))
        if (!lease) return
        this.leases.set(shard, lease)
        this.changed = true
      }),
    )
  }

  /** Another worker has joined: releases shards once their current work has ended. */
  #release(count: number): void {
    for (const [shard, lease] of [...this.leases].slice(0, count)) {
      this.leases.delete(shard)
      this.#releasingShards.add(shard)
      const released = this.#end(lease).then(() => this.#context.worker.release(lease))
      this.#releasing.add(released)
      void released
        .catch((error) => this.#context.deps.log.warn({ err: error }, "couldn't release a shard"))
        .finally(() => {
          this.#releasing.delete(released)
          this.#releasingShards.delete(shard)
        })
    }
  }
}
