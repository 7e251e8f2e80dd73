import type { MessageRecord } from '@loquat/protocol'
import { authorize, type Context } from '../../core/access/authorize.ts'
import { listIn } from '../../core/access/rules.ts'
import { messageLimits } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import { type ConversationKind, SYSTEM_UID } from '../../core/ids.ts'
import { findHeld, findMessage, findSeen, readMessage } from '../../core/message-access.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import { moderate } from '../../core/moderation/moderate.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import { refuseIf } from '../../core/policy.ts'
import { refuseMuted } from '../../core/sanctions.ts'
import { settingOf } from '../../core/settings.ts'
import { checkUser } from '../../gate/plugin.ts'
import { claimIdempotency, findActiveUser, getIdempotency } from '../../gate/queries.ts'
import { redactError } from '../../gate/redact.ts'
import { inTurn, laneWork } from '../../gate/turn.ts'
import type { Executor } from '../../platform/db/query.ts'
import { ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import { refusalOf } from '../../platform/http/refusal.ts'
import { describeFiles, fileIdsIn } from '../files/attach.actions.ts'
import { type Content, isObject, type Json, readContent, withoutOurs } from './content.ts'
import { countDisapproved, refuseRepeated } from './disapproved.ts'
import type { SendParams } from './queries.ts'
import { type NewMessage, type SentToMany, TARGETS } from './schema.ts'
import { isPlain, type SendDeps, sendAlone, sendTogether } from './send-batches.ts'

interface Target {
  kind: ConversationKind
  id: string
}

export { isObject, readContent, withoutOurs }

/** A message before it is sent. */
interface Draft extends Content {
  muid: string | null
  tags: string[]
  parent: string | null
  quoted: string | null
  shows: boolean
  /** Whether it isn't checked by the rules of moderation. */
  skip: boolean
  /** The ids of the files of ours that it refers to; null for none. */
  files: string[] | null
}

/** Returns the answer's body as JSON: the database builds the record as text. */
export async function sendMessage(
  deps: SendDeps,
  actor: Actor,
  message: NewMessage,
  verdict?: Verdict,
): Promise<string> {
  const reply = message.parentMessageId !== undefined
  authorize(actor, {
    features: reply ? ['createMessage', 'createMessageThread'] : ['createMessage'],
  })
  refuseRepeated(deps, actor)
  const targets = targetsOf(message)
  if (targets.length === 0 && message.parentMessageId !== undefined) {
    targets.push(await targetOfReply(actor, String(message.parentMessageId)))
  }
  await checkReferred(actor, message)
  const { muid = null, tags = [] } = message
  const { files, ...content } = await withFiles(actor, readContent(message))
  const draft: Draft = {
    ...content,
    ...{ muid, tags },
    parent: idOrNull(message.parentMessageId),
    quoted: idOrNull(message.quotedMessageId),
    shows: shows(actor, message, content.category),
    skip: skips(actor, message),
    files,
  }
  const [first] = targets
  if (!first) throw fail('ERR_EMPTY_RECEIVER')
  if (message.multipleReceivers) {
    await checkSender(actor)
    return JSON.stringify({ data: await sendToMany({ deps, actor, draft, verdict }, targets) })
  }
  return `{"data":${await sendTo({ deps, actor, draft, verdict }, first)}}`
}

/** Media messages can refer to files of ours. Nothing is read for others. */
export async function withFiles(
  actor: Actor,
  content: Content,
  db?: Executor,
): Promise<Content & { files: string[] | null }> {
  const { category, type, data } = content
  const media = category === 'message' && type !== 'text'
  const files = media ? fileIdsIn(data) : []
  if (files.length === 0) return { ...content, files: null }
  const attachments = await describeFiles(actor, data.attachments as Json[], db)
  return { ...content, data: { ...data, attachments }, files }
}

/** Whether it becomes the conversation's last message. */
function shows({ settings }: Actor, message: NewMessage, category: string): boolean {
  const { parentMessageId, updateConversation } = message
  if (parentMessageId !== undefined) {
    return Boolean(settingOf(settings, 'core.conversations.updateOnReplies'))
  }
  if (category !== 'custom') return true
  const wanted = Boolean(settingOf(settings, 'core.conversations.updateOnCustomMessage'))
  return wanted && updateConversation !== false
}

function skips(actor: Actor, { skipModeration = false }: NewMessage): boolean {
  if (skipModeration && actor.kind !== 'app') {
    const text = 'only the app itself, with its API key and without onBehalfOf, skips moderation'
    throw badRequest({ skipModeration: [text] })
  }
  return skipModeration
}

/**
 * Refuses to answer or quote a message that the actor's role may not see: the answer would show it. The function that
 * sends checks the rest.
 */
async function checkReferred(actor: Actor, { parentMessageId, quotedMessageId }: NewMessage) {
  if (!messageLimits(actor.policy)) return
  for (const id of [parentMessageId, quotedMessageId]) {
    if (id !== undefined) await findSeen(actor.app.cell.db, actor, String(id))
  }
}

const idOrNull = (id: string | number | undefined) => (id === undefined ? null : String(id))

/** The receiver of the parent message, as the actor sees it. */
async function targetOfReply(actor: Actor, parent: string): Promise<Target> {
  const { kind, one, other } = await readMessage(actor, parent)
  if (kind === 'group' || one !== (actor.uid ?? SYSTEM_UID)) return { kind, id: one }
  return { kind, id: other }
}

/** For calls in which no send checks the sender for the whole request. */
async function checkSender({ app, uid }: Actor): Promise<void> {
  if (uid !== undefined) await checkUser(app, uid)
}

/** Each receiver once, in the given order. */
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

const ALONE = { class: 'write', operation: 'sendMessage' } as const

interface Sending {
  deps: SendDeps
  actor: Actor
  draft: Draft
  /** Instead of that of the app's rules. */
  verdict: Verdict | undefined
}

/**
 * Whether the role allows this message to this receiver. `sendMessage.mode` and the permissions of scopes are decided
 * when it is stored.
 */
async function checkRole(actor: Actor, { category, type, data }: Draft, target: Target) {
  const attachments = (data.attachments ?? []) as { mimeType?: unknown }[]
  const mimeTypes = attachments.map(({ mimeType = '' }) => String(mimeType))
  const context = { ...(await receiverOf(actor, target)), category, type, mimeTypes }
  authorize(actor, { permission: 'sendMessage' }, context)
}

/** What rules of the actor's role ask about a receiver. A user who isn't there is refused later, for that reason. */
export async function receiverOf(
  { app, policy }: Pick<Actor, 'app' | 'policy'>,
  { kind, id }: Target,
): Promise<Context> {
  const byRole = kind === 'user' && listIn(policy, 'sendMessage.allowedReceiverRoles')
  const one = { appNo: app.no, uid: id }
  const user = byRole ? await findActiveUser.maybeOne(app.cell.db, one) : undefined
  return { receiverType: kind, otherRole: user?.role }
}

/** Sends a message to one receiver. `item` tells several receivers of a call apart. */
async function sendTo(
  { deps, actor, draft: { data, skip, ...draft }, verdict: given }: Sending,
  { kind, id }: Target,
  item = '',
): Promise<string> {
  refuseIf(refuseMuted(actor, kind === 'group' ? id : undefined))
  if (actor.policy) await checkRole(actor, { data, skip, ...draft }, { kind, id })
  const { app, credential, retry, uid: sender = SYSTEM_UID } = actor
  const { category, type } = draft
  const checked = { sender, kind, receiver: id, category, type, data }
  const verdict = given ?? (skip ? undefined : await moderate(actor, checked))
  if (verdict?.status === 'disapproved') await countDisapproved(deps, actor)
  const { db } = app.cell
  const params: SendParams = {
    ...{ appNo: app.no, kind, sender, receiver: id, ...draft, ...judged(data, verdict) },
    ...{ target: item, credential, requestHash: retry?.requestHash ?? null },
    clock: Date.now(),
    // A header can't contain a line break.
    key: retry ? [retry.key, item].filter(Boolean).join('\n') : null,
  }
  const sending = isPlain(params)
    ? sendTogether(deps, app.cell, params)
    : inTurn(deps, laneWork(app, actor.settings, ALONE), () => sendAlone(app.cell, params))
  const sent = await sending.catch(async (error) => {
    throw await redactError(actor, error, { guid: kind === 'group' ? id : undefined })
  })
  if (sent.message !== null) return sent.message
  await checkSender(actor)
  const sentBefore = { appNo: app.no, id: String(sent.message_id), viewer: null }
  const row =
    (await findMessage.maybeOne(db, sentBefore)) ??
    (await findHeld.maybeOne(db, { ...sentBefore, viewer: sender, moderates: false }))
  if (!row || row.cleared) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id: sent.message_id })
  const [message] = await toMessages(db, app.no, [row], asSeenBy(actor))
  return JSON.stringify(message)
}

/** An approved message says so in its content. Any other verdict holds it. */
const judged = (data: Content['data'], verdict: Verdict | undefined) =>
  verdict?.status === 'approved'
    ? { data: JSON.stringify({ ...data, moderation: { status: 'approved' } }), verdict: null }
    : { data: JSON.stringify(data), verdict: verdict ? JSON.stringify(verdict) : null }

/** One transaction per receiver: an error for one doesn't affect the others. */
async function sendToMany(sending: Sending, targets: Target[]): Promise<SentToMany> {
  await holdKey(sending.actor)
  const outcomes: [Target, Outcome][] = []
  for (const target of targets) {
    outcomes.push([target, await outcomeOf(() => sendTo(sending, target, nameOf(target)))])
  }
  const of = (kind: ConversationKind) =>
    Object.fromEntries(
      outcomes.filter(([target]) => target.kind === kind).map(([{ id }, outcome]) => [id, outcome]),
    )
  return { uids: of('user'), guids: of('group') }
}

/**
 * The idempotency key of the whole call: each message gets one derived from it, which reveals
 * nothing about the others.
 */
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
