import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'
import { isApart, type Relation } from '../users/queries.ts'

export type ConversationKind = 'user' | 'group'

type Json = Record<string, unknown>

/** What no record shows: each value that is read costs a microsecond, fifty times a page. */
type NotShown = 'app_no' | 'conversation' | 'seq' | 'data' | 'counts' | 'shows' | 'counted'

/** A message with what its record needs of the conversation. */
export type MessageRow = Omit<CellRows['messages'], NotShown> & {
  data: Json
  kind: ConversationKind
  one: string
  other: string
  /** How many replies it has, and the newest. */
  thread: [replies: number, lastId: number] | null
  /** Of two users: when the other side first said that it had received it, and read it. */
  delivered_at: Date | null
  read_at: Date | null
}

/** When the receiver of a message between two first had a mark of a kind at or past it. */
const markedAt = (kind: string) => `
  case when h.kind = 'user' and h.one <> h.other then (
    select k.at from marks k
    where k.app_no = m.app_no and k.conversation = m.conversation and k.uid = receiver_of(m, h)
      and k.kind = '${kind}' and k.seq >= m.seq
    order by k.seq limit 1) end`

export const MESSAGE_COLUMNS = `
  m.id, m.sender, m.category, m.type, m.data, m.tags, m.muid,
  m.sent_at, m.updated_at, m.edited_at, m.edited_by, m.deleted_at, m.deleted_by,
  m.pinned_at, m.pinned_by, m.reacted, m.saved,
  m.parent_id, m.quoted_id, h.kind, h.one, h.other,
  (select json_build_array(t.replies, t.last_id) from threads t
   where t.app_no = m.app_no and t.parent_id = m.id) as thread,
  ${markedAt('delivered')} as delivered_at, ${markedAt('read')} as read_at`

/** A removed user's messages are gone at once, though not yet swept. */
export const SENDER_IS_THERE = `m.sender <> all (array(
  select uid from users where app_no = :appNo and removed_at is not null))`

/** Of two users both, too. A guid may be what a removed user was called. */
export const PARTIES_ARE_THERE = `not (
  case h.kind when 'user' then array[m.sender, h.one, h.other] else array[m.sender] end) && array(
  select uid from users where app_no = :appNo and removed_at is not null)`

/** So are removed groups. */
export const GROUP_IS_THERE = `not (h.kind = 'group' and h.one = any (array(
  select guid from groups where app_no = :appNo and removed_at is not null)))`

/** What of a conversation h is after the mark of an inbox row, without what is its owner's own or deleted: where nothing is left, nothing was. */
export const unreadOf = (row: string) => `(
  case when h.counted - ${row}.read_counted - ${row}.own_since = 0 then 0
  else h.counted - ${row}.read_counted - ${row}.own_since - (
    select count(*) from uncounted u
    where u.app_no = :appNo and u.conversation = h.no and u.seq > ${row}.read_seq) end)`

export interface SendParams extends Record<string, unknown> {
  appNo: number
  kind: ConversationKind
  sender: string
  receiver: string
  category: string
  type: string
  data: string
  tags: string[]
  muid: string | null
  target: string
  credential: Buffer
  key: string | null
  requestHash: Buffer | null
  parent: string | null
  quoted: string | null
  mentions: string[] | null
  /** Whether it becomes the last message; what does not never counts as unread. */
  shows: boolean
}

/** `message` is the record as JSON, or null when the message had been sent before. */
export const sendMessage = query<SendParams, { message_id: number; message: string | null }>(
  'messages.send',
  `select message_id, message from send_message(
     :appNo, :kind, :sender, :receiver, :category, :type, :data::jsonb, :tags::text[],
     :muid, :target, :credential, :key, :requestHash, :parent, :quoted, :mentions::text[],
     :shows)`,
)

/** What a viewer has to do with a message; the app has no row. */
export interface Standing {
  conversation: number
  seq: number
  /** Whether the message was before the viewer cleared the conversation, or all did. */
  cleared: boolean
  /** Whether the viewer takes part: one of the two, or a member. */
  takes_part: boolean
  scope: string | null
}

/** By id, with the viewer's standing. */
export const findMessage = query<
  { appNo: number; id: string; viewer: string | null },
  MessageRow & Standing
>(
  'messages.find',
  `select ${MESSAGE_COLUMNS}, m.conversation, m.seq, i.scope,
     m.seq <= h.purged_seq or m.seq <= coalesce(i.cleared_seq, 0) as cleared,
     case h.kind when 'user' then coalesce(:viewer in (h.one, h.other), false)
       else i.scope is not null end as takes_part
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
     left join inbox i on i.app_no = m.app_no and i.conversation = m.conversation
       and i.uid = :viewer
   where m.app_no = :appNo and m.id = :id and ${PARTIES_ARE_THERE}
     and not (h.kind = 'group' and exists (
       select from groups g
       where g.app_no = h.app_no and g.guid = h.one and g.removed_at is not null))`,
)

/** By id, in no order: what other messages refer to, also without content. */
export const listReferred = query<{ appNo: number; ids: number[] }, MessageRow>(
  'messages.listReferred',
  `select ${MESSAGE_COLUMNS}
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.id = any(:ids::bigint[]) and m.seq > h.purged_seq
     and ${SENDER_IS_THERE}`,
)

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
     and m.seq > :after and m.seq <= :upto and ${SENDER_IS_THERE}`

export const listMessagesUp = query<Range, MessageRow>(
  'messages.listUp',
  `${inRange} order by m.seq limit :limit`,
)
export const listMessagesDown = query<Range, MessageRow>(
  'messages.listDown',
  `${inRange} order by m.seq desc limit :limit`,
)

/** The place of a cursor, or the one `before` it. A message that is there leads straight to it. */
export const findSeq = query<
  {
    appNo: number
    conversation: number
    id: number | null
    second: number | null
    before: 0 | 1
  },
  { seq: number }
>(
  'messages.findSeq',
  `select coalesce(
     (select m.seq - :before::bigint from messages m
      where m.app_no = :appNo and m.id = :id::bigint and m.conversation = :conversation),
     seq_upto(:appNo, :conversation, :id - :before, :second::bigint - :before)) as seq`,
)

/** What a user sent, wherever; without what is purged or of removed groups. */
type SentRange = { appNo: number; sender: string; after: number; before: number; limit: number }
const sentBy = `
   select ${MESSAGE_COLUMNS}
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.sender = :sender and m.id > :after and m.id < :before
     and m.seq > h.purged_seq and ${PARTIES_ARE_THERE} and ${GROUP_IS_THERE}`

export const listSentUp = query<SentRange, MessageRow>(
  'messages.listSentUp',
  `${sentBy} order by m.id limit :limit`,
)
export const listSentDown = query<SentRange, MessageRow>(
  'messages.listSentDown',
  `${sentBy} order by m.id desc limit :limit`,
)

/** How many conversations a user has, and how many messages there are to read in them. */
export const countTalks = query<
  { appNo: number; uid: string },
  { talks: number; messages: number }
>(
  'messages.countTalks',
  `select count(*) as talks,
     coalesce(sum(h.last_seq - greatest(h.purged_seq, i.cleared_seq)), 0)::bigint as messages
   from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
   where i.app_no = :appNo and i.uid = :uid and (i.kind = 'user' or i.scope is not null)
     and h.last_seq > greatest(h.purged_seq, i.cleared_seq)`,
)

/** Conversations by the two, or the group, that their printed id can mean. */
export const listTalks = query<
  { appNo: number; ones: string[]; others: string[]; guid: string },
  { no: number; last_seq: number }
>(
  'messages.listTalks',
  `select h.no, h.last_seq from unnest(:ones::text[], :others::text[]) as pair (one, other)
     join conversations h on h.app_no = :appNo and h.kind = 'user' and h.one = pair.one
       and h.other = pair.other
   union all
   select h.no, h.last_seq from conversations h
   where h.app_no = :appNo and h.kind = 'group' and h.one = :guid and h.other = ''`,
)

/** What of a user's conversations is unread; without what blocked users wrote, if so wanted. */
export const countUnread = query<
  { appNo: number; uid: string; kinds: string[]; nos: number[] | null; hideBlocked: boolean },
  { kind: ConversationKind; with_id: string; unread: number }
>(
  'messages.countUnread',
  `select * from (
     select i.kind, i.with_id, ${unreadOf('i')}
       - case when :hideBlocked then (
         select count(*) from messages m
         where m.app_no = :appNo and m.conversation = h.no and m.seq > i.read_seq
           and m.sender = any (array(select b.blocked_uid from blocks b
             where b.app_no = :appNo and b.uid = :uid))
           and m.counts and m.deleted_at is null) else 0 end as unread
     from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
     where i.app_no = :appNo and i.uid = :uid and (i.kind = 'user' or i.scope is not null)
       and h.shown_seq > greatest(h.purged_seq, i.cleared_seq)
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

/** The conversation of a user with another, as far as that user may read it. */
export const findDirect = query<
  { appNo: number; uid: string; other: string },
  { no: number; last_seq: number; cleared_seq: number }
>(
  'messages.findDirect',
  `select h.no, h.last_seq, greatest(h.purged_seq, i.cleared_seq) as cleared_seq
   from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
   where i.app_no = :appNo and i.uid = :uid and i.kind = 'user' and i.with_id = :other`,
)

/** A group's conversation, with what the viewer has to do with it. */
export const findGroupHead = query<
  { appNo: number; guid: string; viewer: string | null },
  { no: number; last_seq: number; cleared_seq: number; scope: string | null; banned: boolean }
>(
  'messages.findGroupHead',
  `select h.no, h.last_seq, greatest(h.purged_seq, coalesce(i.cleared_seq, 0)) as cleared_seq,
     i.scope,
     exists (select from bans b
       where b.app_no = g.app_no and b.guid = g.guid and b.uid = :viewer) as banned
   from groups g
     join conversations h on h.app_no = g.app_no and h.kind = 'group' and h.one = g.guid
       and h.other = ''
     left join inbox i on i.app_no = g.app_no and i.uid = :viewer and i.kind = 'group'
       and i.with_id = g.guid
   where g.app_no = :appNo and g.guid = :guid and g.removed_at is null`,
)

export interface EntityRow {
  kind: ConversationKind
  id: string
  /** As JSON, with presence. */
  record: string
  /** Whether it is a user whose presence the viewer may not see. */
  apart: boolean
}

/**
 * Users and groups as they are now, by id; those that are gone are left out. The ids are unpacked from
 * JSON, of which PostgreSQL always expects the same number: an array's own length would have it plan anew
 * each time, which takes ten times as long as the lookup of one. The limit keeps it from reading a whole app
 * instead.
 */
export const findEntities = query<
  {
    appNo: number
    /** null: the app, which may see everything. */
    viewer: string | null
    uids: string[]
    guids: string[]
    system: boolean
  },
  EntityRow
>(
  'messages.findEntities',
  `select 'user' as kind, found.*, ${isApart(':viewer::text', 'found.id')} as apart
   from json_array_elements_text(array_to_json(:uids::text[])) as id,
     lateral (select u.uid as id, user_json(u) as record from users u
       where u.app_no = :appNo and u.uid = id.value and u.removed_at is null limit 1) found
   union all
   select 'group', found.*, false from json_array_elements_text(array_to_json(:guids::text[])) as id,
     lateral (select g.guid, group_json(g) from groups g
       where g.app_no = :appNo and g.guid = id.value and g.removed_at is null limit 1) found
   union all
   select 'user', 'app_system', system_record(:appNo)::text, false where :system::boolean`,
)

/** Of mentioned users what lists can be asked for. */
export const listMentioned = query<
  { appNo: number; uids: string[]; viewer: string },
  { uid: string; tags: string[] } & Relation
>(
  'messages.listMentioned',
  `select u.uid, u.tags,
     (select b.created_at from blocks b
      where b.app_no = :appNo and b.uid = :viewer and b.blocked_uid = u.uid) as blocked_by_me_at,
     (select b.created_at from blocks b
      where b.app_no = :appNo and b.uid = u.uid and b.blocked_uid = :viewer) as has_blocked_me_at
   from users u
   where u.app_no = :appNo and u.uid = any(:uids::text[]) and u.removed_at is null`,
)

export const lockHead = query<{ appNo: number; conversation: number }, { no: number }>(
  'messages.lockHead',
  'select no from conversations where app_no = :appNo and no = :conversation for no key update',
)

export const deleteMessage = query<
  { appNo: number; id: number; by: string; permanent: boolean },
  CellRows['messages']
>('messages.delete', 'select * from delete_message(:appNo, :id, :by, :permanent)')

/** The records of those among these users who are there; they stay until the transaction ends. */
export const holdMentioned = query<{ appNo: number; uids: string[] }, { records: Json | null }>(
  'messages.holdMentioned',
  'select hold_mentioned(:appNo, :uids::text[]) as records',
)

/** Gives back who is told that the message mentions them now. */
export const editMessage = query<
  { appNo: number; id: number; by: string; data: string; tags: string[]; mentions: string },
  { uid: string }
>(
  'messages.edit',
  `select uid from edit_message(
     :appNo, :id, :by, :data::jsonb, :tags::text[], nullif(:mentions, 'null')::jsonb) uid`,
)

/** Those that the user had not used before. */
export const insertInteractions = query<
  { appNo: number; id: number; uid: string; elementIds: string[] },
  { element_id: string; at: Date }
>(
  'messages.insertInteractions',
  `insert into interactions (app_no, message_id, uid, element_id)
   select distinct :appNo::int, :id::bigint, :uid, element_id
   from unnest(:elementIds::text[]) element_id
   on conflict do nothing
   returning element_id, at`,
)

export const appendMessageAction = query<
  { appNo: number; conversation: number; sender: string; data: string; moves: boolean },
  { message: Json }
>(
  'messages.appendAction',
  `select append_action(:appNo, :conversation, :sender, 'message', :data::jsonb, :moves) as message`,
)

/** Who received a message: no uid where nobody did, of those that were looked at. */
export interface ReceiptRow {
  uid: string | null
  delivered_at: Date | null
  read_at: Date | null
  /** Up to whom it was looked, if there are more. */
  looked_to: string | null
}

/**
 * By uid; the first mark at or past the message tells when. Looks at so many members at a time: in a large
 * group nobody may have read it.
 */
export const listReceipts = query<
  {
    appNo: number
    conversation: number
    seq: number
    sender: string
    after: string
    walk: number
    limit: number
  },
  ReceiptRow
>(
  'messages.listReceipts',
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
             and k.kind = 'delivered' and k.seq >= :seq order by k.seq limit 1) d on true
         left join lateral (select k.at from marks k
           where k.app_no = :appNo and k.conversation = :conversation and k.uid = i.uid
             and k.kind = 'read' and k.seq >= :seq order by k.seq limit 1) r on true
       where i.uid <> :sender and (d.at is not null or r.at is not null)
         and i.uid <> all (array(
           select uid from users where app_no = :appNo and removed_at is not null))
       order by i.uid limit :limit
     ) f on true
   order by f.uid`,
)
