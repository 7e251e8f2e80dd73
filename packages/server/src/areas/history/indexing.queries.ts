import { query } from '../../platform/db/query.ts'
import type { Segment } from './search.queries.ts'

/** How far the log of each app has come. */
export const listPositions = query<Record<string, never>, { app_no: number; position: number }>(
  'indexing.listPositions',
  `select a.app_no, coalesce(p.position, 0) as position
   from working_apps() a left join positions p using (app_no)`,
)

/** The first and the last message of each app that aren't indexed. */
export const listEnds = query<Record<string, never>, { app_no: number; ends: string }>(
  'indexing.listEnds',
  `select a.app_no, concat(
     (select min(m.id) from messages m where m.app_no = a.app_no and m.id > (
       select coalesce(max(s.upto_id), 0) from search_segments s where s.app_no = a.app_no
     )), ' ',
     (select max(m.id) from messages m where m.app_no = a.app_no)
   ) as ends
   from working_apps() a`,
)

/**
 * How many messages an app has after its last segment, at most :most, and the ids at which a
 * segment of :few or of :most messages would end.
 */
export const findNext = query<
  { appNo: number; few: number; most: number },
  { after: number; found: number; few_id: number | null; most_id: number | null }
>(
  'indexing.findNext',
  `select last.after, count(m.id) as found,
     max(m.id) filter (where m.nth = :few) as few_id,
     max(m.id) filter (where m.nth = :most) as most_id
   from (
     select coalesce(max(upto_id), 0) as after from search_segments where app_no = :appNo
   ) last left join lateral (
     select id, row_number() over (order by id) as nth from (
       select id from messages where app_no = :appNo and id > last.after order by id limit :most
     ) next
   ) m on true
   group by last.after`,
)

export const publishHorizon = query<{ appNo: number; upto: number }>(
  'indexing.publishHorizon',
  'update apps set search_upto = :upto where app_no = :appNo and search_upto < :upto',
)

/** A transaction id above those of all transactions that have one. */
export const drawXid = query<Record<string, never>, { xid: number }>(
  'indexing.drawXid',
  'select pg_current_xact_id()::text::bigint as xid',
)

/** The lowest id of a transaction that is still running. */
export const findOldestXid = query<Record<string, never>, { xid: number }>(
  'indexing.findOldestXid',
  'select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xid',
)

/** Only one process at a time writes an app's index. */
export const lockIndex = query<{ appNo: number }>(
  'indexing.lockIndex',
  `select pg_advisory_xact_lock(hashtext('search'), :appNo)`,
)

export const hasSegment = query<Segment & { appNo: number }, { found: boolean }>(
  'indexing.hasSegment',
  `select exists (select from search_segments
     where app_no = :appNo and upto_id = :upto_id and after_id = :after_id) as found`,
)

/** Called before the texts are read, so that later changes are recorded again. */
export const forgetChanges = query<Segment & { appNo: number }>(
  'indexing.forgetChanges',
  'delete from search_changes where app_no = :appNo and id > :after_id and id <= :upto_id',
)

export const listTexts = query<
  { appNo: number; after: number; upto: number; limit: number },
  { id: number; text: string | null }
>(
  'indexing.listTexts',
  `select id, fold_text(searched_text(data)) as text from messages
   where app_no = :appNo and id > :after and id <= :upto
   order by id limit :limit`,
)

export const storeGrams = query<{ appNo: number; upto: number; grams: string }>(
  'indexing.storeGrams',
  `insert into search_grams (app_no, gram, upto_id, ordinals)
   select :appNo, g ->> 0, :upto, decode(g ->> 1, 'base64')
   from json_array_elements(:grams::json) g
   on conflict (app_no, gram, upto_id) do update set ordinals = excluded.ordinals`,
)

/** Walks over all grams of the app. */
export const removeGrams = query<{ appNo: number; upto: number }>(
  'indexing.removeGrams',
  'delete from search_grams where app_no = :appNo and upto_id = :upto',
)

export const removeIds = query<{ appNo: number; upto: number }>(
  'indexing.removeIds',
  'delete from search_ids where app_no = :appNo and upto_id = :upto',
)

export const storeIds = query<{ appNo: number; upto: number; blocks: string }>(
  'indexing.storeIds',
  `insert into search_ids (app_no, upto_id, block, ids)
   select :appNo, :upto, n - 1, decode(ids, 'base64')
   from json_array_elements_text(:blocks::json) with ordinality as b (ids, n)`,
)

export const storeSegment = query<Segment & { appNo: number; messages: number }>(
  'indexing.storeSegment',
  `insert into search_segments as s (app_no, upto_id, after_id, messages)
   values (:appNo, :upto_id, :after_id, :messages)
   on conflict (app_no, upto_id) do update
   set messages = excluded.messages, version = s.version + 1`,
)

/** Takes the messages up to :after from a segment, which another one has now. */
export const shortenSegment = query<{ appNo: number; upto: number; after: number }>(
  'indexing.shortenSegment',
  `update search_segments set after_id = :after, version = version + 1
   where app_no = :appNo and upto_id = :upto`,
)

/** The id in the middle of a segment with more than :most messages. If it has more than twice as many, the :most-th. */
export const findMiddle = query<Segment & { appNo: number; most: number }, { id: number }>(
  'indexing.findMiddle',
  `select id from (
     select id, row_number() over (order by id) as nth, count(*) over () as found from (
       select id from messages where app_no = :appNo and id > :after_id and id <= :upto_id
       order by id limit 2 * :most::bigint
     ) next
   ) m
   where found > :most::bigint and nth = found / 2`,
)

/**
 * Segments in which at least :least messages have changed. From one change it goes on to the first one after its
 * segment, so it doesn't read all changes. Those after the last segment are skipped.
 */
export const listStale = query<{ least: number; limit: number }, Segment & { app_no: number }>(
  'indexing.listStale',
  `with recursive changed as (
     (select c.app_no, s.after_id, s.upto_id from search_changes c left join lateral (
        select after_id, upto_id from search_segments s
        where s.app_no = c.app_no and s.upto_id >= c.id order by s.upto_id limit 1
      ) s on true
      order by c.app_no, c.id limit 1)
     union all
     select c.app_no, s.after_id, s.upto_id from changed last cross join lateral (
       select app_no, id from search_changes c
       where (c.app_no, c.id) > (last.app_no, coalesce(last.upto_id, 9223372036854775807))
       order by c.app_no, c.id limit 1
     ) c left join lateral (
       select after_id, upto_id from search_segments s
       where s.app_no = c.app_no and s.upto_id >= c.id order by s.upto_id limit 1
     ) s on true
   )
   select app_no, after_id, upto_id from changed d join working_apps() using (app_no)
   where d.upto_id is not null and :least <= (select count(*) from (
     select from search_changes c
     where c.app_no = d.app_no and c.id > d.after_id and c.id <= d.upto_id limit :least
   ) counted)
   limit :limit`,
)

/** The segments that cover these ends now: one may have been split since. */
export const listSegmentsAt = query<
  { appNo: number; ends: number[] },
  { after_id: number; upto_id: number }
>(
  'indexing.listSegmentsAt',
  `select distinct s.after_id, s.upto_id from unnest(:ends::bigint[]) e (upto)
   join search_segments s on s.app_no = :appNo and s.after_id < e.upto and s.upto_id >= e.upto`,
)
