import { query } from '../../platform/db/query.ts'

/** A segment of an app's messages whose texts are indexed. */
export type Segment = {
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

/** A segment as a search found it, with the messages in it that have changed since. */
export interface FoundSegment extends Segment {
  version: number
  changes: number[] | null
}

/** Segments with ids between these, the nearest first. */
type SegmentRange = { appNo: number; after: number; before: number; limit: number }
const segments = `
  select s.upto_id, s.after_id, s.version, (
    select json_agg(c.id) from search_changes c
    where c.app_no = :appNo and c.id > s.after_id and c.id <= s.upto_id
  ) as changes
  from search_segments s
  where s.app_no = :appNo and s.upto_id > :after and s.after_id + 1 < :before`

export const listSegmentsUp = query<SegmentRange, FoundSegment>(
  'search.listSegmentsUp',
  `${segments} order by s.upto_id limit :limit`,
)
export const listSegmentsDown = query<SegmentRange, FoundSegment>(
  'search.listSegmentsDown',
  `${segments} order by s.upto_id desc limit :limit`,
)

/** The messages of a segment that contain a gram, or no gram if there is none at all. */
interface GramRow {
  /** The sum of the segments' versions: if it differs, they have been indexed again. */
  versions: number
  gram: string | null
  upto_id: number
  ordinals: Buffer
}

const gramsFrom = (grams: string) => `
  select v.versions, g.gram, g.upto_id, g.ordinals
  from (
    select coalesce(sum(version), 0) as versions from search_segments
    where app_no = :appNo and upto_id = any(:uptos::bigint[])
  ) v left join (${grams}) g on true`

// `offset 0` makes PostgreSQL look up each row by its key. Otherwise the plan depends on how much of the index was
// there when the tables were last analyzed, and may read all of it.
export const listGrams = query<{ appNo: number; grams: string[]; uptos: number[] }, GramRow>(
  'search.listGrams',
  gramsFrom(`
    select found.gram, found.upto_id, found.ordinals
    from unnest(:grams::text[]) as wanted (gram) cross join lateral (
      select g.gram, g.upto_id, g.ordinals from search_grams g
      where g.app_no = :appNo and g.gram = wanted.gram and g.upto_id = any(:uptos::bigint[])
      offset 0
    ) found`),
)

/** The highest character stands for anything that follows the prefix. */
export const listGramsFrom = query<{ appNo: number; start: string; uptos: number[] }, GramRow>(
  'search.listGramsFrom',
  gramsFrom(`
    select gram, upto_id, ordinals from search_grams
    where app_no = :appNo and gram >= :start and gram < :start || U&'\\+10FFFF'
      and upto_id = any(:uptos::bigint[])`),
)

/** Blocks of ids: the nth of `blocks` in the nth of `uptos`. */
export const listIds = query<
  { appNo: number; uptos: number[]; blocks: number[] },
  { upto_id: number; version: number; block: number; ids: Buffer }
>(
  'search.listIds',
  `select found.upto_id, found.version, found.block, found.ids
   from unnest(:uptos::bigint[], :blocks::int[]) as wanted (upto_id, block) cross join lateral (
     select s.upto_id, s.version, i.block, i.ids
     from search_segments s join search_ids i on i.app_no = s.app_no and i.upto_id = s.upto_id
     where s.app_no = :appNo and s.upto_id = wanted.upto_id and i.block = wanted.block
     offset 0
   ) found`,
)
