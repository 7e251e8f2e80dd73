import { GROUP_TYPES, type GroupType } from '@loquat/protocol'
import type { Membership } from '../../core/group-record.ts'
import { GROUP_COLUMNS, type GroupRow } from '../../core/group-rows.ts'
import type { PageKey } from '../../platform/cache/page-starts.ts'
import type { Executor } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import { getTotal } from '../../platform/db/totals.ts'
import type { Count } from '../../platform/http/keyset.ts'
import { conditions } from './filters.ts'
import type { GroupListQuery } from './schema.ts'

export type ListedGroup = GroupRow & Membership & { place: string | number; changed: number }

/** A filter that few groups pass must not make a page walk over all others: from here on it is sought by index. */
const WALK = 2_000
const COUNT_CAP = 10_000
const ALL = 2_147_483_647

export type Order = 'changed' | 'name' | 'guid' | 'createdAt'

/** What a list is ordered by before the guid: as in the indexes. */
const PLACE: Record<Order, Sql> = {
  changed: sql`g.changed_second`,
  name: sql`g.name_key`,
  guid: sql`''`,
  createdAt: sql`g.created_second`,
}

/** Which groups a list is about, and in which order. */
export interface GroupFilter {
  appNo: number
  /** Who looks: sees no private group but the own ones, and none that banned it. */
  viewer: string | undefined
  /** Only groups of the viewer. */
  joined: boolean
  types: readonly GroupType[]
  where: readonly Sql[]
  order: Order
  descending: boolean
}

export function toFilter(
  appNo: number,
  viewer: string | undefined,
  query: GroupListQuery,
): GroupFilter {
  const { type, types, hasJoined = false, sortBy, sortOrder, affix } = query
  const wanted = [...(type ? [type] : []), ...(types ?? [])]
  const backwards = sortBy === undefined && affix === 'prepend'
  return {
    appNo,
    viewer,
    joined: hasJoined,
    types: wanted.length > 0 ? [...new Set(wanted)] : GROUP_TYPES,
    where: conditions(query),
    order: sortBy ?? 'changed',
    descending: (sortOrder === 'desc') !== backwards,
  }
}

/** The first `limit` groups after a place. */
export async function listGroups(
  db: Executor,
  filter: GroupFilter,
  after: PageKey | undefined,
  limit: number,
): Promise<ListedGroup[]> {
  // The groups of one user are few: all of them are looked at.
  const width = filter.joined ? ALL : filter.where.length === 0 ? limit : WALK
  const { rows, complete } = await walk(db, filter, after, { limit, width })
  return complete ? rows : seek(db, filter, { after, limit })
}

interface Extent {
  limit: number
  /** How many groups to look at. */
  width: number
}

interface Walked {
  rows: ListedGroup[]
  /** Whether there are no others up to the limit: enough were found, or the end was reached. */
  complete: boolean
}

const columns = new Sql([GROUP_COLUMNS], [])

/** Looks at the next groups in the order of the list, and keeps those that pass. */
async function walk(
  db: Executor,
  filter: GroupFilter,
  after: PageKey | undefined,
  { limit, width }: Extent,
): Promise<Walked> {
  const order = orderOf(filter)
  const parts = inOrder(filter).map(
    (source) => sql`(select g.* ${source} and ${placeAfter(filter, after)}
      order by ${order} limit ${width})`,
  )
  // One row at least, so that the count is known when none passes.
  const rows = await runSql<ListedGroup & { walked: number }>(
    db,
    'groups.walk',
    sql`with walked as materialized (
        select g.* from (${joinSql(parts, ' union all ')}) g order by ${order} limit ${width}
      )
      select n.walked, ${columns}, ${viewed(filter)}
      from (select count(*) as walked from walked) n
      left join (
        select g.* from walked g where ${passing(filter)} order by ${order} limit ${limit}
      ) g on true ${membership(filter)}
      order by ${order}`,
  )
  const found = rows.filter(({ guid }) => guid !== null)
  return { rows: found, complete: found.length === limit || (rows[0]?.walked ?? 0) < width }
}

const passing = ({ where }: GroupFilter): Sql => joinSql([sql`true`, ...where], ' and ')

/**
 * `from … where …` of the groups that can be in the list: each in the order of an index, but for those
 * of one user, which are few.
 */
const inOrder = (filter: GroupFilter): Sql[] =>
  filter.joined
    ? together(filter)
    : sources(
        filter,
        filter.types.map((type) => [type]),
      )

/** The same for finding groups by other indexes, which are not apart by type. */
const together = (filter: GroupFilter): Sql[] => {
  const own = filter.types.filter((type) => isOwn(filter, type))
  const others = filter.types.filter((type) => !isOwn(filter, type))
  return sources(
    filter,
    [own, others].filter((types) => types.length > 0),
  )
}

const isOwn = ({ viewer, joined }: GroupFilter, type: GroupType) =>
  viewer !== undefined && (joined || type === 'private')

const sources = (filter: GroupFilter, split: GroupType[][]): Sql[] =>
  split.map((types) => {
    const { appNo, viewer } = filter
    const own = types.every((type) => isOwn(filter, type))
    return own && viewer !== undefined
      ? ownGroups(appNo, viewer, types)
      : sql`from groups g where g.app_no = ${appNo} and ${ofTypes(types)} and g.removed_at is null
          and ${notBanned(viewer)}`
  })

/** One type is said as such, or its index would not give the order. */
const ofTypes = (types: readonly GroupType[]): Sql =>
  types.length === 1 ? sql`g.type = ${types[0]}` : sql`g.type = any(${types}::text[])`

const ownGroups = (appNo: number, viewer: string, types: readonly GroupType[]): Sql =>
  sql`from inbox i join groups g on g.app_no = i.app_no and g.guid = i.with_id
    where i.app_no = ${appNo} and i.uid = ${viewer} and i.kind = 'group' and i.scope is not null
      and ${ofTypes(types)} and g.removed_at is null`

const notBanned = (viewer: string | undefined): Sql =>
  viewer === undefined
    ? sql`true`
    : sql`not exists (select from bans b
        where b.app_no = g.app_no and b.guid = g.guid and b.uid = ${viewer})`

interface Range {
  after?: PageKey | undefined
  offset?: number
  limit: number
}

/** Finds the groups that pass by the indexes of the filters, then sorts them. */
async function seek(db: Executor, filter: GroupFilter, range: Range): Promise<ListedGroup[]> {
  const { after, offset = 0, limit } = range
  return runSql<ListedGroup>(
    db,
    'groups.seek',
    sql`with passing as materialized (${passes(filter, after)}), page as (
        select guid from passing order by ${byPlace(filter)} offset ${offset} limit ${limit}
      )
      select ${columns}, ${viewed(filter)} from page join groups g using (guid) ${membership(filter)}
      where g.app_no = ${filter.appNo} order by ${orderOf(filter)}`,
  )
}

const passes = (filter: GroupFilter, after?: PageKey): Sql =>
  joinSql(
    together(filter).map(
      (source) => sql`select ${PLACE[filter.order]} as place, g.guid ${source}
        and ${passing(filter)} and ${placeAfter(filter, after)}`,
    ),
    ' union all ',
  )

/** The place of the last of the first `count` groups past `from`: for pages that nobody crawled to. */
export async function placeOf(
  db: Executor,
  filter: GroupFilter,
  count: number,
  from?: PageKey,
): Promise<PageKey | undefined> {
  const offset = count - 1
  if (filter.where.length > 0) {
    const [row] = await seek(db, filter, { after: from, offset, limit: 1 })
    return row && keyOf(row)
  }
  // On the index alone: no group is read.
  const parts = inOrder(filter).map(
    (source) => sql`(select ${PLACE[filter.order]} as place, g.guid ${source}
      and ${placeAfter(filter, from)} order by ${orderOf(filter)} limit ${count})`,
  )
  const [row] = await runSql<{ place: string | number; guid: string }>(
    db,
    'groups.placeOf',
    sql`select place, guid from (${joinSql(parts, ' union all ')}) places
      order by ${byPlace(filter)} offset ${offset} limit 1`,
  )
  return row && keyOf(row)
}

/** The order of rows that have nothing but their place and guid. */
const byPlace = ({ descending }: GroupFilter): Sql =>
  descending ? sql`place desc, guid desc` : sql`place, guid`

export const keyOf = ({ place, guid }: Pick<ListedGroup, 'place' | 'guid'>): PageKey => [
  place,
  guid,
]

/** Exact for the whole list of the app, and else up to the cap. */
export async function countGroups(db: Executor, filter: GroupFilter): Promise<Count> {
  const { appNo, viewer, types, where } = filter
  const all = viewer === undefined && where.length === 0 && types.length === GROUP_TYPES.length
  if (all) return { total: await getTotal(db, appNo, 'groups'), capped: false }
  const [row] = await runSql<{ total: number }>(
    db,
    'groups.count',
    sql`select count(*) as total from (
        select from (${passes(filter)}) passing limit ${COUNT_CAP + 1}
      ) capped`,
  )
  const total = row?.total ?? 0
  return { total: Math.min(total, COUNT_CAP), capped: total > COUNT_CAP }
}

const viewed = ({ order, viewer }: GroupFilter): Sql =>
  sql`${PLACE[order]} as place, ${PLACE.changed} as changed, ${
    viewer === undefined ? sql`null as scope, null as joined_at` : sql`m.scope, m.joined_at`
  }`

const membership = ({ appNo, viewer }: GroupFilter): Sql =>
  viewer === undefined
    ? sql``
    : sql`left join inbox m on m.app_no = ${appNo} and m.uid = ${viewer} and m.kind = 'group'
        and m.with_id = g.guid and m.scope is not null`

/** The guid is the key by itself: no constant before it, or the index would not give the order. */
function orderOf({ order, descending }: GroupFilter): Sql {
  if (order === 'guid') return descending ? sql`g.guid desc` : sql`g.guid`
  const place = PLACE[order]
  return descending ? sql`${place} desc, g.guid desc` : sql`${place}, g.guid`
}

function placeAfter({ order, descending }: GroupFilter, after: PageKey | undefined): Sql {
  if (!after) return sql`true`
  const [place, guid] = after
  if (order === 'guid') return descending ? sql`g.guid < ${guid}` : sql`g.guid > ${guid}`
  const type = order === 'name' ? sql`text` : sql`bigint`
  return descending
    ? sql`(${PLACE[order]}, g.guid) < (${place}::${type}, ${guid})`
    : sql`(${PLACE[order]}, g.guid) > (${place}::${type}, ${guid})`
}
