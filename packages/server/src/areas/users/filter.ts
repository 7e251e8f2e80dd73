import { storable } from '../../core/time.ts'
import { PRINTED_COLUMNS } from '../../core/user-print.ts'
import { joinSql, Sql, sql } from '../../platform/db/sql.ts'
import type { Keyset } from '../../platform/lists/keyset.ts'
import { hasRole, onlineTo } from './queries.ts'
import type { UserListQuery } from './schema.ts'

type State = 'active' | 'deactivated'

/** A search key, and how indexes find it. */
export interface Search {
  matches: Sql
  /** Names that start with it: they are adjacent in the order. */
  starting: Sql
  /** Names that contain it after the start, and uids. */
  inside: Sql
  /** Two characters: the index finds all names that contain both, adjacent or not. */
  pair: boolean
}

/** Which users a list contains, in the order of their folded names. */
export interface UserFilter extends Keyset {
  appNo: number
  states: readonly State[]
  /** `from … where …` of the list's users who satisfy all of these conditions, one for each state. */
  among: (conditions: readonly Sql[]) => Sql[]
  search: Search | undefined
  /** The search key is the only condition. */
  searchAlone: boolean
  /** The filter names the users, so nothing is walked. */
  few: boolean
  /** Whether all of them are online: they are then listed in the order of `presence`. */
  present: boolean
  /** Whether an index finds users who can pass. No index has the status. */
  indexed: boolean
}

type Filters = Omit<UserListQuery, 'page' | 'perPage'> & {
  /** The roles that the viewer's own role allows. */
  allowedRoles?: readonly string[] | undefined
}

const STATE: Record<State, Sql> = {
  active: sql`deactivated_at is null and removed_at is null`,
  deactivated: sql`deactivated_at is not null and removed_at is null`,
}

/** `viewer` is the acting user. */
export function toFilter(appNo: number, query: Filters, viewer?: string): UserFilter {
  const both: State[] = ['active', 'deactivated']
  const { searchKey, searchIn = ['name', 'uid'] } = query
  const search = searchKey ? toSearch(searchKey, searchIn) : undefined
  const online = onlineOf(query)
  // A deactivated user has no devices.
  const present = online === true && !query.onlyDeactivated
  const others = conditions(appNo, query)
  const indexed = search !== undefined || others.length > 0
  if (online !== undefined && (viewer !== undefined || !present))
    others.push({ is: sql`${onlineTo(appNo, viewer)} = ${online}`, column: 'online' })
  const where = [...(search ? [search.matches] : []), ...others.map((condition) => condition.is)]
  const states: State[] = query.onlyDeactivated
    ? ['deactivated']
    : query.withDeactivated && !present
      ? both
      : ['active']
  const from = (table: Sql) => (conditions: readonly Sql[]) =>
    states.map(
      (state) => sql`from ${table}
        where ${joinSql([sql`app_no = ${appNo}`, STATE[state], ...conditions], ' and ')}`,
    )
  const among = from(present ? PRESENT : sql`users`)
  return {
    ...{ name: 'users', key: sql`name_key`, keyType: 'text', id: sql`uid` },
    descending: query.sortOrder === 'desc',
    ranges: among([]),
    // Candidates found by index: every user that passes `where` passes this too. `presence` has no index for filters.
    sources: from(sql`users`)([
      ...(present ? [sql`online`] : []),
      ...(search ? [sql`(${search.starting} or ${search.inside})`] : []),
    ]),
    where,
    // Without other columns of the table, the order index alone suffices.
    looked: columnsOf(others.flatMap(({ column }) => column ?? [])),
    columns: new Sql([PRINTED_COLUMNS], []),
    join: sql`join users on users.app_no = ${appNo} and users.uid = sort_id`,
    whole: sql`*`,
    ...{ appNo, states, among, search },
    searchAlone: search !== undefined && others.length === 0,
    few: query.uids !== undefined,
    ...{ present, indexed },
  }
}

/** In the name order of `presence`, where online users are adjacent. */
const PRESENT = sql`presence join (
  select app_no, uid, name, card, role, metadata, tags, online, last_active_at,
    created_at, updated_at, deactivated_at, removed_at
  from users) as u using (app_no, uid)`

/** Records say `available`; as a filter, `online` means the same. */
function onlineOf({ status }: { status?: readonly string[] }): boolean | undefined {
  if (!status || status.length === 0) return undefined
  const [online, offline] = [status.some((word) => word !== 'offline'), status.includes('offline')]
  return online === offline ? undefined : online
}

/** The same list limited to a user's friends: few enough to look up one by one. */
export const friendsAmong = (filter: UserFilter, uid: string): UserFilter => ({
  ...filter,
  where: [
    ...filter.where,
    sql`uid = any(array(
      select friend_uid from friends f where f.app_no = ${filter.appNo} and f.uid = ${uid}))`,
  ],
  searchAlone: false,
  few: true,
  indexed: true,
})

const columnsOf = (more: string[]): Sql =>
  new Sql([['app_no', 'name_key', 'uid', ...new Set(more)].join(', ')], [])

interface Condition {
  is: Sql
  /** The column that the condition needs. */
  column?: string
}

function conditions(appNo: number, query: Filters): Condition[] {
  const { role, roles, tags, uids, allowedRoles } = query
  const found: Condition[] = []
  const wanted = [...(role ? [role] : []), ...(roles ?? [])].map((name) => name.toLowerCase())
  if (wanted.length > 0) found.push({ is: hasRole(appNo, wanted), column: 'role' })
  if (allowedRoles) found.push({ is: hasRole(appNo, allowedRoles), column: 'role' })
  if (tags)
    found.push({
      is: sql`tags <> '{}' and tags && ${unseen(sql`${tags}::text[]`)}`,
      column: 'tags',
    })
  if (uids) found.push({ is: sql`uid = any(${uids}::text[])` })
  return [...found, ...times(query)]
}

function times(query: Filters): Condition[] {
  const found: Condition[] = []
  for (const field of ['createdAt', 'updatedAt'] as const) {
    const column = field === 'createdAt' ? 'created_at' : 'updated_at'
    const value = new Sql([column], [])
    const [from, to] = [query[`${field}[from]`], query[`${field}[to]`]]
    if (from !== undefined)
      found.push({ is: sql`${value} >= to_timestamp(${storable(from)})`, column })
    if (to !== undefined)
      found.push({
        is: sql`${value} < to_timestamp(${storable(to)}) + interval '1 second'`,
        column,
      })
  }
  return found
}

/** The text anywhere in the name, ignoring case and accents, or at the start of the uid. */
function toSearch(searchKey: string, searchIn: readonly string[]): Search {
  // A lone accent folds to an empty string: it matches nothing, while '' would match every name.
  const folded = sql`nullif(fold_name(${searchKey}), '')`
  const literal = sql`regexp_replace(${folded}, '([%_\\\\])', '\\\\\\1', 'g')`
  const pattern = sql`'%' || ${literal} || '%'`
  const inName = searchIn.includes('name')
  const key = searchKey.toLowerCase()
  const inUid = searchIn.includes('uid')
    ? sql`(uid >= ${unseen(sql`${key}`)} and uid < ${unseen(sql`${`${key}~`}`)})`
    : sql`false`
  if (!inName) return { matches: inUid, starting: sql`false`, inside: inUid, pair: false }
  const { length } = [
    ...searchKey
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFKC'),
  ]
  // Search keys of one or two characters have no trigram: their characters find the candidates.
  const inside =
    length < 3
      ? sql`string_to_array(substr(name_key, 2), null) @> ${unseen(sql`string_to_array(${folded}, null)`)}`
      : sql`substr(name_key, 2) like ${unseen(pattern)}`
  return {
    matches: sql`(name_key like ${pattern} or ${inUid})`,
    starting: sql`(name_key >= ${unseen(folded)} and name_key < ${unseen(sql`${folded} || U&'\\+10FFFF'`)})`,
    inside: sql`(${inside} or ${inUid})`,
    pair: length === 2,
  }
}

/**
 * A value hidden from the planner, so that it assumes the value is rare. Its statistics describe the whole cell: for a
 * value that is common there but missing in this app, it would read the whole app.
 */
const unseen = (value: Sql): Sql => sql`(select ${value})`
