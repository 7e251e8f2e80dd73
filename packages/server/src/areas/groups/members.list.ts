import type { Scope } from '@loquat/protocol'
import { SCOPES } from '@loquat/protocol'
import { USER_COLUMNS, type UserRow } from '../../core/user-rows.ts'
import type { PageKey } from '../../platform/cache/page-starts.ts'
import type { Executor } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { Count } from '../../platform/http/keyset.ts'

const COUNT_CAP = 10_000

/** `place` is a time as PostgreSQL writes it: a Date would lose its microseconds. */
interface Placed {
  place: string
}

export type MemberRow = UserRow & Placed & { scope: Scope; joined_at: Date }

export interface MemberFilter {
  appNo: number
  guid: string
  scopes: readonly Scope[]
}

export const toMemberFilter = (
  appNo: number,
  guid: string,
  query: { scopes?: Scope[] },
): MemberFilter => ({
  appNo,
  guid,
  scopes: query.scopes ? [...new Set(query.scopes)] : SCOPES,
})

export const userColumns = new Sql([USER_COLUMNS], [])

const membersWith = ({ appNo, guid }: MemberFilter, scope: Scope): Sql =>
  sql`from inbox i
    where i.app_no = ${appNo} and i.scope = ${scope} and i.conversation = (
      select no from conversations
      where app_no = ${appNo} and kind = 'group' and one = ${guid} and other = '')`

/** By the time they joined, then uid: each scope by its own range of one index. */
export const inOrder = (
  filter: MemberFilter,
  selected: Sql,
  limit: number,
  condition: Sql = sql`true`,
): Sql =>
  joinSql(
    filter.scopes.map(
      (scope) => sql`(select ${selected} ${membersWith(filter, scope)} and ${condition}
        order by i.joined_at, i.uid limit ${limit})`,
    ),
    ' union all ',
  )

export const placeAfter = (after: PageKey | undefined): Sql =>
  after ? sql`(i.joined_at, i.uid) > (${after[0]}::timestamptz, ${after[1]})` : sql`true`

export async function listMembers(
  db: Executor,
  filter: MemberFilter,
  after: PageKey | undefined,
  limit: number,
): Promise<MemberRow[]> {
  if (filter.scopes.length === 0) return []
  // One that is removed is gone for everyone, also before it is swept.
  const shown = sql`${placeAfter(after)} and exists (select from users u
    where u.app_no = i.app_no and u.uid = i.uid and u.removed_at is null)`
  const members = inOrder(filter, sql`i.uid, i.scope, i.joined_at`, limit, shown)
  return runSql<MemberRow>(
    db,
    'members.list',
    sql`with members as materialized (
        select uid, scope, joined_at from (${members}) all_scopes
        order by joined_at, uid limit ${limit}
      )
      select ${userColumns}, scope, joined_at, joined_at::text as place
      from members join users using (uid)
      where app_no = ${filter.appNo} order by joined_at, uid`,
  )
}

export async function placeOfMember(
  db: Executor,
  filter: MemberFilter,
  count: number,
): Promise<PageKey | undefined> {
  if (filter.scopes.length === 0) return undefined
  const [row] = await runSql<Placed & { uid: string }>(
    db,
    'members.placeOf',
    sql`select joined_at::text as place, uid
      from (${inOrder(filter, sql`i.joined_at, i.uid`, count)}) all_scopes
      order by joined_at, uid offset ${count - 1} limit 1`,
  )
  return row && keyOf(row)
}

export const keyOf = ({ place, uid }: Placed & { uid: string }): PageKey => [place, uid]

/** Of all scopes the group keeps the count itself. */
export async function countMembers(
  db: Executor,
  filter: MemberFilter,
  membersCount: number,
): Promise<Count> {
  if (filter.scopes.length === 0) return { total: 0, capped: false }
  if (filter.scopes.length === SCOPES.length) return { total: membersCount, capped: false }
  const some = inOrder(filter, sql`i.uid`, COUNT_CAP + 1)
  return capped(
    await runSql<{ total: number }>(
      db,
      'members.count',
      sql`select count(*) as total from (${some}) members`,
    ),
  )
}

const capped = ([row]: { total: number }[]): Count => {
  const total = row?.total ?? 0
  return { total: Math.min(total, COUNT_CAP), capped: total > COUNT_CAP }
}

export type BanRow = UserRow &
  Placed & { scope: Scope | null; joined_at: Date | null; banned_at: Date }

export interface BanFilter {
  appNo: number
  guid: string
  searchKey: string | undefined
}

const bans = ({ appNo, guid, searchKey }: BanFilter): Sql =>
  sql`from bans b join users u using (app_no, uid)
    where app_no = ${appNo} and b.guid = ${guid} and u.removed_at is null and ${
      searchKey
        ? sql`(strpos(u.name_key, nullif(fold_name(${searchKey}), '')) > 0
            or starts_with(uid, lower(${searchKey})))`
        : sql`true`
    }`

/** The last banned first. */
export const listBans = (
  db: Executor,
  filter: BanFilter,
  after: PageKey | undefined,
  limit: number,
  offset = 0,
): Promise<BanRow[]> =>
  runSql<BanRow>(
    db,
    'bans.list',
    sql`select ${userColumns}, b.scope, b.joined_at, b.banned_at, b.banned_at::text as place
      ${bans(filter)} and ${
        after ? sql`(b.banned_at, b.uid) < (${after[0]}::timestamptz, ${after[1]})` : sql`true`
      }
      order by b.banned_at desc, b.uid desc offset ${offset} limit ${limit}`,
  )

export async function placeOfBan(
  db: Executor,
  filter: BanFilter,
  count: number,
): Promise<PageKey | undefined> {
  const [row] = await listBans(db, filter, undefined, 1, count - 1)
  return row && keyOf(row)
}

export const countBans = async (db: Executor, filter: BanFilter): Promise<Count> =>
  capped(
    await runSql<{ total: number }>(
      db,
      'bans.count',
      sql`select count(*) as total from (select ${bans(filter)} limit ${COUNT_CAP + 1}) found`,
    ),
  )
