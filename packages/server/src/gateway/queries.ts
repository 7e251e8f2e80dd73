import { SANCTION_IS_IN_FORCE, type Sanction } from '../core/sanctions.ts'
import { query } from '../platform/db/query.ts'
import type { LoggedRow } from './entry.ts'

const LOGGED = `position, type, key, floor(date_part('epoch', at))::bigint as at, payload::text as body`

/** A deleted group. The order key of its events distinguishes it from other groups with the same guid. */
export interface DeletedGroup {
  guid: string
  order_key: string
}

/** Deleted groups that the user was a member of until the end, whether already swept or not. */
const DELETED_GROUPS = `
  select guid, 'conversation:' || conversation as order_key, at from former_members
  where app_no = :appNo and uid = :uid
  union all
  select g.guid, 'conversation:' || i.conversation, g.removed_at
  from groups g join inbox i on i.app_no = g.app_no and i.uid = :uid and i.kind = 'group'
    and i.with_id = g.guid and i.scope is not null
  where g.app_no = :appNo and g.removed_at is not null`

/** The next events of a log, by its primary key. */
export const listLogged = query<{ appNo: number; after: number; limit: number }, LoggedRow>(
  'gateway.listLogged',
  `select ${LOGGED} from logged_events(:appNo, :after, :limit::int) order by position`,
)

/** The newest `limit` events, as far as they are at most two minutes old. Reads one that is older, and no more. */
export const listNewest = query<{ appNo: number; limit: number }, LoggedRow>(
  'gateway.listNewest',
  `with bound as (
     select position - :limit::int as before from positions where app_no = :appNo
   ), old as (
     select position as last from events
     where app_no = :appNo and position > (select before from bound)
       and at <= now() - interval '2 minutes'
     order by position desc limit 1
   )
   select ${LOGGED} from bound left join old on true
   cross join lateral logged_events(:appNo, greatest(before, last), :limit::int)
   order by position`,
)

/** The last position of an app's log. */
export const findPosition = query<{ appNo: number }, { position: number }>(
  'gateway.findPosition',
  'select position from positions where app_no = :appNo',
)

/** The last positions of all apps with sessions in this process, by the primary key. */
export const listPositions = query<{ appNos: number[] }, { app_no: number; position: number }>(
  'gateway.listPositions',
  'select app_no, position from positions where app_no = any(:appNos::int[])',
)

/** A user's friends, if only those matter, as of a position of the log. */
export const findPresenceScope = query<
  { appNo: number; uid: string; friends: boolean },
  { position: number; friends: string[] | null }
>(
  'gateway.findPresenceScope',
  `select coalesce((select position from positions where app_no = :appNo), 0) as position,
     case when :friends::boolean
     then array(select friend_uid from friends where app_no = :appNo and uid = :uid) end as friends`,
)

/** The groups in which the user's scope may not list all members, or all reactions. */
const unseen = (permission: 'listMembers' | 'listReactions') => `array(
  select g.guid from inbox i join groups g on g.app_no = i.app_no and g.guid = i.with_id,
    scope_rules(g.permissions, g.owner, i.scope, i.uid) rules
  where i.app_no = u.app_no and i.uid = u.uid and i.kind = 'group' and i.scope is not null
    and g.permissions is not null
    and (rules #>> '{${permission},value}' = 'deny'
      or jsonb_array_length(rules #> '{${permission}.allowedScopes,value}') > 0))`

/** The user's sanctions that haven't ended, oldest first. */
const SANCTIONS = `(
  select json_agg(json_strip_nulls(json_build_object('kind', s.kind, 'guid', nullif(s.guid, ''),
    'until', unix(s.until), 'reason', s.reason)) order by s.id)
  from sanctions s where s.app_no = u.app_no and s.uid = u.uid and ${SANCTION_IS_IN_FORCE})`

/** What the rules of an app say about users: their roles as shown, and groups. */
export interface RuledRow {
  uid: string
  role: string
  unseen_reactions: string[]
  unseen_members: string[]
  sanctions: Sanction[] | null
}

export const listRuled = query<
  { appNo: number; uids: string[]; scoped: boolean; sanctioned: boolean },
  RuledRow
>(
  'gateway.listRuled',
  `select u.uid, case u.role when 'default' then u.role else shown_role(:appNo, u.role) end as role,
     case when :scoped::boolean then ${unseen('listReactions')} else '{}' end as unseen_reactions,
     case when :scoped::boolean then ${unseen('listMembers')} else '{}' end as unseen_members,
     case when :sanctioned::boolean then ${SANCTIONS} end as sanctions
   from users u where u.app_no = :appNo and u.uid = any(:uids::text[])`,
)

/**
 * The user's groups and blocks, as of a position of the log. Changes that are committed but have no position yet
 * are already included; applying them again later does no harm. Groups whose deletion has no position yet count
 * too, because members receive the event of the deletion.
 */
export const findUserState = query<
  { appNo: number; uid: string },
  { position: number; groups: string[]; blocks: string[] }
>(
  'gateway.findUserState',
  `select coalesce((select position from positions where app_no = :appNo), 0) as position,
     array(select i.with_id from inbox i join groups g on g.app_no = i.app_no and g.guid = i.with_id
       where i.app_no = :appNo and i.uid = :uid and i.kind = 'group' and i.scope is not null
         and g.removed_at is null
       union
       -- With count(*), the outbox is read only if there are deleted groups.
       select deleted.guid from (${DELETED_GROUPS}) deleted
       where (select count(*) from outbox o
         where o.app_no = :appNo and o.type = 'group.deleted' and o.key = deleted.order_key) > 0
     ) as groups,
     array(select '>' || blocked_uid from blocks where app_no = :appNo and uid = :uid
       union all
       select '<' || uid from blocks where app_no = :appNo and blocked_uid = :uid) as blocks`,
)

/**
 * Where a user who was away resumes. The next event has the position after `base`. `lost`: the log lost `after` in a
 * break. `foreign`: the next event is older than the user's row, so it may be for a deleted user who had the same uid. `day`
 * is the day on which the next event got its position, so that earlier partitions are skipped; it is null if the log no
 * longer holds that event. `deleted` are the groups deleted since the day before: an event can wait for its position.
 */
export const findResumePoint = query<
  { appNo: number; uid: string; after: number },
  { base: number; lost: boolean; foreign: boolean; day: string | null; deleted: DeletedGroup[] }
>(
  'gateway.findResumePoint',
  `with next as (
     select a.base, a.lost_after is not null as lost, p.day, p.body_id, p.body_day
     from log_after(:appNo, :after) a left join lateral (
       select day, body_id, body_day from event_positions
       where app_no = :appNo and position = a.base + 1 order by day desc limit 1
     ) p on true
   )
   select next.base, next.lost, next.day::text, exists (
       select from users u join event_bodies b on b.at < u.added_at
       where u.app_no = :appNo and u.uid = :uid and b.id = next.body_id and b.day = next.body_day
     ) as "foreign", coalesce((
       select json_agg(json_build_object('guid', guid, 'order_key', order_key))
       from (${DELETED_GROUPS}) deleted
       where deleted.at >= coalesce(next.day, current_date) - 1
     ), '[]') as deleted
   from next`,
)

type Range = { appNo: number; after: number; upto: number; day: string; limit: number }

/** The bodies of the positions that were found, each by its primary key. */
const BODIES = `cross join lateral (
     select key, at, payload from event_bodies where id = found.body_id and day = found.body_day
     offset 0
   ) body`

/** Events addressed to one user or to everyone: three ranges of the topic indexes. */
export const listForUser = query<Range & { topic: string; everyone: string }, LoggedRow>(
  'gateway.listForUser',
  `select ${LOGGED} from (
     (select position, type, body_id, body_day from event_positions
      where app_no = :appNo and to_first = :topic and to_first <> ''
        and position > :after and position <= :upto and day >= :day::date
      order by position limit :limit)
     union all
     (select position, type, body_id, body_day from event_positions
      where app_no = :appNo and to_first = :everyone and to_first <> ''
        and position > :after and position <= :upto and day >= :day::date
      order by position limit :limit)
     union all
     (select position, type, body_id, body_day from event_positions
      where app_no = :appNo and to_second = :topic
        and position > :after and position <= :upto and day >= :day::date
      order by position limit :limit)
     order by position limit :limit
   ) found ${BODIES}
   order by position`,
)

/**
 * Events addressed to groups, each group within a span of positions: one range of the topic index per span. The
 * spans are JSON because the planner would guess the length of an array.
 */
export const listForGroups = query<
  { appNo: number; spans: string; day: string; limit: number },
  LoggedRow
>(
  'gateway.listForGroups',
  `select ${LOGGED} from (
     select chosen.* from json_to_recordset(:spans::json)
       as span (topic text, after bigint, upto bigint)
     cross join lateral (
       select position, type, body_id, body_day from event_positions
       where app_no = :appNo and to_first = span.topic and to_first <> ''
         and position > span.after and position <= span.upto and day >= :day::date
       order by position limit :limit
     ) chosen
     order by position limit :limit
   ) found ${BODIES}
   order by position`,
)
