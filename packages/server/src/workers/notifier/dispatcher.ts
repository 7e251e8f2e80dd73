import {
  findCredentials,
  type OpenProvider,
  splitName,
} from '../../areas/notifications/credentials.ts'
import { getSettings } from '../../areas/notifications/settings.actions.ts'
import type { NotificationSettings } from '../../areas/notifications/settings.schema.ts'
import type { Device } from '../../areas/notifications/tokens.actions.ts'
import { findLogging, type LogEntry, recordLog } from '../../core/notifications/log.ts'
import type { LoggedEvent } from '../../core/notifications/occurrence.ts'
import {
  closePayload,
  detailsOf,
  heldDetails,
  type PushPayload,
  type PushTarget,
  pushPayload,
} from '../../core/notifications/payload.ts'
import type { Deps } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { isLeaseLost, type Lease, type Worker } from '../../platform/leases/leases.ts'
import type { Notification, Outcome } from '../../platform/push/notification.ts'
import { loggedAs } from './logged.ts'
import { Outcomes } from './outcomes.ts'
import {
  countBadges,
  listDue,
  listEvents,
  type PreparedRow,
  prepareDeliveries,
  recordNotified,
} from './queries.ts'

/** Deliveries of a provider in memory. */
const LOADED = 2_000
/** Calls of a provider at the same time. At most this many are sent again if the process dies. */
const CALLS = 1_000
/** Events whose texts are kept. */
const EVENTS = 500

/** A repetition waits twice as long as the one before, and five minutes at most. */
const LONGEST_WAIT_SECONDS = 300

export interface DispatcherContext {
  deps: Pick<Deps, 'secrets' | 'push' | 'log' | 'metrics'>
  cell: Cell
  worker: Worker
  lease: Lease
  app: { no: number; id: string }
  /** It failed and has ended. */
  onFailure(error: unknown): void
}

/** What is the same for all deliveries of a round. */
interface Round {
  provider: OpenProvider
  settings: NotificationSettings
  badges: ReadonlyMap<string, number>
  isLogging: boolean
  /** Payloads that are the same for all devices of a platform. */
  payloads: Map<string, Shared>
}

type Shared = PushPayload & { tag: string }

/** A call that has its answer. */
interface Sent {
  row: PreparedRow
  outcome: Outcome
  notification: Notification
  device: string
  startedAt: Date
}

interface LoadedDelivery {
  uid: string
  position: number
}

/**
 * Sends the deliveries of an app to one provider, while this worker holds the lease. Deliveries to the same device about
 * the same conversation are a lane: one is under way at a time. Another provider, or another app, has a dispatcher of its
 * own and doesn't wait for this one.
 */
export class Dispatcher {
  readonly provider: string
  readonly #context: DispatcherContext
  /** All deliveries in memory, until the database knows what happened to them. */
  readonly #loaded = new Map<number, LoadedDelivery>()
  /** The next ones of each lane, in order. The first one may be under way. */
  readonly #lanes = new Map<string, number[]>()
  /** Lanes whose first delivery can be sent. */
  readonly #ready = new Set<string>()
  /** Lanes that have to wait, until the database knows it. */
  readonly #parked = new Set<string>()
  readonly #events = new Map<number, LoggedEvent>()
  #outcomes = new Outcomes()
  /** Whether there may be more that are due. */
  #due = false
  #active = 0
  #stopped = false
  #dropped = false
  #running: Promise<void> | undefined
  #progress = Promise.withResolvers<void>()

  constructor(context: DispatcherContext, provider: string) {
    this.#context = context
    this.provider = provider
  }

  get idle(): boolean {
    return this.#running === undefined
  }

  /** There are deliveries that are due. */
  wake(): void {
    this.#due = true
    this.#progress.resolve()
    this.#running ??= this.#run()
  }

  /** Lets current calls finish, and writes down their outcomes. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#progress.resolve()
    await this.#running
  }

  /** Sends and writes nothing more, because another worker may hold the lease. */
  drop(): void {
    this.#stopped = true
    this.#dropped = true
    this.#progress.resolve()
  }

  async #run(): Promise<void> {
    try {
      while (this.#hasWork) await this.#round()
    } catch (error) {
      if (!this.#dropped) this.#context.onFailure(error)
      this.drop()
    } finally {
      this.#running = undefined
    }
  }

  get #hasWork(): boolean {
    if (this.#active > 0) return true
    if (this.#dropped) return false
    return !this.#outcomes.empty || (!this.#stopped && (this.#due || this.#ready.size > 0))
  }

  async #round(): Promise<void> {
    // A wake-up from here on is about something that this round may not see.
    this.#progress = Promise.withResolvers()
    if (!this.#outcomes.empty && !this.#dropped) await this.#write()
    if (!this.#stopped) {
      await this.#load()
      await this.#start()
    }
    // Outcomes that nobody writes down any more must not keep it from waiting.
    if (this.#active > 0 && (this.#dropped || this.#outcomes.empty)) await this.#progress.promise
  }

  /** Reads deliveries that are due, if there is room for many. */
  async #load(): Promise<void> {
    if (!this.#due || this.#loaded.size > LOADED / 2) return
    this.#due = false
    const limit = LOADED - this.#loaded.size
    const { cell, app } = this.#context
    const rows = await listDue.many(cell.db, {
      ...{ appNo: app.no, provider: this.provider, known: [...this.#loaded.keys()], limit },
    })
    if (rows.length === limit) this.#due = true
    for (const { id, lane, uid, position } of rows) {
      if (this.#parked.has(lane)) continue
      this.#loaded.set(id, { uid, position })
      const known = this.#lanes.get(lane)
      if (known) known.push(id)
      else {
        this.#lanes.set(lane, [id])
        this.#ready.add(lane)
      }
    }
  }

  /** Sends the first delivery of each lane that has none under way. */
  async #start(): Promise<void> {
    const lanes = [...this.#ready].slice(0, CALLS - this.#active)
    if (lanes.length === 0) return
    const byId = new Map(lanes.map((lane) => [this.#lanes.get(lane)?.[0] ?? 0, lane]))
    const { cell, app, deps } = this.#context
    const { db } = cell
    const ids = [...byId.keys()]
    const [provider, settings, logging] = await Promise.all([
      findCredentials(db, deps, app.no, this.provider),
      getSettings(db, app.no),
      findLogging.maybeOne(db, { appNo: app.no }),
      this.#readEvents(ids),
    ])
    const withBadge = settings.preferences.push.unreadMessageCountSetting
    const badges = withBadge ? await this.#countBadges(ids) : new Map<string, number>()
    // Last, so that the time between this check and the call is short.
    const rows = await prepareDeliveries.many(db, { appNo: app.no, ids })
    if (this.#stopped) return
    const isLogging = logging !== undefined
    const round = provider && { provider, settings, badges, isLogging, payloads: new Map() }
    for (const lane of lanes) this.#ready.delete(lane)
    for (const row of rows) {
      const lane = byId.get(row.id) ?? ''
      byId.delete(row.id)
      if (!row.wanted || !round) this.#end(lane, row.id)
      else this.#send(lane, row, round)
    }
    // Somebody else deleted the row, such as the upkeep of old ones.
    for (const [id, lane] of byId) this.#end(lane, id)
  }

  async #readEvents(ids: number[]): Promise<void> {
    const { cell, app } = this.#context
    if (this.#events.size > EVENTS) this.#events.clear()
    const asked = new Set(ids.map((id) => this.#loaded.get(id)?.position ?? 0))
    const positions = [...asked].filter((position) => !this.#events.has(position))
    if (positions.length === 0) return
    const found = await listEvents.many(cell.db, { appNo: app.no, positions })
    for (const { position, payload, ...event } of found)
      this.#events.set(position, { ...event, payload: JSON.parse(payload) })
  }

  async #countBadges(ids: number[]): Promise<Map<string, number>> {
    const uids = [...new Set(ids.map((id) => this.#loaded.get(id)?.uid ?? ''))]
    const counts = await countBadges.many(this.#context.cell.db, {
      ...{ appNo: this.#context.app.no, uids },
    })
    const badges = new Map(uids.map((uid) => [uid, 0]))
    for (const { uid, unread } of counts) badges.set(uid, unread)
    return badges
  }

  #send(lane: string, row: PreparedRow, round: Round): void {
    if (!this.#context.worker.alive) throw new Error("the worker's leases were not renewed in time")
    const notification = this.#notificationOf(row, round)
    if (!notification) {
      this.#end(lane, row.id)
      return
    }
    const { push } = this.#context.deps
    const device = this.#deviceOf(row)
    const startedAt = new Date()
    this.#active++
    void push
      .push(round.provider.credentials, device, notification)
      .then((outcome) => {
        const ended = this.#record(lane, row, outcome)
        if (ended && round.isLogging) this.#log({ row, outcome, notification, device, startedAt })
      })
      .catch((error) => {
        if (!this.#dropped) this.#context.onFailure(error)
        this.drop()
      })
      .finally(() => {
        this.#active--
        this.#progress.resolve()
      })
  }

  /** The token, or the subscription of a browser. */
  #deviceOf({ uid, push_sealed, platform }: PreparedRow): string {
    if (!push_sealed) return ''
    const { deps, app } = this.#context
    const { token, keys } = JSON.parse(
      deps.secrets.open(['push_tokens.push', app.no, uid], push_sealed),
    ) as Device
    return platform === 'web_push' ? JSON.stringify({ endpoint: token, keys }) : token
  }

  /** Undefined if there is nothing to send. */
  #notificationOf(row: PreparedRow, round: Round): Notification | undefined {
    const event = this.#events.get(row.position)
    if (!event) return undefined
    const badge = round.badges.get(row.uid)
    const count = badge === undefined ? {} : { unreadMessageCount: badge }
    const expiresAt = row.expires_at.getTime()
    const target = this.#targetOf(row, round)
    if (row.what === 'retract') return retraction(row, event, { target, count, expiresAt })
    const key = `${row.position} ${row.what} ${row.private} ${row.platform}`
    const isShared = badge === undefined && row.what !== 'held' && target.kind !== 'custom'
    const known = isShared ? round.payloads.get(key) : undefined
    const { tag, payload, trim } = known ?? payloadOf(row, event, round.settings, { target, count })
    if (isShared && !known) round.payloads.set(key, { tag, payload, trim })
    const priority = row.what === 'edited' ? 'normal' : 'high'
    return {
      payload,
      trim,
      collapseId: tag,
      expiresAt,
      priority,
      kind: isRinging(row) ? 'voip' : 'alert',
    }
  }

  #targetOf(row: PreparedRow, { provider, settings }: Round): PushTarget {
    const { app, cell } = this.#context
    return {
      ...{ kind: provider.kind, provider: provider.fields },
      sound: row.what === 'call' ? settings.sound.call : settings.sound.chat,
      ...{ uid: row.uid, app: { id: app.id, region: cell.region } },
      ...(row.platform !== null && { platform: row.platform }),
      isSilent: row.what === 'edited',
    }
  }

  /** Returns whether it is over with this delivery. */
  #record(lane: string, row: PreparedRow, outcome: Outcome): boolean {
    const outcomes = this.#outcomes
    const asked = outcome.outcome === 'retry' ? (outcome.afterMs ?? 0) / 1000 : 0
    const seconds = Math.max(asked, Math.min(2 ** row.tries, LONGEST_WAIT_SECONDS))
    const isTooLate = Date.now() + seconds * 1000 >= row.expires_at.getTime()
    if (outcome.outcome === 'retry' && !isTooLate) {
      outcomes.wait(lane, this.#lanes.get(lane) ?? [row.id], seconds * (1 + Math.random() / 10))
      this.#lanes.delete(lane)
      this.#parked.add(lane)
      return false
    }
    if (outcome.outcome === 'gone') {
      const { since } = outcome
      outcomes.gone.push({ hash: row.hash, ...(since !== undefined && { before: since }) })
    }
    const shows = row.what === 'message' || row.what === 'edited'
    if (outcome.outcome === 'delivered' && shows && row.hash !== '') outcomes.shown.push(row.id)
    this.#end(lane, row.id)
    return true
  }

  /** Says in the app's log what the provider answered. */
  #log({ row, outcome, notification, device, startedAt }: Sent): void {
    const event = this.#events.get(row.position)
    const of = event && loggedAs(event)
    if (!of) return
    const [provider, providerId] = splitName(this.provider)
    this.#outcomes.log.push({
      ...of,
      ...{ uid: row.uid, channel: 'push', provider, providerId },
      ...(row.platform !== null && { platform: row.platform, pushToken: device }),
      ...{ payload: notification.payload, triggered: true },
      success: outcome.outcome === 'delivered',
      ...(outcome.outcome === 'gone' && { reason: 'NOT_FOUND' as const }),
      ...(outcome.outcome === 'retry' && { reason: 'TIMED_OUT' as const }),
      ...{ startedAt, endedAt: new Date() },
    })
  }

  /** The next one of the lane can be sent. */
  #end(lane: string, id: number): void {
    this.#outcomes.ended.push(id)
    const ids = this.#lanes.get(lane) ?? []
    ids.shift()
    if (ids.length > 0) this.#ready.add(lane)
    else this.#lanes.delete(lane)
  }

  async #write(): Promise<void> {
    const outcomes = this.#outcomes
    this.#outcomes = new Outcomes()
    const { cell, lease, app } = this.#context
    const stored = { ...lease, appNo: app.no, batch: outcomes.toJson() }
    if (!(await this.#writeLogged(stored, outcomes.log))) await recordNotified.run(cell.db, stored)
    for (const id of outcomes.ended) this.#loaded.delete(id)
    for (const [lane, ids] of outcomes.lanes) {
      for (const id of ids) this.#loaded.delete(id)
      this.#parked.delete(lane)
    }
  }

  /**
   * Stores outcomes together with what the app's log says about them. Returns false if there is nothing to log, or if the
   * log can't be written: the outcomes must be stored anyway, or else everything would be sent again.
   */
  async #writeLogged(
    stored: Parameters<typeof recordNotified.run>[1],
    entries: LogEntry[],
  ): Promise<boolean> {
    if (entries.length === 0) return false
    const { cell, app, deps } = this.#context
    try {
      await cell.db.tx(async (tx) => {
        await recordNotified.run(tx, stored)
        await recordLog(tx, app.no, entries)
      })
      return true
    } catch (error) {
      if (isLeaseLost(error)) throw error
      deps.log.warn(
        { app: app.id, err: error },
        "couldn't log notifications; storing outcomes only",
      )
      return false
    }
  }
}

/** A token for calls. Apple's systems ring whatever it gets, so it only gets calls. */
const isRinging = ({ platform }: Pick<PreparedRow, 'platform'>) =>
  platform?.endsWith('_voip') === true

/** What a device shows. */
function payloadOf(
  row: PreparedRow,
  event: LoggedEvent,
  settings: NotificationSettings,
  { target, count }: { target: PushTarget; count: { unreadMessageCount?: number } },
): Shared {
  const shown = detailsOf(event, { ...settings, isPrivate: row.private })
  const several = row.what === 'held'
  const details = {
    ...(several ? heldDetails(shown, row.ids?.length ?? 0, settings.templates) : shown),
    ...count,
  }
  return { ...pushPayload(details, target), tag: details.tag }
}

/** Closes notifications. Apple lets only visible ones change the badge. */
function retraction(
  { ids, position, platform }: PreparedRow,
  { payload }: LoggedEvent,
  {
    target,
    count,
    expiresAt,
  }: Pick<Notification, 'expiresAt'> & {
    target: PushTarget
    count: { unreadMessageCount?: number }
  },
): Notification | undefined {
  const { call, uids } = payload
  // What silences members of a group has no message.
  const ofGroup = uids && { conversationId: `group_${call.callReceiver}` }
  const { conversationId } = ofGroup ?? payload.message ?? payload
  const tags = call ? [call.sessionId] : (ids ?? []).map(String)
  const ended = call && { sessionId: call.sessionId, callAction: call.status }
  const closing = closePayload({ conversationId, tags, ...ended, ...count }, target)
  const rings = isRinging({ platform })
  const quiet = count.unreadMessageCount === undefined ? 'background' : 'alert'
  const kind = rings ? 'voip' : quiet
  const collapseId = `close-${position}`
  const priority = call ? 'high' : 'normal'
  return closing && { payload: closing, collapseId, expiresAt, priority, kind }
}
