import type { ProfileLimits } from '../../core/access/visible.ts'
import { type Relation, USER_COLUMNS, type UserRow } from '../../core/user-rows.ts'
import type { Executor } from '../../platform/db/query.ts'
import { joinSql, Sql, sql } from '../../platform/db/sql.ts'
import type { Keyed, Keyset } from '../../platform/lists/keyset.ts'
import type { Paging } from '../../platform/lists/page.ts'
import { bySeek } from '../../platform/lists/strategies.ts'
import { hasRole } from '../users/queries.ts'

export type RelatedRow = UserRow & Relation & Keyed

/** Which users a list contains, and in which order. */
export interface RelatedFilter {
  appNo: number
  /** The user whose friends or blocks they are. */
  uid: string
  /** Each returns uids. */
  parts: readonly Sql[]
  searchKey: string | undefined
  /** Whose profiles the viewer may read; undefined for all. Other users are left out. */
  limits: ProfileLimits | undefined
  order: 'name' | 'changed'
  descending: boolean
}

const KEYS: Record<RelatedFilter['order'], Pick<Keyset, 'key' | 'keyType'>> = {
  name: { key: sql`u.name_key`, keyType: 'text' },
  changed: {
    key: sql`floor(extract(epoch from coalesce(u.updated_at, u.created_at)))::bigint`,
    keyType: 'bigint',
  },
}

export const friendsOf = (appNo: number, uid: string): Sql[] => [
  sql`select friend_uid as id from friends where app_no = ${appNo} and uid = ${uid}`,
]

export function blocksOf(
  appNo: number,
  uid: string,
  direction: 'blockedByMe' | 'hasBlockedMe' | 'both',
): Sql[] {
  const mine = sql`select blocked_uid as id from blocks where app_no = ${appNo} and uid = ${uid}`
  const theirs = sql`select uid as id from blocks where app_no = ${appNo} and blocked_uid = ${uid}`
  return { blockedByMe: [mine], hasBlockedMe: [theirs], both: [mine, theirs] }[direction]
}

/**
 * There are so few related users that sorting needs no index: all are looked up and sorted, some 4 µs each. Only the
 * records of the page are read completely, as the viewer sees them.
 */
function keysetOf(filter: RelatedFilter): Keyset {
  const { appNo, uid, parts, order, descending } = filter
  return {
    ...{ name: 'relations', ...KEYS[order], id: sql`r.id`, descending },
    ranges: [
      sql`from (select distinct id from (${joinSql(parts, ' union all ')}) every_part) r
        cross join lateral (
          -- offset 0 keeps the planner from scanning the whole index of active users by name for each user.
          select uid, name_key, role, created_at, updated_at, deactivated_at, removed_at
          from users where app_no = ${appNo} and uid = r.id offset 0) u
        where u.deactivated_at is null and u.removed_at is null`,
    ],
    where: conditionsOf(filter),
    columns: sql`${new Sql([USER_COLUMNS], [])},
      (select b.created_at from blocks b
       where b.app_no = ${appNo} and b.uid = ${uid} and b.blocked_uid = u.uid) as blocked_by_me_at,
      (select b.created_at from blocks b
       where b.app_no = ${appNo} and b.uid = u.uid and b.blocked_uid = ${uid}) as has_blocked_me_at`,
    join: sql`join users u on u.app_no = ${appNo} and u.uid = sort_id`,
  }
}

function conditionsOf({ appNo, uid, searchKey, limits }: RelatedFilter): Sql[] {
  const conditions: Sql[] = []
  if (searchKey !== undefined) {
    conditions.push(sql`(strpos(u.name_key, nullif(fold_name(${searchKey}), '')) > 0
      or starts_with(u.uid, lower(${searchKey})))`)
  }
  if (limits?.roles) conditions.push(hasRole(appNo, limits.roles))
  if (limits?.friendsOnly) {
    conditions.push(sql`exists (
      select from friends f where f.app_no = ${appNo} and f.uid = ${uid} and f.friend_uid = u.uid)`)
  }
  return conditions
}

export const relatedTo = (db: Executor, filter: RelatedFilter): Paging<RelatedRow> =>
  bySeek<UserRow & Relation>(db, keysetOf(filter))
