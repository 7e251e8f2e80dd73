import type { ServedNotifiedApp } from '../../areas/notifications/notified-app.ts'
import {
  type Asked,
  decidePush,
  type NotifiedApp,
  type PushDecision,
  type PushProvider,
  providerOf,
  type Receiver,
  readReceivers,
} from '../../core/notifications/facts.ts'
import type { LogEntry } from '../../core/notifications/log.ts'
import {
  type LoggedEvent,
  type Occurrence,
  occurrenceOf,
} from '../../core/notifications/occurrence.ts'
import type { Executor } from '../../platform/db/query.ts'
import { loggedAs } from './logged.ts'
import {
  type FanoutRow,
  listCandidates,
  listEvents,
  listFanouts,
  listReleased,
  listShowing,
  listShown,
} from './queries.ts'

/** Members of a group that are looked at in one step, and about as many receivers of all fan-outs in a step. */
const CHUNK = 2_000
/** Fan-outs in one step. */
const FANOUTS = 200
/** Users whose quiet hours end in one step. */
const RELEASED = 500
/** How long a push is worth sending. */
const LIFE_MS = 24 * 3_600_000
/** How long a call rings, and how long it is worth saying that it doesn't any more. */
const RING_MS = 45_000
const RING_END_MS = 600_000

const lifeOf = ({ type }: Occurrence) =>
  type === 'call' ? RING_MS : type === 'callOver' ? RING_END_MS : LIFE_MS

/** A delivery as record_fanouts takes it. */
interface NewDelivery {
  channel: 'push'
  provider: string
  uid: string
  hash: string
  conversation: number
  position: number
  messageId: number
  what: string
  by: string
  private: boolean
  ids?: number[]
  expires: number
}

/** What a step decided. record_fanouts stores it in one transaction. */
class Decided {
  readonly deliveries: NewDelivery[] = []
  readonly held: { uid: string; position: number; until: number }[] = []
  readonly released: { uid: string; until: number }[] = []
  readonly delayed: { uid: string; until: number; to: number }[] = []
  readonly unshown: { hash: string; conversation: number; ids: number[] }[] = []
  readonly begun: { position: number; after: string }[] = []
  readonly done: number[] = []
  readonly #log: LogEntry[] = []

  /** What the app's log says about it, if it has one. */
  get log(): LogEntry[] {
    return this.#log
  }

  toJson(): string {
    const filled = Object.entries(this).filter(([, { length }]) => length > 0)
    return JSON.stringify(Object.fromEntries(filled))
  }

  get providers(): Set<string> {
    return new Set(this.deliveries.map(({ provider }) => provider))
  }
}

type App = ServedNotifiedApp

const nameOf = ({ kind, id }: PushProvider) => `${kind}/${id}`

/** A fan-out with its event. */
interface Fanout {
  position: number
  key: string
  after: string | null
  event: LoggedEvent
  /** Undefined for read marks. */
  occurrence: Occurrence | undefined
}

function toFanout({ position, key, after_uid, type, payload, at }: FanoutRow): Fanout | undefined {
  if (type === null) return undefined
  const event = { type, key, at, payload: JSON.parse(payload) }
  return { position, key, after: after_uid, event, occurrence: occurrenceOf(event) }
}

const isShownOnly = ({ occurrence }: Fanout) =>
  !occurrence || occurrence.type === 'messageEdited' || occurrence.type === 'messageDeleted'

/**
 * Decides about the next receivers of an app's fan-outs. Returns undefined if there are none. The order of deliveries is that
 * of the events, so those of a conversation stay in order.
 */
export async function decideNext(db: Executor, app: App): Promise<Decided | undefined> {
  const rows = await listFanouts.many(db, { appNo: app.no, receivers: CHUNK, limit: FANOUTS })
  if (rows.length === 0) return undefined
  const decided = new Decided()
  const fanouts: Fanout[] = []
  for (const row of rows) {
    const fanout = toFanout(row)
    if (fanout) fanouts.push(fanout)
    else decided.done.push(row.position)
  }
  const chunks = await readChunks(db, app, fanouts)
  const unfinished = new Set<string>()
  for (const fanout of fanouts) {
    // It waits for an earlier one of its conversation that has more receivers.
    if (unfinished.has(fanout.key)) continue
    const chunk = chunks.get(fanout)
    if (chunk) for (const one of chunk.receivers) decideAbout(decided, app, fanout, one)
    const last = chunk ? chunk.last : await takeBack(db, app, fanout, decided)
    if (last === null) decided.done.push(fanout.position)
    else {
      decided.begun.push({ position: fanout.position, after: last })
      unfinished.add(fanout.key)
    }
  }
  return decided
}

interface Chunk {
  receivers: Receiver[]
  /** Where to go on; null if these are the last ones. */
  last: string | null
}

/** The next receivers of all events that new notifications are shown for, with two statements. */
async function readChunks(db: Executor, app: App, fanouts: Fanout[]): Promise<Map<Fanout, Chunk>> {
  const shown = fanouts.filter((fanout) => !isShownOnly(fanout))
  if (shown.length === 0) return new Map()
  const found = await listCandidates.many(db, {
    ...candidatesOf(app, shown),
    ...{
      appNo: app.no,
      limit: CHUNK,
      everyone: app.providers.some(({ kind }) => kind === 'custom'),
    },
  })
  const chunks = new Map<Fanout, { asked: Asked; last: string | null }>()
  for (const [nth, fanout] of shown.entries()) {
    const occurrence = fanout.occurrence as Occurrence
    const { uids = [], last = null } = found.find((one) => one.nth === nth) ?? {}
    const mentioned = new Set(occurrence.mentioned)
    const first = fanout.after === null ? [...mentioned].filter((uid) => uid !== occurrence.by) : []
    const { only } = occurrence
    const rest = uids.filter((uid) => !mentioned.has(uid) && (!only || only.includes(uid)))
    chunks.set(fanout, { asked: { occurrence, uids: [...first, ...rest] }, last })
  }
  const asked = [...chunks.values()].map((chunk) => chunk.asked)
  const receivers = await readReceivers(db, app, asked)
  return new Map(
    [...chunks].map(([fanout, { last }], nth) => [
      fanout,
      { receivers: receivers[nth] ?? [], last },
    ]),
  )
}

function candidatesOf(app: App, fanouts: Fanout[]) {
  const occurrences = fanouts.map(({ occurrence }) => occurrence as Occurrence)
  const rules = occurrences.map((occurrence) => breadthOf(app, occurrence))
  return {
    nths: fanouts.map((_, nth) => nth),
    conversations: occurrences.map(({ conversation }) => conversation),
    messageIds: occurrences.map(({ message }) => message.id),
    bys: occurrences.map(({ by }) => by),
    ats: occurrences.map(({ at }) => at),
    afters: fanouts.map(({ after }) => after ?? ''),
    wides: rules.map(({ wide }) => wide),
    sections: rules.map(({ section }) => section),
    fields: rules.map(({ field }) => field),
  }
}

/** Whether all members may be notified of such an event, or only those who chose it. */
function breadthOf({ settings, isLogging }: App, { type, kind }: Occurrence) {
  // Users can't choose about calls.
  if (type === 'call' || type === 'callOver') return { wide: true, section: '', field: '' }
  const of = kind === 'group' ? 'group' : 'oneOnOne'
  const name = type === 'reaction' ? 'reactions' : type
  const section = `${of}Preferences`
  const field = `${of}${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const setting = (settings.preferences[of] as Record<string, unknown>)[`${name}Setting`]
  const narrow =
    type === 'reaction' ? setting !== 3 : type !== 'message' && type !== 'reply' && setting === 1
  // The log names everybody.
  return { wide: !narrow || isLogging, section, field }
}

/** What a delivery does. */
const KINDS: Partial<Record<Occurrence['type'], string>> = {
  message: 'message',
  reaction: 'reaction',
  call: 'call',
  callOver: 'retract',
}

function decideAbout(decided: Decided, app: App, fanout: Fanout, receiver: Receiver): void {
  const { position, occurrence } = fanout
  const { conversation, message, by, at, type } = occurrence as Occurrence
  const what = type === 'reply' ? 'message' : type
  const of = { uid: receiver.uid, position, conversation, messageId: message.id, by }
  for (const pushed of decidePush(app, receiver)) {
    const { device, provider, decision } = pushed
    if (app.isLogging && decision.notify === false) log(decided, fanout, receiver, pushed)
    if (!provider || decision.notify === false) continue
    if (decision.notify === 'later') {
      // Afterwards, users are told how many messages came.
      if (what === 'message') decided.held.push({ ...of, until: decision.at.getTime() })
      return
    }
    decided.deliveries.push({
      ...of,
      ...{ channel: 'push', provider: nameOf(provider), hash: device?.hash ?? '' },
      what: KINDS[what] ?? 'action',
      ...{ private: receiver.isPrivate, expires: at.getTime() + lifeOf(occurrence as Occurrence) },
    })
  }
}

/** Says in the app's log why somebody isn't notified. */
function log(
  decided: Decided,
  { event }: Fanout,
  { uid }: Receiver,
  { device, provider, decision }: PushDecision,
): void {
  const of = loggedAs(event)
  if (!of || decision.notify !== false) return
  const now = new Date()
  decided.log.push({
    ...of,
    ...{ uid, channel: 'push', triggered: false, reason: decision.reason },
    ...(device && { platform: device.platform }),
    ...(provider && { provider: provider.kind, providerId: provider.id }),
    ...{ startedAt: now, endedAt: now },
  })
}

/** Changes or takes back what devices show. Returns where to go on, or null. */
async function takeBack(
  db: Executor,
  app: App,
  fanout: Fanout,
  decided: Decided,
): Promise<string | null> {
  const { occurrence, after } = fanout
  if (!occurrence) return takeBackRead(db, app, fanout, decided)
  const { conversation, message, by, at, type } = occurrence
  const showing = await listShowing.many(db, {
    ...{ appNo: app.no, conversation, messageId: message.id, after: after ?? '', limit: CHUNK },
  })
  const uids = showing.map(({ uid }) => uid)
  const [receivers = []] = await readReceivers(db, app, [{ occurrence, uids }])
  const hashes = new Set(showing.flatMap((one) => one.hashes))
  for (const receiver of receivers) {
    for (const { device, provider, decision } of decidePush(app, receiver)) {
      if (!device || !provider || !hashes.has(device.hash) || decision.notify !== true) continue
      const isGone = type === 'messageDeleted'
      decided.deliveries.push({
        ...{ channel: 'push', provider: nameOf(provider), hash: device.hash, uid: receiver.uid },
        ...{ position: fanout.position, conversation, messageId: message.id, by },
        ...{ what: isGone ? 'retract' : 'edited', private: receiver.isPrivate },
        ...(isGone && { ids: [message.id] }),
        expires: at.getTime() + LIFE_MS,
      })
      if (isGone) decided.unshown.push({ hash: device.hash, conversation, ids: [message.id] })
    }
  }
  return showing.length === CHUNK ? (uids.at(-1) ?? null) : null
}

/** A user has read messages on one device: the others close their notifications. */
async function takeBackRead(
  db: Executor,
  app: NotifiedApp,
  { position, key, event }: Fanout,
  decided: Decided,
): Promise<null> {
  const conversation = Number(key.slice('conversation:'.length))
  const { uid, messageId } = event.payload as { uid: string; messageId: string }
  const upto = Number(messageId)
  for (const device of await listShown.many(db, { appNo: app.no, conversation, uid })) {
    const provider = providerOf(app, device)
    const ids = device.ids.filter((id) => id <= upto)
    if (typeof provider === 'string' || ids.length === 0) continue
    decided.unshown.push({ hash: device.hash, conversation, ids })
    decided.deliveries.push({
      ...{ channel: 'push', provider: nameOf(provider), hash: device.hash, uid, position },
      ...{ conversation, messageId: upto, what: 'retract', by: uid, private: true, ids },
      expires: Date.now() + LIFE_MS,
    })
  }
  return null
}

/** Notifies users whose quiet hours are over of what came meanwhile, at once. Undefined if there are none. */
export async function releaseHeld(db: Executor, app: App): Promise<Decided | undefined> {
  const waiting = await listReleased.many(db, { appNo: app.no, limit: RELEASED })
  if (waiting.length === 0) return undefined
  const newest = [...new Set(waiting.flatMap(({ positions }) => positions.slice(-1)))]
  const rows = await listEvents.many(db, { appNo: app.no, positions: newest })
  const events = new Map(rows.map((row) => [row.position, toFanout({ ...row, after_uid: null })]))
  const asked = waiting.map(({ uid, positions }) => {
    const fanout = events.get(positions.at(-1) ?? 0)
    return fanout?.occurrence && { fanout, occurrence: fanout.occurrence, uids: [uid] }
  })
  const now = new Date()
  const known = asked.filter((one) => one !== undefined)
  const receivers = await readReceivers(db, app, known, () => now)
  const decided = new Decided()
  for (const [nth, { uid, until: at, ids }] of waiting.entries()) {
    const one = asked[nth]
    const [receiver] = one ? (receivers[known.indexOf(one)] ?? []) : []
    const until = at.getTime()
    const to = one && receiver && tell(decided, app, { fanout: one.fanout, receiver, ids })
    if (to === undefined) decided.released.push({ uid, until })
    else decided.delayed.push({ uid, until, to })
  }
  return decided
}

/** Returns until when it has to wait, if the quiet hours have changed. */
function tell(
  decided: Decided,
  app: App,
  { fanout, receiver, ids }: { fanout: Fanout; receiver: Receiver; ids: number[] },
): number | undefined {
  const now = new Decided()
  decideAbout(now, app, fanout, receiver)
  const [waits] = now.held
  if (waits) return waits.until
  const expires = Date.now() + LIFE_MS
  const several = ids.length > 1 && { what: 'held', ids, conversation: 0 }
  for (const delivery of now.deliveries)
    decided.deliveries.push({ ...delivery, ...several, expires })
  return undefined
}
