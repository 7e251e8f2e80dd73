import type { MessageRecord } from '@loquat/protocol'
import { type MessageLimits, messageLimits } from '../../core/access/visible.ts'
import type { Actor, ServedApp } from '../../core/actor.ts'
import { findEntities } from '../../core/entities.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { toEntity, toMessages } from '../../core/message-record.ts'
import type { MessageRow, ViewerAccess } from '../../core/message-rows.ts'
import { settingOf } from '../../core/settings.ts'
import type { Tx } from '../../platform/db/db.ts'
import { appendMessageAction } from './queries.ts'

/** Who changed a message, with the settings of the app. */
export type ChangedBy = Pick<Actor, 'uid' | 'settings'> & { app: Pick<ServedApp, 'no'> }

/**
 * Adds the action message that says what the actor did to a message, which is shown in its new
 * state.
 */
export async function appendChange(
  tx: Tx,
  actor: ChangedBy,
  action: 'edited' | 'deleted',
  row: MessageRow & ViewerAccess,
  gone = false,
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  const area = row.parent_id === null ? 'conversations' : 'threads'
  const moves = Boolean(settingOf(actor.settings, `core.${area}.updateOnMessageActions`))
  const { entities, kept } = await entitiesOfChange(tx, app.no, by, row)
  const { message } = await appendMessageAction.one(tx, {
    ...{ appNo: app.no, conversation: row.conversation, sender: by, moves },
    data: JSON.stringify({ action, entities: kept }),
  })
  const shown = gone ? { ...entities, on: kept.on } : entities
  return { ...message, data: { action, entities: shown } } as unknown as MessageRecord
}

/** The same as an answer to the actor: without the messages beside it that the actor's role may not see. */
export async function shownChange(
  tx: Tx,
  { app, policy }: Actor,
  message: MessageRecord,
  row: MessageRow,
): Promise<MessageRecord> {
  const limits = messageLimits(policy)
  if (!limits) return message
  const on = await snapshotOf(tx, app.no, row, limits)
  const shown = { ...(message.data.entities as object), on: { entity: on, entityType: 'message' } }
  return { ...message, data: { ...message.data, entities: shown } }
}

/** What the actor did to a held message, as an action message that isn't stored: it has the id of the message. */
export async function describeChange(
  tx: Tx,
  actor: ChangedBy,
  action: 'edited' | 'deleted',
  row: MessageRow,
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  const { entities } = await entitiesOfChange(tx, app.no, by, row)
  const { id, conversationId, receiver, receiverType, updatedAt } = entities.on.entity
  return {
    ...{ id, conversationId, sender: by, receiverType, receiver },
    ...{ category: 'action', type: 'message', sentAt: updatedAt, updatedAt },
    data: { action, entities },
  } as unknown as MessageRecord
}

/**
 * Who did it, to which message, in which conversation, and what the action message stores of it.
 */
async function entitiesOfChange(tx: Tx, appNo: number, by: string, row: MessageRow) {
  const message = await snapshotOf(tx, appNo, row)
  const { receiver } = message.data.entities as Record<'receiver', Entity>
  const system = by === SYSTEM_UID
  const found = await findEntities.maybeOne(tx, {
    ...{ appNo, viewer: null, uids: [by], guids: [], system },
  })
  const actor = { entity: found ? toEntity(found, true) : { uid: by }, entityType: 'user' }
  const on = <T extends object>(entity: T) => ({ entity, entityType: 'message' })
  return {
    entities: { by: actor, on: on(message), for: receiver },
    kept: { by: small(actor), on: on(idsOf(message)), for: small(receiver) },
  }
}

async function snapshotOf(tx: Tx, appNo: number, row: MessageRow, limits?: MessageLimits) {
  const [shown] = await toMessages(tx, appNo, [row], { snapshot: true, limits })
  const { receipts: _receipts, ...message } = shown as MessageRecord
  return message
}

/** The message is shown in its current state while it exists; this is stored for afterwards. */
const KEPT = [
  ...['id', 'conversationId', 'sender', 'receiverType', 'receiver', 'parentId'],
  ...['deletedAt', 'deletedBy'],
]

const idsOf = (message: MessageRecord) =>
  Object.fromEntries(Object.entries(message).filter(([key]) => KEPT.includes(key)))

interface Entity {
  entity: Record<string, unknown>
  entityType: string
}

/** What a message stores of a user or group, for when they are deleted. */
const small = ({ entity: { uid, guid, name }, entityType }: Entity): Entity => ({
  entity: { ...(uid !== undefined && { uid }), ...(guid !== undefined && { guid }), name },
  entityType,
})
