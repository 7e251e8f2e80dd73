import {
  type Audience,
  audienceOf,
  type EventPayload,
  type EventType,
  foundersOf,
  topicsOf,
} from '@loquat/protocol'
import { type Contents, contentsOf } from './contents.ts'
import { type PresenceChange, presenceChangeOf } from './presence-change.ts'

/** How an event changes who receives the events after it. */
export type AudienceChange =
  | { kind: 'joined' | 'left'; guid: string; uids: string[] }
  | { kind: 'deleted'; guid: string; orderKey: string }
  | { kind: 'blocked' | 'unblocked'; uid: string; others: string[] }
  | { kind: 'userDeleted'; uid: string }

/** An event of an app's log, prepared for delivery to devices. */
export interface Entry {
  readonly position: number
  readonly type: EventType
  readonly audience: Audience | undefined
  readonly topics: readonly string[]
  readonly audienceChange: AudienceChange | undefined
  readonly presenceChange: PresenceChange | undefined
  /** Users whose rules the event may have changed: who got another role, scope or group. */
  readonly ruleChange: string[] | undefined
  /** The messages and reactions in the frame, as far as rules can hide them. */
  readonly contents: Contents | undefined
  /** A receipt in a group. There can be thousands, so a device gets those of one second in one frame. */
  readonly batched: boolean
  /** When this process received it, by the monotonic clock. */
  readonly receivedAt: number
  /** The same bytes for every recipient. Empty if there are none. */
  readonly frame: Buffer
}

/** Reads an event as the sequencer publishes it (see sequence_events). */
export function readPublished(text: string): Entry {
  const { position, type, key, at, payload } = JSON.parse(text)
  // The fields before `payload` can't contain this text: their quotes are escaped.
  const body = text.slice(text.indexOf(',"payload":') + ',"payload":'.length, -1)
  return toEntry({ position, type, key, at, payload, body })
}

/** Reads an event as the log stores it. */
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
    topics: topicsOf(audience),
    audienceChange: audienceChangeOf(type, key, payload),
    presenceChange: presenceChangeOf(type, payload),
    ruleChange: ruleChangeOf(type, payload),
    contents: audience && contentsOf(type, payload),
    batched: RECEIPTS.has(type) && audience?.group !== undefined,
    receivedAt: performance.now(),
    frame: audience ? toFrame(position, type, at, bodyFor(audience, payload, body)) : NO_FRAME,
  }
}

const RECEIPTS = new Set<EventType>(['conversation.delivered', 'conversation.read'])

const NO_FRAME = Buffer.alloc(0)

const toFrame = (position: number, type: string, at: number, body: string): Buffer =>
  Buffer.from(`{"type":"${type}","position":${position},"at":${at},"body":${body}}`)

function bodyFor({ bare }: Audience, payload: unknown, body: string): string {
  if (bare) return '{}'
  return body.includes('"@private"') ? JSON.stringify(payload, withoutPrivate) : body
}

/** A JSON replacer that leaves out the part of `metadata` that only the app may see. */
function withoutPrivate(key: string, value: unknown): unknown {
  if (key !== 'metadata' || typeof value !== 'object' || value === null) return value
  const { '@private': _private, ...shared } = value as Record<string, unknown>
  return shared
}

type Membership = EventPayload<'group.member.joined'>

function ruleChangeOf(type: EventType, payload: unknown): string[] | undefined {
  switch (type) {
    case 'user.updated':
    // Its uid may be that of a deleted user, who had another role.
    case 'user.created':
      return [(payload as EventPayload<typeof type>).user.uid]
    case 'group.member.added':
    case 'group.member.joined':
    case 'group.member.scope.changed':
      return Object.keys((payload as Membership).members)
    // An owner isn't bound by the permissions of scopes; the old one is again.
    case 'group.owner.transferred': {
      const { group, oldOwner } = payload as EventPayload<typeof type>
      return [group.owner, oldOwner]
    }
    // Its guid may be that of a deleted group, which had other permissions.
    case 'group.created':
      return foundersOf(payload as EventPayload<typeof type>)
    default:
      return undefined
  }
}

function audienceChangeOf(
  type: EventType,
  orderKey: string,
  payload: unknown,
): AudienceChange | undefined {
  switch (type) {
    case 'group.created': {
      const created = payload as EventPayload<typeof type>
      return { kind: 'joined', guid: created.group.guid, uids: foundersOf(created) }
    }
    case 'group.member.added':
    case 'group.member.joined':
      return membershipChange('joined', payload as Membership)
    case 'group.member.left':
    case 'group.member.kicked':
      return membershipChange('left', payload as Membership)
    case 'group.member.banned': {
      const { group, members } = payload as EventPayload<'group.member.banned'>
      // A user who was never a member can be banned too.
      const uids = Object.keys(members).filter((uid) => members[uid]?.oldScope !== undefined)
      return { kind: 'left', guid: group.guid, uids }
    }
    case 'group.deleted': {
      const { group } = payload as EventPayload<'group.deleted'>
      return { kind: 'deleted', guid: group.guid, orderKey }
    }
    case 'user.blocked':
    case 'user.unblocked': {
      const { by, users } = payload as EventPayload<'user.blocked'>
      const kind = type === 'user.blocked' ? 'blocked' : 'unblocked'
      return { kind, uid: by.uid, others: Object.keys(users) }
    }
    case 'user.deleted':
      return { kind: 'userDeleted', uid: (payload as EventPayload<typeof type>).user.uid }
    default:
      return undefined
  }
}

const membershipChange = (
  kind: 'joined' | 'left',
  { group, members }: Pick<Membership, 'group' | 'members'>,
): AudienceChange => ({ kind, guid: group.guid, uids: Object.keys(members) })

/** An entry that is no event and asks the user's devices to read their lists again. */
export const reloadOf = (uid: string, position: number): Entry => ({
  ...{ position, type: 'user.updated', audience: undefined, topics: [], batched: false },
  ...{ audienceChange: undefined, presenceChange: undefined },
  ...{ ruleChange: undefined, contents: undefined },
  receivedAt: performance.now(),
  frame: reloadFrame(uid, position),
})

const reloadFrame = (uid: string, position: number) =>
  Buffer.from(JSON.stringify({ type: 'session.reload', body: { uid, position } }))

/** An entry that replaces `entry` and asks the user's devices to read their lists again. */
export const reloadAt = (entry: Entry, uid: string): Entry => ({
  ...entry,
  batched: false,
  frame: reloadFrame(uid, entry.position),
})
