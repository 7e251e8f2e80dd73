import { SCOPES, type Scope } from '@loquat/protocol'
import { USER_COLUMNS, type UserRow } from '../../core/user-rows.ts'
import { BAN_IS_IN_FORCE } from '../../core/visibility.ts'
import type { Executor } from '../../platform/db/query.ts'
import { Sql, sql } from '../../platform/db/sql.ts'
import type { Keyed, Keyset } from '../../platform/lists/keyset.ts'
import { emptyList, type Paging } from '../../platform/lists/page.ts'
import { byOrder, bySeek, byWalk } from '../../platform/lists/strategies.ts'
import { onlineTo } from '../users/queries.ts'
import { countRemovedMembers, type MemberRow } from './members.queries.ts'
import type { MemberListQuery } from './members.schema.ts'

const COUNT_CAP = 10_000

/** Members read per statement: presence is only known member by member. */
const WALK = 10_000

export interface MemberFilter {
  appNo: number
  guid: string
  scopes: readonly Scope[]
  status: MemberListQuery['status'] | undefined
  /** The acting user. */
  viewer: string | undefined
}

const withUsers = (appNo: number) => ({
  kept: sql`scope, joined_at`,
  columns: sql`${new Sql([USER_COLUMNS], [])}, scope, joined_at`,
  join: sql`join users on users.app_no = ${appNo} and users.uid = sort_id`,
})

/** A deleted user is hidden from everyone, even before the sweep. */
const isThere = (appNo: number, uid: Sql): Sql => sql`${uid} <> all (array(
  select uid from users where app_no = ${appNo} and removed_at is not null))`

/** By joining time, then uid: each scope is its own range of one index. */
const keysetOf = ({ appNo, guid, scopes }: MemberFilter): Keyset => ({
  ...{ name: 'members', key: sql`i.joined_at`, keyType: 'timestamptz', id: sql`i.uid` },
  descending: false,
  ranges: scopes.map(
    (scope) => sql`from inbox i
      where i.app_no = ${appNo} and i.scope = ${scope} and i.conversation = (
        select no from conversations
        where app_no = ${appNo} and kind = 'group' and one = ${guid} and other = '')
        and ${isThere(appNo, sql`i.uid`)}`,
  ),
  where: [],
  ...withUsers(appNo),
})

export function membersOf(
  db: Executor,
  filter: MemberFilter,
  membersCount: number,
): Paging<MemberRow & Keyed> {
  const { appNo, scopes, status, viewer } = filter
  const list = keysetOf(filter)
  if (scopes.length === 0) return emptyList()
  if (status) {
    const online = onlineTo(appNo, viewer)
    const is = sql`(select ${online} = ${status !== 'offline'} from users
      where users.app_no = ${appNo} and users.uid = sort_id limit 1)`
    const paging = byWalk<MemberRow>(db, { ...list, where: [is] }, { width: WALK, cap: COUNT_CAP })
    const count = async () => {
      const counted = await paging.count()
      return counted.capped ? { ...counted, most: membersCount } : counted
    }
    return { ...paging, count }
  }
  const paging = byOrder<MemberRow>(db, list)
  if (scopes.length < SCOPES.length) return paging
  // Over all scopes, the group's row has the count.
  const count = async () => {
    const { removed } = await countRemovedMembers.one(db, filter)
    return { total: membersCount - removed, capped: false }
  }
  return { ...paging, count }
}

export type BanRow = UserRow & { scope: Scope | null; joined_at: Date | null; banned_at: Date }

export interface BanFilter {
  appNo: number
  guid: string
  searchKey: string | undefined
}

/** The latest ban first. */
export function bansOf(
  db: Executor,
  { appNo, guid, searchKey }: BanFilter,
): Paging<BanRow & Keyed> {
  const banned = sql`b.app_no = ${appNo} and b.guid = ${guid} and ${isThere(appNo, sql`b.uid`)}
    and ${new Sql([BAN_IS_IN_FORCE], [])}`
  const list: Keyset = {
    ...{ name: 'bans', key: sql`b.banned_at`, keyType: 'timestamptz', id: sql`b.uid` },
    descending: true,
    ranges: [sql`from bans b where ${banned}`],
    where: [],
    ...withUsers(appNo),
    kept: sql`b.scope, b.joined_at, b.banned_at`,
    columns: sql`${new Sql([USER_COLUMNS], [])}, scope, joined_at, banned_at`,
  }
  if (!searchKey) return byOrder<BanRow>(db, list)
  const ranges = [
    sql`from bans b join users u on u.app_no = b.app_no and u.uid = b.uid where ${banned}`,
  ]
  const matches = sql`(strpos(u.name_key, nullif(fold_name(${searchKey}), '')) > 0
    or starts_with(u.uid, lower(${searchKey})))`
  return bySeek<BanRow>(db, { ...list, ranges, where: [matches] })
}
