import { query } from '../../platform/db/query.ts'
import type { ConversationKind } from '../messages/queries.ts'

type Json = Record<string, unknown>

/** A user's view of a conversation. */
export interface ViewRow {
  kind: ConversationKind
  one: string
  other: string
  unread: number
  created_second: number
  updated_second: number
  last_id: number | null
  read_id: number | null
  /** The other user or the group, as the user sees it. */
  counterpart: Json
}

/** What is after the mark, without what is the user's own or deleted. */
const UNREAD = `h.counted - i.read_counted - i.own_since - (
  select count(*) from uncounted u
  where u.app_no = i.app_no and u.conversation = i.conversation and u.seq > i.read_seq)`

/** When the first message came that moved the view since it was cleared. */
const CREATED = `case
  when i.kind = 'user' then i.created_second
  when i.cleared_seq = 0 then h.created_second
  else coalesce((select unix(m.sent_at) from messages m
    where m.app_no = i.app_no and m.conversation = i.conversation and m.seq > i.cleared_seq
      and m.shows
    order by m.seq limit 1), h.updated_second) end`

export const findView = query<
  { appNo: number; uid: string; kind: ConversationKind; withId: string },
  ViewRow
>(
  'conversations.find',
  `select h.kind, h.one, h.other, ${UNREAD} as unread, ${CREATED} as created_second,
     h.updated_second,
     (select m.id from messages m
      where m.app_no = h.app_no and m.id = h.shown_id and m.deleted_at is null) as last_id,
     (select m.id from messages m
      where m.app_no = h.app_no and m.conversation = h.no and m.seq <= i.read_seq
        and m.seq > i.cleared_seq
      order by m.seq desc limit 1) as read_id,
     case i.kind
       when 'group' then (select group_record(g) || jsonb_build_object(
           'hasJoined', true, 'scope', i.scope, 'joinedAt', unix(i.joined_at))
         from groups g
         where g.app_no = i.app_no and g.guid = i.with_id and g.removed_at is null)
       else (select user_record(u) from users u
         where u.app_no = i.app_no and u.uid = i.with_id and u.removed_at is null
         union all select system_record(i.app_no) where i.with_id = 'app_system'
       ) || jsonb_build_object('conversationId', conversation_id(h.kind, h.one, h.other))
     end as counterpart
   from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
   where i.app_no = :appNo and i.uid = :uid and i.kind = :kind and i.with_id = :withId
     and h.shown_seq > i.cleared_seq and (i.kind = 'user' or i.scope is not null)`,
)

export type MarkKind = 'delivered' | 'read' | 'unread'

export const markConversation = query<
  {
    appNo: number
    uid: string
    kind: ConversationKind
    withId: string
    what: MarkKind
    messageId: number | null
  },
  { changed: boolean; conversation: number; message_id: number | null; at: Date }
>(
  'conversations.mark',
  `select changed, conversation, message_id, at
   from mark_conversation(:appNo, :uid, :kind, :withId, :what, :messageId)`,
)

/** The head of a view that is there, locked. */
export const lockView = query<
  { appNo: number; uid: string; kind: ConversationKind; withId: string },
  { no: number }
>(
  'conversations.lockView',
  `select h.no from conversations h
   where h.app_no = :appNo and h.no = (
     select i.conversation from inbox i
     where i.app_no = :appNo and i.uid = :uid and i.kind = :kind and i.with_id = :withId
       and (i.kind = 'user' or i.scope is not null))
   for no key update`,
)

/** Whether there was a view to clear. */
export const clearView = query<
  { appNo: number; conversation: number; uid: string },
  { cleared: boolean }
>('conversations.clear', 'select clear_view(:appNo, :conversation, :uid) as cleared')

export const purgeConversation = query<{ appNo: number; conversation: number }>(
  'conversations.purge',
  `update conversations set purged_seq = last_seq, purging = true
   where app_no = :appNo and no = :conversation`,
)

/** Of any app: the sweep serves a whole cell. */
export const listPurging = query<{ limit: number }, { app_no: number; no: number }>(
  'conversations.listPurging',
  'select app_no, no from conversations where purging limit :limit',
)

/** Removes up to :limit purged messages; whether none is left. */
export const sweepPurged = query<{ appNo: number; no: number; limit: number }, { gone: boolean }>(
  'conversations.sweepPurged',
  'select sweep_purged(:appNo, :no, :limit) as gone',
)
