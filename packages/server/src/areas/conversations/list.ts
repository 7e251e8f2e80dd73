import type { Db } from '../../platform/db/db.ts'
import { getTotal } from '../../platform/db/totals.ts'
import { badRequest } from '../../platform/http/fail.ts'
import type { Count } from '../../platform/http/keyset.ts'
import {
  countAllFilteredViews,
  countFilteredViews,
  countViews,
  type Filters,
  findPlace,
  findPlaceOfAll,
  findPlaceOfAllFiltered,
  listAllFilteredViews,
  listAllViews,
  listFilteredViews,
  listOwners,
  listViews,
  TOP,
  type ViewPlace,
  type ViewRow,
} from './views.queries.ts'

/** Which views a list holds. */
export interface ViewFilter extends Filters {
  appNo: number
  users: boolean
  groups: boolean
  blocked: boolean
  /** Whether its records tell who blocks whom. */
  withBlocks: boolean
  /** Whether it asks for anything of the counterpart or the count: then all views are looked at. */
  filtered: boolean
}

const startOf = ({ second, withId, kind }: ViewPlace) => ({ second, withId, afterKind: kind })

/** The next views of a user after a place; where it costs little, with the number of all. */
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

/** The place of the last of the first `count` views of a user. */
export async function placeOfOwn(db: Db, filter: ViewFilter, uid: string, count: number) {
  const query = { ...filter, ...startOf(TOP), uid }
  const row = filter.filtered
    ? await listFilteredViews.maybeOne(db, { ...query, offset: count - 1, limit: 1 })
    : await findPlace.maybeOne(db, { ...query, limit: count })
  return row && toPlace(row)
}

export const toPlace = ({
  updated_second,
  with_id,
  kind,
}: Pick<ViewRow, 'updated_second' | 'with_id' | 'kind'>): ViewPlace => ({
  second: updated_second,
  withId: with_id,
  kind,
})

/** Exact, with filters too: a user's views can all be looked at. */
export async function countOwn(db: Db, filter: ViewFilter, uid: string): Promise<Count> {
  const count = filter.filtered ? countFilteredViews : countViews
  return { total: (await count.one(db, { ...filter, uid })).total, capped: false }
}

/** Counting over a whole app ends here. */
const CAP = 10_000
/** Users whose lists are looked at together: few at first, a page may need no more. */
const FEWEST = 16
const MOST = 512
/** Users whose lists are looked at for one answer to a filter: a filter that nothing passes must not walk over an app. */
const ENOUGH = 4_096

/** A place in the app's list: whose, and where in it. */
export interface OwnedPlace extends ViewPlace {
  uid: string
}
const BEGINNING: OwnedPlace = { ...TOP, uid: '' }

/** Sorts after this uid and before every other: '!' is below all that uids are made of. */
const past = (uid: string) => ({ ...TOP, uid: `${uid}!` })

/**
 * The next views of the app after a place: users by uid, each one's list whole. `stoppedAt` is where
 * it gave up.
 */
export async function listAll(
  db: Db,
  filter: ViewFilter & { unique: boolean },
  after: OwnedPlace = BEGINNING,
  limit = 1,
): Promise<{ rows: ViewRow[]; stoppedAt?: OwnedPlace }> {
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

/** Steps over the owners of views, more at a time the longer it takes. */
async function* walk(db: Db, appNo: number, from: OwnedPlace) {
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
 * The place of the last of the first `count` views of the app. Counting to it ends where a page would:
 * from there on, the same views would be shown for every page.
 */
export async function placeOfAll(
  db: Db,
  filter: ViewFilter & { unique: boolean },
  count: number,
): Promise<OwnedPlace | undefined> {
  const find = filter.filtered ? findPlaceOfAllFiltered : findPlaceOfAll
  let left = count
  for await (const { from, owners, walked } of walk(db, filter.appNo, BEGINNING)) {
    if (filter.filtered && walked >= ENOUGH) throw badRequest({ page: [TOO_FAR] })
    const walking = { ...filter, ...startOf(from), fromUid: from.uid, owners }
    const last = await find.maybeOne(db, { ...walking, limit: left })
    left -= last?.passed ?? 0
    if (last && left === 0) return { ...toPlace(last), uid: last.uid }
  }
  return undefined
}
const TOO_FAR =
  'too far away for a filtered list: continue with meta.cursor.next of the page before'

/** Exact where the list is not filtered, else as far as is counted. */
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
