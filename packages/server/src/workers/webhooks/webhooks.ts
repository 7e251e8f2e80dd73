import { setTimeout as sleep } from 'node:timers/promises'
import { Counters } from '../../areas/stats/counters.ts'
import type { Deps } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { type Sequenced, sequencedSubject } from '../../platform/events/live.ts'
import { isLeaseLost, type Lease, type Worker } from '../../platform/leases/leases.ts'
import { Caller } from './caller.ts'
import { Delivery } from './delivery.ts'
import {
  type ActiveWebhook,
  countWorkers,
  listActiveWebhooks,
  listFreeShards,
  listOwnShards,
} from './queries.ts'

/** The number of shards that webhooks are divided into. Must match the table's `shard` column. */
const SHARDS = 64
const ROUND_MS = 500
/** Listing a thousand webhooks takes about twenty milliseconds. */
const LIST_EVERY_MS = 1_000

export interface WebhooksContext {
  deps: Deps
  cell: Cell
  worker: Worker
  signal: AbortSignal
}

/** Delivers events to the webhooks of a cell, sharing the work equally with other workers. */
export async function runWebhooks(context: WebhooksContext): Promise<void> {
  const { deps, cell, signal } = context
  const webhooks = new Webhooks(context)
  const unsubscribe = deps.bus.subscribe(sequencedSubject(cell.id), (data) =>
    webhooks.logsGrew(JSON.parse(data)),
  )
  while (!signal.aborted) {
    await webhooks
      .round()
      .catch((error) => deps.log.warn({ err: error }, "couldn't look for webhook work; retrying"))
    await sleep(ROUND_MS, undefined, { signal }).catch(() => {})
  }
  unsubscribe()
  await webhooks.close()
}

const jobOf = (shard: number) => `webhooks/${shard}`
const shardOf = (job: string) => Number(job.split('/')[1])

class Webhooks {
  readonly #context: WebhooksContext
  readonly #caller: Caller
  readonly #counters: Counters
  readonly #leases = new Map<number, Lease>()
  /** By webhook number. */
  readonly #deliveries = new Map<number, Delivery>()
  #listedAt = Number.NEGATIVE_INFINITY
  /** Shards were added, or a delivery has to start over. */
  #changed = false
  readonly #releasing = new Set<Promise<void>>()
  readonly #releasingShards = new Set<number>()
  readonly #byApp = new Map<number, Set<Delivery>>()

  constructor(context: WebhooksContext) {
    this.#context = context
    this.#caller = new Caller(context.deps)
    this.#counters = new Counters(context.deps)
  }

  /** Takes or releases shards until all workers hold equally many, then looks for work in its own. */
  async round(): Promise<void> {
    const { db } = this.#context.cell
    await this.#refreshLeases()
    const { count } = await countWorkers.one(db, {})
    const share = Math.ceil(SHARDS / Math.max(count, 1))
    if (this.#leases.size < share) await this.#takeShards(share - this.#leases.size)
    else if (this.#leases.size > share) this.#releaseShards(this.#leases.size - share)
    const due = performance.now() - this.#listedAt >= LIST_EVERY_MS || this.#changed
    if (this.#leases.size === 0 || !due) return
    this.#listedAt = performance.now()
    this.#changed = false
    this.#update(await listActiveWebhooks.many(db, { shards: [...this.#leases.keys()] }))
  }

  logsGrew(sequenced: Sequenced): void {
    for (const [appNo, last] of Object.entries(sequenced)) {
      for (const delivery of this.#byApp.get(Number(appNo)) ?? []) delivery.logGrew(last)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.stop()))
    await Promise.allSettled(this.#releasing)
    this.#caller.close()
    await this.#counters.close()
  }

  /** Adopts the leases in the database: another worker may have taken a shard while this process was suspended. */
  async #refreshLeases(): Promise<void> {
    const { cell, worker } = this.#context
    const own = await listOwnShards.many(cell.db, { workerId: worker.id })
    const epochs = new Map(own.map(({ job, epoch }) => [shardOf(job), epoch]))
    for (const [shard, lease] of this.#leases) {
      if (epochs.get(shard) !== lease.epoch) this.#leases.delete(shard)
    }
    // A shard may have been taken by a statement whose answer got lost.
    for (const [shard, epoch] of epochs) {
      if (this.#leases.has(shard) || this.#releasingShards.has(shard)) continue
      this.#leases.set(shard, { job: jobOf(shard), workerId: worker.id, epoch })
      this.#changed = true
    }
  }

  async #takeShards(limit: number): Promise<void> {
    const { cell, worker } = this.#context
    const free = await listFreeShards.many(cell.db, { shards: SHARDS, limit })
    await Promise.all(
      free.map(async ({ shard }) => {
        const lease = await worker.take(jobOf(shard))
        if (!lease) return
        this.#leases.set(shard, lease)
        this.#changed = true
      }),
    )
  }

  /** Another worker has joined: releases shards once their current calls have ended. */
  #releaseShards(count: number): void {
    for (const [shard, lease] of [...this.#leases].slice(0, count)) {
      this.#leases.delete(shard)
      this.#releasingShards.add(shard)
      const deliveries = [...this.#deliveries].filter(([, delivery]) => delivery.lease === lease)
      for (const [no] of deliveries) this.#forget(no)
      const stopped = Promise.all(deliveries.map(([, delivery]) => delivery.stop()))
      const released = stopped.then(() => this.#context.worker.release(lease))
      this.#releasing.add(released)
      void released
        .catch((error) => this.#context.deps.log.warn({ err: error }, "couldn't release a shard"))
        .finally(() => {
          this.#releasing.delete(released)
          this.#releasingShards.delete(shard)
        })
    }
  }

  #update(active: ActiveWebhook[]): void {
    const gone = new Set(this.#deliveries.keys())
    for (const webhook of active) {
      const lease = this.#leases.get(webhook.shard)
      if (!lease) continue
      const known = this.#deliveries.get(webhook.no)
      if (known?.lease === lease && !known.ended) {
        gone.delete(webhook.no)
        known.update(webhook)
      } else if (!known) this.#add(webhook, lease)
    }
    for (const no of gone) this.#remove(no)
    if (gone.size > 0) this.#changed = true
  }

  #add(webhook: ActiveWebhook, lease: Lease): void {
    const { deps, cell, worker } = this.#context
    const { no, app_no: appNo } = webhook
    const onFailure = (error: unknown) => {
      if (isLeaseLost(error))
        deps.log.warn({ job: lease.job }, 'webhook lease lost to another worker')
      else deps.log.warn({ err: error, job: lease.job }, 'webhook delivery failed; restarting it')
      if (this.#deliveries.get(no) === delivery) this.#remove(no)
      this.#changed = true
    }
    const delivery = new Delivery(
      { deps, cell, caller: this.#caller, counters: this.#counters, worker, lease, onFailure },
      webhook,
    )
    this.#deliveries.set(no, delivery)
    this.#byApp.set(appNo, (this.#byApp.get(appNo) ?? new Set()).add(delivery))
  }

  #remove(no: number): void {
    this.#deliveries.get(no)?.drop()
    this.#forget(no)
  }

  #forget(no: number): void {
    const delivery = this.#deliveries.get(no)
    if (!delivery) return
    this.#deliveries.delete(no)
    for (const [appNo, deliveries] of this.#byApp) {
      if (deliveries.delete(delivery) && deliveries.size === 0) this.#byApp.delete(appNo)
    }
  }
}
