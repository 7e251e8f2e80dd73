import type { MessageRow } from '../../core/message-rows.ts'
import type { Executor } from '../../platform/db/query.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Conditions } from './filter.ts'
import { decodeAscending, intersect, type KeyGrams, keyGrams, placeOf, unite } from './grams.ts'
import {
  type FoundSegment,
  findIndexed,
  foldText,
  listGrams,
  listGramsFrom,
  listIds,
  listSegmentsDown,
  listSegmentsUp,
} from './search.queries.ts'
import { type Listed, ONE } from './streams.ts'
import { type Range, type Walked, type Wanted, walk, walkOnce } from './walk.ts'

/** Segments whose lists are read together: few at first, because a page may need no more. */
const SEGMENTS = [4, 32, 128, 256]
/** Candidates that are checked against the message in one statement. */
const LOOKED_AT = 300

interface Search {
  db: Executor
  appNo: number
  /** From which id on messages aren't indexed yet and are walked over. */
  streams: Listed
  conditions: Conditions
}

/**
 * The next messages that pass and contain `key`: by the text index as far as it goes, after that by
 * walking. It takes as long as a walk may.
 */
export async function search(asked: Search, key: string, range: Wanted): Promise<Walked> {
  const { db, appNo, streams, conditions } = asked
  const { upto } = await findIndexed.one(db, { appNo })
  const newer = (rest: Wanted) =>
    walk(db, appNo, streams, conditions, { ...rest, after: Math.max(rest.after, upto) })
  if (upto <= range.after) return newer(range)
  const { folded } = await foldText.one(db, { text: key })
  // Every gram starts with an empty string, and no text passes.
  if (folded === '') return { rows: [], walkedTo: undefined }
  const indexed = (rest: Wanted) => searchIndexed(asked, keyGrams(folded), rest)
  const older = { ...range, before: Math.min(range.before, upto + 1) }
  return range.down
    ? inTurn(range, newer, () => older, indexed)
    : inTurn(older, indexed, () => range, newer)
}

type Part = (range: Wanted) => Promise<Walked>

/** Continues with the second part once the first has been searched completely. */
async function inTurn(
  range: Wanted,
  first: Part,
  rest: () => Wanted,
  second: Part,
): Promise<Walked> {
  const found = await first(range)
  if (found.walkedTo !== undefined || found.rows.length >= range.limit) return found
  const more = await second({ ...rest(), limit: range.limit - found.rows.length })
  return { rows: [...found.rows, ...more.rows], walkedTo: more.walkedTo }
}

async function searchIndexed(asked: Search, grams: KeyGrams, range: Wanted): Promise<Walked> {
  const rows: MessageRow[] = []
  for await (const { ids, searchedTo } of candidates(asked, grams, range)) {
    for (let n = 0; n < ids.length; n += LOOKED_AT) {
      const some = ids.slice(n, n + LOOKED_AT)
      rows.push(...(await lookAt(asked, some, { ...range, limit: range.limit - rows.length })))
      if (rows.length >= range.limit) return { rows, walkedTo: undefined }
      if (performance.now() > range.until) return { rows, walkedTo: some.at(-1) }
    }
    if (performance.now() > range.until) return { rows, walkedTo: searchedTo }
  }
  return { rows, walkedTo: undefined }
}

interface Candidates {
  /** Messages that may contain the search key, in the direction of the list. */
  ids: number[]
  /** There are no others up to this id. */
  searchedTo: number
}

/**
 * The candidates of all indexed segments in the range, some segments at a time. If the indexer writes a segment again
 * meanwhile, its lists may not match its ids: then they are read again.
 */
async function* candidates(
  { db, appNo }: Search,
  grams: KeyGrams,
  { down, ...range }: Range,
): AsyncGenerator<Candidates> {
  let { after, before } = range
  const list = down ? listSegmentsDown : listSegmentsUp
  for (let step = 0; ; step++) {
    const limit = SEGMENTS[Math.min(step, SEGMENTS.length - 1)] ?? 0
    const segments = await list.many(db, { appNo, after, before, limit })
    const hits = await hitsIn(db, appNo, segments, grams)
    let complete = hits !== undefined
    for (const some of batches(hits ?? [])) {
      const found = await idsOf(db, appNo, some)
      complete = found !== undefined
      if (!found) break
      const ids = found.filter((id) => id > after && id < before)
      const { segment } = some.at(-1) as Hits
      if (down) before = segment.after_id + 1
      else after = segment.upto_id
      yield { ids: down ? ids.reverse() : ids, searchedTo: down ? before : after }
    }
    if (complete && segments.length < limit) return
  }
}

/** The ordinals of messages in a segment that may contain the search key, ascending. */
interface Hits {
  segment: FoundSegment
  ordinals: number[]
}

/** Returns undefined if a segment isn't the same any more. */
async function hitsIn(
  db: Executor,
  appNo: number,
  segments: FoundSegment[],
  grams: KeyGrams,
): Promise<Hits[] | undefined> {
  if (segments.length === 0) return []
  const uptos = segments.map(({ upto_id }) => upto_id)
  const rows =
    'grams' in grams
      ? await listGrams.many(db, { appNo, grams: grams.grams, uptos })
      : await listGramsFrom.many(db, { appNo, start: grams.start, uptos })
  const versions = segments.reduce((sum, { version }) => sum + version, 0)
  if (rows[0]?.versions !== versions) return undefined
  const bySegment = Map.groupBy(rows, ({ upto_id }) => upto_id)
  return segments.map((segment) => {
    const lists = bySegment.get(segment.upto_id) ?? []
    if ('grams' in grams && lists.length < grams.grams.length) return { segment, ordinals: [] }
    const combine = 'grams' in grams ? intersect : unite
    return { segment, ordinals: combine(lists.map(({ ordinals }) => decodeAscending(ordinals))) }
  })
}

/** Consecutive segments with about as many candidates as one statement looks at. */
function* batches(hits: Hits[]): Generator<Hits[]> {
  let batch: Hits[] = []
  let count = 0
  for (const hit of hits) {
    batch.push(hit)
    count += hit.ordinals.length + (hit.segment.changes?.length ?? 0)
    if (count < LOOKED_AT) continue
    yield batch
    batch = []
    count = 0
  }
  if (batch.length > 0) yield batch
}

/**
 * The ids of the candidates, ascending, with the changed messages. Returns undefined if a segment isn't the same any
 * more.
 */
async function idsOf(db: Executor, appNo: number, hits: Hits[]): Promise<number[] | undefined> {
  const wanted = hits.flatMap(({ segment, ordinals }) =>
    [...new Set(ordinals.map((ordinal) => placeOf(ordinal).block))].map((block) => ({
      ...{ upto: segment.upto_id, block },
    })),
  )
  const uptos = wanted.map(({ upto }) => upto)
  const blocks = wanted.map(({ block }) => block)
  const rows = wanted.length === 0 ? [] : await listIds.many(db, { appNo, uptos, blocks })
  const versions = new Map(hits.map(({ segment }) => [segment.upto_id, segment.version]))
  if (rows.some(({ upto_id, version }) => versions.get(upto_id) !== version)) return undefined
  const idsIn = new Map(
    rows.map(({ upto_id, block, ids }) => [`${upto_id} ${block}`, decodeAscending(ids)]),
  )
  const found = hits.map(({ segment: { upto_id, after_id, changes }, ordinals }) => {
    const ids = ordinals.map((ordinal) => {
      const { block, at } = placeOf(ordinal)
      // A gram that its segment no longer has keeps its old ordinals.
      return idsIn.get(`${upto_id} ${block}`)?.[at] ?? 0
    })
    // A segment that was split still has the ids of the part before it.
    return [...ids.filter((id) => id > after_id), ...(changes ?? [])]
  })
  return unite(found)
}

/** The candidates that pass. */
async function lookAt(
  { db, appNo, streams, conditions }: Search,
  ids: number[],
  range: Range,
): Promise<MessageRow[]> {
  const named = {
    list: ONE,
    messages: sql`messages m where m.id = any(${ids}::bigint[])`,
    where: streams.among ?? [],
  }
  const step = { ...range, width: ids.length + 1 }
  return (await walkOnce(db, appNo, named, conditions, step)).rows
}
