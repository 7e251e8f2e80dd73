import type { Actor } from '../../core/actor.ts'
import { toUser, withTags } from '../../core/user-record.ts'
import { showTo } from '../../core/user-seen.ts'
import type { Deps } from '../../deps.ts'
import { noAccess } from '../../platform/http/fail.ts'
import { keysetPage } from '../../platform/lists/page.ts'
import type { PageStarts } from '../../platform/lists/page-starts.ts'
import { findRoleOf } from '../roles/queries.ts'
import { friendsAmong, toFilter, type UserFilter } from './filter.ts'
import { usersOf } from './list.ts'
import type { UserListQuery } from './schema.ts'

/**
 * The users that a list contains. An acting user sees only friends if the role says so; deactivated
 * users need an API key.
 */
export async function filterFor(actor: Actor, query: UserListQuery): Promise<UserFilter> {
  const { uid, app } = actor
  const { no: appNo, cell } = app
  if (uid === undefined) return toFilter(appNo, query)
  for (const field of ['onlyDeactivated', 'withDeactivated'] as const) {
    if (actor.kind === 'user' && query[field]) throw noAccess(`${field} needs an API key.`)
  }
  const filter = toFilter(appNo, query, uid)
  const role = await findRoleOf.maybeOne(cell.db, { appNo, uid })
  return role?.settings?.listUsers === 'friendsOnly' ? friendsAmong(filter, uid) : filter
}

/** A page of the app's users. */
export async function pageOfUsers(
  { secrets }: Deps,
  starts: PageStarts,
  actor: Actor,
  filter: UserFilter,
  query: UserListQuery,
) {
  const { page, perPage, cursor, withTags: tagged = false, ...filters } = query
  const { no: appNo, cell } = actor.app
  const list = {
    ...usersOf(cell.db, filter),
    name: ['users', appNo, filters.sortOrder ?? 'asc'],
    filters: [actor.credential.toString('base64'), actor.uid ?? '', filters],
  }
  const { rows, meta } = await keysetPage({ secrets, starts }, list, { page, perPage, cursor })
  const show = actor.uid === undefined ? toUser : await showTo(actor, rows)
  return { data: rows.map((row) => (tagged ? withTags(show(row), row) : show(row))), meta }
}
