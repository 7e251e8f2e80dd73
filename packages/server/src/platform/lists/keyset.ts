/**
 * Lists sorted by a sort key and an id that makes it unique. An area says where its rows are and
 * which conditions they must pass; this module builds the statements that page through them. All
 * rows have `sort_key` and `sort_id`.
 */
import type { QueryResultRow } from 'pg'
import type { Executor } from '../db/query.ts'
import { joinSql, runPrepared, runSql, Sql, sql } from '../db/sql.ts'

/** The sort key of a row in its list. A page begins after one. */
export type PageKey = readonly (string | number)[]

/** A list, apart from paging. */
export interface Keyset {
  /** Prefix of its statements' names: `users` makes `users.walk`. */
  name: string
  /** The sort key of a row; undefined if the list is sorted by id alone. */
  key: Sql | undefined
  keyType: 'text' | 'bigint' | 'timestamptz'
  id: Sql
  descending: boolean
  /** `from … where …` of index ranges, each in list order. */
  ranges: readonly Sql[]
  /**
   * `from … where …` of the same rows, for finding them through other indexes; `ranges` by default.
   */
  sources?: readonly Sql[]
  /** The conditions on a row. A walk reads `row`, which has the columns `looked`. */
  where: readonly Sql[]
  row?: Sql
  looked?: Sql
  /** Columns of `ranges` and `sources` that the records show. */
  kept?: Sql
  /** The columns of a record, and how `page`, which has the ids, is joined to their table. */
  columns: Sql
  join: Sql
  /** A further join, for both. */
  beside?: Sql
  /** Whole rows of `ranges`, if these are of the records' table: a page is then read without a second lookup. */
  whole?: Sql
}

/** What every row of a list has besides its record. */
export interface Keyed {
  /** As PostgreSQL prints it: a Date would lose its microseconds. */
  key_text: string
  sort_id: string
}

export const keyOf = ({ key_text, sort_id }: Keyed): PageKey => [key_text, sort_id]

/** Which part of a list is wanted. */
export interface Range {
  after?: PageKey | undefined
  offset?: number
  limit: number
}

const KEY = { key: sql`sort_key`, id: sql`sort_id` }

const all = (conditions: readonly Sql[]): Sql => joinSql([sql`true`, ...conditions], ' and ')

/**
 * If the list is sorted by id alone, no constant may come first; otherwise the index would not give
 * the order.
 */
const orderBy = ({ key, id, descending }: Pick<Keyset, 'key' | 'id' | 'descending'>): Sql =>
  joinSql(
    [...(key ? [key] : []), id].map((column) => (descending ? sql`${column} desc` : column)),
    ', ',
  )

/** The order of rows that are already selected. */
export const byKey = ({ descending }: Keyset): Sql => orderBy({ ...KEY, descending })

/** Whether a row comes after a sort key in list order. */
export function isAfter(
  { key, keyType, id, descending }: Pick<Keyset, 'key' | 'keyType' | 'id' | 'descending'>,
  after: PageKey | undefined,
): Sql {
  if (!after) return sql`true`
  const beyond = descending ? sql`<` : sql`>`
  const [given, givenId] = after
  return key
    ? sql`(${key}, ${id}) ${beyond} (${given}::${new Sql([keyType], [])}, ${givenId})`
    : sql`${id} ${beyond} ${givenId}`
}

/** The same for rows that are already selected. */
export const isKeyAfter = (list: Keyset, after: PageKey | undefined): Sql =>
  isAfter({ ...list, ...KEY }, after)

const keysOf = ({ key = sql`''`, id, kept }: Keyset): Sql =>
  sql`${key} as sort_key, ${id} as sort_id${kept ? sql`, ${kept}` : sql``}`

/** The next `width` rows of all ranges, whether they pass or not. */
export function inOrder(
  list: Keyset,
  after: PageKey | undefined,
  width: number | Sql,
  { looked }: { looked?: Sql | undefined } = {},
): Sql {
  const parts = list.ranges.map(
    (range) => sql`(select ${keysOf(list)}${looked ? sql`, ${looked}` : sql``} ${range}
      and ${isAfter(list, after)} order by ${orderBy(list)} limit ${width})`,
  )
  if (parts[0] && parts.length === 1) return parts[0]
  return sql`(select * from (${joinSql(parts, ' union all ')}) ranges
    order by ${byKey(list)} limit ${width})`
}

/** All rows that pass, through any index. */
export const found = (list: Keyset, after?: PageKey): Sql =>
  joinSql(
    (list.sources ?? list.ranges).map(
      (source) => sql`select ${keysOf(list)} ${source} and ${all(list.where)}
        and ${isAfter(list, after)}`,
    ),
    ' union all ',
  )

/** The records of the rows in `page`. */
const recordsOf = ({ columns, join, beside = sql`` }: Keyset): Sql =>
  sql`select sort_key, sort_key::text as key_text, sort_id, ${columns} from page ${join} ${beside}`

/** The same in order, each with the summary; the summary alone if there are none. */
export const summarized = (list: Keyset, summary: Sql): Sql =>
  sql`select summary.*, listed.* from (${summary}) summary
    left join (${recordsOf(list)}) listed on true order by ${byKey(list)}`

const withRows = <R extends Keyed>(rows: (R | { sort_id: null })[]): R[] =>
  rows.filter((row): row is R => row.sort_id !== null)

/**
 * Common page sizes. Their statements are prepared, with the limit in the text: for a limit that PostgreSQL doesn't
 * know, it expects to read a tenth of the list, finds that expensive, and plans again each time.
 */
const COMMON_SIZES = new Set([10, 20, 25, 30, 50, 100])

/** The next rows of a list without conditions. Pages are read with one row more. */
export function listNext<R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
  { after, limit }: Range,
): Promise<(R & Keyed)[]> {
  const common = COMMON_SIZES.has(limit - 1)
  const wanted = common ? new Sql([String(limit)], []) : limit
  return (common ? runPrepared : runSql)<R & Keyed>(
    db,
    `${list.name}.list`,
    sql`with page as materialized (${inOrder(list, after, wanted, { looked: list.whole })})
      ${recordsOf(list.whole ? { ...list, join: list.row ?? sql`` } : list)} order by ${byKey(list)}`,
  )
}

export interface Walked<R> {
  rows: (R & Keyed)[]
  /** How many rows were read, and how many of them pass. */
  walked: number
  passed: number
  /** Where the walk ended. */
  last: PageKey | undefined
}

interface Summary {
  walked: number
  passed: number
  last_key: string | null
  last_id: string | null
}

/** Reads the next `width` rows in list order and keeps those that pass. */
export async function walk<R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
  { after, offset = 0, limit }: Range,
  width: number,
): Promise<Walked<R>> {
  const rows = await runSql<Summary & ((R & Keyed) | { sort_id: null })>(
    db,
    `${list.name}.walk`,
    sql`with walked as materialized (${inOrder(list, after, width, { looked: list.looked })}),
      passing as materialized (
        select sort_key, sort_id${list.kept ? sql`, ${list.kept}` : sql``}
        from walked ${list.row ?? sql``} where ${all(list.where)}
      ), page as (
        select * from passing order by ${byKey(list)} offset ${offset} limit ${limit}
      )
      ${summarized(
        list,
        sql`select (select count(*) from walked) as walked, (select count(*) from passing) as passed,
          last.sort_key::text as last_key, last.sort_id as last_id
        from (select 1) one left join (
          select sort_key, sort_id from walked offset (select greatest(count(*) - 1, 0) from walked)
        ) last on true`,
      )}`,
  )
  const [{ walked = 0, passed = 0, last_key = null, last_id = null } = {}] = rows
  const last = last_key === null || last_id === null ? undefined : [last_key, last_id]
  return { rows: withRows<R & Keyed>(rows), walked, passed, last }
}

export interface Sought<R> {
  rows: (R & Keyed)[]
  /** All rows that pass. `rows` are only correct up to the cap. */
  passed: number
}

/** Runs a statement that ends with `summarized` and counts the rows that pass. */
export async function runSought<R extends QueryResultRow>(
  db: Executor,
  label: string,
  statement: Sql,
): Promise<Sought<R>> {
  const rows = await runSql<{ passed: number } & ((R & Keyed) | { sort_id: null })>(
    db,
    label,
    statement,
  )
  return { rows: withRows<R & Keyed>(rows), passed: rows[0]?.passed ?? 0 }
}

/**
 * Finds matching rows through the indexes of the conditions and sorts them. With a cap it stops
 * after one more row, and `passed` counts from the top of the list.
 */
export function seek<R extends QueryResultRow>(
  db: Executor,
  list: Keyset,
  { after, offset = 0, limit }: Range,
  cap?: number,
): Promise<Sought<R>> {
  const passing =
    cap === undefined
      ? found(list, after)
      : sql`select * from (${found(list)}) found limit ${cap + 1}`
  return runSought(
    db,
    `${list.name}.seek`,
    sql`with passing as materialized (${passing}), page as (
        select * from passing where ${isKeyAfter(list, cap === undefined ? undefined : after)}
        order by ${byKey(list)} offset ${offset} limit ${limit}
      )
      ${summarized(list, sql`select count(*) as passed from passing`)}`,
  )
}

/**
 * The sort key of row number `count`, without conditions: an index-only scan that reads no record.
 */
export async function findStart(
  db: Executor,
  list: Keyset,
  count: number,
  from?: PageKey,
): Promise<PageKey | undefined> {
  const [row] = await runSql<Keyed>(
    db,
    `${list.name}.findStart`,
    sql`select sort_key::text as key_text, sort_id from ${inOrder(list, from, count)} first_rows
      order by ${byKey(list)} offset ${count - 1} limit 1`,
  )
  return row && keyOf(row)
}
