import { type Relation, USER_COLUMNS, type UserRow } from '../../core/user-rows.ts'
import type { PageKey } from '../../platform/cache/page-starts.ts'
import type { Executor } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { Count } from '../../platform/http/keyset.ts'

export type RelatedRow = UserRow & Relation & { place: string | number }

/** Which users a list contains, and in which order. */
export interface RelatedFilter {
  appNo: number
  /** The user whose friends or blocks they are. */
  uid: string
  /** Each returns uids, one more than `most`, which shows whether there are others. */
  parts: readonly Sql[]
  most: number
  searchKey: string | undefined
  order: 'name' | 'changed'
  descending: boolean
}

const PLACE = {
  name: sql`u.name_key`,
  changed: sql`floor(extract(epoch from coalesce(u.updated_at, u.created_at)))::bigint`,
}

export const friendsOf = (appNo: number, uid: string, most: number): Sql[] => [
  sql`(select friend_uid as id from friends where app_no = ${appNo} and uid = ${uid}
    order by friend_uid limit ${most + 1})`,
]

export function blocksOf(
  appNo: number,
  uid: string,
  most: number,
  direction: 'blockedByMe' | 'hasBlockedMe' | 'both',
): Sql[] {
  const mine = sql`(select blocked_uid as id from blocks where app_no = ${appNo} and uid = ${uid}
    order by blocked_uid limit ${most + 1})`
  const theirs = sql`(select uid as id from blocks where app_no = ${appNo} and blocked_uid = ${uid}
    order by uid limit ${most + 1})`
  return { blockedByMe: [mine], hasBlockedMe: [theirs], both: [mine, theirs] }[direction]
}

/**
 * Sort key and uid of the users that pass. So few users need no index for the order: all related
 * users are looked up, at most `most` of each kind, and sorted.
 */
function passing(filter: RelatedFilter, after: PageKey | undefined): Sql {
  const { appNo, parts, order, searchKey } = filter
  return sql`select ${PLACE[order]} as place, r.id
    from (select distinct id from (${joinSql(parts, ' union all ')}) every_part) r
    cross join lateral (
      -- Fenced: the index of active users by name would do too, and is read whole for each of them.
      select uid, name_key, created_at, updated_at, deactivated_at, removed_at
      from users where app_no = ${appNo} and uid = r.id offset 0) u
    where u.deactivated_at is null and u.removed_at is null
      and ${matches(searchKey)} and ${placeAfter(filter, after)}`
}

const matches = (searchKey: string | undefined): Sql =>
  searchKey === undefined
    ? sql`true`
    : sql`(strpos(u.name_key, nullif(fold_name(${searchKey}), '')) > 0
        or starts_with(u.uid, lower(${searchKey})))`

function placeAfter({ order, descending }: RelatedFilter, after: PageKey | undefined): Sql {
  if (!after) return sql`true`
  const [place, uid] = after
  const given = order === 'name' ? sql`${place}::text` : sql`${place}::bigint`
  return descending
    ? sql`(${PLACE[order]}, u.uid) < (${given}, ${uid})`
    : sql`(${PLACE[order]}, u.uid) > (${given}, ${uid})`
}

const inOrder = ({ descending }: RelatedFilter): Sql =>
  descending ? sql`place desc, id desc` : sql`place, id`

const columns = new Sql([USER_COLUMNS], [])

/**
 * The first `limit` users after a sort key, as the viewer sees them. Only their records are read
 * completely.
 */
export function listRelated(
  db: Executor,
  filter: RelatedFilter,
  after: PageKey | undefined,
  limit: number,
): Promise<RelatedRow[]> {
  const { appNo, uid } = filter
  return runSql<RelatedRow>(
    db,
    'relations.list',
    sql`with page as materialized (
        ${passing(filter, after)} order by ${inOrder(filter)} limit ${limit}
      )
      select ${columns}, place,
        (select b.created_at from blocks b
         where b.app_no = ${appNo} and b.uid = ${uid} and b.blocked_uid = u.uid) as blocked_by_me_at,
        (select b.created_at from blocks b
         where b.app_no = ${appNo} and b.uid = u.uid and b.blocked_uid = ${uid}) as has_blocked_me_at
      from page join users u on u.app_no = ${appNo} and u.uid = page.id
      order by ${inOrder(filter)}`,
  )
}

/** The sort key of the last of the first `count` users after a start. */
export async function placeOf(
  db: Executor,
  filter: RelatedFilter,
  count: number,
  from: PageKey | undefined,
): Promise<PageKey | undefined> {
  const [row] = await runSql<{ place: string | number; id: string }>(
    db,
    'relations.placeOf',
    sql`${passing(filter, from)} order by ${inOrder(filter)} offset ${count - 1} limit 1`,
  )
  return row && [row.place, row.id]
}

export async function countRelated(db: Executor, filter: RelatedFilter): Promise<Count> {
  const sizes = filter.parts.map((part) => sql`(select count(*) from ${part} part)`)
  const [row] = await runSql<{ total: number; largest: number }>(
    db,
    'relations.count',
    sql`select count(*) as total, greatest(${joinSql(sizes, ', ')}) as largest
      from (${passing(filter, undefined)}) passing`,
  )
  const { total = 0, largest = 0 } = row ?? {}
  return { total, capped: largest > filter.most }
}

export const keyOf = ({ place, uid }: RelatedRow): PageKey => [place, uid]
