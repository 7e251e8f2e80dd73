import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

type LoggedEvent = Pick<CellRows['events'], 'position' | 'type' | 'at' | 'payload'>

/** Nulls: there is no event to show. */
export type LogRow = {
  last: number
  /** Whether the log still holds the event right after the position asked for. */
  whole: boolean
} & (LoggedEvent | Record<keyof LoggedEvent, null>)

/**
 * Some events past a position, by the primary key of each day's partition; the positions that are
 * looked at are bounded by `upto`, so that a rare type costs no more than a common one. No row: the
 * app has no event yet.
 */
export const listEvents = query<
  { appNo: number; after: number; upto: number; types: string[] | null; limit: number },
  LogRow
>(
  'events.list',
  `select p.position as last,
     p.position <= :after or exists (
       select from events where app_no = :appNo and position = :after::bigint + 1
     ) as whole,
     e.position, e.type, e.at, e.payload
   from positions p
   left join lateral (
     select position, type, at, payload
     from events
     where app_no = :appNo and position > :after and position <= :upto
       and (:types::text[] is null or type = any(:types))
     order by position
     limit :limit
   ) e on true
   where p.app_no = :appNo
   order by e.position`,
)

/** The first of each day's partition, and of those the first. */
export const findOldestEvent = query<{ appNo: number }, { position: number }>(
  'events.findOldest',
  'select position from events where app_no = :appNo order by position limit 1',
)

/** The last position given in an app. */
export const findPosition = query<{ appNo: number }, { position: number }>(
  'events.findPosition',
  'select position from positions where app_no = :appNo',
)
