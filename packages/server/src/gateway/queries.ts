import { query } from '../platform/db/query.ts'
import type { LoggedRow } from './entry.ts'

const LOGGED = `position, type, floor(date_part('epoch', at))::bigint as at, payload::text as body`

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
 * the log yet is in it too, and does no harm when it is heard again. `banned`: groups from which the
 * user was banned as a member.
 */
export const findUserState = query<
  { appNo: number; uid: string },
  { position: number; groups: string[]; blocks: string[]; banned: string[] }
>(
  'gateway.findUserState',
  `select coalesce((select position from positions where app_no = :appNo), 0) as position,
     array(select i.with_id from inbox i join groups g on g.app_no = i.app_no and g.guid = i.with_id
       where i.app_no = :appNo and i.uid = :uid and i.kind = 'group' and i.scope is not null
         and g.removed_at is null) as groups,
     array(select '>' || blocked_uid from blocks where app_no = :appNo and uid = :uid
       union all
       select '<' || uid from blocks where app_no = :appNo and blocked_uid = :uid) as blocks,
     array(select guid from bans
       where app_no = :appNo and uid = :uid and joined_at is not null) as banned`,
)

/** The day on which an event got its position: no earlier partition is looked at. */
export const findDay = query<{ appNo: number; position: number }, { day: string }>(
  'gateway.findDay',
  'select day from events where app_no = :appNo and position = :position',
)

type Stretch = { appNo: number; after: number; upto: number; day: string; limit: number }

/** What one user was told as itself, or everyone: three ranges of the indexes of places. */
export const listTold = query<Stretch & { place: string; everyone: string }, LoggedRow>(
  'gateway.listTold',
  `select ${LOGGED} from (
     (select position, type, at, payload from events
      where app_no = :appNo and to_first = :place and to_first <> ''
        and position > :after and position <= :upto and day >= :day::date
      order by position limit :limit)
     union all
     (select position, type, at, payload from events
      where app_no = :appNo and to_first = :everyone and to_first <> ''
        and position > :after and position <= :upto and day >= :day::date
      order by position limit :limit)
     union all
     (select position, type, at, payload from events
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
     select position, type, at, payload from events
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
