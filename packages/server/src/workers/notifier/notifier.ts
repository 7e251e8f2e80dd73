import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { type Sequenced, sequencedSubject } from '../../platform/events/live.ts'
import { isLeaseLost, type Lease, type Worker } from '../../platform/leases/leases.ts'
import { Shards } from '../shards.ts'
import { AppNotifier } from './app-notifier.ts'
import { listNotifierApps, type NotifierApp } from './queries.ts'

const ROUND_MS = 500
/** Listing a thousand apps takes about twenty milliseconds. */
const LIST_EVERY_MS = 1_000
/** An app without work for so long is forgotten. Its next event waits for the next list. */
const IDLE_MS = 600_000

export interface NotifierContext {
  deps: Deps
  cell: Cell
  worker: Worker
  signal: AbortSignal
}

/** Notifies the users of a cell, sharing the work equally with other workers. */
export async function runNotifier(context: NotifierContext): Promise<void> {
  const { deps, cell, signal } = context
  const notifier = new Notifier(context)
  const unsubscribe = deps.bus.subscribe(sequencedSubject(cell.id), (data) =>
    notifier.logsGrew(JSON.parse(data)),
  )
  while (!signal.aborted) {
    await notifier
      .round()
      .catch((error) => deps.log.warn({ err: error }, "couldn't look for notifications; retrying"))
    await sleep(ROUND_MS, undefined, { signal }).catch(() => {})
  }
  unsubscribe()
  await notifier.close()
}

class Notifier {
  readonly #context: NotifierContext
  readonly #shards: Shards
  /** Apps that had something to do lately, by number. */
  readonly #apps = new Map<number, AppNotifier>()
  readonly #busyAt = new Map<number, number>()
  #listedAt = Number.NEGATIVE_INFINITY

  constructor(context: NotifierContext) {
    this.#context = context
    this.#shards = new Shards(context, 'notifier', (lease) => this.#end(lease))
  }

  /** Takes or releases shards, then looks for work in its own. */
  async round(): Promise<void> {
    const shards = this.#shards
    await shards.balance()
    this.#forgetIdle()
    const now = performance.now()
    const due = now - this.#listedAt >= LIST_EVERY_MS || shards.changed
    if (shards.leases.size === 0 || !due) return
    this.#listedAt = now
    shards.changed = false
    const wanted = { shards: [...shards.leases.keys()] }
    for (const app of await listNotifierApps.many(this.#context.cell.db, wanted)) this.#update(app)
  }

  #forgetIdle(): void {
    const held = new Set(this.#shards.leases.values())
    const before = performance.now() - IDLE_MS
    for (const [appNo, app] of this.#apps) {
      if (!held.has(app.lease)) app.drop()
      const isIdle = app.idle && (this.#busyAt.get(appNo) ?? 0) < before
      if (app.over || isIdle) this.#forget(appNo)
    }
  }

  #forget(appNo: number): void {
    this.#apps.delete(appNo)
    this.#busyAt.delete(appNo)
  }

  /** Only apps that had work lately hear of it at once. The others are found by the next round. */
  logsGrew(sequenced: Sequenced): void {
    for (const appNo of Object.keys(sequenced)) this.#apps.get(Number(appNo))?.logGrew()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#apps.values()].map((app) => app.stop()))
    await this.#shards.close()
  }

  async #end(lease: Lease): Promise<void> {
    const ending = [...this.#apps].filter(([, app]) => app.lease === lease)
    for (const [appNo] of ending) this.#forget(appNo)
    await Promise.all(ending.map(([, app]) => app.stop()))
  }

  #update(listed: NotifierApp): void {
    const lease = this.#shards.leases.get(listed.shard)
    const known = this.#apps.get(listed.app_no)
    if (known && known.lease !== lease) known.drop()
    if (!lease || known?.ended) return
    const app = known ?? this.#add(listed, lease)
    this.#busyAt.set(listed.app_no, performance.now())
    app.update(listed)
  }

  #add({ app_no: no, app_id: id }: NotifierApp, lease: Lease): AppNotifier {
    const { deps, cell, worker } = this.#context
    const onFailure = (error: unknown) => {
      const at = { job: lease.job, app: id }
      if (isLeaseLost(error)) deps.log.warn(at, 'notifier lease lost to another worker')
      else deps.log.warn({ ...at, err: error }, 'notifying failed; starting over')
      app.drop()
    }
    const app = new AppNotifier({ deps, cell, worker, lease, app: { no, id }, onFailure })
    this.#apps.set(no, app)
    return app
  }
}
