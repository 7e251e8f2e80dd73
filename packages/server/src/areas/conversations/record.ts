import type { GroupRecord, UserRecord } from '@loquat/protocol'
import type { Executor } from '../../platform/db/query.ts'
import { fail } from '../../platform/http/fail.ts'
import type { Actor } from '../access/actor.ts'
import { type ConversationKind, listMessagesById } from '../messages/queries.ts'
import { SYSTEM_UID, toMessages } from '../messages/record.ts'
import { blockFields, seconds } from '../users/record.ts'
import type { ConversationRecord } from './schema.ts'
import { findView, type ViewRow } from './views.queries.ts'

/** What a record shows beyond what it always does. */
export interface Show {
  /** Whose view it is. */
  owner?: boolean
  /** The view's own tags, and the group's. */
  tags?: boolean
  /** Tags of the user or group. */
  counterpartTags?: boolean
  blocks?: boolean
}

/** Records of views, with their last messages. */
export async function toConversations(
  db: Executor,
  appNo: number,
  views: ViewRow[],
  show: Show,
): Promise<ConversationRecord[]> {
  const ids = views.flatMap(({ last_id }) => last_id ?? [])
  const rows = ids.length > 0 ? await listMessagesById.many(db, { appNo, ids }) : []
  const messages = await toMessages(db, appNo, rows)
  const lastOf = new Map(messages.map((message) => [message.id, message]))
  return views.map((view) => {
    const lastMessage = lastOf.get(String(view.last_id))
    return {
      ...(show.owner && { uid: view.uid }),
      conversationId: view.conversation_id,
      conversationType: view.kind,
      unreadMessageCount: String(view.unread),
      unreadMentionsCount: view.unread_mentions,
      createdAt: view.created_second,
      updatedAt: view.updated_second,
      ...(lastMessage && { lastMessage }),
      ...(view.read_id !== null && { lastReadMessageId: String(view.read_id) }),
      ...(show.tags && view.tags.length > 0 && { tags: view.tags }),
      ...pinOf(view),
      conversationWith: counterpartOf(view, show),
    }
  })
}

function pinOf({ uid, pinned_at, app_pinned_at }: ViewRow) {
  if (app_pinned_at) return { pinnedBy: SYSTEM_UID, pinnedAt: seconds(app_pinned_at) }
  return pinned_at ? { pinnedBy: uid, pinnedAt: seconds(pinned_at) } : {}
}

function counterpartOf(view: ViewRow, show: Show): UserRecord | GroupRecord {
  const { kind, counterpart, counterpart_tags: tags, conversation_id: conversationId } = view
  const tagged = show.counterpartTags || (show.tags && kind === 'group')
  return {
    ...counterpart,
    conversationId,
    ...(tagged && tags?.length > 0 && { tags }),
    ...(show.blocks && kind === 'user' && blockFields(view)),
  } as UserRecord | GroupRecord
}

/** The user's view of a conversation; without one there is nothing to see. */
export async function readConversation(
  actor: Actor,
  uid: string,
  kind: ConversationKind,
  withId: string,
): Promise<ConversationRecord> {
  const { no: appNo, cell } = actor.app
  const view = await findView.maybeOne(cell.db, { appNo, uid, kind, withId })
  if (!view) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
  const [conversation] = await toConversations(cell.db, appNo, [view], { tags: true })
  return conversation as ConversationRecord
}
