import type { Actor } from '../../core/actor.ts'
import { findEntities } from '../../core/entities.ts'
import { type ConversationKind, conversationIdOf as directId, SYSTEM_UID } from '../../core/ids.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import {
  clearView,
  findStanding,
  lockView,
  type Marked,
  type MarkKind,
  markConversation,
  purgeConversation,
  sweepPurged,
  updateTags,
} from './queries.ts'

/** Rows removed in the action's own transaction; the sweep removes the rest. */
const SWEEP_AT_ONCE = 1_000

/** A conversation of the actor: 1:1 or group. */
export interface Place {
  /** The owner of the view. */
  uid: string
  kind: ConversationKind
  withId: string
}

export const idOf = ({ uid, kind, withId }: Place) =>
  kind === 'group' ? `group_${withId}` : directId(uid, withId)

/** What events say about a view: a printed id alone doesn't say whose view it is. */
export const whichOf = (place: Place) => ({
  ...{ uid: place.uid, conversationId: idOf(place) },
  ...{ receiverType: place.kind, receiver: place.withId },
})

/** Fails if there is no such user or group; a deactivated user keeps their conversations. */
export async function checkCounterpart(actor: Actor, { kind, withId }: Place): Promise<void> {
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
  place: Place,
  messageId: string | number | undefined,
) => ReturnType<typeof mark>

export const markConversationDelivered: Mark = (deps, actor, place, messageId) =>
  mark(deps, actor, place, 'delivered', messageId)

export const markConversationRead: Mark = (deps, actor, place, messageId) =>
  mark(deps, actor, place, 'read', messageId)

export const markConversationUnread: Mark = (deps, actor, place, messageId) =>
  mark(deps, actor, place, 'unread', messageId)

/** Moves the owner's mark. Succeeds without an event if nothing changes. */
export function mark(
  deps: Deps,
  actor: Actor,
  place: Place,
  what: MarkKind,
  messageId: string | number | undefined,
) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const id = messageId === undefined ? null : Number(messageId)
    const marked = await markConversation.one(tx, { appNo, ...place, what, messageId: id })
    await announceMark(tx, appNo, place, what, marked)
    return { success: true as const, message: DONE[what] }
  })
}

async function announceMark(
  tx: Tx,
  appNo: number,
  place: Place,
  what: MarkKind,
  { receipt, conversation, message_id, sender, at, marked_by, senders }: Marked,
): Promise<void> {
  if (!marked_by) return
  const payload = {
    ...whichOf(place),
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
export function updateConversation(deps: Deps, actor: Actor, place: Place, tags: string[]) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const view = await updateTags.maybeOne(tx, { appNo, ...place, tags })
    if (!view) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
    const payload = { ...whichOf(place), tags }
    const key = `conversation:${view.conversation}`
    await announce(tx, { appNo, type: 'conversation.tags.updated', key, payload })
    return null
  })
}

/** Locks the head of a view, then reads the owner's state in the conversation. */
export async function enterView(tx: Tx, appNo: number, place: Place) {
  const head = await lockView.maybeOne(tx, { appNo, ...place })
  const standing = head && (await findStanding.maybeOne(tx, { appNo, ...place }))
  if (!standing) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
  return { no: head.no, scope: standing.scope }
}

/** Clears a view and its tags; with `forAll` the messages are deleted for both users. */
export function resetConversation(deps: Deps, actor: Actor, place: Place, forAll: boolean) {
  const appNo = actor.app.no
  const { uid, kind, withId } = place
  if (forAll && kind === 'group') {
    throw badRequest({ deleteMessagesPermanently: ['only 1:1 conversations support this'] })
  }
  return write(deps, actor, async (tx) => {
    const { no: conversation } = await enterView(tx, appNo, place)
    const { cleared } = await clearView.one(tx, { appNo, conversation, uid })
    if (!cleared) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
    if (forAll) {
      await clearView.one(tx, { appNo, conversation, uid: withId })
      await purgeConversation.run(tx, { appNo, conversation })
      await sweepPurged.one(tx, { appNo, no: conversation, limit: SWEEP_AT_ONCE })
    }
    const payload = { ...whichOf(place), forAll }
    const key = `conversation:${conversation}`
    await announce(tx, { appNo, type: 'conversation.cleared', key, payload })
    return { success: true as const, message: `Conversation cleared for ${uid}.` }
  })
}
