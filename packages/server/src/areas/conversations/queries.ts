import type { UserSnapshot } from '@loquat/protocol'
import type { ConversationKind } from '../../core/ids.ts'
import { query } from '../../platform/db/query.ts'

export type MarkKind = 'delivered' | 'read' | 'unread'

export interface Marked {
  /** Whether others get a receipt: a message of theirs was received or read. */
  receipt: boolean
  conversation: number
  /** The message at which the mark is, and its sender; null if all messages are gone. */
  message_id: number | null
  sender: string | null
  at: Date
  /** The mark's owner; null if nothing changed. */
  marked_by: UserSnapshot | null
  /** For a receipt in a group: the senders of the newest messages that it is the first to cover. */
  senders: string[] | null
}

export const markConversation = query<
  {
    appNo: number
    uid: string
    kind: ConversationKind
    withId: string
    what: MarkKind
    messageId: number | null
  },
  Marked
>(
  'conversations.mark',
  `select k.receipt, k.conversation, k.message_id, k.at, k.sender, k.senders,
     case when k.receipt or k.moved then user_snapshot(u)::json end as marked_by
   from mark_conversation(:appNo, :uid, :kind, :withId, :what, :messageId) k
     left join users u on u.app_no = :appNo and u.uid = :uid`,
)

/** Whether any of these conversations exists. */
export const findHeads = query<
  { appNo: number; ones: string[]; others: string[]; guid: string },
  { no: number }
>(
  'conversations.findHeads',
  `select h.no from unnest(:ones::text[], :others::text[]) as pair (one, other)
     join conversations h on h.app_no = :appNo and h.kind = 'user' and h.one = pair.one
       and h.other = pair.other and h.last_id > 0
   union all
   select h.no from conversations h join groups g on g.app_no = h.app_no and g.guid = h.one
   where h.app_no = :appNo and h.kind = 'group' and h.one = :guid and h.other = ''
     and g.removed_at is null
   limit 1`,
)

/** The head of an existing view, locked. */
export const lockViewHead = query<
  { appNo: number; uid: string; kind: ConversationKind; withId: string },
  { no: number }
>(
  'conversations.lockView',
  `select h.no from conversations h
   where h.app_no = :appNo and h.no = (
     select i.conversation from inbox i
     where i.app_no = :appNo and i.uid = :uid and i.kind = :kind and i.with_id = :withId)
   for no key update`,
)

/** A user's state in a conversation; read after locking, which may have waited. */
export const findMembership = query<
  { appNo: number; uid: string; kind: ConversationKind; withId: string },
  { scope: string | null }
>(
  'conversations.findMembership',
  `select i.scope from inbox i
   where i.app_no = :appNo and i.uid = :uid and i.kind = :kind and i.with_id = :withId
     and (i.kind = 'user' or i.scope is not null and exists (
       select from groups g
       where g.app_no = :appNo and g.guid = :withId and g.removed_at is null))`,
)

/** Clears the views of the next members of a group, under the lock of its head. */
export const clearMembers = query<
  {
    appNo: number
    conversation: number
    /** Null: up to the newest message. */
    upto: number | null
    after: string
    limit: number
  },
  {
    /** Whether the group is still there. */
    there: boolean
    upto: number
    /** Null if no member is left. */
    last: string | null
  }
>(
  'conversations.clearMembers',
  'select there, upto, last from clear_members(:appNo, :conversation, :upto, :after, :limit)',
)

/** The tags of a view; no row if there is no view. */
export const updateTags = query<
  { appNo: number; uid: string; kind: ConversationKind; withId: string; tags: string[] },
  { conversation: number }
>(
  'conversations.updateTags',
  `update inbox i set tags = :tags::text[] from conversations h
   where i.app_no = :appNo and i.uid = :uid and i.kind = :kind and i.with_id = :withId
     and h.app_no = :appNo and h.no = i.conversation and h.shown_id > i.cleared_id
     and (i.kind = 'user' or i.scope is not null)
   returning i.conversation`,
)

/** Whether there was a view to clear. */
export const clearView = query<
  { appNo: number; conversation: number; uid: string },
  { cleared: boolean }
>('conversations.clear', 'select clear_view(:appNo, :conversation, :uid) as cleared')

export const purgeConversation = query<{ appNo: number; conversation: number }>(
  'conversations.purge',
  `update conversations set purged_id = last_id, purged_counted = counted, purging = true
   where app_no = :appNo and no = :conversation`,
)

/** Removes up to :limit purged messages; returns whether none is left. */
export const sweepPurged = query<{ appNo: number; no: number; limit: number }, { gone: boolean }>(
  'conversations.sweepPurged',
  'select sweep_purged(:appNo, :no, :limit) as gone',
)

/** For all apps of the cell: reads the next :limit marks and thins old ones. */
export const thinMarks = query<{ limit: number }, { more: boolean }>(
  'conversations.thinMarks',
  'select thin_marks(:limit) as more',
)
