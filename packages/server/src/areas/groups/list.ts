import { GROUP_TYPES, type GroupType } from '@loquat/protocol'
import type { Membership } from '../../core/group-record.ts'
import { GROUP_COLUMNS, type GroupRow } from '../../core/group-rows.ts'
import { BAN_IS_IN_FORCE } from '../../core/visibility.ts'
import type { Executor } from '../../platform/db/query.ts'
import { Sql, sql } from '../../platform/db/sql.ts'
import { getTotal } from '../../platform/db/totals.ts'
import { type Count, countFound } from '../../platform/lists/count.ts'
import type { PageKey } from '../../platform/lists/keyset.ts'
import {
  findStart,
  type Keyed,
  type Keyset,
  keyOf,
  listNext,
  type Range,
  seek,
  walk,
} from '../../platform/lists/keyset.ts'
import { emptyList, type Listed, type Paging } from '../../platform/lists/page.ts'
import { isNear, walkOn } from '../../platform/lists/strategies.ts'
import { conditions } from './filters.ts'
import type { GroupListQuery } from './schema.ts'

type Row = GroupRow & Membership & { changed: number }
export type ListedGroup = Row & Keyed

/**
 * A filter that few groups pass must not make a page walk over all others: after this many it seeks
 * by index.
 */
const WALK = 2_000
const LONG_WALK = 20_000
const COUNT_CAP = 10_000
const ALL = 2_147_483_647

export type Order = 'changed' | 'name' | 'guid' | 'createdAt'

/** The columns that a list is sorted by before the guid, as in the indexes. */
const KEYS: Record<Order, Pick<Keyset, 'key' | 'keyType'>> = {
  changed: { key: sql`g.changed_second`, keyType: 'bigint' },
  name: { key: sql`g.name_key`, keyType: 'text' },
  guid: { key: undefined, keyType: 'text' },
  createdAt: { key: sql`g.created_second`, keyType: 'bigint' },
}

/** Which groups a list contains. */
interface Selection {
  appNo: number
  /** The viewer, who doesn't see other users' private groups or groups that banned them. */
  viewer: string | undefined
  /** Only groups that the viewer is a member of. */
  joined: boolean
  types: readonly GroupType[]
}

/** The same with the list's order. */
export type GroupFilter = Selection & Keyset & { order: Order }

export function toFilter(
  appNo: number,
  viewer: string | undefined,
  query: GroupListQuery,
  /** The types that the viewer's role allows. */
  allowed: readonly string[] = GROUP_TYPES,
): GroupFilter {
  const { type, types, hasJoined: joined = false, sortBy, sortOrder, affix } = query
  const wanted = [...(type ? [type] : []), ...(types ?? [])]
  const backwards = sortBy === undefined && affix === 'prepend'
  const order = sortBy ?? 'changed'
  const scope = {
    ...{ appNo, viewer, joined },
    types: (wanted.length > 0 ? [...new Set(wanted)] : GROUP_TYPES).filter((one) =>
      allowed.includes(one),
    ),
  }
  return {
    ...scope,
    order,
    name: 'groups',
    ...KEYS[order],
    id: sql`g.guid`,
    descending: (sortOrder === 'desc') !== backwards,
    ranges: inOrder(scope),
    sources: together(scope),
    where: conditions(query),
    row: sql`g`,
    looked: sql`g.*`,
    columns: sql`${new Sql([GROUP_COLUMNS], [])}, g.changed_second as changed, ${
      viewer === undefined ? sql`null as scope, null as joined_at` : sql`m.scope, m.joined_at`
    }`,
    join: sql`join groups g on g.app_no = ${appNo} and g.guid = sort_id`,
    beside: membership(scope),
    whole: sql`g.*`,
  }
}

export const groupsOf = (db: Executor, filter: GroupFilter): Paging<ListedGroup> =>
  filter.types.length === 0
    ? emptyList()
    : {
        keyOf,
        read: (after, limit) => listGroups(db, filter, { after, limit }),
        startOf: (count, from) => startOf(db, filter, count, from),
        count: () => countGroups(db, filter),
      }

async function listGroups(
  db: Executor,
  filter: GroupFilter,
  range: Range,
): Promise<Listed<ListedGroup>> {
  if (filter.where.length === 0) return { rows: await listNext<Row>(db, filter, range) }
  // One user has few groups: all of them are read.
  const width = filter.joined ? ALL : WALK
  const { rows, walked } = await walk<Row>(db, filter, range, width)
  const complete = rows.length === range.limit || walked < width
  return complete ? { rows } : seek<Row>(db, filter, range)
}

/** The sort key of group number `count`. */
async function startOf(db: Executor, filter: GroupFilter, count: number, from?: PageKey) {
  // Without conditions: an index-only scan.
  if (filter.where.length === 0) return findStart(db, filter, count, from)
  const range = { after: from, offset: count - 1, limit: 1 }
  const all = await getTotal(db, filter.appNo, 'groups')
  const [row] = (await isNear(db, filter, count, { all }))
    ? await walkOn<Row>(db, filter, range, LONG_WALK)
    : (await seek<Row>(db, filter, range)).rows
  return row && keyOf(row)
}

/**
 * `from … where …` of the groups that can be in the list, each in index order, except for one
 * user's groups, which are few.
 */
const inOrder = (filter: Selection): Sql[] =>
  filter.joined
    ? together(filter)
    : sources(
        filter,
        filter.types.map((type) => [type]),
      )

/** The same for finding groups through other indexes, which aren't separated by type. */
const together = (filter: Selection): Sql[] => {
  const own = filter.types.filter((type) => isOwn(filter, type))
  const others = filter.types.filter((type) => !isOwn(filter, type))
  return sources(
    filter,
    [own, others].filter((types) => types.length > 0),
  )
}

const isOwn = ({ viewer, joined }: Selection, type: GroupType) =>
  viewer !== undefined && (joined || type === 'private')

const sources = (filter: Selection, split: GroupType[][]): Sql[] =>
  split.map((types) => {
    const { appNo, viewer } = filter
    const own = types.every((type) => isOwn(filter, type))
    return own && viewer !== undefined
      ? ownGroups(appNo, viewer, types)
      : sql`from groups g where g.app_no = ${appNo} and ${ofTypes(types)} and g.removed_at is null
          and ${notBanned(viewer)}`
  })

/** A single type is written as a constant; otherwise its index would not give the order. */
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
        where b.app_no = g.app_no and b.guid = g.guid and b.uid = ${viewer}
          and ${new Sql([BAN_IS_IN_FORCE], [])})`

/** Exact for the app's whole list, otherwise up to the cap. */
async function countGroups(db: Executor, filter: GroupFilter): Promise<Count> {
  const { appNo, viewer, types, where } = filter
  const whole = viewer === undefined && where.length === 0 && types.length === GROUP_TYPES.length
  const all = () => getTotal(db, appNo, 'groups')
  if (whole) return { total: await all(), capped: false }
  const count = await countFound(db, filter, COUNT_CAP)
  return count.capped ? { ...count, most: await all() } : count
}

const membership = ({ appNo, viewer }: Selection): Sql =>
  viewer === undefined
    ? sql``
    : sql`left join inbox m on m.app_no = ${appNo} and m.uid = ${viewer} and m.kind = 'group'
        and m.with_id = g.guid and m.scope is not null`
