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

const gramsWhere = (condition: string) => `
  select v.versions, g.gram, g.upto_id, g.ordinals
  from (
    select coalesce(sum(version), 0) as versions from search_segments
    where app_no = :appNo and upto_id = any(:uptos::bigint[])
  ) v left join search_grams g
    on g.app_no = :appNo and ${condition} and g.upto_id = any(:uptos::bigint[])`

export const listGrams = query<{ appNo: number; grams: string[]; uptos: number[] }, GramRow>(
  'search.listGrams',
  gramsWhere('g.gram = any(:grams::text[])'),
)

/** The highest character stands for anything that follows the prefix. */
export const listGramsFrom = query<{ appNo: number; start: string; uptos: number[] }, GramRow>(
  'search.listGramsFrom',
  gramsWhere(`g.gram >= :start and g.gram < :start || U&'\\+10FFFF'`),
)

/** Blocks of ids: the nth of `blocks` in the nth of `uptos`. */
export const listIds = query<
  { appNo: number; uptos: number[]; blocks: number[] },
  { upto_id: number; version: number; block: number; ids: Buffer }
>(
  'search.listIds',
  `select s.upto_id, s.version, i.block, i.ids
   from unnest(:uptos::bigint[], :blocks::int[]) as b (upto_id, block)
     join search_segments s on s.app_no = :appNo and s.upto_id = b.upto_id
     join search_ids i on i.app_no = :appNo and i.upto_id = b.upto_id and i.block = b.block`,
)
