import type { Actor } from '../../core/actor.ts'
import { toUser, withTags } from '../../core/user-record.ts'
import { showTo } from '../../core/user-seen.ts'
import type { Deps } from '../../deps.ts'
import type { PageKey, PageStarts } from '../../platform/cache/page-starts.ts'
import { noAccess } from '../../platform/http/fail.ts'
import { keysetPage } from '../../platform/http/keyset.ts'
import { findRoleOf } from '../roles/queries.ts'
import { countUsers } from './count.ts'
import { friendsAmong, toFilter, type UserFilter, type UserKey } from './filter.ts'
import { type Listed, listUsers, placeOf } from './list.ts'
import type { UserListQuery } from './schema.ts'
import type { ListedUser } from './walk.ts'

/**
 * The users that a list contains. A caller with an auth token sees active users, and only friends
 * if the role says so.
 */
export async function filterFor(actor: Actor, query: UserListQuery): Promise<UserFilter> {
  const { no: appNo, cell } = actor.app
  if (actor.kind !== 'user') return toFilter(appNo, query)
  for (const field of ['onlyDeactivated', 'withDeactivated'] as const) {
    if (query[field]) throw noAccess(`${field} needs an API key.`)
  }
  const { uid } = actor
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
  // What reading the page reveals about the total.
  let listed: Listed = { rows: [] }
  const list = {
    name: ['users', appNo, filters.sortOrder ?? 'asc'],
    filters: [actor.credential.toString('base64'), filters],
    async rows(after: PageKey | undefined, limit: number) {
      listed = await listUsers(cell.db, filter, after as UserKey | undefined, limit)
      return listed.rows
    },
    stoppedAt: () => listed.stoppedAt,
    placeOf: (count: number) => placeOf(cell.db, filter, count),
    count: async () => listed.count ?? countUsers(cell.db, filter, listed.sample),
    keyOf: ({ name_key, uid }: ListedUser): PageKey => [name_key, uid],
  }
  const found = await keysetPage({ secrets, starts }, list, { page, perPage, cursor })
  const show = actor.kind === 'user' ? await showTo(actor, found.rows) : toUser
  return {
    data: found.rows.map((row) => (tagged ? withTags(show(row), row) : show(row))),
    meta: {
      pagination: found.pagination,
      ...(found.next !== undefined && { cursor: { next: found.next } }),
    },
  }
}
