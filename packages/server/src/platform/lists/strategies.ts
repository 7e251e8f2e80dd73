/** Ways to page through a list, by what its conditions allow. */
import type { QueryResultRow } from 'pg'
import type { Executor } from '../db/query.ts'
import { type Count, countFound } from './count.ts'
import { type Keyed, type Keyset, keyOf, type Range, seek, walk } from './keyset.ts'
import type { Listed, Paging } from './page.ts'

/** How many rows one statement reads, and one request. */
export interface Steps {
  width: number
  most: number
}

/** Walks until the rows are found, the end is reached, or the limit of rows was read. */
export async function walkSome<R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
  range: Range,
  { width, most }: Steps,
): Promise<Listed<R & Keyed>> {
  const rows: (R & Keyed)[] = []
  let { after, offset = 0, limit } = range
  for (let seen = 0; seen < most; seen += width) {
    const part = await walk<R>(db, list, { after, offset, limit }, width)
    rows.push(...part.rows)
    limit -= part.rows.length
    if (limit === 0 || part.walked < width) return { rows }
    offset = Math.max(0, offset - part.passed)
    after = part.last
  }
  return { rows, stoppedAt: after }
}

/** How many of the first rows pass, if no index can tell. */
export async function countWalked(db: Executor, list: Keyset, cap: number): Promise<Count> {
  const { passed, walked } = await walk(db, list, { limit: 0 }, cap + 1)
  return { total: Math.min(passed, cap), capped: walked > cap }
}

/**
 * For conditions without an index: a page ends when the request has read enough, and the next page
 * continues there.
 */
export const byWalk = <R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
  { cap, ...steps }: Steps & { cap: number },
): Paging<R & Keyed> => ({
  keyOf,
  read: (after, limit) => walkSome<R>(db, list, { after, limit }, steps),
  async startOf(count) {
    const { rows, stoppedAt } = await walkSome<R>(db, list, { offset: count - 1, limit: 1 }, steps)
    return rows[0] ? keyOf(rows[0]) : stoppedAt
  },
  count: () => countWalked(db, list, cap),
})

/** For lists that are short enough to be sorted. */
export const bySeek = <R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
  cap: number,
): Paging<R & Keyed> => ({
  keyOf,
  read: (after, limit) => seek<R>(db, list, { after, limit }),
  startOf: (count, from) => startBySeek(db, list, count, from),
  count: () => countFound(db, list, cap),
})

/** The sort key of row number `count` among the rows that pass. */
export async function startBySeek(
  db: Executor,
  list: Keyset,
  count: number,
  from?: Range['after'],
) {
  const { rows } = await seek(db, list, { after: from, offset: count - 1, limit: 1 })
  return rows[0] && keyOf(rows[0])
}
