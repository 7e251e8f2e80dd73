import type { Executor } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import { USER_COLUMNS, type UserRow } from './queries.ts'
import type { UserListQuery } from './schema.ts'
import { getTotal } from './totals.ts'

/** Place in the order of the list: folded name, then uid. */
export type UserKey = readonly [nameKey: string, uid: string]
export type ListedUser = UserRow & { name_key: string }

/** A filter that few users pass must not make a page walk over all others: from here on it is sought by index. */
const WALK = 5_000
const COUNT_CAP = 10_000

/** Which users a list is about, apart from paging. */
export interface UserFilter {
  appNo: number
  states: readonly State[]
  where: readonly Sql[]
  descending: boolean
}

type State = 'active' | 'deactivated'

const STATE: Record<State, Sql> = {
  active: sql`deactivated_at is null and removed_at is null`,
  deactivated: sql`deactivated_at is not null and removed_at is null`,
}

export function toFilter(
  appNo: number,
  query: Omit<UserListQuery, 'page' | 'perPage'>,
): UserFilter {
  const both: State[] = ['active', 'deactivated']
  return {
    appNo,
    states: query.onlyDeactivated ? ['deactivated'] : query.withDeactivated ? both : ['active'],
    where: conditions(query),
    descending: query.sortOrder === 'desc',
  }
}

function conditions(query: Omit<UserListQuery, 'page' | 'perPage'>): Sql[] {
  const { searchKey, searchIn, status, role, roles, tags, uids } = query
  const where: Sql[] = []
  if (searchKey) where.push(matches(searchKey, searchIn ?? ['name', 'uid']))
  // Nobody is online yet.
  if (status && !status.includes('offline')) where.push(sql`false`)
  const wanted = [...(role ? [role] : []), ...(roles ?? [])].map((name) => name.toLowerCase())
  if (wanted.length > 0)
    where.push(
      sql`shown_role(app_no, role) = any(${wanted}::text[]) and role = any(${wanted}::text[])`,
    )
  if (tags) where.push(sql`tags <> '{}' and tags && ${tags}::text[]`)
  if (uids) where.push(sql`uid = any(${uids}::text[])`)
  for (const field of ['createdAt', 'updatedAt'] as const) {
    const column = new Sql([field === 'createdAt' ? 'created_at' : 'updated_at'], [])
    const [from, to] = [query[`${field}[from]`], query[`${field}[to]`]]
    if (from !== undefined) where.push(sql`${column} >= to_timestamp(${from})`)
    if (to !== undefined) where.push(sql`${column} < to_timestamp(${to}) + interval '1 second'`)
  }
  return where
}

/** Text anywhere in the name, whatever its case and accents, or the beginning of the uid. */
function matches(searchKey: string, searchIn: readonly string[]): Sql {
  const key = searchKey.toLowerCase()
  const folded = sql`fold_name(${searchKey})`
  const literal = sql`regexp_replace(${folded}, '([%_\\\\])', '\\\\\\1', 'g')`
  const parts: Sql[] = []
  if (searchIn.includes('name')) {
    const like = sql`name_key like '%' || ${literal} || '%'`
    // Keys of one or two characters have no trigram: their characters find the candidates.
    const short = [...searchKey.normalize('NFKC')].length < 3
    parts.push(
      short
        ? sql`(string_to_array(name_key, null) @> string_to_array(${folded}, null) and ${like})`
        : like,
    )
  }
  if (searchIn.includes('uid')) parts.push(sql`(uid >= ${key} and uid < ${`${key}~`})`)
  return sql`(${joinOr(parts)})`
}

const joinOr = ([first = sql`false`, ...others]: Sql[]): Sql =>
  others.reduce((joined, part) => sql`${joined} or ${part}`, first)

/** The first `limit` users after a place. */
export async function listUsers(
  db: Executor,
  filter: UserFilter,
  after: UserKey | undefined,
  limit: number,
): Promise<ListedUser[]> {
  if (filter.where.length === 0) return (await walk(db, filter, after, limit, limit)).rows
  const { rows, complete } = await walk(db, filter, after, limit, WALK)
  return complete ? rows : seek(db, filter, { after, limit })
}

const columns = new Sql([USER_COLUMNS], [])

interface Walked {
  rows: ListedUser[]
  /** Whether there are no others up to the limit: enough were found, or the end was reached. */
  complete: boolean
}

/** Looks at the next `width` users in the order of the list, and keeps those that pass. */
async function walk(
  db: Executor,
  filter: UserFilter,
  after: UserKey | undefined,
  limit: number,
  width: number,
): Promise<Walked> {
  const order = orderOf(filter)
  const walks = filter.states.map(
    (state) => sql`(select * from users
      where app_no = ${filter.appNo} and ${STATE[state]} and ${placeAfter(filter, after)}
      order by ${order} limit ${width})`,
  )
  const passing = joinSql([sql`true`, ...filter.where], ' and ')
  const rows = await runSql<ListedUser & { walked: number }>(
    db,
    'users.walk',
    sql`with walked as materialized (
        select * from (${joinSql(walks, ' union all ')}) both_states order by ${order} limit ${width}
      )
      select name_key, ${columns}, (select count(*) from walked) as walked
      from walked where ${passing} order by ${order} limit ${limit}`,
  )
  if (rows.length === limit) return { rows, complete: true }
  const walked = rows[0]?.walked
  // Without a row there is no count: whether the walk met the end is then found out by seeking.
  return { rows, complete: walked !== undefined && walked < width }
}

interface Range {
  after?: UserKey | undefined
  offset?: number
  limit: number
}

/** Finds the users that pass by the indexes of the filters, then sorts them. */
async function seek(db: Executor, filter: UserFilter, range: Range): Promise<ListedUser[]> {
  const { after, offset = 0, limit } = range
  const order = orderOf(filter)
  return runSql<ListedUser>(
    db,
    'users.seek',
    sql`with passing as materialized (
        select uid, name_key from users where ${passes(filter)}
      ), page as (
        select uid from passing where ${placeAfter(filter, after)}
        order by ${order} offset ${offset} limit ${limit}
      )
      select name_key, ${columns} from users
      where app_no = ${filter.appNo} and uid in (select uid from page)
      order by ${order}`,
  )
}

/** The place of the last of the first `count` users: for pages that nobody crawled to. */
export async function placeOf(
  db: Executor,
  filter: UserFilter,
  count: number,
): Promise<UserKey | undefined> {
  const offset = count - 1
  if (filter.where.length > 0) {
    const [row] = await seek(db, filter, { offset, limit: 1 })
    return row && [row.name_key, row.uid]
  }
  const order = orderOf(filter)
  // On the index alone: no user is read.
  const walks = filter.states.map(
    (state) => sql`(select name_key, uid from users
      where app_no = ${filter.appNo} and ${STATE[state]} order by ${order} limit ${count})`,
  )
  const [row] = await runSql<{ name_key: string; uid: string }>(
    db,
    'users.placeOf',
    sql`select name_key, uid from (${joinSql(walks, ' union all ')}) both_states
      order by ${order} offset ${offset} limit 1`,
  )
  return row && [row.name_key, row.uid]
}

export interface Count {
  total: number
  capped: boolean
}

/** Exact without filters, and with them up to the cap. */
export async function countUsers(db: Executor, filter: UserFilter): Promise<Count> {
  if (filter.where.length === 0) {
    const totals = filter.states.map((state) => getTotal(db, filter.appNo, `users.${state}`))
    const total = (await Promise.all(totals)).reduce((sum, part) => sum + part, 0)
    return { total, capped: false }
  }
  const [row] = await runSql<{ total: number }>(
    db,
    'users.count',
    sql`select count(*) as total from (
        select from users where ${passes(filter)} limit ${COUNT_CAP + 1}
      ) capped`,
  )
  const total = row?.total ?? 0
  return { total: Math.min(total, COUNT_CAP), capped: total > COUNT_CAP }
}

const passes = ({ appNo, states, where }: UserFilter): Sql =>
  joinSql(
    [
      sql`app_no = ${appNo}`,
      states.length === 2 ? sql`removed_at is null` : STATE[states[0] ?? 'active'],
      ...where,
    ],
    ' and ',
  )

const orderOf = ({ descending }: UserFilter): Sql =>
  descending ? sql`name_key desc, uid desc` : sql`name_key, uid`

function placeAfter({ descending }: UserFilter, after: UserKey | undefined): Sql {
  if (!after) return sql`true`
  const [nameKey, uid] = after
  return descending
    ? sql`(name_key, uid) < (${nameKey}, ${uid})`
    : sql`(name_key, uid) > (${nameKey}, ${uid})`
}
