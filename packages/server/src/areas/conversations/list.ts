import type { Db } from '../../platform/db/db.ts'
import { getTotal } from '../../platform/db/totals.ts'
import { badRequest } from '../../platform/http/fail.ts'
import type { Count } from '../../platform/lists/count.ts'
import {
  countAllFilteredViews,
  countFilteredViews,
  countViews,
  type Filters,
  findAnyFilteredStart,
  findAnyStart,
  findViewStart,
  listAllFilteredViews,
  listAllViews,
  listFilteredViews,
  listOwners,
  listViews,
  TOP,
  type ViewRow,
  type ViewSortKey,
} from './views.queries.ts'

/** Which views a list contains. */
export interface ViewFilter extends Filters {
  appNo: number
  users: boolean
  groups: boolean
  blocked: boolean
  /** Whether its records show who blocks whom. */
  withBlocks: boolean
  /** Whether it filters by the counterpart or the unread count: then all views are read. */
  filtered: boolean
}

const startOf = ({ second, withId, kind }: ViewSortKey) => ({ second, withId, afterKind: kind })

/** A user's next views after a sort key; with the total if that is cheap. */
export const listOwn = (
  db: Db,
  filter: ViewFilter,
  uid: string,
  after = TOP,
  limit = 1,
): Promise<(ViewRow & { total?: number | null })[]> =>
  filter.filtered
    ? listFilteredViews.many(db, { ...filter, ...startOf(after), uid, offset: 0, limit })
    : listViews.many(db, { ...filter, ...startOf(after), uid, limit })

/** The sort key of the last of a user's first `count` views. */
export async function findStartOfOwn(db: Db, filter: ViewFilter, uid: string, count: number) {
  const query = { ...filter, ...startOf(TOP), uid }
  const row = filter.filtered
    ? await listFilteredViews.maybeOne(db, { ...query, offset: count - 1, limit: 1 })
    : await findViewStart.maybeOne(db, { ...query, limit: count })
  return row && toSortKey(row)
}

export const toSortKey = ({
  updated_second,
  with_id,
  kind,
}: Pick<ViewRow, 'updated_second' | 'with_id' | 'kind'>): ViewSortKey => ({
  second: updated_second,
  withId: with_id,
  kind,
})

/** Exact even with filters, because all of a user's views can be read. */
export async function countOwn(db: Db, filter: ViewFilter, uid: string): Promise<Count> {
  const count = filter.filtered ? countFilteredViews : countViews
  return { total: (await count.one(db, { ...filter, uid })).total, capped: false }
}

/** Counting over a whole app stops here. */
const CAP = 10_000
/** Users whose lists are read together: few at first, because a page may need no more. */
const FEWEST = 16
const MOST = 512
/**
 * Users whose lists are read for one filtered request: a filter without matches must not walk over
 * a whole app.
 */
const ENOUGH = 4_096

/** A sort key in the app's list: the owner, and the sort key in the owner's list. */
export interface OwnedSortKey extends ViewSortKey {
  uid: string
}
const BEGINNING: OwnedSortKey = { ...TOP, uid: '' }

/** Sorts after this uid and before every other: '!' is lower than all characters of uids. */
const past = (uid: string) => ({ ...TOP, uid: `${uid}!` })

/**
 * The app's next views after a sort key: users by uid, each with their whole list. `stoppedAt` is
 * where the search stopped early.
 */
export async function listAll(
  db: Db,
  filter: ViewFilter & { unique: boolean },
  after: OwnedSortKey = BEGINNING,
  limit = 1,
): Promise<{ rows: ViewRow[]; stoppedAt?: OwnedSortKey }> {
  const rows: ViewRow[] = []
  const list = filter.filtered ? listAllFilteredViews : listAllViews
  for await (const { from, owners, walked } of walk(db, filter.appNo, after)) {
    if (filter.filtered && walked >= ENOUGH) return { rows, stoppedAt: from }
    const walking = { ...filter, ...startOf(from), fromUid: from.uid, owners }
    rows.push(...(await list.many(db, { ...walking, limit: limit - rows.length })))
    if (rows.length >= limit) break
  }
  return { rows }
}

/** Steps over the owners of views, with more owners in each step. */
async function* walk(db: Db, appNo: number, from: OwnedSortKey) {
  let walked = 0
  for (let owners = FEWEST; ; owners = Math.min(owners * 2, MOST)) {
    yield { from, owners, walked }
    const next = await listOwners.one(db, { appNo, fromUid: from.uid, owners })
    if (next.last_uid === null || next.walked < owners) return
    from = past(next.last_uid)
    walked += owners
  }
}

/**
 * The sort key of the last of the app's first `count` views. Counting stops where a page would:
 * beyond that, every page number would show the same views.
 */
export async function findStartOfAll(
  db: Db,
  filter: ViewFilter & { unique: boolean },
  count: number,
): Promise<OwnedSortKey | undefined> {
  const find = filter.filtered ? findAnyFilteredStart : findAnyStart
  let left = count
  for await (const { from, owners, walked } of walk(db, filter.appNo, BEGINNING)) {
    if (filter.filtered && walked >= ENOUGH) throw badRequest({ page: [TOO_FAR] })
    const walking = { ...filter, ...startOf(from), fromUid: from.uid, owners }
    const last = await find.maybeOne(db, { ...walking, limit: left })
    left -= last?.passed ?? 0
    if (last && left === 0) return { ...toSortKey(last), uid: last.uid }
  }
  return undefined
}
const TOO_FAR =
  'too far away for a filtered list: continue with meta.cursor.next of the page before'

/** Exact without filters, otherwise as far as it was counted. */
export async function countAll(db: Db, filter: ViewFilter & { unique: boolean }): Promise<Count> {
  const { appNo, users, groups, blocked } = filter
  if (!filter.filtered && !filter.unique) {
    const direct = users
      ? await getTotal(db, appNo, blocked ? 'views.user' : 'views.user.unblocked')
      : 0
    const joined = groups ? await getTotal(db, appNo, 'views.group') : 0
    return { total: direct + joined, capped: false }
  }
  let total = 0
  for await (const { from, owners, walked } of walk(db, appNo, BEGINNING)) {
    if (walked >= ENOUGH) return { total, capped: true }
    total += (await countAllFilteredViews.one(db, { ...filter, fromUid: from.uid, owners })).total
    if (total > CAP) return { total: CAP, capped: true }
  }
  return { total, capped: false }
}
