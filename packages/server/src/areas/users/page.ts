import type { UserRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { PageStarts } from '../../platform/cache/page-starts.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { pagination } from '../../platform/http/schemas.ts'
import type { Actor } from '../access/actor.ts'
import { countUsers } from './count.ts'
import { toFilter, type UserKey } from './filter.ts'
import { type Listed, listUsers, placeOf } from './list.ts'
import { toUser, withTags } from './record.ts'
import type { UserListQuery } from './schema.ts'
import type { ListedUser } from './walk.ts'

/**
 * A page of the app's users. Page after page continues where the one before ended; a jump counts from
 * the top; a cursor goes straight.
 */
export async function pageOfUsers(
  deps: Deps,
  starts: PageStarts,
  actor: Actor,
  query: UserListQuery,
) {
  const { page, perPage, cursor, withTags: tagged = false, ...filters } = query
  const { no: appNo, cell } = actor.app
  const filter = toFilter(appNo, filters)
  const list = [appNo, actor.credential.toString('base64'), 'users', filters, perPage]

  const skipped = (page - 1) * perPage
  const after = cursor
    ? openCursor(deps, appNo, cursor)
    : ((await starts.find(list, page)) ??
      (skipped > 0 && (await placeOf(cell.db, filter, skipped))))
  const beyond = after === undefined && skipped > 0
  const { rows, count, sample }: Listed = beyond
    ? { rows: [] }
    : await listUsers(cell.db, filter, (after || undefined) as UserKey | undefined, perPage + 1)
  const shown = rows.slice(0, perPage)
  const more = rows.length > perPage
  const last = shown.at(-1)
  if (more && last) await starts.remember(list, page + 1, [last.name_key, last.uid])

  const { total, capped } = count ?? (await countUsers(cell.db, filter, sample))
  const least = shown.length > 0 ? skipped + shown.length + (more ? 1 : 0) : 0
  const meta = pagination({ page, perPage }, Math.max(total, least), shown.length)
  return {
    data: shown.map((row) => show(row, tagged)),
    meta: {
      pagination: { ...meta.pagination, ...(capped && { total_capped: true as const }) },
      ...(more && last && { cursor: { next: sealCursor(deps, appNo, last) } }),
    },
  }
}

const show = (row: ListedUser, tagged: boolean): UserRecord =>
  tagged ? withTags(toUser(row), row) : toUser(row)

const sealCursor = ({ secrets }: Deps, appNo: number, { name_key, uid }: ListedUser) =>
  secrets.seal(JSON.stringify(['users', appNo, name_key, uid])).toString('base64url')

/** Cursors are sealed: one of another app or list is as good as none. */
function openCursor({ secrets }: Deps, appNo: number, cursor: string): UserKey {
  try {
    const [list, app, nameKey, uid] = JSON.parse(secrets.open(Buffer.from(cursor, 'base64url')))
    if (list === 'users' && app === appNo) return [nameKey, uid]
  } catch {
    // told below
  }
  throw badRequest({ cursor: ['cursor is not one of this list'] })
}
