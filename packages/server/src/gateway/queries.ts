import { query } from '../platform/db/query.ts'
import type { LoggedRow } from './entry.ts'

const LOGGED = `position, type, key, floor(date_part('epoch', at))::bigint as at, payload::text as body`

/** A group that is no more, told apart from others of that guid by the key of its events. */
export interface Ended {
  guid: string
  key: string
}

/** Those of which the user was a member to the end: swept already, or not. */
const ENDED = `
  select guid, 'conversation:' || conversation as key, at from former_members
  where app_no = :appNo and uid = :uid
  union all
  select g.guid, 'conversation:' || i.conversation, g.removed_at
  from groups g join inbox i on i.app_no = g.app_no and i.uid = :uid and i.kind = 'group'
    and i.with_id = g.guid and i.scope is not null
  where g.app_no = :appNo and g.removed_at is not null`

/** The next events of a log, by its primary key. */
export const listLogged = query<{ appNo: number; after: number; limit: number }, LoggedRow>(
  'gateway.listLogged',
  `select ${LOGGED} from events
   where app_no = :appNo and position > :after order by position limit :limit`,
)

/** The events of the last two minutes, some thousand at most: by the primary key, without a hole. */
export const listNewest = query<{ appNo: number; limit: number }, LoggedRow>(
  'gateway.listNewest',
  `with newest as (
     select events.position, events.at from positions p
     join events on events.app_no = :appNo and events.position > p.position - :limit::int
     where p.app_no = :appNo
   )
   select ${LOGGED} from events
   where app_no = :appNo
     and position >= (select min(position) from newest where at > now() - interval '2 minutes')
   order by position`,
)

/** The last position given in an app. */
export const findPosition = query<{ appNo: number }, { position: number }>(
  'gateway.findPosition',
  'select position from positions where app_no = :appNo',
)

/** By the key, all apps that have sockets here in one statement. */
export const listPositions = query<{ appNos: number[] }, { app_no: number; position: number }>(
  'gateway.listPositions',
  'select app_no, position from positions where app_no = any(:appNos::int[])',
)

/**
 * What decides whose presence a user may be told of, at one position of the log: `friends`, if the device asks for
 * friends or the user's role shows no others, else null.
 */
export const findWatch = query<
  { appNo: number; uid: string; friends: boolean },
  { position: number; friends: string[] | null }
>(
  'gateway.findWatch',
  `select coalesce((select position from positions where app_no = :appNo), 0) as position,
     case when :friends or exists (
       select from users u join roles r using (app_no, role)
       where u.app_no = :appNo and u.uid = :uid and r.removed_at is null
         and r.settings ->> 'listUsers' = 'friendsOnly')
     then array(select friend_uid from friends where app_no = :appNo and uid = :uid) end as friends`,
)

/**
 * What decides who receives what, at one position of the log: what was committed by then and is not in
 * the log yet is in it too, and does no harm when it is heard again. But the end of a group is told to its
 * members: those of one whose end is not in the log yet still are.
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
       -- Counted, so that the outbox is looked at only if there are any.
       select ended.guid from (${ENDED}) ended
       where (select count(*) from outbox o
         where o.app_no = :appNo and o.type = 'group.deleted' and o.key = ended.key) > 0
     ) as groups,
     array(select '>' || blocked_uid from blocks where app_no = :appNo and uid = :uid
       union all
       select '<' || uid from blocks where app_no = :appNo and blocked_uid = :uid) as blocks`,
)

/**
 * Where a user begins that was away: the day on which the next event got its position (none: the log no
 * longer holds it), so that no earlier partition is looked at; and the groups that have ended with it since
 * then, or up to a day before: an event can wait for its position.
 */
export const findReturn = query<
  { appNo: number; uid: string; after: number },
  { day: string | null; ended: Ended[] }
>(
  'gateway.findReturn',
  `with next as (
     select max(day) as day from events where app_no = :appNo and position = :after::bigint + 1
   )
   select next.day::text, coalesce((
       select json_agg(json_build_object('guid', guid, 'key', key)) from (${ENDED}) ended
       where ended.at >= coalesce(next.day, current_date) - 1
     ), '[]') as ended
   from next`,
)

type Stretch = { appNo: number; after: number; upto: number; day: string; limit: number }

/** What one user was told as itself, or everyone: three ranges of the indexes of places. */
export const listTold = query<Stretch & { place: string; everyone: string }, LoggedRow>(
  'gateway.listTold',
  `select ${LOGGED} from (
     (select position, type, key, at, payload from events
      where app_no = :appNo and to_first = :place and to_first <> ''
        and position > :after and position <= :upto and day >= :day::date
      order by position limit :limit)
     union all
     (select position, type, key, at, payload from events
      where app_no = :appNo and to_first = :everyone and to_first <> ''
        and position > :after and position <= :upto and day >= :day::date
      order by position limit :limit)
     union all
     (select position, type, key, at, payload from events
      where app_no = :appNo and to_second = :place
        and position > :after and position <= :upto and day >= :day::date
      order by position limit :limit)
   ) told
   order by position limit :limit`,
)

/**
 * What was told in groups, each within a span of positions: a range of the index for each. As JSON, whose
 * length the planner does not guess.
 */
export const listToldInGroups = query<
  { appNo: number; spans: string; day: string; limit: number },
  LoggedRow
>(
  'gateway.listToldInGroups',
  `select ${LOGGED} from json_to_recordset(:spans::json)
     as span (place text, after bigint, upto bigint)
   cross join lateral (
     select position, type, key, at, payload from events
     where app_no = :appNo and to_first = span.place and to_first <> ''
       and position > span.after and position <= span.upto and day >= :day::date
     order by position limit :limit
   ) told
   order by position limit :limit`,
)

/** Refuses, as a send would, a user that may not write there; else the records of both sides. */
export const checkReach = query<
  { appNo: number; kind: string; uid: string; receiver: string },
  { entities: string }
>(
  'gateway.checkReach',
  `select case :kind when 'user' then check_direct(:appNo, :uid, :receiver)
     else check_group(:appNo, :uid, :receiver) end as entities`,
)
