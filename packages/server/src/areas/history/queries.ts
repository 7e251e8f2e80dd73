import type { ConversationKind } from '../../core/ids.ts'
import { MESSAGE_COLUMNS, type MessageRow } from '../../core/message-rows.ts'
import { unreadOf } from '../../core/unread.ts'
import { SENDER_IS_THERE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'

/** Up to :limit messages of a conversation after :after, or the last ones up to :upto. */
export type Range = {
  appNo: number
  conversation: number
  after: number
  upto: number
  limit: number
}

const inRange = `
   select ${MESSAGE_COLUMNS}
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.conversation = :conversation
     and m.id > :after and m.id <= :upto and ${SENDER_IS_THERE}`

export const listMessagesUp = query<Range, MessageRow>(
  'history.listUp',
  `${inRange} order by m.id limit :limit`,
)

export const listMessagesDown = query<Range, MessageRow>(
  'history.listDown',
  `${inRange} order by m.id desc limit :limit`,
)

/** How many 1:1 conversations a user has, and how many messages are in those and in the user's groups. */
export const sizeOf = query<
  { appNo: number; uid: string },
  { conversations: number; messages: number }
>(
  'history.sizeOf',
  `select count(*) filter (where i.kind = 'user') as conversations,
     coalesce(sum(h.stored - h.removed), 0)::bigint as messages
   from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
   where i.app_no = :appNo and i.uid = :uid`,
)

/** How many conversations a user has, and how many messages they contain, whether cleared or not. */
export const countConversations = query<
  { appNo: number; uid: string },
  { conversations: number; messages: number }
>(
  'history.countConversations',
  `select count(*) as conversations,
     coalesce(sum(h.stored - h.removed), 0)::bigint as messages
   from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
   where i.app_no = :appNo and i.uid = :uid and (i.kind = 'user' or i.scope is not null)
     and h.last_id > greatest(h.purged_id, i.cleared_id)`,
)

/** Conversations by the users or the group that their printed id can mean. */
export const listHeads = query<
  { appNo: number; ones: string[]; others: string[]; guid: string },
  { no: number; messages: number }
>(
  'history.listHeads',
  `select h.no, h.stored - h.removed as messages from unnest(:ones::text[], :others::text[]) as pair (one, other)
     join conversations h on h.app_no = :appNo and h.kind = 'user' and h.one = pair.one
       and h.other = pair.other
   union all
   select h.no, h.stored - h.removed as messages from conversations h
   where h.app_no = :appNo and h.kind = 'group' and h.one = :guid and h.other = ''`,
)

/** Unread counts of a user's conversations, on request without messages from blocked users. */
export const countUnread = query<
  { appNo: number; uid: string; kinds: string[]; nos: number[] | null; hideBlocked: boolean },
  { kind: ConversationKind; with_id: string; unread: number }
>(
  'history.countUnread',
  `select * from (
     select i.kind, i.with_id, ${unreadOf('i')}
       - case when :hideBlocked then (
         select count(*) from messages m
         where m.app_no = :appNo and m.conversation = h.no and m.id > i.read_id
           and m.sender = any (array(select b.blocked_uid from blocks b
             where b.app_no = :appNo and b.uid = :uid))
           and m.counts and m.deleted_at is null) else 0 end as unread
     from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
     where i.app_no = :appNo and i.uid = :uid and (i.kind = 'user' or i.scope is not null)
       and h.shown_id > greatest(h.purged_id, i.cleared_id)
       and i.kind = any(:kinds::text[])
       and (:nos::bigint[] is null or i.conversation = any(:nos::bigint[]))
       and i.with_id <> all (array(
         select uid from users where app_no = :appNo and removed_at is not null
           and i.kind = 'user'
         union all
         select guid from groups where app_no = :appNo and removed_at is not null
           and i.kind = 'group'))
   ) counted
   where unread > 0
   order by kind, with_id`,
)

/** Who received a message. Without a uid: none of the members examined did. */
export interface ReceiptRow {
  uid: string | null
  delivered_at: Date | null
  read_at: Date | null
  /** The last uid examined, if there are more. */
  looked_to: string | null
}

/**
 * Sorted by uid. The first mark at or after the message gives the time. Examines the next :walk
 * members.
 */
export const listReceipts = query<
  {
    appNo: number
    conversation: number
    id: number
    sender: string
    after: string
    walk: number
    limit: number
    viewer: string | null
    /** Only members with these scopes, and the viewer. */
    scopes: readonly string[] | null
  },
  ReceiptRow
>(
  'history.listReceipts',
  `with looked as materialized (
     select uid from inbox where app_no = :appNo and conversation = :conversation and uid > :after
     order by uid limit :walk
   )
   select f.uid, f.delivered_at, f.read_at, w.looked_to
   from (select case when count(*) = :walk then max(uid) end as looked_to from looked) w
     left join lateral (
       select i.uid, d.at as delivered_at, r.at as read_at
       from looked i
         left join lateral (select k.at from marks k
           where k.app_no = :appNo and k.conversation = :conversation and k.uid = i.uid
             and k.kind = 'delivered' and k.upto_id >= :id order by k.upto_id limit 1) d on true
         left join lateral (select k.at from marks k
           where k.app_no = :appNo and k.conversation = :conversation and k.uid = i.uid
             and k.kind = 'read' and k.upto_id >= :id order by k.upto_id limit 1) r on true
       where i.uid <> :sender and (d.at is not null or r.at is not null)
         and case when :scopes::text[] is null or i.uid = :viewer then true else exists (select from inbox s
           where s.app_no = :appNo and s.conversation = :conversation and s.uid = i.uid
             and s.scope = any(:scopes::text[])) end
         and i.uid <> all (array(
           select uid from users where app_no = :appNo and removed_at is not null))
       order by i.uid limit :limit
     ) f on true
   order by f.uid`,
)
