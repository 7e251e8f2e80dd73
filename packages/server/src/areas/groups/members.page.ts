import { SCOPES, type UserRecord } from '@loquat/protocol'
import { listedScopes } from '../../core/access/authorize.ts'
import type { Actor } from '../../core/actor.ts'
import type { GroupRow } from '../../core/group-rows.ts'
import { findGroupSeen, type GroupSeen } from '../../core/group-seen.ts'
import { conversationIdOf, SYSTEM_UID } from '../../core/ids.ts'
import { type Refusal, refuseIf, refuseOutside } from '../../core/policy.ts'
import { toSharedUser } from '../../core/user-record.ts'
import type { UserRow } from '../../core/user-rows.ts'
import { showTo } from '../../core/user-seen.ts'
import type { Deps } from '../../deps.ts'
import { fail } from '../../platform/http/fail.ts'
import { keysetPage } from '../../platform/lists/page.ts'
import type { PageStarts } from '../../platform/lists/page-starts.ts'
import { bansOf, membersOf } from './members.list.ts'
import { findMember } from './members.queries.ts'
import { toBanned, toMember } from './members.record.ts'
import type { BanListQuery, MemberListQuery, MemberRecord } from './members.schema.ts'
import { type MemberState, refuseModerating } from './policy.ts'
import { findGroup } from './queries.ts'

export async function pageOfMembers(
  { secrets }: Deps,
  starts: PageStarts,
  actor: Actor,
  guid: string,
  query: MemberListQuery,
) {
  const { no: appNo, cell } = actor.app
  const group = await getGroup(actor, guid, refuseOutside)
  const { page, perPage, cursor, ...filters } = query
  const allowed = group.seen && listedScopes(actor, group.seen, 'listMembers')
  const wanted = filters.scopes ? [...new Set(filters.scopes)] : SCOPES
  const scopes = wanted.filter((scope) => allowed?.includes(scope) ?? true)
  const filter = { appNo, guid, scopes, status: filters.status, viewer: actor.uid }
  const list = {
    ...membersOf(cell.db, filter, group.members_count),
    name: ['members', appNo, guid],
    filters: [actor.credential.toString('base64'), actor.uid ?? '', filters, allowed ?? []],
  }
  const found = await keysetPage({ secrets, starts }, list, { page, perPage, cursor })
  return toPage(actor, found, toMember, asSeenByApp)
}

export async function pageOfBans(
  { secrets }: Deps,
  starts: PageStarts,
  actor: Actor,
  guid: string,
  query: BanListQuery,
) {
  const { no: appNo, cell } = actor.app
  await getGroup(actor, guid, refuseModerating)
  const { page, perPage, cursor, searchKey } = query
  const list = {
    ...bansOf(cell.db, { appNo, guid, searchKey }),
    name: ['bans', appNo, guid],
    filters: [actor.credential.toString('base64'), searchKey ?? ''],
  }
  const found = await keysetPage({ secrets, starts }, list, { page, perPage, cursor })
  return toPage(actor, found, toBanned)
}

/** A member's record names the conversation with the viewer; the app has conversations as well. */
const asSeenByApp = (row: UserRow): UserRecord => ({
  ...toSharedUser(row),
  conversationId: conversationIdOf(SYSTEM_UID, row.uid),
})

/**
 * The group, if the actor may see its lists: the app always, a user depending on their state in the
 * group.
 */
async function getGroup(
  { uid, app: { no: appNo, cell } }: Actor,
  guid: string,
  refuse: (viewer: MemberState) => Refusal,
): Promise<GroupRow & { seen?: GroupSeen }> {
  if (uid === undefined) {
    const group = await findGroup.maybeOne(cell.db, { appNo, guid })
    if (!group) throw fail('ERR_GUID_NOT_FOUND', { guid })
    return group
  }
  const group = await findGroupSeen.maybeOne(cell.db, { appNo, guid, viewer: uid })
  if (!group) throw fail('ERR_GUID_NOT_FOUND', { guid })
  const { scope, banned, owner } = group
  refuseIf(refuse({ uid, scope, banned, owner: owner === uid, formerScope: null }))
  return { ...group, seen: group }
}

/** One member of a group. Users see themselves, and the members that their lists show. */
export async function showMember(actor: Actor, guid: string, uid: string): Promise<MemberRecord> {
  const { no: appNo, cell } = actor.app
  const group = await getGroup(actor, guid, refuseOutside)
  const own = actor.uid === uid
  const allowed = group.seen && !own && listedScopes(actor, group.seen, 'listMembers')
  const row = await findMember.maybeOne(cell.db, { appNo, guid, uid })
  if (!row || (allowed && !allowed.includes(row.scope))) throw fail('ERR_NOT_A_MEMBER', { uid })
  const show = actor.uid === undefined ? asSeenByApp : await showTo(actor, [row])
  return toMember(row, show(row))
}

type Found<R> = Awaited<ReturnType<typeof keysetPage<R>>>

async function toPage<R extends UserRow, T>(
  actor: Actor,
  { rows, meta }: Found<R>,
  toRecord: (row: R, user: UserRecord) => T,
  showToApp = toSharedUser,
) {
  const show = actor.uid === undefined ? showToApp : await showTo(actor, rows)
  return { data: rows.map((row) => toRecord(row, show(row))), meta }
}
