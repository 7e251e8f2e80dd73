import {
  type Audience,
  audienceOf,
  type EventPayload,
  type EventType,
  placesOf,
} from '@loquat/protocol'
import { type PresenceChange, presenceChangeOf } from './presence-change.ts'

/** What an event changes of who may receive the next ones. */
export type Change =
  | { kind: 'in' | 'out'; guid: string; uids: string[] }
  | { kind: 'gone'; guid: string; key: string }
  | { kind: 'blocked' | 'unblocked'; uid: string; others: string[] }

/** An event of an app's log, as it is told to devices. */
export interface Entry {
  readonly position: number
  readonly type: EventType
  readonly audience: Audience | undefined
  readonly places: readonly string[]
  readonly change: Change | undefined
  readonly presenceChange: PresenceChange | undefined
  /** A receipt of a group, of which there can be thousands: a device gets those of a second together. */
  readonly gathered: boolean
  /** When this process heard of it, by the monotonic clock. */
  readonly heardAt: number
  /** The same bytes for all who receive it; empty if nobody does. */
  readonly frame: Buffer
}

/** An event as the sequencer publishes it (see sequence_events). */
export function readPublished(text: string): Entry {
  const { position, type, key, at, payload } = JSON.parse(text)
  // Nothing before it can hold an unescaped quote but its own keys.
  const body = text.slice(text.indexOf(',"payload":') + ',"payload":'.length, -1)
  return toEntry({ position, type, key, at, payload, body })
}

/** An event as the log holds it. */
export function readLogged(row: LoggedRow): Entry {
  return toEntry({ ...row, payload: JSON.parse(row.body) })
}

export interface LoggedRow {
  position: number
  type: EventType
  key: string
  at: number
  body: string
}

function toEntry(event: LoggedRow & { payload: unknown }): Entry {
  const { position, type, key, at, payload, body } = event
  const audience = audienceOf(type, payload)
  return {
    position,
    type,
    audience,
    places: placesOf(audience),
    change: changeOf(type, key, payload),
    presenceChange: presenceChangeOf(type, payload),
    gathered: RECEIPTS.has(type) && audience?.group !== undefined,
    heardAt: performance.now(),
    frame: audience ? toFrame(position, type, at, shown(audience, payload, body)) : NOTHING,
  }
}

const RECEIPTS = new Set<EventType>(['conversation.delivered', 'conversation.read'])

const NOTHING = Buffer.alloc(0)

const toFrame = (position: number, type: string, at: number, body: string): Buffer =>
  Buffer.from(`{"type":"${type}","position":${position},"at":${at},"body":${body}}`)

function shown({ bare }: Audience, payload: unknown, body: string): string {
  if (bare) return '{}'
  return body.includes('"@private"') ? JSON.stringify(payload, withoutPrivate) : body
}

/** What `metadata` keeps for the app alone. */
function withoutPrivate(key: string, value: unknown): unknown {
  if (key !== 'metadata' || typeof value !== 'object' || value === null) return value
  const { '@private': _private, ...shared } = value as Record<string, unknown>
  return shared
}

type Membership = EventPayload<'group.member.joined'>

function changeOf(type: EventType, key: string, payload: unknown): Change | undefined {
  switch (type) {
    case 'group.created':
    case 'group.member.added':
    case 'group.member.joined':
      return membership('in', payload as Membership)
    case 'group.member.left':
    case 'group.member.kicked':
      return membership('out', payload as Membership)
    case 'group.member.banned': {
      const { group, members } = payload as EventPayload<'group.member.banned'>
      // Whoever was never a member can be banned too.
      const uids = Object.keys(members).filter((uid) => members[uid]?.oldScope !== undefined)
      return { kind: 'out', guid: group.guid, uids }
    }
    case 'group.deleted':
      return { kind: 'gone', guid: (payload as EventPayload<'group.deleted'>).group.guid, key }
    case 'user.blocked':
    case 'user.unblocked': {
      const { by, users } = payload as EventPayload<'user.blocked'>
      const kind = type === 'user.blocked' ? 'blocked' : 'unblocked'
      return { kind, uid: by.uid, others: Object.keys(users) }
    }
    default:
      return undefined
  }
}

const membership = (
  kind: 'in' | 'out',
  { group, members }: Pick<Membership, 'group' | 'members'>,
): Change => ({ kind, guid: group.guid, uids: Object.keys(members) })

/** Tells a user to read its lists anew, in the place of this event. */
export const reloadAt = (entry: Entry, uid: string): Entry => ({
  ...entry,
  gathered: false,
  frame: Buffer.from(
    JSON.stringify({ type: 'session.reload', body: { uid, position: entry.position } }),
  ),
})
