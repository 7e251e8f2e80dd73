import type { MessageRecord, ReceiptRecord, UserRecord } from '@loquat/protocol'
import type { Executor } from '../platform/db/query.ts'
import { isShown, type MessageLimits, messageLimits } from './access/visible.ts'
import type { Actor } from './actor.ts'
import { type Annotations, annotationsOf } from './annotations.ts'
import { type EntityRow, findEntities, listMentioned } from './entities.ts'
import { conversationIdOf, SYSTEM_UID } from './ids.ts'
import { listReferred, type MessageRow } from './message-rows.ts'
import { builder } from './records/fields.ts'
import { MESSAGE, type MessageBase, receiverOf } from './records/message.ts'
import { seconds } from './time.ts'
import { blockFields, toSnapshot, withoutPresence } from './user-record.ts'

type Json = Record<string, unknown>
type Kind = 'user' | 'group'

export interface Entity {
  entity: Json
  entityType: string
}

/** Optional parts of the records. */
export interface Show {
  /** The viewer; undefined for the app. */
  viewer?: string | undefined
  /** What the viewer's role may see: other messages are left out of those that refer to them. */
  limits?: MessageLimits | undefined
  /** They are for an event. */
  snapshot?: true
  /** Blocks between mentioned users and the viewer. */
  mentionBlocks?: boolean | undefined
  mentionTags?: boolean | undefined
  hideQuoted?: boolean | undefined
  hideTags?: boolean | undefined
  /** Users and groups that have already been read. */
  entities?: Entities
}

/** What a record shows to the actor. */
export const asSeenBy = ({ uid, policy }: Pick<Actor, 'uid' | 'policy'>): Show => ({
  viewer: uid,
  limits: messageLimits(policy),
})

/** Users and groups in their current state, by `kind:id`. */
type Entities = Map<string, Json>
type KnownEntities = Pick<Entities, 'get'>

/** Users, groups and messages that the messages refer to. */
interface Known {
  entities: Entities
  messages: Map<number, MessageRow>
  /** The requested parts of mentioned users. */
  mentioned: Map<string, Json>
  annotations: Annotations
}

/**
 * Records of messages with everything they refer to in its current state, in one lookup per kind.
 */
export async function toMessages(
  db: Executor,
  appNo: number,
  rows: MessageRow[],
  show: Show = {},
): Promise<MessageRecord[]> {
  if (rows.length === 0) return []
  const referred = new Set(rows.flatMap((row) => referredIn(row, show)))
  const found = referred.size > 0 ? await listReferred.many(db, { appNo, ids: [...referred] }) : []
  const others = found.filter((row) => isShown(show.limits, row))
  const known: Known = {
    entities: await withEntities(db, appNo, [...rows, ...others], show),
    messages: new Map(others.map((row) => [row.id, row])),
    mentioned: await findMentioned(db, appNo, [...rows, ...others], show),
    annotations: await annotationsOf(db, appNo, [...rows, ...others], show.viewer),
  }
  return rows.map((row) => toMessage(row, known, show))
}

/** Adds everything the messages show that isn't known yet. */
async function withEntities(
  db: Executor,
  appNo: number,
  rows: MessageRow[],
  { entities: known = new Map(), viewer, snapshot }: Show,
): Promise<Entities> {
  const ids = { user: new Set<string>(), group: new Set<string>() }
  for (const row of rows) {
    for (const [kind, id] of entityIds(row)) if (!known.has(`${kind}:${id}`)) ids[kind].add(id)
  }
  const [uids, guids] = [[...ids.user], [...ids.group]]
  if (uids.length + guids.length === 0) return known
  const wanted = { appNo, viewer: viewer ?? null, uids, guids, system: ids.user.has(SYSTEM_UID) }
  for (const row of await findEntities.many(db, wanted))
    known.set(`${row.kind}:${row.id}`, toEntity(row, snapshot))
  return known
}

/** The record of a user or group as the viewer sees it, or as events carry it. */
export function toEntity({ kind, record, apart }: EntityRow, snapshot?: true): Json {
  const entity = JSON.parse(record)
  if (snapshot && kind === 'user') return toSnapshot(entity as UserRecord)
  return apart ? withoutPresence(entity as UserRecord) : entity
}

/** The ids of the messages that are shown with a message. */
function referredIn(row: MessageRow, { hideQuoted }: Show): number[] {
  const ids = [row.thread?.[1], hideQuoted ? null : row.quoted_id, changedBy(row)]
  return ids.filter((id) => typeof id === 'number')
}

/** The edited or deleted message of an action message: shown in its current state. */
export function changedBy({
  category,
  type,
  data,
}: Pick<MessageRow, 'category' | 'type' | 'data'>): number | undefined {
  if (category !== 'action' || type !== 'message') return undefined
  return Number((data.entities as Record<'on', Entity>).on.entity.id)
}

async function findMentioned(
  db: Executor,
  appNo: number,
  rows: MessageRow[],
  { viewer = '', mentionBlocks, mentionTags }: Show,
): Promise<Map<string, Json>> {
  const uids = rows.flatMap(({ data }) => Object.keys(data.mentions ?? {}))
  if (uids.length === 0 || !(mentionBlocks || mentionTags)) return new Map()
  const users = await listMentioned.many(db, { appNo, uids: [...new Set(uids)], viewer })
  return new Map(
    users.map(({ uid, tags, ...relation }) => [
      uid,
      {
        ...(mentionTags && tags.length > 0 && { tags }),
        ...(mentionBlocks && viewer && blockFields(relation)),
      },
    ]),
  )
}

function toMessage(row: MessageRow, known: Known, show: Show): MessageRecord {
  const message = toBareMessage(row, known, show)
  const changed = known.messages.get(changedBy(row) ?? 0)
  if (changed) {
    const entities = message.data.entities as Record<'on', Entity>
    entities.on = { entity: toBareMessage(changed, known, show), entityType: 'message' }
  }
  if (row.quoted_id !== null && !show.hideQuoted) {
    const quoted = known.messages.get(row.quoted_id)
    message.quotedMessage = quoted
      ? toBareMessage(quoted, known, show)
      : { id: String(row.quoted_id) }
  }
  if (row.thread) {
    const [replyCount, lastId] = row.thread
    message.replyCount = replyCount
    const last = known.messages.get(lastId)
    if (last && !last.deleted_at) message.lastReply = toBareMessage(last, known, show)
  }
  return { ...message, ...receiptFields(row) }
}

export const toBase = builder<MessageBase, MessageRow>(MESSAGE)

/** Without the messages that it refers to, and without receipts. */
function toBareMessage(row: MessageRow, known: Known, { hideTags }: Show): MessageRecord {
  const reactions = known.annotations.reactions.get(row.id)
  const savedAt = known.annotations.savedAt.get(row.id)
  const data = {
    ...row.data,
    ...mentionsOf(row, known),
    ...(reactions && { reactions }),
    entities: entitiesOf(row, known.entities),
  }
  const message: MessageRecord = Object.assign(toBase(row), { data })
  if (hideTags) delete message.tags
  if (savedAt) message.savedAt = seconds(savedAt)
  return message
}

/** In 1:1 conversations the other user's receipt; receipts of groups are a separate list. */
export function receiptFields(row: MessageRow): Partial<MessageRecord> {
  const { delivered_at, read_at } = row
  if (!delivered_at && !read_at) return { receipts: { data: [] } }
  const receipt = toReceipt({ uid: receiverOf(row), delivered_at, read_at })
  const { recipient: _recipient, ...times } = receipt
  return { ...times, receipts: { data: [receipt] } }
}

/** A user who has read a message has received it, whatever else the marks say. */
export function toReceipt(row: {
  uid: string
  delivered_at: Date | null
  read_at: Date | null
}): ReceiptRecord {
  const receipt: ReceiptRecord = { recipient: row.uid }
  const [received, read] = [row.delivered_at ?? row.read_at, row.read_at]
  if (received) receipt.deliveredAt = seconds(read && read < received ? read : received)
  if (read) receipt.readAt = seconds(read)
  return receipt
}

/** Mentioned users in their current state; for deleted ones, what the message stored. */
export function mentionsOf(
  { data }: Pick<MessageRow, 'data'>,
  { entities, mentioned }: { entities: KnownEntities; mentioned: Known['mentioned'] },
): Json {
  if (!data.mentions) return {}
  const shown = Object.entries(data.mentions).map(([uid, kept]) => [
    uid,
    { ...(entities.get(`user:${uid}`) ?? kept), ...mentioned.get(uid) },
  ])
  return { mentions: Object.fromEntries(shown) }
}

/** Whether the service wrote a message: about an action, or about a call. */
export const isWritten = (category: string): boolean => category === 'action' || category === 'call'

/**
 * The users and groups of an action message; each part stores a small record, for when the original
 * is deleted.
 */
function partsOf({ category, data }: MessageRow): [string, Entity][] {
  return isWritten(category) ? Object.entries((data.entities ?? {}) as Record<string, Entity>) : []
}

/** All users and groups that a record shows. */
function entityIds(row: MessageRow): [Kind, string][] {
  const ids: [Kind, string][] = [
    ['user', row.sender],
    [row.kind, receiverOf(row)],
  ]
  for (const [, { entity, entityType }] of partsOf(row)) {
    if (entityType === 'user') ids.push(['user', String(entity.uid)])
    if (entityType === 'group') ids.push(['group', String(entity.guid)])
  }
  for (const uid of Object.keys(row.data.mentions ?? {})) ids.push(['user', uid])
  return ids
}

export function entitiesOf(row: MessageRow, known: KnownEntities): Record<string, Entity> {
  if (!isWritten(row.category)) {
    const receiver = known.get(`${row.kind}:${receiverOf(row)}`) ?? {}
    const direct = row.kind === 'user' && { conversationId: conversationIdOf(row.one, row.other) }
    return {
      sender: { entity: known.get(`user:${row.sender}`) ?? {}, entityType: 'user' },
      receiver: { entity: { ...receiver, ...direct }, entityType: row.kind },
    }
  }
  return Object.fromEntries(
    partsOf(row).map(([name, { entity, entityType }]) => {
      const now = known.get(`${entityType}:${entity.uid ?? entity.guid}`)
      return [name, { entity: now ?? entity, entityType }]
    }),
  )
}
