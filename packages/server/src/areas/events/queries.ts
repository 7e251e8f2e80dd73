import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

type LoggedEvent = Pick<CellRows['event_positions'], 'position' | 'type'> &
  Pick<CellRows['event_bodies'], 'at' | 'payload'>

/** Null if there is no event to return. */
export type LogRow = {
  last: number
  /** The log was read up to this position. */
  read_to: number
  /** If the log lost the requested position in a break: the last position before it. */
  lost_after: number | null
  /** Whether the log still has the event right after the requested position. */
  whole: boolean
} & (LoggedEvent | Record<keyof LoggedEvent, null>)

/**
 * Events after a position, by the primary key of each day's partition, up to the next break. `positions` bounds how
 * many positions are read, so that a rare type costs no more than a common one. No row if the app has no event yet.
 */
export const listEvents = query<
  { appNo: number; after: number; positions: number; types: string[] | null; limit: number },
  LogRow
>(
  'events.list',
  `select p.position as last, least(a.base + :positions, a.upto, p.position) as read_to, a.lost_after,
     p.position <= a.base or exists (
       select from event_positions where app_no = :appNo and position = a.base + 1
     ) as whole,
     e.position, e.type, e.at, e.payload
   from positions p cross join log_after(:appNo, :after) a
   left join lateral logged_events(
     :appNo, a.base, :limit::int, least(a.base + :positions, a.upto), :types::text[]) e on true
   where p.app_no = :appNo
   order by e.position`,
)

/** The first position of each day's partition, and the lowest of them. */
export const findOldestEvent = query<{ appNo: number }, { position: number }>(
  'events.findOldest',
  'select position from event_positions where app_no = :appNo order by position limit 1',
)

/**
 * Where a new reader starts: before the oldest event, or at the last position if all events have expired. One statement,
 * because the first events of an app can come between two.
 */
export const findStart = query<{ appNo: number }, { after: number }>(
  'events.findStart',
  `select coalesce(
     (select position - 1 from event_positions where app_no = :appNo order by position limit 1),
     (select position from positions where app_no = :appNo),
     0) as after`,
)
