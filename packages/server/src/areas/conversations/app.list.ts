import type { Db } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { getTotal } from '../../platform/db/totals.ts'
import type { Count } from '../../platform/lists/count.ts'
import type { PageKey } from '../../platform/lists/keyset.ts'
import type { Listed, Paging } from '../../platform/lists/page.ts'
import { orderIndex, planned } from '../../platform/lists/planner.ts'
import { type AppFilter, type AppViews, type Seek, toAppViews } from './app.filter.ts'
import {
  countCandidates,
  countRemovedViews,
  countWindow,
  findOwner,
  type OwnedSortKey,
  seekViews,
  showViews,
  toKeys,
  type Window,
  walkWindow,
} from './app.queries.ts'
import type { ViewRow } from './views.queries.ts'

/** How many rows are few enough. Tests lower these numbers, so that small apps are read in the ways of large ones. */
export interface Bounds {
  /** Filtered totals are counted up to here. */
  counted: number
  /** If a filter leads to more inbox rows than this, walking costs less than collecting them. */
  sought: number
  /** If a filter names more users or groups than this, they aren't listed. */
  matches: number
}

export const BOUNDS: Bounds = { counted: 10_000, sought: 10_000, matches: 10_000 }
/** Inbox rows of the first window of a walk and of the largest: a page rarely needs more than the first. */
const FIRST_WINDOW = 1_000
const LARGEST_WINDOW = 16_000
/** Views that one statement shows: with more, reading its rows would keep the process from other requests. */
const SHOWN_AT_ONCE = 250

export type AppViewRow = ViewRow & { sort_second: number }

/**
 * The views of all users of an app. A filter that names few users or groups is answered by a seek, any other by a walk
 * that ends when the page is full: no row is ever left out.
 */
export async function viewsOfApp(
  db: Db,
  filter: AppFilter,
  { counted: cap, sought, matches } = BOUNDS,
): Promise<Paging<AppViewRow>> {
  const views = await toAppViews(db, filter, matches)
  const { seek } = views
  const few = seek && (await countCandidates(db, views, seek, sought + 1)) <= sought
  const found = { db, filter, views, cap }
  return few ? bySeek(found, seek) : byWalk(found)
}

interface Found {
  db: Db
  filter: AppFilter
  views: AppViews
  /** Filtered totals are counted up to here. */
  cap: number
}

function bySeek({ db, filter, views, cap }: Found, seek: Seek): Paging<AppViewRow> {
  let found: Promise<OwnedSortKey[]> | undefined
  const all = () => (found ??= seekViews(db, views, seek))
  return {
    keyOf: keyOfRow,
    async read(from, limit) {
      const keys = await all()
      const after = sortKeyOf(from)
      const rest = after ? keys.filter((key) => isAfter(key, after)) : keys
      const listed = await show(db, filter, rest.slice(0, limit), limit)
      return { ...listed, count: async () => countOf(keys.length, cap) }
    },
    async startOf(count) {
      const key = (await all())[count - 1]
      return key && keyOf(key)
    },
    count: async () => countOf((await all()).length, cap),
  }
}

/** In the order of the list. Ids are ASCII, so they are compared byte by byte. */
function isAfter(one: OwnedSortKey, other: OwnedSortKey): boolean {
  if (one.uid !== other.uid) return one.uid > other.uid
  if (one.second !== other.second) return one.second < other.second
  return one.withId === other.withId ? one.kind > other.kind : one.withId > other.withId
}

const countOf = (total: number, cap: number): Count =>
  total > cap ? { total: cap, capped: true, most: total } : { total, capped: false }

function byWalk(found: Found): Paging<AppViewRow> {
  const { db, filter, views, cap } = found
  // A cold jump counts the list and then looks for its page: it needs to count each window only once.
  const counted: CountedWindow[] = []
  return {
    keyOf: keyOfRow,
    async read(from, limit) {
      const keys = await walk(db, views, sortKeyOf(from), limit)
      const listed = await show(db, filter, keys, limit)
      const whole = from === undefined && keys.length < limit
      return { ...listed, ...(whole && { count: async () => countOf(keys.length, cap) }) }
    },
    async startOf(count) {
      const key = await findStart(db, views, count, counted)
      return key && keyOf(key)
    },
    count: () => countWalked(found, counted),
    slowCount: filter.filtered || filter.unique,
  }
}

/** A window of which all views that pass were counted. */
interface CountedWindow extends Window {
  passed: number
}

/** The next views after a sort key. */
const walk = (db: Db, views: AppViews, from: OwnedSortKey | undefined, limit: number) =>
  planned(db, orderIndex, async (tx) => {
    const keys: OwnedSortKey[] = []
    for await (const window of windows(tx, views.appNo, from?.uid)) {
      const after = window.from === from?.uid ? from : undefined
      keys.push(...(await walkWindow(tx, views, window, { after, limit: limit - keys.length })))
      if (keys.length === limit) break
    }
    return keys
  })

/** The sort key of view number `count`. */
const findStart = (db: Db, views: AppViews, count: number, counted: CountedWindow[]) =>
  planned(db, orderIndex, async (tx) => {
    let left = count
    for await (const { passed, ...window } of countedWindows(tx, views, counted)) {
      if (passed >= left)
        return (await walkWindow(tx, views, window, { offset: left - 1, limit: 1 }))[0]
      left -= passed
    }
    return undefined
  })

/** Without filters, totals are maintained. With filters they are counted up to the cap. */
async function countWalked(
  { db, filter, views, cap }: Found,
  counted: CountedWindow[],
): Promise<Count> {
  const most = await totalOf(db, filter)
  if (!filter.filtered && !filter.unique) return { total: most, capped: false }
  return planned(db, orderIndex, async (tx) => {
    let total = 0
    for await (const { passed } of countedWindows(tx, views, counted)) {
      total += passed
      if (total > cap) return { total: cap, capped: true, most }
    }
    return { total, capped: false }
  })
}

/** All windows from the top. Remembers in `counted` what it has counted. */
async function* countedWindows(
  db: Executor,
  views: AppViews,
  counted: CountedWindow[],
): AsyncGenerator<CountedWindow> {
  yield* counted
  const last = counted.at(-1)
  if (last && last.to === undefined) return
  for await (const window of windows(db, views.appNo, last?.to && past(last.to), counted.length)) {
    const passed = await countWindow(db, views, window)
    counted.push({ ...window, passed })
    yield { ...window, passed }
  }
}

async function totalOf(db: Db, { appNo, users, groups, blocked }: AppFilter): Promise<number> {
  const direct = users
    ? await getTotal(db, appNo, blocked ? 'views.user' : 'views.user.unblocked')
    : 0
  const all = direct + (groups ? await getTotal(db, appNo, 'views.group') : 0)
  const { removed } = await countRemovedViews.one(db, { appNo, users, groups, blocked })
  return Math.max(0, all - removed)
}

/** Consecutive ranges of owners, with more inbox rows in each. */
async function* windows(
  db: Executor,
  appNo: number,
  first = '',
  before = 0,
): AsyncGenerator<Window> {
  let from = first
  for (let nth = before; ; nth++) {
    const width = Math.min(FIRST_WINDOW * 4 ** nth, LARGEST_WINDOW)
    const to = (await findOwner.maybeOne(db, { appNo, from, width }))?.uid
    yield { from, to }
    if (to === undefined) return
    from = past(to)
  }
}

/** Sorts after this uid and before every other: '!' is lower than all characters of uids. */
const past = (uid: string) => `${uid}!`

/** Rows that were deleted since their keys were read are missing, but reading goes on after the last key. */
async function show(
  db: Db,
  { appNo, withBlocks, withCounterpartTags }: AppFilter,
  keys: OwnedSortKey[],
  limit: number,
): Promise<Listed<AppViewRow>> {
  const rows: AppViewRow[] = []
  for (let n = 0; n < keys.length; n += SHOWN_AT_ONCE) {
    const some = toKeys(keys.slice(n, n + SHOWN_AT_ONCE))
    rows.push(...(await showViews.many(db, { appNo, withBlocks, withCounterpartTags, keys: some })))
  }
  const last = keys.at(-1)
  const more = rows.length < keys.length && keys.length === limit
  return { rows, ...(more && last && { stoppedAt: keyOf(last) }) }
}

const keyOf = ({ second, withId, kind, uid }: OwnedSortKey): PageKey => [second, withId, kind, uid]

const keyOfRow = ({ sort_second, with_id, kind, uid }: AppViewRow): PageKey => [
  sort_second,
  with_id,
  kind,
  uid,
]

const sortKeyOf = (key: PageKey | undefined): OwnedSortKey | undefined =>
  key && {
    second: Number(key[0]),
    withId: String(key[1]),
    kind: String(key[2]),
    uid: String(key[3]),
  }
