import type { Static } from 'typebox'
import { profileLimits } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import { asSeenBy } from '../../core/user-record.ts'
import type { Deps } from '../../deps.ts'
import type { PageKey } from '../../platform/lists/keyset.ts'
import { keysetPage } from '../../platform/lists/page.ts'
import type { PageStarts } from '../../platform/lists/page-starts.ts'
import { blocksOf, friendsOf, type RelatedFilter, type RelatedRow, relatedTo } from './list.ts'
import type { BlockListQuery, FriendListQuery } from './schema.ts'

type Related = Pick<RelatedFilter, 'parts'> & { name: string }

interface Lists {
  deps: Deps
  starts: PageStarts
  actor: Actor
  /** The user whose friends or blocks are listed. */
  uid: string
}

export function pageOfFriends(lists: Lists, query: Static<typeof FriendListQuery>) {
  const { actor, uid } = lists
  return pageOf(lists, { name: 'friends', parts: friendsOf(actor.app.no, uid) }, query)
}

export function pageOfBlocks(
  lists: Lists,
  { direction = 'blockedByMe', ...query }: Static<typeof BlockListQuery>,
) {
  const parts = blocksOf(lists.actor.app.no, lists.uid, direction)
  return pageOf(lists, { name: `blocks ${direction}`, parts }, query)
}

/** By name, or with `affix` by the time of the last change, starting at a user within a second. */
async function pageOf(
  { deps: { secrets }, starts, actor, uid }: Lists,
  { name, parts }: Related,
  query: Static<typeof FriendListQuery>,
) {
  const { page, perPage, cursor, searchKey, affix } = query
  const { no: appNo, cell } = actor.app
  const order = affix === undefined ? 'name' : 'changed'
  const descending = affix === 'prepend'
  // Users list their own friends and blocks only. A key alone has no limits.
  const limits = profileLimits(actor.policy)
  const filter: RelatedFilter = { appNo, uid, parts, searchKey, limits, order, descending }
  const list = {
    ...relatedTo(cell.db, filter),
    name: [name, appNo, uid, order],
    filters: [actor.credential.toString('base64'), searchKey ?? null, descending, limits ?? null],
  }
  const request = { page, perPage, cursor, from: fromOf(query) }
  const found = await keysetPage({ secrets, starts }, list, request)
  const data = found.rows.map((row) => asSeenBy(uid, row, row))
  const position = cursorOf(query, found.rows.at(-1), found.next)
  return {
    // Before a sort key: read backwards, returned in list order.
    data: descending ? data.reverse() : data,
    meta: { ...found.meta, ...(position && { cursor: position }) },
  }
}

/** After a user, or after all users of a second, in the direction of the list. */
function fromOf({ affix, updatedAt, id }: Static<typeof FriendListQuery>): PageKey | undefined {
  if (affix === undefined || updatedAt === undefined) return undefined
  // '~' sorts after every uid, '' before.
  return [updatedAt, id ?? (affix === 'prepend' ? '' : '~')]
}

/** A page by name has no position in the order of changes: only `next` continues it. */
function cursorOf(
  { affix }: Static<typeof FriendListQuery>,
  last: RelatedRow | undefined,
  next: string | undefined,
) {
  if (affix === undefined || !last) return next === undefined ? undefined : { next }
  const { key_text: second, uid } = last
  return { ...(next !== undefined && { next }), updatedAt: Number(second), id: uid, affix }
}
