import { listIn } from '../../core/access/rules.ts'
import type { Actor } from '../../core/actor.ts'
import { asSeenBy, toGroup, withTags } from '../../core/group-record.ts'
import type { Deps } from '../../deps.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { keysetPage } from '../../platform/lists/page.ts'
import type { PageStarts } from '../../platform/lists/page-starts.ts'
import { type GroupFilter, groupsOf, type ListedGroup, toFilter } from './list.ts'
import type { GroupListQuery } from './schema.ts'

/** A page of the groups that the app or the acting user can see. */
export async function pageOfGroups(
  { secrets }: Deps,
  starts: PageStarts,
  { app, uid, credential, policy }: Actor,
  query: GroupListQuery,
) {
  if (query.hasJoined && uid === undefined) {
    throw badRequest({ hasJoined: ['hasJoined needs the header onBehalfOf'] })
  }
  const { page, perPage, cursor, ...filters } = query
  const { no: appNo, cell } = app
  const allowed = listIn(policy, 'listGroups.allowedGroupTypes')
  const filter = toFilter(appNo, uid, query, allowed)
  const list = {
    ...groupsOf(cell.db, filter),
    name: ['groups', appNo, filter.order],
    filters: [credential.toString('base64'), uid ?? null, filters, allowed ?? []],
  }
  const request = { page, perPage, cursor, from: fromOf(query, filter) }
  const found = await keysetPage({ secrets, starts }, list, request)
  // Before a sort key: read backwards, returned in list order.
  const backwards = query.affix === 'prepend' && query.sortBy === undefined
  const data = found.rows.map((row) => show(row, query.withTags === true, uid !== undefined))
  const position = cursorOf(query, found.rows, found.next)
  return {
    data: backwards ? data.reverse() : data,
    meta: { ...found.meta, ...(position && { cursor: position }) },
  }
}

/** After a group, or after all groups of a second, in the direction of the list. */
function fromOf({ sortBy, affix, updatedAt, id }: GroupListQuery, { descending }: GroupFilter) {
  if (sortBy !== undefined || affix === undefined || updatedAt === undefined) return undefined
  // '~' sorts after every guid, '' before.
  return [updatedAt, id ?? (descending ? '' : '~')] as const
}

function cursorOf(
  { sortBy, affix = 'append' }: GroupListQuery,
  rows: ListedGroup[],
  next: string | undefined,
) {
  const last = rows.at(-1)
  if (sortBy !== undefined || !last) return next === undefined ? undefined : { next }
  return { ...(next !== undefined && { next }), updatedAt: last.changed, id: last.guid, affix }
}

function show(row: ListedGroup, tagged: boolean, seen: boolean) {
  const group = tagged ? withTags(toGroup(row), row) : toGroup(row)
  return seen ? asSeenBy(group, row) : group
}
