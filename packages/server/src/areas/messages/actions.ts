import type { MessageRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import { refusalOf } from '../../platform/http/refusal.ts'
import type { Actor } from '../access/actor.ts'
import { checkUser } from '../access/plugin.ts'
import { claimIdempotency, getIdempotency } from '../access/queries.ts'
import { toldTo } from '../access/unseen.ts'
import { write } from '../access/write.ts'
import { settingOf } from '../settings/settings.ts'
import { type Content, readContent } from './content.ts'
import { notAllowed } from './errors.ts'
import {
  appendMessageAction,
  type ConversationKind,
  deleteMessage,
  findEntities,
  findMessage,
  lockHead,
  type MessageRow,
  type Standing,
  sendMessage,
} from './queries.ts'
import { SYSTEM_UID, toMessages } from './record.ts'
import { type NewMessage, type SentToMany, TARGETS } from './schema.ts'

interface Target {
  kind: ConversationKind
  id: string
}

/** A message before it is sent. */
interface Draft extends Content {
  muid: string | null
  tags: string[]
  parent: string | null
  quoted: string | null
  shows: boolean
}

/** The answer's body as JSON: the record comes so from the database. */
export async function send(actor: Actor, message: NewMessage): Promise<string> {
  const targets = targetsOf(message)
  if (targets.length === 0 && message.parentMessageId !== undefined) {
    targets.push(await targetOfReply(actor, String(message.parentMessageId)))
  }
  const { muid = null, tags = [] } = message
  const content = readContent(message)
  const draft: Draft = {
    ...content,
    ...{ muid, tags },
    parent: idOrNull(message.parentMessageId),
    quoted: idOrNull(message.quotedMessageId),
    shows: shows(actor, message, content.category),
  }
  const [first] = targets
  if (!first) throw fail('ERR_EMPTY_RECEIVER')
  if (message.multipleReceivers) {
    await checkSender(actor)
    return JSON.stringify({ data: await sendToMany(actor, draft, targets) })
  }
  return `{"data":${await sendTo(actor, draft, first)}}`
}

/** Whether it becomes the last message of the conversation. */
function shows({ settings }: Actor, message: NewMessage, category: string): boolean {
  const { parentMessageId, updateConversation } = message
  if (parentMessageId !== undefined) {
    return Boolean(settingOf(settings, 'core.conversations.updateOnReplies'))
  }
  if (category !== 'custom') return true
  const wanted = Boolean(settingOf(settings, 'core.conversations.updateOnCustomMessage'))
  return wanted && updateConversation !== false
}

const idOrNull = (id: string | number | undefined) => (id === undefined ? null : String(id))

/** Where the message of the thread is, seen from the actor. */
async function targetOfReply(actor: Actor, parent: string): Promise<Target> {
  const { kind, one, other } = await readMessage(actor, parent)
  if (kind === 'group' || one !== (actor.uid ?? SYSTEM_UID)) return { kind, id: one }
  return { kind, id: other }
}

/** Where no send refuses the sender for all of the request. */
async function checkSender({ app, uid }: Actor): Promise<void> {
  if (uid !== undefined) await checkUser(app, uid)
}

/** Every receiver once, in the order given. */
function targetsOf({ receiver, receiverType, multipleReceivers }: NewMessage): Target[] {
  const targets: Target[] = []
  if (receiver) {
    if (receiverType !== 'user' && receiverType !== 'group') throw fail('ERR_INVALID_RECEIVER_TYPE')
    targets.push({ kind: receiverType, id: receiver })
  }
  const { uids = [], guids = [] } = multipleReceivers ?? {}
  targets.push(...uids.map((id) => ({ kind: 'user' as const, id })))
  targets.push(...guids.map((id) => ({ kind: 'group' as const, id })))
  const once = new Map(targets.map((target) => [nameOf(target), target]))
  if (once.size > TARGETS) {
    throw badRequest({ multipleReceivers: [`a message can have at most ${TARGETS} receivers`] })
  }
  return [...once.values()]
}

const nameOf = ({ kind, id }: Target) => `${kind}:${id}`

/** One message, one call of one function. `item` tells one of several receivers from the others. */
async function sendTo(
  actor: Actor,
  { data, ...draft }: Draft,
  { kind, id }: Target,
  item = '',
): Promise<string> {
  const { app, credential, retry, uid: sender = SYSTEM_UID } = actor
  const { db } = app.cell
  const sent = await db
    .call((once) =>
      sendMessage.one(once, {
        ...{ appNo: app.no, kind, sender, receiver: id, ...draft, data: JSON.stringify(data) },
        ...{ target: item, credential, requestHash: retry?.requestHash ?? null },
        // No header can hold a line break.
        key: retry ? [retry.key, item].filter(Boolean).join('\n') : null,
      }),
    )
    .catch(async (error) => {
      throw await toldTo(actor, error, { guid: kind === 'group' ? id : undefined })
    })
  if (sent.message !== null) return sent.message
  await checkSender(actor)
  const sentBefore = { appNo: app.no, id: String(sent.message_id), viewer: null }
  const row = await findMessage.maybeOne(db, sentBefore)
  if (!row || row.cleared) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id: sent.message_id })
  const [message] = await toMessages(db, app.no, [row], { viewer: actor.uid })
  return JSON.stringify(message)
}

/** One transaction each: who refuses it does not keep it from the others. */
async function sendToMany(actor: Actor, draft: Draft, targets: Target[]): Promise<SentToMany> {
  await holdKey(actor)
  const outcomes: [Target, Outcome][] = []
  for (const target of targets) {
    outcomes.push([target, await outcomeOf(() => sendTo(actor, draft, target, nameOf(target)))])
  }
  const of = (kind: ConversationKind) =>
    Object.fromEntries(
      outcomes.filter(([target]) => target.kind === kind).map(([{ id }, outcome]) => [id, outcome]),
    )
  return { uids: of('user'), guids: of('group') }
}

/** The key of the whole call: each message has one of its own, which says nothing of the others. */
async function holdKey({ app, credential, uid = '', retry }: Actor): Promise<void> {
  if (!retry) return
  const { key, requestHash } = retry
  const row = { appNo: app.no, credential, uid, key }
  if (await claimIdempotency.maybeOne(app.cell.db, { ...row, requestHash })) return
  const { request_hash } = await getIdempotency.one(app.cell.db, row)
  if (!request_hash.equals(requestHash)) throw fail('ERR_IDEMPOTENCY_KEY_REUSED')
}

type Outcome = SentToMany['uids'][string]

async function outcomeOf(sending: () => Promise<string>): Promise<Outcome> {
  try {
    return { success: true, data: JSON.parse(await sending()) as MessageRecord }
  } catch (error) {
    const refused = error instanceof ApiError ? error : refusalOf(error)
    if (!refused) throw error
    return { success: false, error: { code: refused.code, message: refused.message } }
  }
}

/** Reads a message as the actor may see it. A write does so in its transaction, or a retry would find it gone. */
export async function readMessage(
  actor: Actor,
  id: string,
  db: Executor = actor.app.cell.db,
): Promise<MessageRow & Standing> {
  const row = await findSeen(db, actor, id)
  if (actor.uid !== undefined && !row.takes_part) throw fail('ERR_MESSAGE_NO_ACCESS', { id })
  return row
}

/** The message as the actor sees it. */
export async function showMessage(actor: Actor, id: string): Promise<MessageRecord> {
  const row = await readMessage(actor, id)
  const [message] = await toMessages(actor.app.cell.db, actor.app.no, [row], { viewer: actor.uid })
  return message as MessageRecord
}

/** Returns the action message that tells of it. */
export function removeMessage(
  deps: Deps,
  actor: Actor,
  id: string,
  permanent: boolean,
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  return write(deps, actor, async (tx) => {
    const row = await lockSeen(tx, actor, id)
    checkChange(actor, row)
    if (!permanent) checkThere(row)
    const gone = await deleteMessage.one(tx, { appNo: app.no, id: row.id, by, permanent })
    const left = {
      ...row,
      ...{ data: {}, tags: [], quoted_id: null, thread: null },
      ...{ deleted_at: gone.deleted_at, deleted_by: gone.deleted_by, updated_at: gone.updated_at },
      ...{ pinned_at: null, pinned_by: null, reacted: false, saved: false },
    }
    const message = await appendChange(tx, actor, 'deleted', left, permanent)
    const key = `conversation:${row.conversation}`
    await announce(tx, { appNo: app.no, type: 'message.deleted', key, payload: { message } })
    return message
  })
}

/** Adds the message that tells what the actor did to another, which is as it is after it. */
export async function appendChange(
  tx: Tx,
  actor: Actor,
  action: 'edited' | 'deleted',
  row: MessageRow & Standing,
  gone = false,
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  const area = row.parent_id === null ? 'conversations' : 'threads'
  const moves = Boolean(settingOf(actor.settings, `core.${area}.updateOnMessageActions`))
  const { entities, kept } = await entitiesOfChange(tx, app.no, by, row)
  if (gone) entities.on = kept.on
  const { message } = await appendMessageAction.one(tx, {
    ...{ appNo: app.no, conversation: row.conversation, sender: by, moves },
    data: JSON.stringify({ action, entities: kept }),
  })
  return { ...message, data: { action, entities } } as unknown as MessageRecord
}

/** Locks the conversation of a message: as it is now that nobody else can change it, if it still is. */
export async function lockSeen(tx: Tx, actor: Actor, id: string): Promise<MessageRow & Standing> {
  const { conversation } = await findSeen(tx, actor, id)
  await lockHead.maybeOne(tx, { appNo: actor.app.no, conversation })
  return findSeen(tx, actor, id)
}

/** A message that the actor has not cleared away, whoever takes part. */
export async function findSeen(
  db: Executor,
  { app, uid }: Actor,
  id: string,
): Promise<MessageRow & Standing> {
  const row = await findMessage.maybeOne(db, { appNo: app.no, id, viewer: uid ?? null })
  if (!row || row.cleared) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  return row
}

/** The sender may, in groups admins and moderators too, and the app. */
export function checkChange({ uid }: Actor, row: MessageRow & Standing): void {
  const leads = row.scope === 'admin' || row.scope === 'moderator'
  if (uid !== undefined && !row.takes_part) throw fail('ERR_MESSAGE_NO_ACCESS', { id: row.id })
  if (uid !== undefined && row.sender !== uid && !leads) throw fail('ERR_MESSAGE_NOT_A_SENDER')
  checkNoAction(row)
}

export function checkNoAction({ category }: MessageRow): void {
  if (category === 'action')
    throw notAllowed("This is an action message, which doesn't allow this.")
}

export function checkThere({ deleted_at }: MessageRow): void {
  if (deleted_at) throw notAllowed('The message was deleted.')
}

/** Who did it, to which message, in which conversation; and what of it the action keeps. */
async function entitiesOfChange(tx: Tx, appNo: number, by: string, row: MessageRow) {
  const [shown] = await toMessages(tx, appNo, [row])
  const { receipts: _receipts, ...message } = shown as MessageRecord
  const { receiver } = message.data.entities as Record<'receiver', Entity>
  const system = by === SYSTEM_UID
  const found = await findEntities.maybeOne(tx, {
    ...{ appNo, viewer: null, uids: [by], guids: [], system },
  })
  const actor = { entity: found ? JSON.parse(found.record) : { uid: by }, entityType: 'user' }
  const on = (entity: object) => ({ entity, entityType: 'message' })
  return {
    entities: { by: actor, on: on(message), for: receiver },
    kept: { by: small(actor), on: on(idsOf(message)), for: small(receiver) },
  }
}

/** A message is shown as it is now while it is there: this is for when it is gone. */
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

/** What a message keeps of a user or group, for when it is gone. */
const small = ({ entity: { uid, guid, name }, entityType }: Entity): Entity => ({
  entity: { ...(uid !== undefined && { uid }), ...(guid !== undefined && { guid }), name },
  entityType,
})
