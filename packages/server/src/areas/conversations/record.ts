import type { GroupRecord, UserRecord } from '@loquat/protocol'
import { fail } from '../../platform/http/fail.ts'
import type { Actor } from '../access/actor.ts'
import { type ConversationKind, findMessage } from '../messages/queries.ts'
import { toMessages } from '../messages/record.ts'
import { findView } from './queries.ts'
import type { ConversationRecord } from './schema.ts'

export const conversationIdOf = (kind: ConversationKind, one: string, other: string) =>
  kind === 'group' ? `group_${one}` : `${one}_user_${other}`

/** The user's view of a conversation; without one there is nothing to see. */
export async function readConversation(
  actor: Actor,
  uid: string,
  kind: ConversationKind,
  withId: string,
): Promise<ConversationRecord> {
  const { no: appNo, cell } = actor.app
  const view = await findView.maybeOne(cell.db, { appNo, uid, kind, withId })
  if (!view?.counterpart) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
  const row =
    view.last_id === null
      ? undefined
      : await findMessage.maybeOne(cell.db, { appNo, id: String(view.last_id), viewer: uid })
  const [lastMessage] = await toMessages(cell.db, appNo, row ? [row] : [])
  return {
    conversationId: conversationIdOf(view.kind, view.one, view.other),
    conversationType: view.kind,
    unreadMessageCount: String(view.unread),
    createdAt: view.created_second,
    updatedAt: view.updated_second,
    ...(lastMessage && { lastMessage }),
    ...(view.read_id !== null && { lastReadMessageId: String(view.read_id) }),
    conversationWith: view.counterpart as UserRecord | GroupRecord,
  }
}
