import { storable } from '../../core/time.ts'
import { joinSql, Sql, sql } from '../../platform/db/sql.ts'
import { onlineTo } from './queries.ts'
import type { UserListQuery } from './schema.ts'

/** Place in the order of the list: folded name, then uid. */
export type UserKey = readonly [nameKey: string, uid: string]

type State = 'active' | 'deactivated'

/** A text that is searched for, and how indexes find it. */
export interface Search {
  matches: Sql
  /** Names that begin with it: they stand together in the order of the list. */
  starting: Sql
  /** Names that hold it further inside, and uids. */
  inside: Sql
  /** Two characters: all names are found that hold both, side by side or not. */
  pair: boolean
}

/** Which users a list is about, apart from paging. */
export interface UserFilter {
  appNo: number
  /** Where users are found in the order of the list: all of the app's, or those who are online. */
  source: Sql
  states: readonly State[]
  /** What a user must pass. */
  where: readonly Sql[]
  /** What `where` asks of a user. Without the table's own columns, the index of the order answers alone. */
  columns: Sql
  /** Where those who may pass are found by index: whoever passes `where` passes this too. */
  indexed: readonly Sql[]
  search: Search | undefined
  /** The search is all there is to pass. */
  searchAlone: boolean
  /** It names the users: there is nothing to walk for. */
  few: boolean
  /** It asks for a status, which no index of a filter has: some users are looked at, and the next page goes on after them. */
  byStatus: boolean
  descending: boolean
}

type Filters = Omit<UserListQuery, 'page' | 'perPage'>

export const STATE: Record<State, Sql> = {
  active: sql`deactivated_at is null and removed_at is null`,
  deactivated: sql`deactivated_at is not null and removed_at is null`,
}

/** `viewer` is the user of a token. */
export function toFilter(appNo: number, query: Filters, viewer?: string): UserFilter {
  const both: State[] = ['active', 'deactivated']
  const { searchKey, searchIn = ['name', 'uid'] } = query
  const search = searchKey ? toSearch(searchKey, searchIn) : undefined
  const online = onlineOf(query)
  // Who is deactivated has no devices.
  const present = online === true && !query.onlyDeactivated
  const others = conditions(appNo, query)
  if (online !== undefined && (viewer !== undefined || !present))
    others.push({ is: sql`${onlineTo(appNo, viewer)} = ${online}`, column: 'online' })
  const where = [...(search ? [search.matches] : []), ...others.map((condition) => condition.is)]
  return {
    appNo,
    source: present ? PRESENT : sql`users`,
    states: query.onlyDeactivated
      ? ['deactivated']
      : query.withDeactivated && !present
        ? both
        : ['active'],
    where,
    columns: columnsOf(others.flatMap(({ column }) => column ?? [])),
    indexed: search ? [sql`(${search.starting} or ${search.inside})`] : [],
    search,
    searchAlone: search !== undefined && others.length === 0,
    few: query.uids !== undefined,
    byStatus: online !== undefined,
    descending: query.sortOrder === 'desc',
  }
}

/** In the order of names as `presence` has them: who is online stands together there. */
const PRESENT = sql`presence join (
  select app_no, uid, name, avatar, link, role, status_message, metadata, tags, online,
    last_active_at, created_at, updated_at, deactivated_at, removed_at
  from users) as u using (app_no, uid)`

/** `available` is another word for online. */
function onlineOf({ status }: { status?: readonly string[] }): boolean | undefined {
  if (!status || status.length === 0) return undefined
  const [online, offline] = [status.some((word) => word !== 'offline'), status.includes('offline')]
  return online === offline ? undefined : online
}

/** The same list, of a user's friends alone: few enough to be looked up one by one. */
export const friendsAmong = (filter: UserFilter, uid: string): UserFilter => ({
  ...filter,
  where: [
    ...filter.where,
    sql`uid = any(array(
      select friend_uid from friends f where f.app_no = ${filter.appNo} and f.uid = ${uid}))`,
  ],
  searchAlone: false,
  few: true,
})

const columnsOf = (more: string[]): Sql =>
  new Sql([['app_no', 'name_key', 'uid', ...new Set(more)].join(', ')], [])

interface Condition {
  is: Sql
  /** The column of the table that it asks for. */
  column?: string
}

function conditions(appNo: number, query: Filters): Condition[] {
  const { role, roles, tags, uids } = query
  const found: Condition[] = []
  const wanted = [...(role ? [role] : []), ...(roles ?? [])].map((name) => name.toLowerCase())
  if (wanted.length > 0) found.push({ is: hasRole(appNo, wanted), column: 'role' })
  if (tags)
    found.push({
      is: sql`tags <> '{}' and tags && ${unseen(sql`${tags}::text[]`)}`,
      column: 'tags',
    })
  if (uids) found.push({ is: sql`uid = any(${uids}::text[])` })
  return [...found, ...times(query)]
}

/** One of the roles as they are shown: holders of a removed one count as `default` until they are moved. */
const hasRole = (appNo: number, wanted: string[]): Sql =>
  sql`role = any(array(
    select r.role from roles r where r.app_no = ${appNo}
      and case when r.removed_at is null then r.role else 'default' end = any(${wanted}::text[])))`

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

/** Text anywhere in the name, whatever its case and accents, or the beginning of the uid. */
function toSearch(searchKey: string, searchIn: readonly string[]): Search {
  // Of a lone accent nothing is left: it finds nothing, where '' would be in every name.
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
  // Keys of one or two characters have no trigram: their characters find the candidates.
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
 * A value that the planner does not see, so that it takes it for rare. Its statistics are those of the cell: where it takes a
 * value for common that this app has not, it would read the whole app to find enough of them.
 */
const unseen = (value: Sql): Sql => sql`(select ${value})`

/** Users of the list's states for which all of `conditions` hold. */
export function ofStates({ appNo, source, states }: UserFilter, conditions: readonly Sql[]): Sql {
  const parts = states.map(
    (state) => sql`select uid, name_key from ${source}
      where ${joinSql([sql`app_no = ${appNo}`, STATE[state], ...conditions], ' and ')}`,
  )
  return joinSql(parts, ' union all ')
}

export const orderOf = ({ descending }: UserFilter): Sql =>
  descending ? sql`name_key desc, uid desc` : sql`name_key, uid`

export function placeAfter({ descending }: UserFilter, after: UserKey | undefined): Sql {
  if (!after) return sql`true`
  const [nameKey, uid] = after
  return descending
    ? sql`(name_key, uid) < (${nameKey}, ${uid})`
    : sql`(name_key, uid) > (${nameKey}, ${uid})`
}

/** The next `width` users in the order of the list, whether they pass or not. */
export function inOrder(
  filter: UserFilter,
  after: UserKey | undefined,
  width: number,
  columns = filter.columns,
): Sql {
  const { appNo, source, states } = filter
  const order = orderOf(filter)
  const walks = states.map(
    (state) => sql`(select ${columns} from ${source}
      where app_no = ${appNo} and ${STATE[state]} and ${placeAfter(filter, after)}
      order by ${order} limit ${width})`,
  )
  if (walks[0] && walks.length === 1) return walks[0]
  return sql`(select * from (${joinSql(walks, ' union all ')}) both_states
    order by ${order} limit ${width})`
}
