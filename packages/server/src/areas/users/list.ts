import type { PrintedUser } from '../../core/user-print.ts'
import type { Db } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Count } from '../../platform/lists/count.ts'
import type { PageKey } from '../../platform/lists/keyset.ts'
import {
  byKey,
  findStart,
  found,
  inOrder,
  isKeyAfter,
  type Keyed,
  keyOf,
  listNext,
  type Range,
  runSought,
  type Sought,
  seek,
  summarized,
  walk,
} from '../../platform/lists/keyset.ts'
import type { Listed, Paging } from '../../platform/lists/page.ts'
import { anyIndex, filterIndexes, orderIndex, planned } from '../../platform/lists/planner.ts'
import { isNear, walkOn } from '../../platform/lists/strategies.ts'
import { CAP, capped, countAll, countUsers, manyStart, WALK } from './count.ts'
import type { Search, UserFilter } from './filter.ts'

/** The walk width if too few users pass near the start of the page. */
const LONG_WALK = 50_000

export type ListedUser = PrintedUser & Keyed

export const usersOf = (db: Db, filter: UserFilter): Paging<ListedUser> => ({
  keyOf,
  read: (after, limit) => listUsers(db, filter, { after, limit }),
  startOf: (count) => startOf(db, filter, count),
  count: () => countUsers(db, filter),
})

/** The first users of the range; reading them can show how many there are. */
async function listUsers(db: Db, filter: UserFilter, range: Range): Promise<Listed<ListedUser>> {
  if (filter.where.length === 0) return { rows: await listNext<PrintedUser>(db, filter, range) }
  if (!filter.few) {
    const { rows, ...sample } = await walk<PrintedUser>(db, filter, range, WALK)
    const ended = sample.walked < WALK
    if (ended && !range.after) return { rows, count: known(sample.passed) }
    const count = () => countUsers(db, filter, sample)
    if (ended || rows.length === range.limit) return { rows, count }
    if (!filter.indexed) return { rows: await walkUsers(db, filter, range), count }
  }
  if (!(await manyStart(db, filter))) {
    const { rows, passed } = await seekUsers(db, filter, range, CAP)
    if (passed <= CAP) return { rows, count: known(passed) }
  }
  if (filter.search) {
    const { rows, passed } = await seekInside(db, filter, filter.search, range)
    if (passed <= CAP) return { rows, count: () => capped(db, filter) }
  }
  return { rows: await walkUsers(db, filter, range), count: () => capped(db, filter) }
}

const known = (total: number) => async (): Promise<Count> => ({ total, capped: false })

/** Walks until the rows are found or no users are left. */
const walkUsers = (db: Db, filter: UserFilter, range: Range): Promise<ListedUser[]> =>
  planned(db, orderIndex, (tx) => walkOn<PrintedUser>(tx, filter, range, LONG_WALK))

/**
 * Finds matching users through the filter's indexes and sorts them: for filters that few users
 * pass.
 */
const seekUsers = (
  db: Db,
  filter: UserFilter,
  range: Range,
  cap?: number,
): Promise<Sought<PrintedUser>> =>
  planned(db, filterIndexes, (tx) => seek<PrintedUser>(tx, filter, range, cap))

/**
 * The same if too many names start with the text to be sorted: those are read in order, and only
 * names that contain it after the start are searched. `passed` counts the latter.
 */
function seekInside(
  db: Db,
  filter: UserFilter,
  { starting, inside }: Search,
  { after, limit }: Range,
): Promise<Sought<PrintedUser>> {
  const starts = { ...filter, ranges: filter.among([starting, ...filter.where]) }
  const insides = { ...filter, sources: filter.among([inside]) }
  return planned(db, anyIndex, (tx) =>
    runSought<PrintedUser>(
      tx,
      'users.seekInside',
      sql`with passing as materialized (
          select * from (${found(insides)}) found limit ${CAP + 1}
        ), page as (
          select sort_key, sort_id from (
            select sort_key, sort_id from passing where ${isKeyAfter(filter, after)}
            union ${inOrder(starts, after, limit)}
          ) both_kinds order by ${byKey(filter)} limit ${limit}
        )
        ${summarized(filter, sql`select count(*) as passed from passing`)}`,
    ),
  )
}

/** Walking over a user in the order index alone costs a fifth of finding and reading one. */
const STEP = 0.2

/** The sort key of user number `count`. */
async function startOf(db: Db, filter: UserFilter, count: number): Promise<PageKey | undefined> {
  if (filter.where.length === 0) return findStart(db, filter, count)
  const [row] = await findUser(db, filter, { offset: count - 1, limit: 1 })
  return row && keyOf(row)
}

async function findUser(db: Db, filter: UserFilter, range: Range & { offset: number }) {
  if (!filter.indexed) return walkUsers(db, filter, range)
  const { rows, passed } = await seekUsers(db, filter, range, CAP)
  if (passed <= CAP) return rows
  const all = await countAll(db, filter)
  const step = filter.searchAlone ? STEP : 1
  return (await isNear(db, filter, range.offset + 1, { all, step }))
    ? walkUsers(db, filter, range)
    : (await seekUsers(db, filter, range)).rows
}
