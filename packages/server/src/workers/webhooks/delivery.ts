import { findOldestEvent } from '../../areas/events/queries.ts'
import type { Counters } from '../../areas/stats/counters.ts'
import { announceWebhook } from '../../areas/webhooks/actions.ts'
import type { Deps } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import type { Lease, Worker } from '../../platform/leases/leases.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import { type Caller, isDelivered } from './caller.ts'
import { envelopeOf } from './envelope.ts'
import { Health } from './health.ts'
import { News } from './news.ts'
import {
  disableWebhook,
  findHeldWebhook,
  type HeldWebhook,
  listBacklog,
  listNewEvents,
  listParkedKeys,
  lockLease,
  recordDeliveries,
  type Sendable,
} from './queries.ts'
import { pauseAfter, RETRIES } from './timetable.ts'

/** Calls of one webhook at the same time. */
const CALLS = 8
/** Events read and not finished: what is sent again, at most, when the process dies. */
const WINDOW = 500
const BATCH = 100
/** Positions looked at for events of its triggers, a read. */
const LOOKED_AT = 5_000
/** The cursor moves over events of no concern in steps of this, to spare writes. */
const STRIDE = 1_000
/** Events of a parked key, a turn. */
const TURN = 20

export interface DeliveryContext {
  deps: Pick<Deps, 'secrets' | 'log'>
  cell: Cell
  caller: Caller
  counters: Counters
  worker: Worker
  lease: Lease
  /** It can't go on, and has ended. */
  onFault(error: unknown): void
}

/**
 * Delivers to one webhook, as long as its lease is held. One loop reads, starts calls, and writes
 * down what came of them; events of one key are sent one after the other, others beside them.
 */
export class Delivery {
  readonly #context: DeliveryContext
  #webhook: HeldWebhook
  #news = new News()
  /** The cursor as it is in the database; how far the log was read; how far it goes. */
  #position: number
  #readTo: number
  #last: number
  /** Positions that were read and neither delivered nor queued yet, in order. */
  readonly #unfinished = new Set<number>()
  /** Events of keys that are being sent. */
  readonly #lanes = new Map<string, Sendable[]>()
  /** Parked keys that are being worked on. */
  readonly #draining = new Set<string>()
  readonly #turns = new Semaphore(CALLS)
  readonly #health: Health
  /** Something that waited may be tried: a parked key, or the receiver. */
  #due = false
  #active = 0
  #stopped = false
  #dropped = false
  #running: Promise<void> | undefined
  #woken = false
  #step = Promise.withResolvers<void>()

  constructor(context: DeliveryContext, webhook: HeldWebhook) {
    this.#context = context
    this.#webhook = webhook
    this.#position = webhook.position
    this.#readTo = webhook.position
    this.#last = webhook.last
    this.#health = new Health(webhook)
    this.update(webhook)
  }

  get lease(): Lease {
    return this.#context.lease
  }

  /** It sends nothing more. */
  get ended(): boolean {
    return this.#stopped
  }

  /** Takes the webhook as it is now, and sees whether there is something to do. */
  update(webhook: HeldWebhook): void {
    // Somebody may have enabled it again, or mended its address: begin anew, as the database says.
    const changed = webhook.updated_at.getTime() !== this.#webhook.updated_at.getTime()
    if (this.#health.waiting && changed) {
      this.drop()
      return
    }
    this.#webhook = webhook
    if (webhook.due && webhook.waiting === this.#health.waiting) this.#due = true
    this.grown(webhook.last)
  }

  /** The log of the app goes so far now. */
  grown(last: number): void {
    this.#last = Math.max(this.#last, last)
    const news = !this.#health.waiting && this.#readTo < this.#last
    if (news || this.#due) this.#wake()
  }

  /** Lets calls under way end, and writes down what came of them. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await this.#running
  }

  /** Sends and writes nothing more: another may have the lease. */
  drop(): void {
    this.#stopped = true
    this.#dropped = true
  }

  #wake(): void {
    this.#woken = true
    this.#step.resolve()
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    try {
      while (this.#woken || this.#active > 0 || this.#unwritten) {
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
    if (!this.#stopped) {
      if (!this.#health.waiting) {
        await this.#readOn(BATCH)
        await this.#startDraining()
      } else if (this.#due && this.#active === 0) await this.#probe()
    }
    if (this.#unwritten) return this.#write()
    if (this.#woken || this.#active === 0) return
    await this.#step.promise
    this.#step = Promise.withResolvers()
  }

  /** The cursor as it could be written now. */
  get #cursor(): number {
    const [first] = this.#unfinished
    return first === undefined ? this.#readTo : first - 1
  }

  get #unwritten(): boolean {
    if (this.#dropped) return false
    const { empty, drained } = this.#news
    const passed = this.#cursor - this.#position
    return !empty || drained.size > 0 || passed >= (this.#stopped ? 1 : STRIDE)
  }

  /** Reads some events past those that were read, and starts to send them. */
  async #readOn(limit: number): Promise<void> {
    if (this.#readTo >= this.#last || this.#unfinished.size >= WINDOW) return
    const { app_no: appNo, no } = this.#webhook
    const after = this.#readTo
    const upto = after + LOOKED_AT
    const params = { appNo, no, after, upto, limit }
    const heard = this.#last
    const rows = await listNewEvents.many(this.#context.cell.db, params)
    const [first] = rows
    // It was disabled or removed.
    if (!first) return
    // How far these rows go. Meanwhile `grown` may have told of more, which they do not hold.
    const { last } = first
    if (this.#last === heard) this.#last = last
    await this.#refresh(first.updated_at)
    if (!first.whole) return this.#skipExpired(last)
    const events = rows.flatMap((row) => (row.position === null ? [] : [row]))
    this.#readTo =
      events.length === limit ? (events.at(-1)?.position ?? after) : Math.min(upto, last)
    for (const event of events) this.#begin(event, event.parked)
    if (this.#readTo < this.#last) this.#woken = true
  }

  /** What a webhook was told before an event, such as a new secret, holds for that event. */
  async #refresh(updatedAt: Date): Promise<void> {
    if (updatedAt.getTime() === this.#webhook.updated_at.getTime()) return
    const { app_no: appNo, no } = this.#webhook
    const now = await findHeldWebhook.maybeOne(this.#context.cell.db, { appNo, no })
    if (now) this.#webhook = now
  }

  /** The cursor was left behind by the retention: what is gone is counted. */
  async #skipExpired(last: number): Promise<void> {
    const { app_no: appNo } = this.#webhook
    const oldest = await findOldestEvent.maybeOne(this.#context.cell.db, { appNo })
    const upto = (oldest?.position ?? last + 1) - 1
    this.#news.dead.push({ position: this.#readTo + 1, upto, type: null, reason: 'expired' })
    this.#readTo = upto
    this.#woken = true
  }

  #begin(event: Sendable, parked: boolean): void {
    const { key, position } = event
    this.#unfinished.add(position)
    const lane = this.#lanes.get(key)
    if (lane) {
      // Also while a replay has parked the key: those before it in the lane go first.
      lane.push(event)
    } else if (parked || this.#news.queuedKeys.has(key)) {
      this.#queue(event)
    } else {
      const own = [event]
      this.#lanes.set(key, own)
      this.#start(() => this.#sendLane(key, own))
    }
  }

  #queue(event: Sendable): void {
    this.#news.queue(event)
    this.#unfinished.delete(event.position)
  }

  /** Beside the loop, which hears of its end. */
  #start(work: () => Promise<void>): void {
    this.#active++
    void work()
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#active--
        this.#step.resolve()
      })
  }

  #fail(error: unknown): void {
    if (!this.#dropped) this.#context.onFault(error)
    this.drop()
  }

  /** Sends events of one key in order; after a failure those behind have to wait. */
  async #sendLane(key: string, lane: Sendable[]): Promise<void> {
    for (let event = lane[0]; event && this.#maySend; event = lane[0]) {
      const delivered = await this.#call(event, 1)
      if (delivered === undefined) break
      lane.shift()
      if (delivered) this.#unfinished.delete(event.position)
      else if (this.#webhook.retry_on_failure) {
        this.#queue(event)
        this.#news.parked.push({ key, tries: 1, seconds: pauseAfter(1) })
        break
      } else {
        this.#giveUp(event, 'noRetry')
        this.#unfinished.delete(event.position)
      }
    }
    // What a stopped one leaves is behind the cursor, for whoever is next.
    if (!this.#stopped) for (const event of lane) this.#queue(event)
    this.#lanes.delete(key)
  }

  get #maySend(): boolean {
    return !this.#stopped && this.#health.mayCall
  }

  #giveUp(
    { position, type }: Pick<Sendable, 'position' | 'type'>,
    reason: 'noRetry' | 'exhausted',
  ) {
    this.#news.dead.push({ position, upto: position, type, reason })
  }

  async #startDraining(): Promise<void> {
    if (!this.#due || this.#draining.size >= CALLS) return
    const { app_no: appNo, no } = this.#webhook
    const limit = CALLS + this.#draining.size
    const keys = await listParkedKeys.many(this.#context.cell.db, { appNo, no, all: false, limit })
    if (keys.length < limit) this.#due = false
    for (const { key, tries } of keys) this.#drain(key, tries)
  }

  #drain(key: string, tries: number): void {
    if (this.#draining.has(key)) return
    this.#draining.add(key)
    this.#start(async () => {
      await this.#sendBacklog(key, tries)
      this.#news.drained.add(key)
    })
  }

  async #sendBacklog(key: string, triesBefore: number): Promise<void> {
    const { app_no: appNo, no } = this.#webhook
    const limit = this.#health.probing ? 1 : TURN
    const rows = await listBacklog.many(this.#context.cell.db, { appNo, no, key, limit })
    // Nothing: the key is free, and only its row is left.
    if (rows.length === 0) this.#news.done.push({ key, position: 0 })
    let tries = triesBefore
    for (const { position, type, payload } of rows) {
      if (!this.#maySend) return
      if (type === null || payload === null) {
        this.#news.dead.push({ position, upto: position, type: null, reason: 'expired' })
      } else {
        const probe = this.#health.probing
        const delivered = await this.#call({ key, position, type, payload }, tries + 1)
        if (delivered === undefined) return
        const again = this.#webhook.retry_on_failure && (probe || tries < RETRIES)
        if (!delivered && again) {
          // A probe tells of the receiver, not of this key.
          if (!probe) this.#news.parked.push({ key, tries: ++tries, seconds: pauseAfter(tries) })
          return
        }
        if (!delivered) {
          this.#giveUp({ position, type }, this.#webhook.retry_on_failure ? 'exhausted' : 'noRetry')
        }
      }
      tries = 0
      this.#news.done.push({ key, position })
    }
  }

  /** One call, to see whether the receiver is back. */
  async #probe(): Promise<void> {
    this.#due = false
    this.#health.probing = true
    const { app_no: appNo, no } = this.#webhook
    const [parked] = await listParkedKeys.many(this.#context.cell.db, {
      appNo,
      no,
      all: true,
      limit: 1,
    })
    if (parked) this.#drain(parked.key, parked.tries)
    else await this.#readOn(1)
    if (this.#active === 0) this.#health.probing = false
  }

  /** Whether the event was delivered; undefined: it was not sent. */
  async #call(event: Sendable, nth: number): Promise<boolean | undefined> {
    const { caller, cell, counters, deps, worker } = this.#context
    return this.#turns.run(async () => {
      if (!this.#maySend) return undefined
      if (!worker.alive) throw new Error('the lease was not renewed in time')
      const { headers, body } = envelopeOf(this.#webhook, cell.region, event, deps.secrets)
      const at = Date.now()
      const outcome = await caller.post(this.#webhook.url, headers, body)
      const { position, type } = event
      this.#news.attempts.push({ position, type, try: nth, at, ...outcome })
      const delivered = isDelivered(outcome)
      this.#take(delivered, event.key)
      const { app_no: no } = this.#webhook
      counters.count({ no, cell }, delivered ? 'webhook.delivered' : 'webhook.failed')
      this.#step.resolve()
      return delivered
    })
  }

  #take(delivered: boolean, key: string): void {
    if (delivered) {
      // Whoever waited is tried now.
      if (this.#health.waiting) this.#due = true
      this.#news.succeeded = true
      this.#health.succeeded()
      return
    }
    const wait = this.#health.failed(key)
    if (wait === undefined) return
    this.#news.waitSeconds = wait
    this.#due = false
  }

  /** Writes down all that happened, and moves the cursor, in one transaction. */
  async #write(): Promise<void> {
    const news = this.#news
    const position = this.#cursor
    this.#news = new News()
    const { cell, lease } = this.#context
    const { app_no: appNo, no } = this.#webhook
    if (!news.empty || position > this.#position) {
      const params = { ...lease, appNo, no, position, news: news.toJson(this.#health) }
      const { hopeless, restarted } = await recordDeliveries.one(cell.db, params)
      if (hopeless) await this.#disable()
      // Begun anew, as the database says.
      if (restarted) return this.drop()
    }
    this.#position = position
    for (const key of news.drained) this.#draining.delete(key)
    if (this.#health.waiting) return
    if (news.queued.length + news.done.length > 0) this.#due = true
    if (this.#due) this.#woken = true
  }

  async #disable(): Promise<void> {
    const { cell, lease, deps } = this.#context
    const { app_no: appNo, no, id } = this.#webhook
    await cell.db.tx(async (tx) => {
      await lockLease.run(tx, { ...lease })
      const row = await disableWebhook.maybeOne(tx, { appNo, no })
      if (row) await announceWebhook(tx, appNo, 'webhook.disabled', row)
    })
    deps.log.warn({ app: appNo, webhook: id }, 'webhook disabled: nothing but failure for days')
    this.#stopped = true
  }
}
