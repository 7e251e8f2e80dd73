import { setTimeout as sleep } from 'node:timers/promises'
import { Counters } from '../../areas/stats/counters.ts'
import type { Deps } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { type Sequenced, sequencedSubject } from '../../platform/events/live.ts'
import { isLeaseLost, type Lease, type Worker } from '../../platform/leases/leases.ts'
import { Shards } from '../shards.ts'
import { Caller } from './caller.ts'
import { Delivery } from './delivery.ts'
import { type ActiveWebhook, listActiveWebhooks } from './queries.ts'

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

class Webhooks {
  readonly #context: WebhooksContext
  readonly #caller: Caller
  readonly #counters: Counters
  readonly #shards: Shards
  /** By webhook number. */
  readonly #deliveries = new Map<number, Delivery>()
  #listedAt = Number.NEGATIVE_INFINITY
  /** A delivery has to start over. */
  #changed = false
  readonly #byApp = new Map<number, Set<Delivery>>()

  constructor(context: WebhooksContext) {
    this.#context = context
    this.#caller = new Caller(context.deps)
    this.#counters = new Counters(context.deps)
    this.#shards = new Shards(context, 'webhooks', (lease) => this.#end(lease))
  }

  /** Takes or releases shards, then looks for work in its own. */
  async round(): Promise<void> {
    const shards = this.#shards
    await shards.balance()
    const changed = this.#changed || shards.changed
    const due = performance.now() - this.#listedAt >= LIST_EVERY_MS || changed
    if (shards.leases.size === 0 || !due) return
    this.#listedAt = performance.now()
    this.#changed = false
    shards.changed = false
    const wanted = { shards: [...shards.leases.keys()] }
    this.#update(await listActiveWebhooks.many(this.#context.cell.db, wanted))
  }

  logsGrew(sequenced: Sequenced): void {
    for (const [appNo, last] of Object.entries(sequenced)) {
      for (const delivery of this.#byApp.get(Number(appNo)) ?? []) delivery.logGrew(last)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.stop()))
    await this.#shards.close()
    this.#caller.close()
    await this.#counters.close()
  }

  /** Lets the deliveries of a shard end. */
  async #end(lease: Lease): Promise<void> {
    const deliveries = [...this.#deliveries].filter(([, delivery]) => delivery.lease === lease)
    for (const [no] of deliveries) this.#forget(no)
    await Promise.all(deliveries.map(([, delivery]) => delivery.stop()))
  }

  #update(active: ActiveWebhook[]): void {
    const gone = new Set(this.#deliveries.keys())
    for (const webhook of active) {
      const lease = this.#shards.leases.get(webhook.shard)
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
