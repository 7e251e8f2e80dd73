import { query } from '../../platform/db/query.ts'

/** A segment of an app's messages whose texts are indexed. */
export interface Segment {
  upto_id: number
  after_id: number
}

export const foldText = query<{ text: string }, { folded: string }>(
  'search.fold',
  'select fold_text(:text) as folded',
)

/** The id up to which an app's texts are indexed. */
export const findIndexed = query<{ appNo: number }, { upto: number }>(
  'search.findIndexed',
  `select coalesce(max(upto_id), 0) as upto from search_segments where app_no = :appNo`,
)

/** Segments with ids between these, the nearest first. */
type SegmentRange = { appNo: number; after: number; before: number; limit: number }
const segments = `
  select upto_id, after_id from search_segments
  where app_no = :appNo and upto_id > :after and after_id < :before - 1`

export const listSegmentsUp = query<SegmentRange, Segment>(
  'search.listSegmentsUp',
  `${segments} order by upto_id limit :limit`,
)
export const listSegmentsDown = query<SegmentRange, Segment>(
  'search.listSegmentsDown',
  `${segments} order by upto_id desc limit :limit`,
)

interface GramRow {
  gram: string
  upto_id: number
  ids: Buffer
}

export const listGrams = query<{ appNo: number; grams: string[]; uptos: number[] }, GramRow>(
  'search.listGrams',
  `select gram, upto_id, ids from search_grams
   where app_no = :appNo and gram = any(:grams::text[]) and upto_id = any(:uptos::bigint[])`,
)

/** The highest character stands for anything that follows the prefix. */
export const listGramsFrom = query<{ appNo: number; start: string; uptos: number[] }, GramRow>(
  'search.listGramsFrom',
  `select gram, upto_id, ids from search_grams
   where app_no = :appNo and gram >= :start and gram < :start || U&'\\+10FFFF'
     and upto_id = any(:uptos::bigint[])`,
)

export const listChanges = query<{ appNo: number; after: number; upto: number }, { id: number }>(
  'search.listChanges',
  'select id from search_changes where app_no = :appNo and id > :after and id <= :upto',
)

/** Apps with enough ids after the last segment that another one may be full. */
export const listUnindexed = query<
  { least: number },
  { app_no: number; upto: number; last_id: number }
>(
  'search.listUnindexed',
  `select app_no, upto, last_id from (
     select a.app_no,
       coalesce((select max(s.upto_id) from search_segments s where s.app_no = a.app_no), 0) as upto,
       (select max(m.id) from messages m where m.app_no = a.app_no) as last_id
     from apps a
   ) a where last_id - upto >= :least`,
)

/**
 * The id of the :nth message after another. Every transaction that drew a lower id has ended once
 * none below `horizon` is running, because it got its own id first (advance_head).
 */
export const findNth = query<
  { appNo: number; after: number; nth: number },
  { id: number | null; found: number; horizon: string }
>(
  'search.findNth',
  `select max(id) filter (where n = :nth) as id, count(*) as found,
     pg_snapshot_xmax(pg_current_snapshot())::text as horizon
   from (
     select id, row_number() over (order by id) as n from (
       select id from messages where app_no = :appNo and id > :after order by id limit :nth
     ) next
   ) numbered`,
)

export const haveEnded = query<{ horizon: string }, { ended: boolean }>(
  'search.haveEnded',
  'select pg_snapshot_xmin(pg_current_snapshot()) >= :horizon::xid8 as ended',
)

/** Only one process at a time writes an app's index. */
export const lockIndex = query<{ appNo: number }>(
  'search.lockIndex',
  `select pg_advisory_xact_lock(hashtext('search'), :appNo)`,
)

/** Called before the texts are read, so that later changes are recorded again. */
export const forgetChanges = query<{ appNo: number; after: number; upto: number }>(
  'search.forgetChanges',
  'delete from search_changes where app_no = :appNo and id > :after and id <= :upto',
)

export const listTexts = query<
  { appNo: number; after: number; upto: number; limit: number },
  { id: number; text: string | null }
>(
  'search.listTexts',
  `select id, fold_text(searched_text(data)) as text from messages
   where app_no = :appNo and id > :after and id <= :upto
   order by id limit :limit`,
)

export const storeGrams = query<{ appNo: number; upto: number; grams: string }>(
  'search.storeGrams',
  `insert into search_grams (app_no, gram, upto_id, ids)
   select :appNo, g ->> 0, :upto, decode(g ->> 1, 'base64')
   from json_array_elements(:grams::json) g
   on conflict (app_no, gram, upto_id) do update set ids = excluded.ids`,
)

export const storeSegment = query<{
  appNo: number
  upto: number
  after: number
  messages: number
}>(
  'search.storeSegment',
  `insert into search_segments (app_no, upto_id, after_id, messages)
   values (:appNo, :upto, :after, :messages)
   on conflict (app_no, upto_id) do update set messages = excluded.messages`,
)

/** Segments in which many messages have changed. */
export const listStale = query<{ least: number; limit: number }, Segment & { app_no: number }>(
  'search.listStale',
  `select s.app_no, s.upto_id, s.after_id from (
     select distinct s.app_no, s.upto_id from search_changes c, lateral (
       select app_no, upto_id from search_segments s
       where s.app_no = c.app_no and s.upto_id >= c.id order by s.upto_id limit 1
     ) s
   ) changed join search_segments s using (app_no, upto_id)
   where (select count(*) from search_changes c
     where c.app_no = s.app_no and c.id > s.after_id and c.id <= s.upto_id) >= :least
   limit :limit`,
)
