import { findOldestEvent } from '../../areas/events/queries.ts'
import { announceWebhook } from '../../areas/webhooks/actions.ts'
import type { Lease } from '../../platform/leases/leases.ts'
import { DeliveryBatch } from './delivery-batch.ts'
import { LogCursor } from './log-cursor.ts'
import {
  type ActiveWebhook,
  disableWebhook,
  findActiveWebhook,
  type LogRow,
  listNewEvents,
  lockLease,
  type OutgoingEvent,
  recordDeliveries,
} from './queries.ts'
import { Retries } from './retries.ts'
import { retryDelay } from './retry-schedule.ts'
import { Sender, type SenderContext } from './sender.ts'

/** Events that may be read and unfinished. At most this many are sent again if the process dies. */
const MAX_UNFINISHED = 500
const BATCH = 100
/** Positions searched for events of the webhook's triggers, per read. */
const POSITIONS_PER_READ = 5_000
/** The cursor moves over events of other types in steps of this size, to save writes. */
const CURSOR_STEP = 1_000

export interface DeliveryContext extends SenderContext {
  lease: Lease
  /** The delivery failed and has ended. */
  onFailure(error: unknown): void
}

/**
 * Delivers an app's events to one webhook while this worker holds the lease. One loop reads the log, starts calls
 * and writes down their outcomes. Events with the same order key are sent one after the other, others concurrently.
 */
export class Delivery {
  readonly #context: DeliveryContext
  readonly #sender: Sender
  readonly #retries: Retries
  readonly #cursor: LogCursor
  /** Events that are being sent for the first time, by order key. */
  readonly #lanes = new Map<string, OutgoingEvent[]>()
  #active = 0
  #dropped = false
  #running: Promise<void> | undefined
  #woken = false
  #progress = Promise.withResolvers<void>()

  constructor(context: DeliveryContext, webhook: ActiveWebhook) {
    this.#context = context
    this.#sender = new Sender(context, webhook, () => this.#progress.resolve())
    this.#retries = new Retries(context.cell, this.#sender, (work) => this.#start(work))
    this.#cursor = new LogCursor(webhook)
    this.update(webhook)
  }

  get lease(): Lease {
    return this.#context.lease
  }

  /** Whether it has stopped sending. */
  get ended(): boolean {
    return this.#sender.stopped
  }

  /** Takes over the webhook's current row, and starts if there is something to do. */
  update(webhook: ActiveWebhook): void {
    const { breaker } = this.#sender
    const changed = webhook.updated_at.getTime() !== this.#sender.webhook.updated_at.getTime()
    // Somebody may have enabled it again or fixed its URL: start over with the state in the database.
    if (breaker.open && changed) {
      this.drop()
      return
    }
    this.#sender.webhook = webhook
    if (webhook.due && webhook.waiting === breaker.open) this.#sender.retryDue = true
    this.logGrew(webhook.last)
  }

  /** The app's log has reached this position. */
  logGrew(last: number): void {
    this.#cursor.last = Math.max(this.#cursor.last, last)
    const unread = !this.#sender.breaker.open && this.#cursor.hasUnread
    if (unread || this.#sender.retryDue) this.#wake()
  }

  /** Lets current calls finish, and writes down their outcomes. */
  async stop(): Promise<void> {
    this.#sender.stopped = true
    this.#wake()
    await this.#running
  }

  /** Sends and writes nothing more, because another worker may hold the lease. */
  drop(): void {
    this.#sender.stopped = true
    this.#dropped = true
  }

  #wake(): void {
    this.#woken = true
    this.#progress.resolve()
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    try {
      while (this.#woken || this.#active > 0 || this.#hasUnwritten) {
        this.#woken = false
        await this.#round()
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#running = undefined
    }
  }

  async #round(): Promise<void> {
    const { breaker, stopped, retryDue } = this.#sender
    if (!stopped) {
      if (!breaker.open) {
        await this.#readOn(BATCH)
        await this.#retries.startDue()
      } else if (retryDue && this.#active === 0) await this.#probe()
    }
    if (this.#hasUnwritten) return this.#write()
    if (this.#woken || this.#active === 0) return
    await this.#progress.promise
    this.#progress = Promise.withResolvers()
  }

  get #hasUnwritten(): boolean {
    if (this.#dropped) return false
    const { empty, retriedKeys } = this.#sender.batch
    const passed = this.#cursor.finished - this.#cursor.stored
    return !empty || retriedKeys.size > 0 || passed >= (this.#sender.stopped ? 1 : CURSOR_STEP)
  }

  /** Reads the next events of the log and starts to send them. */
  async #readOn(limit: number): Promise<void> {
    const cursor = this.#cursor
    if (!cursor.hasUnread || cursor.unfinished >= MAX_UNFINISHED) return
    const { app_no: appNo, no } = this.#sender.webhook
    const after = cursor.readTo
    const lastBefore = cursor.last
    const params = { appNo, no, after, positions: POSITIONS_PER_READ, limit }
    const rows = await listNewEvents.many(this.#context.cell.db, params)
    const [first] = rows
    // The webhook was disabled or deleted.
    if (!first) return
    // The database was restored: start over with the state in it.
    if (first.lost) return this.drop()
    // `logGrew` may have reported a later position meanwhile, which these rows don't cover.
    const { last } = first
    if (cursor.last === lastBefore) cursor.last = last
    await this.#refresh(first.updated_at)
    if (!first.whole) return this.#skipExpired(first)
    const events = rows.flatMap((row) => (row.position === null ? [] : [row]))
    cursor.readTo = events.length === limit ? (events.at(-1)?.position ?? after) : first.read_to
    for (const event of events) this.#begin(event, event.parked)
    if (cursor.hasUnread) this.#woken = true
  }

  /** A change of the webhook, such as a new secret, applies to all events after it. */
  async #refresh(updatedAt: Date): Promise<void> {
    const { app_no: appNo, no, updated_at } = this.#sender.webhook
    if (updatedAt.getTime() === updated_at.getTime()) return
    const webhook = await findActiveWebhook.maybeOne(this.#context.cell.db, { appNo, no })
    if (webhook) this.#sender.webhook = webhook
  }

  /** The log no longer holds the next events: records them as one dead letter. */
  async #skipExpired({ base, break_at, last }: LogRow): Promise<void> {
    const { app_no: appNo } = this.#sender.webhook
    const oldest = await findOldestEvent.maybeOne(this.#context.cell.db, { appNo })
    const position = base + 1
    const upto = Math.min((oldest?.position ?? last + 1) - 1, break_at ?? last)
    this.#sender.batch.dead.push({ position, upto, type: null, reason: 'expired' })
    this.#cursor.readTo = upto
    this.#woken = true
  }

  #begin(event: OutgoingEvent, parked: boolean): void {
    const { key, position } = event
    this.#cursor.begin(position)
    const lane = this.#lanes.get(key)
    if (lane) {
      // Even if a replay has parked the key: the earlier events in the lane come first.
      lane.push(event)
    } else if (parked || this.#sender.batch.queuedKeys.has(key)) {
      this.#queue(event)
    } else {
      const newLane = [event]
      this.#lanes.set(key, newLane)
      this.#start(() => this.#sendLane(key, newLane))
    }
  }

  /** Leaves an event to `Retries`. */
  #queue(event: OutgoingEvent): void {
    this.#sender.batch.queue(event)
    this.#cursor.finish(event.position)
  }

  /** Runs work concurrently with the loop, and wakes the loop when the work ends. */
  #start(work: () => Promise<void>): void {
    this.#active++
    void work()
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#active--
        this.#progress.resolve()
      })
  }

  #fail(error: unknown): void {
    if (!this.#dropped) this.#context.onFailure(error)
    this.drop()
  }

  /** Sends the events of one order key in order. After a failure, the remaining events are queued. */
  async #sendLane(key: string, lane: OutgoingEvent[]): Promise<void> {
    const sender = this.#sender
    for (let event = lane[0]; event && sender.maySend; event = lane[0]) {
      const delivered = await sender.send(event, 1)
      if (delivered === undefined) break
      lane.shift()
      if (delivered) this.#cursor.finish(event.position)
      else if (sender.webhook.retry_on_failure) {
        this.#queue(event)
        sender.batch.parked.push({ key, tries: 1, seconds: retryDelay(1) })
        break
      } else {
        sender.giveUp(event)
        this.#cursor.finish(event.position)
      }
    }
    // The cursor stays before events that a stopped delivery leaves, so the next holder sends them.
    if (!sender.stopped) for (const event of lane) this.#queue(event)
    this.#lanes.delete(key)
  }

  /** Makes one call, to see whether the receiver is back. */
  async #probe(): Promise<void> {
    this.#sender.retryDue = false
    this.#sender.breaker.probing = true
    if (!(await this.#retries.startNext())) await this.#readOn(1)
    if (this.#active === 0) this.#sender.breaker.probing = false
  }

  /** Writes the batch and moves the cursor, in one transaction. */
  async #write(): Promise<void> {
    const sender = this.#sender
    const { batch } = sender
    sender.batch = new DeliveryBatch()
    const position = this.#cursor.finished
    const { cell, lease } = this.#context
    const { app_no: appNo, no } = sender.webhook
    if (!batch.empty || position > this.#cursor.stored) {
      const { stored } = this.#cursor
      const params = { ...lease, appNo, no, stored, position, batch: batch.toJson(sender.breaker) }
      const { hopeless, restarted } = await recordDeliveries.one(cell.db, params)
      if (hopeless) await this.#disable()
      // The webhook was changed while it was probed, or restored: start over with the state in the database.
      if (restarted) return this.drop()
    }
    this.#cursor.stored = position
    this.#retries.written(batch.retriedKeys)
    if (sender.breaker.open) return
    if (batch.queued.length + batch.done.length > 0) sender.retryDue = true
    if (sender.retryDue) this.#woken = true
  }

  async #disable(): Promise<void> {
    const { cell, lease, deps } = this.#context
    const { app_no: appNo, no, id } = this.#sender.webhook
    await cell.db.tx(async (tx) => {
      await lockLease.run(tx, { ...lease })
      const row = await disableWebhook.maybeOne(tx, { appNo, no })
      if (row) await announceWebhook(tx, appNo, 'webhook.disabled', row)
    })
    deps.log.warn({ app: appNo, webhook: id }, 'webhook disabled after days without a delivery')
    this.#sender.stopped = true
  }
}
