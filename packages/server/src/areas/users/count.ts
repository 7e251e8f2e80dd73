import type { Db } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { joinSql, runSql, type Sql, sql } from '../../platform/db/sql.ts'
import { getTotal } from '../../platform/db/totals.ts'
import { inOrder, ofStates, type UserFilter } from './filter.ts'
import { anyIndex, CAP, filterIndexes, found, orderIndex, planned, WALK, walk } from './walk.ts'

export interface Count {
  total: number
  capped: boolean
}

/** How many of some users, in list order, pass. */
export interface Sample {
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
  if (filter.byStatus && !filter.few) return countSome(db, filter)
  if (filter.where.length === 0) return { total: await countAll(db, filter), capped: false }
  if (await manyStart(db, filter)) return { total: CAP, capped: true }
  const sample = known ?? (filter.few ? undefined : await walk(db, filter, { limit: 0 }, WALK))
  if (sample && !known && sample.walked < WALK) return { total: sample.passed, capped: false }
  const width = sample && (await widthToCap(db, filter, sample))
  if (width !== undefined && (await countInOrder(db, filter, width)) > CAP)
    return { total: CAP, capped: true }
  const total = await countByFilter(db, filter)
  return { total: Math.min(total, CAP), capped: total > CAP }
}

/** Counts among the first users in list order: a status is only known user by user. */
async function countSome(db: Db, filter: UserFilter): Promise<Count> {
  const { passed, walked } = await walk(db, filter, { limit: 0 }, CAP + 1)
  return { total: Math.min(passed, CAP), capped: walked > CAP }
}

async function countAll(db: Executor, { appNo, states }: UserFilter): Promise<number> {
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

const countInOrder = (db: Db, filter: UserFilter, width: number) =>
  planned(db, orderIndex, (tx) =>
    countCapped(
      tx,
      sql`select from ${inOrder(filter, undefined, width)} as walked
        where ${joinSql(filter.where, ' and ')}`,
    ),
  )

const countByFilter = (db: Db, filter: UserFilter) =>
  planned(db, filterIndexes, (tx) => countCapped(tx, sql`select from (${found(filter)}) as found`))

/**
 * Names that start with the text are adjacent in the order, so a quick look tells whether they
 * alone exceed the cap.
 */
export async function manyStart(db: Db, filter: UserFilter): Promise<boolean> {
  const { search, searchAlone } = filter
  if (!search || !searchAlone) return false
  const starting = sql`select from (${ofStates(filter, [search.starting])}) as starting`
  return (await planned(db, anyIndex, (tx) => countCapped(tx, starting))) > CAP
}

async function countCapped(db: Executor, found: Sql): Promise<number> {
  const [row] = await runSql<{ total: number }>(
    db,
    'users.count',
    sql`select count(*) as total from (${found} limit ${CAP + 1}) as capped`,
  )
  return row?.total ?? 0
}
