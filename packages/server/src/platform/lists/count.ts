import type { Executor } from '../db/query.ts'
import { runSql, type Sql, sql } from '../db/sql.ts'
import { found, type Keyset } from './keyset.ts'

/** A number of rows; capped if counting all of them would take too long. */
export interface Count {
  total: number
  capped: boolean
  /** If capped: there can't be more rows than this. */
  most?: number
}

/** How many rows a statement finds, up to the cap. */
export async function countCapped(
  db: Executor,
  { name }: Pick<Keyset, 'name'>,
  rows: Sql,
  cap: number,
): Promise<Count> {
  const [row] = await runSql<{ total: number }>(
    db,
    `${name}.count`,
    sql`select count(*) as total from (${rows} limit ${cap + 1}) capped`,
  )
  const total = row?.total ?? 0
  return { total: Math.min(total, cap), capped: total > cap }
}

const NO_CAP = Number.MAX_SAFE_INTEGER - 1

/** How many rows pass, up to the cap if there is one. */
export const countFound = (db: Executor, list: Keyset, cap = NO_CAP): Promise<Count> =>
  countCapped(db, list, sql`select from (${found(list)}) found`, cap)
