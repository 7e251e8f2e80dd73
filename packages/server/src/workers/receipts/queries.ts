import type { UserSnapshot } from '@loquat/protocol'
import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type ReceiptKind = 'delivered' | 'read'

/** An app's subscription to one of the two triggers. */
export type Subscription = {
  app_no: number
  kind: ReceiptKind
  /** The first webhook gets events after this position; null if no webhook subscribes any more. */
  since: number | null
  /** How far the log was read; null for a new subscription. */
  position: number | null
  ended: boolean
}

/**
 * The subscriptions that there is work for, of all apps: a worker serves a whole cell. A disabled webhook continues
 * where it stopped once it is enabled, so it counts.
 */
export const listDue = query<Record<string, never>, Subscription>(
  'receipts.listDue',
  `select app_no, kind, s.since, p.position, coalesce(p.ended, false) as ended
   from (
     select w.app_no, t.kind, min(w.since[array_position(w.types, t.type)]) as since
     from webhooks w join (values
       ('delivered', 'conversation.delivered.to.all'),
       ('read', 'conversation.read.by.all')) as t (kind, type) on t.type = any (w.types)
     where not w.removed
       and w.types && '{conversation.delivered.to.all,conversation.read.by.all}'
     group by w.app_no, t.kind
   ) s full join receipt_progress p using (app_no, kind)
   join working_apps() using (app_no) left join positions l using (app_no)
   where p.position is null or s.since is null or p.ended or l.position > p.position
     or exists (
       select from receipt_floors f
       where f.app_no = p.app_no and f.kind = p.kind and f.deleted > 0)`,
)

export const insertProgress = query<{ appNo: number; kind: ReceiptKind; position: number }>(
  'receipts.insertProgress',
  `insert into receipt_progress (app_no, kind, position) values (:appNo, :kind, :position)
   on conflict do nothing`,
)

/** From here on a new subscription has to wait until all rows of the old one are gone. */
export const endProgress = query<{ appNo: number; kind: ReceiptKind }>(
  'receipts.endProgress',
  'update receipt_progress set ended = true where app_no = :appNo and kind = :kind',
)

/** Returns a row for each deleted one. */
export const removeFloors = query<
  { appNo: number; kind: ReceiptKind; limit: number },
  { conversation: number }
>(
  'receipts.removeFloors',
  `delete from receipt_floors where app_no = :appNo and kind = :kind and conversation = any (array(
     select conversation from receipt_floors
     where app_no = :appNo and kind = :kind order by conversation limit :limit))
   returning conversation`,
)

export const removeProgress = query<{ appNo: number; kind: ReceiptKind }>(
  'receipts.removeProgress',
  'delete from receipt_progress where app_no = :appNo and kind = :kind and ended',
)

export type LogEntry = {
  position: number
  /** The conversations in which it may complete a receipt. Null: none. */
  conversations: number[] | null
  /** The users whose marks or memberships changed. */
  uids: string[]
  /** The message of the receipt, if it is one. */
  message_id: number | null
  at: Date
}

/** The next events of an app's log. A deactivated user no longer gives receipts in any of their groups. */
export const listLog = query<
  { appNo: number; after: number; kind: ReceiptKind; limit: number },
  LogEntry
>(
  'receipts.listLog',
  `select e.position, e.at,
     case when e.type in ('conversation.read', 'conversation.delivered')
       then nullif(e.payload ->> 'messageId', '')::bigint end as message_id,
     case
       when e.type = 'user.deactivated' then (
         select json_agg(i.conversation) from inbox i
         where i.app_no = :appNo and i.uid = e.payload #>> '{user,uid}' and i.kind = 'group'
           and i.scope is not null)
       when e.type in ('group.member.left', 'group.member.kicked', 'group.member.banned')
         or e.payload ->> 'receiverType' = 'group' and (
           e.type in ('conversation.read', 'conversation.mark.moved', 'conversation.cleared')
           or e.type = 'conversation.delivered' and :kind::text = 'delivered')
       then json_build_array(split_part(e.key, 'conversation:', 2)::bigint)
     end as conversations,
     case
       when e.type = 'user.deactivated' then array[e.payload #>> '{user,uid}']
       when e.type like 'group.member.%' then array(select json_object_keys(e.payload -> 'members'))
       when e.type like 'conversation.%' then array[e.payload ->> 'uid']
       else '{}'
     end as uids
   from logged_events(:appNo, :after, :limit::int) e order by e.position`,
)

/** Groups in which a deleted user may have been the last one that others waited for. */
export const listDeletions = query<
  { appNo: number; kind: ReceiptKind; limit: number },
  { conversation: number; deleted: number }
>(
  'receipts.listDeletions',
  `select conversation, deleted from receipt_floors
   where app_no = :appNo and kind = :kind and deleted > 0 limit :limit`,
)

/** Deletions since they were listed are looked at the next time. */
export const removeDeletions = query<{
  appNo: number
  kind: ReceiptKind
  conversations: number[]
  deleted: number[]
}>(
  'receipts.removeDeletions',
  `update receipt_floors f set deleted = f.deleted - seen.deleted
   from unnest(:conversations::bigint[], :deleted::int[]) as seen (conversation, deleted)
   where f.app_no = :appNo and f.kind = :kind and f.conversation = seen.conversation`,
)

export type Floor = {
  conversation: number
  guid: string
  last_id: number
  members: number
  /** The rest is null if the conversation hasn't been looked at before. */
  floor: number | null
  ahead_uid: string | null
  ahead_id: number | null
  laggards: string[] | null
  bound: number | null
}

/** Groups with what is known about them. */
export const listFloors = query<
  { appNo: number; kind: ReceiptKind; conversations: number[] },
  Floor
>(
  'receipts.listFloors',
  `select h.no as conversation, h.one as guid, h.last_id, g.members_count as members,
     f.floor, f.ahead_uid, f.ahead_id, f.laggards, f.bound
   from conversations h
   join groups g on g.app_no = h.app_no and g.guid = h.one and g.removed_at is null
   left join receipt_floors f
     on f.app_no = h.app_no and f.kind = :kind and f.conversation = h.no
   where h.app_no = :appNo and h.no = any (:conversations::bigint[]) and h.kind = 'group'
   order by h.no`,
)

/** How far a member has received or read. */
export type Reached = { uid: string; id: number }

/** The two members of each group who are furthest behind. For small groups: it looks at all members. */
export const listLowest = query<
  { appNo: number; kind: ReceiptKind; conversations: number[] },
  Reached & { conversation: number }
>(
  'receipts.listLowest',
  `select c.conversation, l.uid, l.id
   from unnest(:conversations::bigint[]) as c (conversation) cross join lateral (
     select i.uid, reached_id(i, :kind) as id from inbox i
     where i.app_no = :appNo and i.conversation = c.conversation and gives_receipts(i)
     order by 2, 1 limit 2) l`,
)

/** Those of the given members who still are members. */
export const listReached = query<
  { appNo: number; kind: ReceiptKind; conversation: number; uids: string[] },
  Reached
>(
  'receipts.listReached',
  `select i.uid, reached_id(i, :kind) as id from inbox i
   where i.app_no = :appNo and i.conversation = :conversation and i.uid = any (:uids::text[])
     and gives_receipts(i)
   order by 2, 1`,
)

/**
 * The members who are furthest behind, of the next :scan members in the order of uids. In random order if they are
 * equally far: members who read in the order of uids don't all belong to one selection. `last` is the uid to go on
 * after; null after the last member.
 */
export const scanMembers = query<
  {
    appNo: number
    kind: ReceiptKind
    conversation: number
    after: string
    scan: number
    most: number
  },
  { last: string | null; lowest: Reached[] }
>(
  'receipts.scanMembers',
  `with scanned as materialized (
     select i from inbox i
     where i.app_no = :appNo and i.conversation = :conversation and i.uid > :after
     order by i.uid limit :scan
   )
   select (select max((i).uid) from scanned having count(*) = :scan) as last, coalesce((
     select json_agg(json_build_object('uid', uid, 'id', id)) from (
       select (i).uid, reached_id(i, :kind) as id from scanned where gives_receipts(i)
       order by 2, random() limit :most) l), '[]') as lowest`,
)

export type DoneMessage = Pick<CellRows['messages'], 'id' | 'sender'>

/**
 * Of each sender the newest message that all others have: up to `upto`, and up to `aheadUpto` if the sender is `ahead`.
 * Messages that no member of that time has received or read are left out, as in a group with one member.
 */
const doneAfter = (floor: string) => `
  select id, sender from (
    select distinct on (m.sender) m.id, m.sender from (
      select id, sender, category, deleted_at from messages
      where app_no = :appNo and conversation = :conversation and id > ${floor} and id <= :upto
      union all
      select id, sender, category, deleted_at from messages
      where app_no = :appNo and conversation = :conversation and sender = :ahead
        and id > greatest(${floor}, :upto::bigint) and id <= :aheadUpto
    ) m
    where m.category not in ('action', 'call') and m.deleted_at is null
    order by m.sender, m.id desc
  ) m
  where exists (
    select from inbox i
    where i.app_no = :appNo and i.conversation = :conversation and i.scope is not null
      and i.uid <> m.sender and i.joined_at < id_time(m.id) and exists (
        select from marks k
        where k.app_no = :appNo and k.conversation = :conversation and k.uid = i.uid
          and k.kind = any (:kinds::text[]) and k.upto_id >= m.id))`

type DoneParams = {
  appNo: number
  conversation: number
  kinds: ReceiptKind[]
  upto: number
  ahead: string
  aheadUpto: number
}

/** Without those that were reported before: the ones of `formerAhead` up to `formerUpto`. */
export const listDone = query<
  DoneParams & { floor: number; formerAhead: string; formerUpto: number },
  DoneMessage
>(
  'receipts.listDone',
  `${doneAfter(':floor::bigint')} and not (m.sender = :formerAhead and m.id <= :formerUpto) order by id`,
)

const FIRST_FLOOR = `coalesce((
  select id from messages
  where app_no = :appNo and conversation = :conversation and id <= :upto
  order by id desc offset :firstLook limit 1), 0)`

/**
 * For a group that is looked at for the first time, of its newest messages: those that one of these users hadn't received or read before. A
 * user's marks before their first new receipt, the one at `messageIds`, are older. Users needn't read what was sent
 * before they joined.
 */
export const listNewlyDone = query<
  DoneParams & { firstLook: number; uids: string[]; messageIds: (number | null)[] },
  DoneMessage
>(
  'receipts.listNewlyDone',
  `${doneAfter(FIRST_FLOOR)} and exists (
     select from unnest(:uids::text[], :messageIds::bigint[]) as changed (uid, message_id)
     where changed.uid <> m.sender and not exists (
       select from marks k
       where k.app_no = :appNo and k.conversation = :conversation and k.uid = changed.uid
         and k.kind = any (:kinds) and k.upto_id >= m.id and (changed.message_id is null or k.upto_id < changed.message_id)
     ) and not exists (
       select from inbox i
       where i.app_no = :appNo and i.conversation = :conversation and i.uid = changed.uid
         and i.joined_at > id_time(m.id)))
   order by id`,
)

export const lockLease = query<{ job: string; workerId: string; epoch: number }>(
  'receipts.lockLease',
  'select lock_lease(:job, :workerId::uuid, :epoch)',
)

/** Floors as JSON, with the names of the columns. */
export const saveFloors = query<{ appNo: number; kind: ReceiptKind; floors: string }>(
  'receipts.saveFloors',
  `insert into receipt_floors
     (app_no, kind, conversation, floor, ahead_uid, ahead_id, laggards, bound)
   select :appNo, :kind, conversation, floor, ahead_uid, ahead_id, laggards, bound
   from json_to_recordset(:floors::json) as f (conversation bigint, floor bigint, ahead_uid text,
     ahead_id bigint, laggards text[], bound bigint)
   order by conversation
   on conflict (app_no, kind, conversation) do update
   set floor = excluded.floor, ahead_uid = excluded.ahead_uid, ahead_id = excluded.ahead_id,
     laggards = excluded.laggards, bound = excluded.bound`,
)

export const moveProgress = query<{ appNo: number; kind: ReceiptKind; position: number }>(
  'receipts.moveProgress',
  'update receipt_progress set position = :position where app_no = :appNo and kind = :kind',
)

/** The record of the app itself, which reports these receipts. */
export const findSystemUser = query<{ appNo: number }, { record: UserSnapshot }>(
  'receipts.findSystemUser',
  `select (system_text(:appNo) || '}')::json as record`,
)
