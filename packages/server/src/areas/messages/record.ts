import type { MessageRecord, ReceiptRecord } from '@loquat/protocol'
import type { Executor } from '../../platform/db/query.ts'
import { conversationIdOf, seconds } from '../users/record.ts'
import { findEntities, type MessageRow } from './queries.ts'

/** Acts for the app itself; it has no row. */
export const SYSTEM_UID = 'app_system'

type Json = Record<string, unknown>
type Kind = 'user' | 'group'

interface Entity {
  entity: Json
  entityType: string
}

/** Records of messages, with the users and groups concerned as they are now, in one lookup. */
export async function toMessages(
  db: Executor,
  appNo: number,
  rows: MessageRow[],
): Promise<MessageRecord[]> {
  if (rows.length === 0) return []
  const ids = { user: new Set<string>(), group: new Set<string>() }
  for (const row of rows) {
    ids.user.add(row.sender)
    ids[row.kind].add(receiverOf(row))
    for (const [kind, id] of actionIds(row)) ids[kind].add(id)
  }
  const found = await findEntities.many(db, {
    appNo,
    uids: [...ids.user],
    guids: [...ids.group],
    system: ids.user.has(SYSTEM_UID),
  })
  const known = new Map(found.map(({ kind, id, record }) => [`${kind}:${id}`, record]))
  return rows.map((row) => toMessage(row, known))
}

function toMessage(row: MessageRow, known: Map<string, Json>): MessageRecord {
  const message: MessageRecord = {
    id: String(row.id),
    conversationId: row.kind === 'group' ? `group_${row.one}` : `${row.one}_user_${row.other}`,
    sender: row.sender,
    receiverType: row.kind,
    receiver: receiverOf(row),
    category: row.category,
    type: row.type,
    data: { ...row.data, entities: entitiesOf(row, known) },
    sentAt: seconds(row.sent_at),
    updatedAt: seconds(row.updated_at),
  }
  if (row.muid !== null) message.muid = row.muid
  if (row.tags.length > 0) message.tags = row.tags
  if (row.edited_at) message.editedAt = seconds(row.edited_at)
  if (row.edited_by !== null) message.editedBy = row.edited_by
  if (row.deleted_at) message.deletedAt = seconds(row.deleted_at)
  if (row.deleted_by !== null) message.deletedBy = row.deleted_by
  return { ...message, ...receiptFields(row) }
}

/** Of two users the other side's receipt; those of groups are a list of their own. */
function receiptFields(row: MessageRow): Partial<MessageRecord> {
  const { delivered_at, read_at } = row
  if (!delivered_at && !read_at) return { receipts: { data: [] } }
  const receipt = toReceipt({ uid: receiverOf(row), delivered_at, read_at })
  const { recipient: _recipient, ...times } = receipt
  return { ...times, receipts: { data: [receipt] } }
}

export function toReceipt(row: {
  uid: string
  delivered_at: Date | null
  read_at: Date | null
}): ReceiptRecord {
  const receipt: ReceiptRecord = { recipient: row.uid }
  if (row.delivered_at) receipt.deliveredAt = seconds(row.delivered_at)
  if (row.read_at) receipt.readAt = seconds(row.read_at)
  return receipt
}

const receiverOf = ({ kind, sender, one, other }: MessageRow) =>
  kind === 'group' || sender !== one ? one : other

/** Who an action message tells of; each part keeps a small record, for when its original is gone. */
function partsOf({ category, data }: MessageRow): [string, Entity][] {
  return category === 'action'
    ? Object.entries((data.entities ?? {}) as Record<string, Entity>)
    : []
}

function actionIds(row: MessageRow): [Kind, string][] {
  const ids: [Kind, string][] = []
  for (const [, { entity, entityType }] of partsOf(row)) {
    if (entityType === 'user') ids.push(['user', String(entity.uid)])
    if (entityType === 'group') ids.push(['group', String(entity.guid)])
  }
  return ids
}

function entitiesOf(row: MessageRow, known: Map<string, Json>): Record<string, Entity> {
  if (row.category !== 'action') {
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
