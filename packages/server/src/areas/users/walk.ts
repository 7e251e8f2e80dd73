import { USER_COLUMNS, type UserRow } from '../../core/user-rows.ts'
import type { Db } from '../../platform/db/db.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import {
  inOrder,
  ofStates,
  orderOf,
  placeAfter,
  type Search,
  STATE,
  type UserFilter,
  type UserKey,
} from './filter.ts'

export type ListedUser = UserRow & { name_key: string }

/** How many matching users are read through a filter's indexes, and how far totals are counted. */
export const CAP = 10_000

/** Wide enough to fill a page if one user in fifty passes, and to estimate how many do. */
export const WALK = 5_000

const columns = new Sql([USER_COLUMNS], [])

/** Which part of the matching users is wanted. */
export interface Range {
  after?: UserKey | undefined
  offset?: number
  limit: number
}

/** The next users of a list without conditions. */
export async function listNext(
  db: Executor,
  filter: UserFilter,
  after: UserKey | undefined,
  limit: number,
): Promise<ListedUser[]> {
  return runSql<ListedUser>(
    db,
    'users.list',
    sql`select name_key, ${columns} from ${inOrder(filter, after, limit, sql`*`)} as listed
      order by ${orderOf(filter)}`,
  )
}

interface Summary {
  passed: number
  walked: number
  last_key: string | null
  last_uid: string | null
}

export interface Walked {
  rows: ListedUser[]
  /** How many of the users walked over pass. */
  passed: number
  walked: number
  /** Where the walk ended. */
  last: UserKey | undefined
}

/** Reads the next `width` users in list order and keeps those that pass. */
export async function walk(
  db: Executor,
  filter: UserFilter,
  range: Range,
  width: number,
): Promise<Walked> {
  const { after, offset = 0, limit } = range
  const order = orderOf(filter)
  const rows = await runSql<Summary & (ListedUser | { uid: null })>(
    db,
    'users.walk',
    sql`with walked as materialized (${inOrder(filter, after, width)}),
      passing as materialized (
        select name_key, uid from walked where ${joinSql([sql`true`, ...filter.where], ' and ')}
      ), page as (
        select uid from passing order by ${order} offset ${offset} limit ${limit}
      )
      ${withUsers(
        filter,
        sql`select (select count(*) from walked) as walked, (select count(*) from passing) as passed,
          last.name_key as last_key, last.uid as last_uid
        from (select 1) as one left join (
          select name_key, uid from walked offset (select greatest(count(*) - 1, 0) from walked)
        ) as last on true`,
      )}`,
  )
  const [{ passed = 0, walked = 0, last_key = null, last_uid = null } = {}] = rows
  return {
    rows: rows.filter((row) => row.uid !== null),
    passed,
    walked,
    last: last_key === null || last_uid === null ? undefined : [last_key, last_uid],
  }
}

export interface Sought {
  rows: ListedUser[]
  /** All users that pass, up to CAP + 1. `rows` are only correct up to CAP. */
  passed: number
}

/** All users that pass, through the filter's indexes. */
export const found = (filter: UserFilter): Sql =>
  ofStates(filter, [...filter.indexed, ...filter.where])

/**
 * Finds matching users through the filter's indexes and sorts them: for filters that few users
 * pass.
 */
export async function seek(db: Db, filter: UserFilter, range: Range): Promise<Sought> {
  const { after, offset = 0, limit } = range
  const order = orderOf(filter)
  const rows = await planned(db, filterIndexes, (tx) =>
    runSql<FoundRow>(
      tx,
      'users.seek',
      sql`with passing as materialized (
          select * from (${found(filter)}) as found limit ${CAP + 1}
        ), page as (
          select uid from passing where ${placeAfter(filter, after)}
          order by ${order} offset ${offset} limit ${limit}
        )
        ${withUsers(filter, sql`select count(*) as passed from passing`)}`,
    ),
  )
  return toSought(rows)
}

/**
 * The same if too many names start with the text to be sorted: those are read in order, and only
 * names that contain it further inside are sought. `passed` counts the latter.
 */
export async function seekInside(
  db: Db,
  filter: UserFilter,
  { starting, inside }: Search,
  { after, limit }: Range,
): Promise<Sought> {
  const order = orderOf(filter)
  const starts = filter.states.map(
    (state) => sql`(select uid, name_key from users
      where app_no = ${filter.appNo} and ${STATE[state]} and ${starting}
        and ${joinSql([placeAfter(filter, after), ...filter.where], ' and ')}
      order by ${order} limit ${limit})`,
  )
  const rows = await planned(db, anyIndex, (tx) =>
    runSql<FoundRow>(
      tx,
      'users.seekInside',
      sql`with passing as materialized (
          select * from (${ofStates(filter, [inside, ...filter.where])}) as found limit ${CAP + 1}
        ), page as (
          select uid from (
            select uid, name_key from passing where ${placeAfter(filter, after)}
            union ${joinSql(starts, ' union all ')}
          ) as both_kinds order by ${order} limit ${limit}
        )
        ${withUsers(filter, sql`select count(*) as passed from passing`)}`,
    ),
  )
  return toSought(rows)
}

/** The users of `page` in order, each with the summary; the summary alone if there are none. */
const withUsers = (filter: UserFilter, summary: Sql): Sql => sql`
  select summary.*, listed.* from (${summary}) as summary left join (
    select name_key, ${columns} from users
    where app_no = ${filter.appNo} and uid in (select uid from page)
  ) as listed on true
  order by ${orderOf(filter)}`

type FoundRow = { passed: number } & (ListedUser | { uid: null })

const toSought = (rows: FoundRow[]): Sought => ({
  rows: rows.filter((row) => row.uid !== null),
  passed: rows[0]?.passed ?? 0,
})

/**
 * How a read must be planned, whatever the statistics say. No plan scans a whole table;
 * `filterIndexes` uses only the indexes of the conditions, `orderIndex` follows the list order.
 */
export const anyIndex = query<Record<string, never>>(
  'users.useIndexes',
  `select set_config('enable_seqscan', 'off', true)`,
)
export const filterIndexes = query<Record<string, never>>(
  'users.useFilterIndexes',
  `select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
     set_config('enable_indexonlyscan', 'off', true)`,
)
export const orderIndex = query<Record<string, never>>(
  'users.useOrderIndex',
  `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
     set_config('enable_sort', 'off', true)`,
)

/** Runs a read with planner settings that apply to it alone. */
export function planned<T>(
  db: Db,
  settings: typeof anyIndex,
  work: (tx: Executor) => Promise<T>,
): Promise<T> {
  return db.tx(async (tx) => {
    await settings.run(tx, {})
    return work(tx)
  })
}
