import { readNotifiedApp } from '../../areas/notifications/notified-app.ts'
import { recordLog } from '../../core/notifications/log.ts'
import { NOTIFIED_TYPES } from '../../core/notifications/occurrence.ts'
import type { Lease } from '../../platform/leases/leases.ts'
import { Dispatcher, type DispatcherContext } from './dispatcher.ts'
import { decideNext, releaseHeld } from './fan-out.ts'
import { type NotifierApp, queueFanouts, recordFanouts } from './queries.ts'

/** Events of the log that are read in one step. */
const BATCH = 1_000
/** A mark takes back what other devices of its user show. */
const TYPES = [...NOTIFIED_TYPES, 'conversation.read', 'conversation.mark.moved']

/**
 * Notifies the users of one app while this worker holds the lease. One loop goes on in the log and decides about
 * receivers; the dispatcher of each provider sends. All state is in the database.
 */
export class AppNotifier {
  readonly #context: DispatcherContext
  readonly #dispatchers = new Map<string, Dispatcher>()
  #unread = false
  #undecided = false
  #stopped = false
  #running: Promise<void> | undefined

  constructor(context: DispatcherContext) {
    this.#context = context
  }

  get lease(): Lease {
    return this.#context.lease
  }

  get ended(): boolean {
    return this.#stopped
  }

  /**
   * Whether it has ended and decides nothing more. Until then nobody may replace it: the lease can be the same, so the
   * database would accept the decisions of both. Calls of its dispatchers may be under way; nobody waits for these.
   */
  get over(): boolean {
    return this.#stopped && !this.#running
  }

  /** Whether it does nothing, so that it can be forgotten. */
  get idle(): boolean {
    return !this.#running && [...this.#dispatchers.values()].every(({ idle }) => idle)
  }

  /** There is something to do, according to the database. */
  update({ unread, undecided, due }: NotifierApp): void {
    if (unread) this.#unread = true
    if (undecided) this.#undecided = true
    for (const provider of due) this.#dispatch(provider)
    if (unread || undecided) this.#wake()
  }

  /** The app's log has new events. */
  logGrew(): void {
    this.#unread = true
    this.#wake()
  }

  /** Lets current calls finish, and writes down their outcomes. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.stop()))
  }

  /** Sends and writes nothing more, because another worker may hold the lease. */
  drop(): void {
    this.#stopped = true
    for (const dispatcher of this.#dispatchers.values()) dispatcher.drop()
  }

  #wake(): void {
    if (!this.#stopped) this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopped && (this.#unread || this.#undecided)) {
        if (this.#unread) await this.#readOn()
        if (this.#undecided) await this.#decide()
      }
    } catch (error) {
      this.#context.onFailure(error)
      this.drop()
    } finally {
      this.#running = undefined
    }
  }

  /** Queues fan-outs for the next events. */
  async #readOn(): Promise<void> {
    this.#unread = false
    const { cell, lease, app } = this.#context
    const wanted = { ...lease, appNo: app.no, types: TYPES, limit: BATCH }
    const { queued, more } = await queueFanouts.one(cell.db, wanted)
    if (queued > 0) this.#undecided = true
    if (more) this.#unread = true
  }

  /** Decides about the next receivers, and lets the providers begin. */
  async #decide(): Promise<void> {
    const { cell, lease, app } = this.#context
    this.#undecided = false
    const notified = await readNotifiedApp(cell.db, app.no)
    if (!notified) return
    for (const step of [decideNext, releaseHeld]) {
      const decided = await step(cell.db, notified)
      if (!decided) continue
      this.#undecided = true
      const stored = { ...lease, appNo: app.no, batch: decided.toJson() }
      if (decided.log.length === 0) await recordFanouts.run(cell.db, stored)
      else {
        await cell.db.tx(async (tx) => {
          await recordFanouts.run(tx, stored)
          await recordLog(tx, app.no, decided.log)
        })
      }
      for (const provider of decided.providers) this.#dispatch(provider)
    }
  }

  #dispatch(provider: string): void {
    if (this.#stopped) return
    const known = this.#dispatchers.get(provider)
    const dispatcher = known ?? new Dispatcher(this.#context, provider)
    this.#dispatchers.set(provider, dispatcher)
    dispatcher.wake()
  }
}
