import type { Actor } from '../../core/actor.ts'
import { findEntities } from '../../core/entities.ts'
import { type ConversationKind, conversationIdOf as directId, SYSTEM_UID } from '../../core/ids.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import {
  clearView,
  findMembership,
  lockViewHead,
  type Marked,
  type MarkKind,
  markConversation,
  purgeConversation,
  sweepPurged,
  updateTags,
} from './queries.ts'
import { sweepPurgedJob } from './sweep.job.ts'

/** Rows removed in the action's own transaction; the sweep removes the rest. */
const SWEEP_AT_ONCE = 1_000

/** A conversation of the actor: 1:1 or group. */
export interface ViewKey {
  /** The owner of the view. */
  uid: string
  kind: ConversationKind
  withId: string
}

export const idOf = ({ uid, kind, withId }: ViewKey) =>
  kind === 'group' ? `group_${withId}` : directId(uid, withId)

/** What events say about a view: a printed id alone doesn't say whose view it is. */
export const viewPayload = (viewKey: ViewKey) => ({
  ...{ uid: viewKey.uid, conversationId: idOf(viewKey) },
  ...{ receiverType: viewKey.kind, receiver: viewKey.withId },
})

/** Fails if there is no such user or group; a deactivated user keeps their conversations. */
export async function checkCounterpart(actor: Actor, { kind, withId }: ViewKey): Promise<void> {
  const { no: appNo, cell } = actor.app
  const uids = kind === 'user' ? [withId] : []
  const guids = kind === 'group' ? [withId] : []
  const system = kind === 'user' && withId === SYSTEM_UID
  const known = await findEntities.maybeOne(cell.db, {
    ...{ appNo, viewer: null, uids, guids, system },
  })
  if (known) return
  throw kind === 'user'
    ? fail('ERR_UID_NOT_FOUND', { uid: withId })
    : fail('ERR_GUID_NOT_FOUND', { guid: withId })
}

const DONE: Record<MarkKind, string> = {
  delivered: 'Messages marked as delivered.',
  read: 'Messages marked as read.',
  unread: 'Messages marked as unread.',
}

type Mark = (
  deps: Deps,
  actor: Actor,
  viewKey: ViewKey,
  messageId: string | number | undefined,
) => ReturnType<typeof mark>

export const markConversationDelivered: Mark = (deps, actor, viewKey, messageId) =>
  mark(deps, actor, viewKey, 'delivered', messageId)

export const markConversationRead: Mark = (deps, actor, viewKey, messageId) =>
  mark(deps, actor, viewKey, 'read', messageId)

export const markConversationUnread: Mark = (deps, actor, viewKey, messageId) =>
  mark(deps, actor, viewKey, 'unread', messageId)

/** Moves the owner's mark. Succeeds without an event if nothing changes. */
export function mark(
  deps: Deps,
  actor: Actor,
  viewKey: ViewKey,
  what: MarkKind,
  messageId: string | number | undefined,
) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const id = messageId === undefined ? null : Number(messageId)
    const marked = await markConversation.one(tx, { appNo, ...viewKey, what, messageId: id })
    await announceMark(tx, appNo, viewKey, what, marked)
    return { success: true as const, message: DONE[what] }
  })
}

async function announceMark(
  tx: Tx,
  appNo: number,
  viewKey: ViewKey,
  what: MarkKind,
  { receipt, conversation, message_id, sender, at, marked_by, senders }: Marked,
): Promise<void> {
  if (!marked_by) return
  const payload = {
    ...viewPayload(viewKey),
    user: marked_by,
    messageId: String(message_id ?? ''),
    ...(sender !== null && { messageSender: sender }),
    at: seconds(at),
    ...(senders && { senders }),
  }
  const key = `conversation:${conversation}`
  // A mark that gives others no receipt only concerns the user's own devices.
  const type =
    what === 'unread' || receipt ? (`conversation.${what}` as const) : 'conversation.mark.moved'
  await announce(tx, { appNo, type, key, payload })
}

/** Sets the owner's tags of a view. */
export function updateConversation(deps: Deps, actor: Actor, viewKey: ViewKey, tags: string[]) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const view = await updateTags.maybeOne(tx, { appNo, ...viewKey, tags })
    if (!view) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
    const payload = { ...viewPayload(viewKey), tags }
    const key = `conversation:${view.conversation}`
    await announce(tx, { appNo, type: 'conversation.tags.updated', key, payload })
    return null
  })
}

/** Locks the head of a view, then reads the owner's state in the conversation. */
export async function lockView(tx: Tx, appNo: number, viewKey: ViewKey) {
  const head = await lockViewHead.maybeOne(tx, { appNo, ...viewKey })
  const membership = head && (await findMembership.maybeOne(tx, { appNo, ...viewKey }))
  if (!membership) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
  return { no: head.no, scope: membership.scope }
}

/** Clears a view and its tags; with `forAll` the messages are deleted for both users. */
export function resetConversation(deps: Deps, actor: Actor, viewKey: ViewKey, forAll: boolean) {
  const appNo = actor.app.no
  const { uid, kind, withId } = viewKey
  if (forAll && kind === 'group') {
    throw badRequest({ deleteMessagesPermanently: ['only 1:1 conversations support this'] })
  }
  return write(deps, actor, async (tx) => {
    const { no: conversation } = await lockView(tx, appNo, viewKey)
    const { cleared } = await clearView.one(tx, { appNo, conversation, uid })
    if (!cleared) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
    if (forAll) {
      await clearView.one(tx, { appNo, conversation, uid: withId })
      await purgeConversation.run(tx, { appNo, conversation })
      const { gone } = await sweepPurged.one(tx, { appNo, no: conversation, limit: SWEEP_AT_ONCE })
      if (!gone) await enqueue(tx, appNo, sweepPurgedJob, { no: conversation })
    }
    const payload = { ...viewPayload(viewKey), forAll }
    const key = `conversation:${conversation}`
    await announce(tx, { appNo, type: 'conversation.cleared', key, payload })
    return { success: true as const, message: `Conversation cleared for ${uid}.` }
  })
}
