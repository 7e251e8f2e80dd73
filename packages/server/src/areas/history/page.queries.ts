/**
 * A page of a conversation in one statement: whether the reader may read it, the messages, and everything that they
 * show. Features that a message doesn't use cost nothing: its row says whether to look for them.
 *
 * The limits of a page are hidden from the planner by a sub-select. If it knew them, it would find plans for known
 * values cheaper, and plan this large statement again for each request.
 */
import { isApart } from '../../core/user-rows.ts'
import { BAN_IS_IN_FORCE, HELD_IS_SHOWN, SENDER_IS_THERE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'

export type PageRange = {
  appNo: number
  /** Null for the app. */
  viewer: string | null
  /** Whether to check that the viewer is an active user: auth tokens belong to active users only. */
  checkViewer: boolean
  /** The other user, or the group. */
  id: string
  after: number
  upto: number
  limit: number
  hideQuoted: boolean
  hideReplies: boolean
  /** Whether the viewer sees all held messages. */
  moderates: boolean
}

/** One row per part of the page. `fields` is a JSON array; page-parts.ts reads it. */
export interface PartRow {
  part: 'head' | 'message' | 'held' | 'referred' | 'entity' | 'mark'
  /** The message's id, or how far a mark goes. */
  id: number | null
  fields: string
  /** The content of a message, or the record of a user or group; null if it was deleted. */
  text: string | null
}

/** No row `head` if the two users have no conversation. */
const DIRECT_HEAD = `
  select h.no, h.kind, h.one, h.other, h.purged_id, h.removed, greatest(h.purged_id, i.cleared_id) as cleared_id,
    null::text as scope, false as banned
  from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
  where i.app_no = :appNo and i.uid = :viewer::text and i.kind = 'user' and i.with_id = :id`

/** Whether the other user exists. */
const DIRECT_KNOWN = `:id = 'app_system' or exists (
  select from users where app_no = :appNo and uid = :id and removed_at is null)`

const GROUP_HEAD = `
  select h.no, h.kind, h.one, h.other, h.purged_id, h.removed,
    greatest(h.purged_id, coalesce(i.cleared_id, 0)) as cleared_id, i.scope,
    exists (select from bans b
      where b.app_no = g.app_no and b.guid = g.guid and b.uid = :viewer::text and ${BAN_IS_IN_FORCE}) as banned
  from groups g
    join conversations h on h.app_no = g.app_no and h.kind = 'group' and h.one = g.guid
      and h.other = ''
    left join inbox i on i.app_no = g.app_no and i.uid = :viewer::text and i.kind = 'group'
      and i.with_id = g.guid
  where g.app_no = :appNo and g.guid = :id and g.removed_at is null`

/** A group exists if it has a head. */
const GROUP_KNOWN = 'exists (select from head)'

/** The columns of a message `m` that its record needs. */
const COLUMNS = `
  m.id, m.sender, m.category, m.type, m.data, m.tags, m.muid, m.updated_at, m.edited_at, m.edited_by,
  m.deleted_at, m.deleted_by, m.pinned_at, m.pinned_by, m.reacted, m.saved, m.parent_id, m.quoted_id`

/** The same of a held message. */
const HELD = `
  m.id, m.sender, m.category, m.type, held_data(m), m.tags, m.muid, null::timestamptz, null::timestamptz,
  null::text, null::timestamptz, null::text, null::timestamptz, null::text, false, false, m.parent_id,
  m.quoted_id`

/** The same as JSON, with what the viewer sees at the message. Most messages have only the first four. */
const FIELDS = `
  case when m.updated_at is null and m.pinned_at is null and m.parent_id is null and m.quoted_id is null
    and m.tags = '{}' and m.thread is null and not m.reacted and not m.saved
  then json_build_array(m.sender, m.category, m.type, m.muid)
  else json_build_array(m.sender, m.category, m.type, m.muid, m.tags, m.parent_id, m.quoted_id,
    m.updated_at, m.edited_at, m.edited_by, m.deleted_at, m.deleted_by, m.pinned_at, m.pinned_by,
    m.thread,
    case when m.reacted then (
      select json_agg(json_build_array(c.reaction, c.count, exists (
          select from reactions r where r.app_no = :appNo and r.uid = :viewer::text
            and r.message_id = m.id and r.reaction = c.reaction))
        order by c.first_id)
      from reaction_counts c where c.app_no = :appNo and c.message_id = m.id) end,
    case when m.saved then (
      select s.saved_at from saves s
      where s.app_no = :appNo and s.uid = :viewer::text and s.message_id = m.id) end)
  end::text`

/** An object in a message's content; null if it is something else. */
const objectIn = (key: string) =>
  `case jsonb_typeof(s.data -> '${key}') when 'object' then s.data -> '${key}' end`

const pageQuery = (name: string, head: string, known: string, order: string) =>
  query<PageRange, PartRow>(
    name,
    `with head as materialized (
       select h.*, exists (
         select from threads t where t.app_no = :appNo and t.conversation = h.no) as threaded
       from (${head}) h
     ), page as materialized (
       select m.*, case when h.threaded then (
         select json_build_array(t.replies, t.last_id) from threads t
         where t.app_no = :appNo and t.parent_id = m.id) end as thread
       from head h cross join lateral (
         select ${COLUMNS} from messages m
         where m.app_no = :appNo and m.conversation = h.no
           and m.id > greatest(:after, h.cleared_id) and m.id <= (select :upto::bigint)
           and ${SENDER_IS_THERE} and (m.parent_id is null or not :hideReplies)
         order by m.id ${order} limit (select :limit::int)
       ) m
     ), shown as materialized (
       select 'message' as part, * from page
       union all
       -- If all messages have a row, none is held.
       select 'held', m.* from head h cross join lateral (
         select ${HELD}, null::json from held_messages m
         where h.removed > 0 and m.app_no = :appNo and m.conversation = h.no and not m.delivered
           and ${HELD_IS_SHOWN}
           and m.id > greatest(:after, h.cleared_id) and m.id <= (select :upto::bigint)
           and ${SENDER_IS_THERE} and (m.parent_id is null or not :hideReplies)
         order by m.id ${order} limit (select :limit::int)
       ) m
       union all
       select 'referred', ${COLUMNS}, null from head h join messages m
         on m.app_no = :appNo and m.conversation = h.no and m.id > h.purged_id
         and m.id = any(array(
           select (p.thread ->> 1)::bigint from page p where p.thread is not null
           union all
           select p.quoted_id from page p where p.quoted_id is not null and not :hideQuoted
           union all
           select (p.data #>> '{entities,on,entity,id}')::bigint from page p
           where p.category = 'action' and p.type = 'message'))
       where ${SENDER_IS_THERE}
     ), entities as (
       select 'user' as kind, s.sender as id from shown s
       union select h.kind, h.one from head h
       union select 'user', h.other from head h where h.kind = 'user'
       union select 'user', key from shown s
         cross join lateral jsonb_object_keys(${objectIn('mentions')}) key
         where s.data ? 'mentions'
       union select e.value ->> 'entityType',
           coalesce(e.value #>> '{entity,uid}', e.value #>> '{entity,guid}')
         from shown s cross join lateral jsonb_each(${objectIn('entities')}) e
         where s.category in ('action', 'call')
     )
     select 'head' as part, h.no as id, json_build_array(h.kind, h.one, h.other, h.scope, h.banned,
         ${known}, not :checkViewer or exists (select from users where app_no = :appNo
           and uid = :viewer::text and deactivated_at is null and removed_at is null))::text as fields,
       null as text
     from (select) one left join head h on true
     union all
     select m.part, m.id, ${FIELDS}, m.data::text from shown m
     union all
     select 'entity', null, json_build_array(e.kind, e.id)::text, case
         when e.kind = 'group' then (
           select group_json(g) from groups g
           where g.app_no = :appNo and g.guid = e.id and g.removed_at is null)
         when e.id = 'app_system' then system_json(:appNo)
         when e.kind = 'user' then (
           select case when ${isApart(':viewer::text', 'e.id')}
             then user_text(u) || ',"status":"offline"}' else user_json(u) end
           from users u where u.app_no = :appNo and u.uid = e.id and u.removed_at is null)
         end
     from entities e
     union all
     select 'mark', k.upto_id, json_build_array(side.uid, kind.kind, k.at)::text, null
     from (select min(id) as first, max(id) as last from page) ids
       join head h on h.kind = 'user' and h.one <> h.other
       cross join lateral (values (h.one), (h.other)) side (uid)
       cross join (values ('delivered'), ('read')) kind (kind)
       cross join lateral (
         select k.upto_id, k.at from marks k
         where k.app_no = :appNo and k.conversation = h.no and k.uid = side.uid and k.kind = kind.kind
           and k.upto_id >= ids.first and k.upto_id <= coalesce((
             select next.upto_id from marks next
             where next.app_no = :appNo and next.conversation = h.no and next.uid = side.uid
               and next.kind = kind.kind and next.upto_id >= ids.last
             order by next.upto_id limit 1), ids.last)
         offset 0 -- Otherwise PostgreSQL joins all marks of the conversation.
       ) k`,
  )

export const directUp = pageQuery('history.directUp', DIRECT_HEAD, DIRECT_KNOWN, 'asc')
export const directDown = pageQuery('history.directDown', DIRECT_HEAD, DIRECT_KNOWN, 'desc')
export const groupUp = pageQuery('history.groupUp', GROUP_HEAD, GROUP_KNOWN, 'asc')
export const groupDown = pageQuery('history.groupDown', GROUP_HEAD, GROUP_KNOWN, 'desc')
