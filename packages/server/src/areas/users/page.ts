import { authorize } from '../../core/access/authorize.ts'
import { listIn } from '../../core/access/rules.ts'
import { profileLimits } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import { type PrintedUser, printUser } from '../../core/user-print.ts'
import { printTo } from '../../core/user-seen.ts'
import type { Deps } from '../../deps.ts'
import { noAccess } from '../../platform/http/fail.ts'
import { keysetPage } from '../../platform/lists/page.ts'
import type { PageStarts } from '../../platform/lists/page-starts.ts'
import { friendsAmong, toFilter, type UserFilter } from './filter.ts'
import { usersOf } from './list.ts'
import { findFriendship } from './queries.ts'
import type { UserListQuery } from './schema.ts'

/**
 * The users that a list contains. An acting user sees only those that the role allows; deactivated
 * users need an API key.
 */
export function filterFor(actor: Actor, query: UserListQuery): UserFilter {
  const { uid, policy } = actor
  const appNo = actor.app.no
  if (uid === undefined) return toFilter(appNo, query)
  for (const field of ['onlyDeactivated', 'withDeactivated'] as const) {
    if (actor.kind === 'user' && query[field]) throw noAccess(`${field} needs an API key.`)
  }
  const filter = toFilter(
    appNo,
    { ...query, allowedRoles: listIn(policy, 'listUsers.allowedRoles') },
    uid,
  )
  return policy?.permissions['listUsers.mode'] === 'friends' ? friendsAmong(filter, uid) : filter
}

/** Refuses a profile that the role may not read. Users always read their own. */
export async function checkProfile(
  actor: Actor & { uid: string },
  { uid, role }: { uid: string; role: string },
): Promise<void> {
  if (uid === actor.uid) return
  const { no: appNo, cell } = actor.app
  const found = profileLimits(actor.policy)?.friendsOnly
    ? await findFriendship.one(cell.db, { appNo, uid: actor.uid, other: uid })
    : { friend: undefined }
  authorize(actor, { permission: 'getUserDetails' }, { otherRole: role, ...found })
}

/** What the role leaves out of lists: pages of one list must agree about it. */
const limitsOf = ({ policy }: Actor) => [
  policy?.permissions['listUsers.mode'] ?? '',
  listIn(policy, 'listUsers.allowedRoles') ?? [],
]

/** A page of the app's users, as JSON. */
export async function pageOfUsers(
  { secrets }: Deps,
  starts: PageStarts,
  actor: Actor,
  filter: UserFilter,
  query: UserListQuery,
): Promise<string> {
  const { page, perPage, cursor, withTags: tagged = false, ...filters } = query
  const { no: appNo, cell } = actor.app
  const list = {
    ...usersOf(cell.db, filter),
    name: ['users', appNo, filters.sortOrder ?? 'asc'],
    filters: [actor.credential.toString('base64'), actor.uid ?? '', filters, limitsOf(actor)],
  }
  const { rows, meta } = await keysetPage({ secrets, starts }, list, { page, perPage, cursor })
  const print = actor.uid === undefined ? printUser : await printTo(actor, rows)
  const tagsOf = ({ tags }: PrintedUser) => (tagged && tags ? `,"tags":${tags}` : '')
  const data = rows.map((row) => `${print(row)}${tagsOf(row)}}`)
  return `{"data":[${data.join(',')}],"meta":${JSON.stringify(meta)}}`
}
