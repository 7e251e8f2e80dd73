import type { MessageRow } from '../../core/message-rows.ts'
import type { Executor } from '../../platform/db/query.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Conditions } from './filter.ts'
import { decodeIds, intersect, type KeyGrams, keyGrams, unite } from './grams.ts'
import {
  findIndexed,
  foldText,
  listChanges,
  listGrams,
  listGramsFrom,
  listSegmentsDown,
  listSegmentsUp,
  type Segment,
} from './search.queries.ts'
import { type Listed, ONE } from './streams.ts'
import { type Range, type Walked, type Wanted, walk, walkOnce } from './walk.ts'

/** Segments whose lists are read together: few at first, because a page may need no more. */
const STRETCHES = [4, 32, 128, 256]
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
  const { db, appNo } = asked
  const rows: MessageRow[] = []
  let { after, before } = range
  for (let step = 0; ; step++) {
    const limit = STRETCHES[Math.min(step, STRETCHES.length - 1)] ?? 0
    const list = range.down ? listSegmentsDown : listSegmentsUp
    const segments = await list.many(db, { appNo, after, before, limit })
    const candidates = await candidatesIn(db, appNo, segments, grams)
    const ids = candidates.filter((id) => id > after && id < before)
    if (range.down) ids.reverse()
    for (let n = 0; n < ids.length; n += LOOKED_AT) {
      const some = ids.slice(n, n + LOOKED_AT)
      rows.push(...(await lookAt(asked, some, { ...range, limit: range.limit - rows.length })))
      if (rows.length >= range.limit) return { rows, walkedTo: undefined }
      if (performance.now() > range.until) return { rows, walkedTo: some.at(-1) }
    }
    const end = segments.at(-1)
    if (!end || segments.length < limit) return { rows, walkedTo: undefined }
    if (range.down) before = end.after_id + 1
    else after = end.upto_id
    if (performance.now() > range.until) return { rows, walkedTo: range.down ? before : after }
  }
}

/** Messages in these segments that may contain the search key, ascending. */
async function candidatesIn(
  db: Executor,
  appNo: number,
  segments: Segment[],
  grams: KeyGrams,
): Promise<number[]> {
  if (segments.length === 0) return []
  const uptos = segments.map(({ upto_id }) => upto_id)
  const rows =
    'grams' in grams
      ? await listGrams.many(db, { appNo, grams: grams.grams, uptos })
      : await listGramsFrom.many(db, { appNo, start: grams.start, uptos })
  const bySegment = Map.groupBy(rows, ({ upto_id }) => upto_id)
  const found = segments.map(({ upto_id, after_id }) => {
    const lists = bySegment.get(upto_id) ?? []
    if (!('grams' in grams)) return unite(lists.map(({ ids }) => decodeIds(ids, after_id)))
    if (lists.length < grams.grams.length) return []
    return intersect(lists.map(({ ids }) => decodeIds(ids, after_id)))
  })
  const edges = {
    after: Math.min(...segments.map(({ after_id }) => after_id)),
    upto: Math.max(...uptos),
  }
  const changes = await listChanges.many(db, { appNo, ...edges })
  return unite([...found, changes.map(({ id }) => id)])
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
