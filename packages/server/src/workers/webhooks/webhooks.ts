import { setTimeout as sleep } from 'node:timers/promises'
import { Counters } from '../../areas/stats/counters.ts'
import type { Deps } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { type Sequenced, sequencedSubject } from '../../platform/events/live.ts'
import { isLeaseLost, type Lease, type Worker } from '../../platform/leases/leases.ts'
import { Caller } from './caller.ts'
import { Delivery } from './delivery.ts'
import {
  countWorkers,
  type HeldWebhook,
  listFreeShards,
  listHeldWebhooks,
  listOwnShards,
} from './queries.ts'

/** Parts in which webhooks are shared out; as in the table's column. */
const SHARDS = 64
const ROUND_MS = 500
/** Of a thousand webhooks, a list takes some twenty milliseconds. */
const LIST_EVERY_MS = 1_000

export interface WebhooksContext {
  deps: Deps
  cell: Cell
  worker: Worker
  signal: AbortSignal
}

/** Delivers to the webhooks of a cell: to all, or to a fair part of them beside other workers. */
export async function runWebhooks(context: WebhooksContext): Promise<void> {
  const { deps, cell, signal } = context
  const webhooks = new Webhooks(context)
  const unsubscribe = deps.bus.subscribe(sequencedSubject(cell.id), (data) =>
    webhooks.grown(JSON.parse(data)),
  )
  while (!signal.aborted) {
    await webhooks.round().catch((error) => deps.log.warn({ err: error }, 'webhooks wait'))
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
  /** By the number of the webhook. */
  readonly #deliveries = new Map<number, Delivery>()
  #listedAt = Number.NEGATIVE_INFINITY
  /** Shards came, or a webhook is to be begun anew. */
  #changed = false
  readonly #leaving = new Set<Promise<void>>()
  readonly #leavingShards = new Set<number>()
  readonly #byApp = new Map<number, Set<Delivery>>()

  constructor(context: WebhooksContext) {
    this.#context = context
    this.#caller = new Caller(context.deps)
    this.#counters = new Counters(context.deps)
  }

  /** Takes and gives up shards until everybody has as many, and looks for work in its own. */
  async round(): Promise<void> {
    const { db } = this.#context.cell
    await this.#refresh()
    const { count } = await countWorkers.one(db, {})
    const share = Math.ceil(SHARDS / Math.max(count, 1))
    if (this.#leases.size < share) await this.#take(share - this.#leases.size)
    else if (this.#leases.size > share) this.#giveUp(this.#leases.size - share)
    const due = performance.now() - this.#listedAt >= LIST_EVERY_MS || this.#changed
    if (this.#leases.size === 0 || !due) return
    this.#listedAt = performance.now()
    this.#changed = false
    this.#update(await listHeldWebhooks.many(db, { shards: [...this.#leases.keys()] }))
  }

  grown(sequenced: Sequenced): void {
    for (const [appNo, last] of Object.entries(sequenced)) {
      for (const delivery of this.#byApp.get(Number(appNo)) ?? []) delivery.grown(last)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.stop()))
    await Promise.allSettled(this.#leaving)
    this.#caller.close()
    await this.#counters.close()
  }

  /** What the database says: others may have taken a shard while we were stopped. */
  async #refresh(): Promise<void> {
    const { cell, worker } = this.#context
    const own = await listOwnShards.many(cell.db, { workerId: worker.id })
    const epochs = new Map(own.map(({ job, epoch }) => [shardOf(job), epoch]))
    for (const [shard, lease] of this.#leases) {
      if (epochs.get(shard) !== lease.epoch) this.#leases.delete(shard)
    }
    // One that was taken by a statement whose answer got lost would be held for nothing.
    for (const [shard, epoch] of epochs) {
      if (this.#leases.has(shard) || this.#leavingShards.has(shard)) continue
      this.#leases.set(shard, { job: jobOf(shard), workerId: worker.id, epoch })
      this.#changed = true
    }
  }

  async #take(limit: number): Promise<void> {
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

  /** A worker came: its part is given up once calls under way have ended. */
  #giveUp(count: number): void {
    for (const [shard, lease] of [...this.#leases].slice(0, count)) {
      this.#leases.delete(shard)
      this.#leavingShards.add(shard)
      const leaving = [...this.#deliveries].filter(([, delivery]) => delivery.lease === lease)
      for (const [no] of leaving) this.#forget(no)
      const over = Promise.all(leaving.map(([, delivery]) => delivery.stop()))
      const released = over.then(() => this.#context.worker.release(lease))
      this.#leaving.add(released)
      void released
        .catch((error) => this.#context.deps.log.warn({ err: error }, 'a shard was not released'))
        .finally(() => {
          this.#leaving.delete(released)
          this.#leavingShards.delete(shard)
        })
    }
  }

  #update(held: HeldWebhook[]): void {
    const gone = new Set(this.#deliveries.keys())
    for (const webhook of held) {
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

  #add(webhook: HeldWebhook, lease: Lease): void {
    const { deps, cell, worker } = this.#context
    const { no, app_no: appNo } = webhook
    const onFault = (error: unknown) => {
      if (isLeaseLost(error)) deps.log.warn({ job: lease.job }, 'webhook lost to another worker')
      else deps.log.warn({ err: error, job: lease.job }, 'webhook waits')
      if (this.#deliveries.get(no) === delivery) this.#remove(no)
      this.#changed = true
    }
    const delivery = new Delivery(
      { deps, cell, caller: this.#caller, counters: this.#counters, worker, lease, onFault },
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
