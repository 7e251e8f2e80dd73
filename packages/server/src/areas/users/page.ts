import type { UserRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { PageKey, PageStarts } from '../../platform/cache/page-starts.ts'
import { keysetPage } from '../../platform/http/keyset.ts'
import type { Actor } from '../access/actor.ts'
import { countUsers } from './count.ts'
import { toFilter, type UserKey } from './filter.ts'
import { type Listed, listUsers, placeOf } from './list.ts'
import { toUser, withTags } from './record.ts'
import type { UserListQuery } from './schema.ts'
import type { ListedUser } from './walk.ts'

/** A page of the app's users. */
export async function pageOfUsers(
  { secrets }: Deps,
  starts: PageStarts,
  actor: Actor,
  query: UserListQuery,
) {
  const { page, perPage, cursor, withTags: tagged = false, ...filters } = query
  const { no: appNo, cell } = actor.app
  const filter = toFilter(appNo, filters)
  // What reading the page tells of how many there are.
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
  return {
    data: found.rows.map((row) => show(row, tagged)),
    meta: {
      pagination: found.pagination,
      ...(found.next !== undefined && { cursor: { next: found.next } }),
    },
  }
}

const show = (row: ListedUser, tagged: boolean): UserRecord =>
  tagged ? withTags(toUser(row), row) : toUser(row)
