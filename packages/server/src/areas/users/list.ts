import type { Db } from '../../platform/db/db.ts'
import { joinSql, runSql, sql } from '../../platform/db/sql.ts'
import { type Count, manyStart, type Sample } from './count.ts'
import { orderOf, STATE, type UserFilter, type UserKey } from './filter.ts'
import {
  CAP,
  type ListedUser,
  listNext,
  orderIndex,
  planned,
  seek,
  seekInside,
  WALK,
  walk,
} from './walk.ts'

/** The walk width if more than CAP users pass, but too few near the start of the page. */
const LONG_WALK = 50_000

/** Users, and what was learned about the total on the way. */
export interface Listed {
  rows: ListedUser[]
  count?: Count
  sample?: Sample
  /** Where the search stopped before it found enough. */
  stoppedAt?: UserKey
}

/** The first `limit` users after a sort key. */
export async function listUsers(
  db: Db,
  filter: UserFilter,
  after: UserKey | undefined,
  limit: number,
): Promise<Listed> {
  if (filter.where.length === 0) return { rows: await listNext(db, filter, after, limit) }
  if (filter.byStatus && !filter.few) return walkSome(db, filter, { after, offset: 0, limit })
  if (!filter.few) {
    const { rows, passed, walked } = await walk(db, filter, { after, limit }, WALK)
    const ended = walked < WALK
    if (ended && !after) return { rows, count: { total: passed, capped: false } }
    if (ended || rows.length === limit) return { rows, sample: { passed, walked } }
  }
  if (!(await manyStart(db, filter))) {
    const { rows, passed } = await seek(db, filter, { after, limit })
    if (passed <= CAP) return { rows, count: { total: passed, capped: false } }
  }
  if (filter.search) {
    const { rows, passed } = await seekInside(db, filter, filter.search, { after, limit })
    if (passed <= CAP) return { rows, count: capped }
  }
  return { rows: await walkOn(db, filter, { after, offset: 0, limit }), count: capped }
}

const capped: Count = { total: CAP, capped: true }

interface Stretch {
  after: UserKey | undefined
  offset: number
  limit: number
}

/** Walks until the rows are found or no users are left. */
async function walkOn(db: Db, filter: UserFilter, stretch: Stretch): Promise<ListedUser[]> {
  const found: ListedUser[] = []
  for (let { after, offset, limit } = stretch; ; ) {
    const part = await planned(db, orderIndex, (tx) =>
      walk(tx, filter, { after, offset, limit }, LONG_WALK),
    )
    found.push(...part.rows)
    limit -= part.rows.length
    if (limit === 0 || part.walked < LONG_WALK) return found
    offset = Math.max(0, offset - part.passed)
    after = part.last
  }
}

/** The same, but reads no more users than one request may. */
async function walkSome(db: Db, filter: UserFilter, stretch: Stretch): Promise<Listed> {
  const rows: ListedUser[] = []
  let { after, offset, limit } = stretch
  for (let seen = 0; seen < LONG_WALK; seen += WALK) {
    const part = await walk(db, filter, { after, offset, limit }, WALK)
    rows.push(...part.rows)
    limit -= part.rows.length
    if (limit === 0 || part.walked < WALK) return { rows }
    offset = Math.max(0, offset - part.passed)
    after = part.last
  }
  return { rows, ...(after && { stoppedAt: after }) }
}

/** The sort key of the last of the first `count` users, for page numbers that nobody paged to. */
export async function placeOf(
  db: Db,
  filter: UserFilter,
  count: number,
): Promise<UserKey | undefined> {
  const offset = count - 1
  if (filter.where.length > 0) return placeAmong(db, filter, offset)
  const order = orderOf(filter)
  // An index-only scan: no user row is read.
  const walks = filter.states.map(
    (state) => sql`(select name_key, uid from ${filter.source}
      where app_no = ${filter.appNo} and ${STATE[state]} order by ${order} limit ${count})`,
  )
  const [row] = await runSql<{ name_key: string; uid: string }>(
    db,
    'users.placeOf',
    sql`select name_key, uid from (${joinSql(walks, ' union all ')}) both_states
      order by ${order} offset ${offset} limit 1`,
  )
  return row && [row.name_key, row.uid]
}

async function placeAmong(
  db: Db,
  filter: UserFilter,
  offset: number,
): Promise<UserKey | undefined> {
  if (filter.byStatus && !filter.few) {
    const { rows, stoppedAt } = await walkSome(db, filter, { after: undefined, offset, limit: 1 })
    return rows[0] ? [rows[0].name_key, rows[0].uid] : stoppedAt
  }
  const { rows, passed } = await seek(db, filter, { offset, limit: 1 })
  const [row] =
    passed <= CAP ? rows : await walkOn(db, filter, { after: undefined, offset, limit: 1 })
  return row && [row.name_key, row.uid]
}
