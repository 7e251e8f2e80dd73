import type { Db } from '../../platform/db/db.ts'
import type { Count } from '../../platform/lists/count.ts'
import {
  countFilteredViews,
  countViews,
  type Filters,
  findViewStart,
  listFilteredViews,
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
  /** Whether its records show tags of users and groups. */
  withCounterpartTags: boolean
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
