import type { GroupRecord, UserRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { type ConversationKind, printedId, SYSTEM_UID } from '../../core/ids.ts'
import { toMessages } from '../../core/message-record.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import { seconds } from '../../core/time.ts'
import { blockFields, withoutPresence } from '../../core/user-record.ts'
import type { Executor } from '../../platform/db/query.ts'
import { fail } from '../../platform/http/fail.ts'
import type { ConversationRecord } from './schema.ts'
import { findView, type ViewRow } from './views.queries.ts'

/** Optional parts of a record. */
export interface Show {
  /** The owner of the view. */
  owner?: boolean
  /** The view's tags, and the group's. */
  tags?: boolean
  /** The counterpart's tags. */
  counterpartTags?: boolean
  blocks?: boolean
}

/** Records of views with their last messages. */
export async function toConversations(
  db: Executor,
  appNo: number,
  views: ViewRow[],
  show: Show,
): Promise<ConversationRecord[]> {
  const counterparts = views.map(counterpartOf)
  // A list of all users' views has no viewer.
  const viewer = show.owner ? undefined : views[0]?.uid
  const entities = new Map(
    views.map((view, n) => {
      const own = viewer !== undefined && view.kind === 'group'
      const entity = own ? { ...counterparts[n], ...membershipOf(view) } : counterparts[n]
      return [`${view.kind}:${view.with_id}`, entity]
    }),
  )
  for (const { uid, owner } of views) {
    if (owner !== null && !entities.has(`user:${uid}`))
      entities.set(`user:${uid}`, JSON.parse(owner))
  }
  const shown = { entities, viewer, hideTags: !show.tags }
  const messages = await toMessages(db, appNo, views.filter(hasMessage), shown)
  const lastOf = new Map(messages.map((message) => [message.id, message]))
  return views.map((view, n) => {
    const lastMessage = lastOf.get(String(view.id))
    return {
      ...(show.owner && { uid: view.uid }),
      conversationId: printedId(view),
      conversationType: view.kind,
      unreadMessageCount: String(view.unread),
      unreadMentionsCount: view.unread_mentions,
      createdAt: view.created_second,
      updatedAt: view.updated_second,
      ...(lastMessage && { lastMessage }),
      ...(view.read_id !== null && { lastReadMessageId: String(view.read_id) }),
      ...(show.tags && view.view_tags.length > 0 && { tags: view.view_tags }),
      ...pinOf(view),
      conversationWith: { ...counterparts[n], ...counterpartFields(view, show) },
    }
  })
}

function counterpartOf({ counterpart, apart }: ViewRow) {
  const record = JSON.parse(counterpart)
  return apart ? withoutPresence(record) : record
}

const hasMessage = (view: ViewRow): view is ViewRow & MessageRow => view.id !== null

function pinOf({ uid, view_pinned_at: own, app_pinned_at: apps }: ViewRow) {
  if (apps) return { pinnedBy: SYSTEM_UID, pinnedAt: seconds(apps) }
  return own ? { pinnedBy: uid, pinnedAt: seconds(own) } : {}
}

/** The counterpart as the owner of the view sees it. */
function counterpartFields(view: ViewRow, show: Show): Partial<UserRecord & GroupRecord> {
  const { kind, counterpart_tags: tags } = view
  const tagged = show.counterpartTags || (show.tags && kind === 'group')
  return {
    ...(kind === 'group' ? membershipOf(view) : { conversationId: printedId(view) }),
    ...(tagged && tags?.length > 0 && { tags }),
    ...(show.blocks && kind === 'user' && blockFields(view)),
  }
}

const membershipOf = (view: ViewRow) =>
  ({
    conversationId: printedId(view),
    ...{ hasJoined: true, scope: view.scope, joinedAt: view.joined_second },
  }) as Partial<GroupRecord>

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
