import type { Db } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { joinSql, sql } from '../../platform/db/sql.ts'
import { getTotal } from '../../platform/db/totals.ts'
import { type Count, countCapped, countFound } from '../../platform/lists/count.ts'
import { found, inOrder, walk } from '../../platform/lists/keyset.ts'
import { anyIndex, filterIndexes, orderIndex, planned } from '../../platform/lists/planner.ts'
import type { UserFilter } from './filter.ts'

/** How many matching users are read through a filter's indexes, and how far totals are counted. */
export const CAP = 10_000

/** Wide enough to fill a page if one user in fifty passes, and to estimate how many do. */
export const WALK = 5_000

const ALL = 2_147_483_647

/** How many of some users, in list order, pass. */
interface Sample {
  passed: number
  walked: number
}

/**
 * What counting costs, in microseconds of CPU measured with 1,000,000 users: a step along the
 * order, an entry of a filter's index, and a user row that must be read.
 */
const STEP = 0.6
const ENTRY = 0.4
const READ = 3

/** Exact without filters; with filters, exact up to the cap. */
export async function countUsers(db: Db, filter: UserFilter, known?: Sample): Promise<Count> {
  if (filter.where.length === 0) return countWhole(db, filter)
  const count = await countFiltered(db, filter, known)
  return count.capped ? capped(db, filter) : count
}

/** The count of a list with more than CAP users. */
export const capped = async (db: Executor, filter: UserFilter): Promise<Count> => ({
  total: CAP,
  capped: true,
  most: await countAll(db, filter),
})

async function countFiltered(db: Db, filter: UserFilter, known?: Sample): Promise<Count> {
  if (await manyStart(db, filter)) return { total: CAP, capped: true }
  const sample = known ?? (filter.few ? undefined : await walk(db, filter, { limit: 0 }, WALK))
  if (sample && !known && sample.walked < WALK) return { total: sample.passed, capped: false }
  // Fewer users are online than an index of all users finds.
  if (filter.present && sample) return countInOrder(db, filter)
  const width = sample && (await widthToCap(db, filter, sample))
  if (width !== undefined) {
    const count = await countInOrder(db, filter, width)
    if (count.capped) return count
  }
  return planned(db, filterIndexes, (tx) => countFound(tx, filter, CAP))
}

/** The app's users are counted all the time, those online when asked. */
async function countWhole(db: Db, filter: UserFilter): Promise<Count> {
  if (!filter.present) return { total: await countAll(db, filter), capped: false }
  const count = await countInOrder(db, filter)
  return count.capped ? capped(db, filter) : count
}

export async function countAll(db: Executor, { appNo, states }: UserFilter): Promise<number> {
  const totals = states.map((state) => getTotal(db, appNo, `users.${state}`))
  return (await Promise.all(totals)).reduce((sum, part) => sum + part, 0)
}

/**
 * How far to walk until more than the cap have passed, if that is cheaper than the filter's
 * indexes. The walk gets longer the rarer matches are, the indexes the more there are.
 */
async function widthToCap(
  db: Executor,
  filter: UserFilter,
  { passed, walked }: Sample,
): Promise<number | undefined> {
  const share = passed / walked
  const steps = CAP / share
  const all = await countAll(db, filter)
  if (steps >= all) return undefined
  // Far more names contain two letters than contain them side by side; the square root fits the
  // measurements.
  const entries = all * (filter.search?.pair ? Math.sqrt(share) : share)
  const reads = Math.min(entries, (CAP * entries) / (share * all))
  // The share varies along the order: a few extra steps are better than a walk in vain.
  return steps * STEP < entries * ENTRY + reads * READ ? Math.ceil(steps * 1.5) : undefined
}

/** How many of the first `width` users pass, by default of all of them. */
const countInOrder = (db: Db, filter: UserFilter, width = ALL): Promise<Count> =>
  planned(db, orderIndex, (tx) => {
    const walked = inOrder(filter, undefined, width, { looked: filter.looked })
    const passes = joinSql([sql`true`, ...filter.where], ' and ')
    return countCapped(tx, filter, sql`select from ${walked} walked where ${passes}`, CAP)
  })

/**
 * Names that start with the text are adjacent in the order, so a quick look tells whether they
 * alone exceed the cap.
 */
export async function manyStart(db: Db, filter: UserFilter): Promise<boolean> {
  const { search, searchAlone, among } = filter
  if (!search || !searchAlone) return false
  const starting = found({ ...filter, sources: among([search.starting]), where: [] })
  const count = await planned(db, anyIndex, (tx) =>
    countCapped(tx, filter, sql`select from (${starting}) starting`, CAP),
  )
  return count.capped
}
