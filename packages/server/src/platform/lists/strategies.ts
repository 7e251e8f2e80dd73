/** Ways to page through a list, by what its conditions allow. */
import type { QueryResultRow } from 'pg'
import type { Executor } from '../db/query.ts'
import { type Count, countFound } from './count.ts'
import {
  findStart,
  type Keyed,
  type Keyset,
  keyOf,
  listNext,
  type Range,
  seek,
  walk,
} from './keyset.ts'
import type { Paging } from './page.ts'

/** For lists without conditions: a page is a piece of the index, and counting reads nothing else. */
export const byOrder = <R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
): Paging<R & Keyed> => ({
  keyOf,
  read: async (after, limit) => ({ rows: await listNext<R>(db, list, { after, limit }) }),
  startOf: (count, from) => findStart(db, list, count, from),
  count: () => countFound(db, list),
})

/** The rows that the first statement of a walk reads, unless more are wanted. */
const FIRST = 1_000

/** Walks until the rows are found or none are left. Each statement reads more rows, up to `most`. */
export async function walkOn<R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
  range: Range,
  most: number,
): Promise<(R & Keyed)[]> {
  const rows: (R & Keyed)[] = []
  let { after, offset = 0, limit } = range
  for (let width = Math.max(FIRST, offset + limit); ; width *= 4) {
    width = Math.min(width, most)
    const part = await walk<R>(db, list, { after, offset, limit }, width)
    rows.push(...part.rows)
    limit -= part.rows.length
    if (limit === 0 || part.walked < width) return rows
    offset = Math.max(0, offset - part.passed)
    after = part.last
  }
}

/**
 * Whether walking to row number `count` costs less than sorting all rows that pass, by the share of the first rows that
 * pass. `all` is the number of rows, `step` the cost of walking over one compared with finding one by index.
 */
export async function isNear(
  db: Executor,
  list: Keyset,
  count: number,
  { all, step = 1 }: { all: number; step?: number },
): Promise<boolean> {
  const { passed, walked } = await walk(db, list, { limit: 0 }, FIRST)
  const share = passed / walked
  return (count / share) * step < share * all
}

/** How many rows pass, up to the cap, if no index can tell. */
export async function countWalked(
  db: Executor,
  list: Keyset,
  { width, cap }: { width: number; cap: number },
): Promise<Count> {
  let total = 0
  for (let after: Range['after']; ; ) {
    const { passed, walked, last } = await walk(db, list, { after, limit: 0 }, width)
    total += passed
    if (total > cap) return { total: cap, capped: true }
    if (walked < width) return { total, capped: false }
    after = last
  }
}

/** For conditions without an index. */
export const byWalk = <R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
  { width, cap }: { width: number; cap: number },
): Paging<R & Keyed> => ({
  keyOf,
  read: async (after, limit) => ({ rows: await walkOn<R>(db, list, { after, limit }, width) }),
  async startOf(count, from) {
    const [row] = await walkOn<R>(db, list, { after: from, offset: count - 1, limit: 1 }, width)
    return row && keyOf(row)
  },
  count: () => countWalked(db, list, { width, cap }),
})

/** For lists that are short enough to be sorted. */
export const bySeek = <R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
): Paging<R & Keyed> => ({
  keyOf,
  read: (after, limit) => seek<R>(db, list, { after, limit }),
  async startOf(count, from) {
    const { rows } = await seek<R>(db, list, { after: from, offset: count - 1, limit: 1 })
    return rows[0] && keyOf(rows[0])
  },
  count: () => countFound(db, list),
})
