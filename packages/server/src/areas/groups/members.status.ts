import type { PageKey } from '../../platform/cache/page-starts.ts'
import type { Executor } from '../../platform/db/query.ts'
import { runSql, sql } from '../../platform/db/sql.ts'
import type { Count } from '../../platform/http/keyset.ts'
import { onlineTo } from '../users/queries.ts'
import {
  inOrder,
  keyOf,
  type MemberFilter,
  type MemberRow,
  placeAfter,
  userColumns,
} from './members.list.ts'

/** Members that one answer looks at: who is online is known of each alone. */
const WALK = 10_000

/** Members who are online, or who are not. */
export interface StatusFilter extends MemberFilter {
  online: boolean
  /** The user of a token. */
  viewer: string | undefined
}

interface Walk {
  after: PageKey | undefined
  offset: number
  limit: number
}

interface Summary {
  walked: number
  passed: number
  last_place: string | null
  last_uid: string | null
}

interface Walked {
  rows: MemberRow[]
  count: Count
  /** Where the walk ended before it had enough. */
  stoppedAt: PageKey | undefined
}

/** Looks at the next members in the order of the list, and keeps those of the status. */
export async function walkMembers(
  db: Executor,
  filter: StatusFilter,
  { after, offset, limit }: Walk,
): Promise<Walked> {
  const { appNo, online, scopes, viewer } = filter
  if (scopes.length === 0) return { rows: [], count: NONE, stoppedAt: undefined }
  const members = inOrder(filter, sql`i.uid, i.scope, i.joined_at`, WALK, placeAfter(after))
  const found = await runSql<Summary & (MemberRow | { uid: null })>(
    db,
    'members.walk',
    sql`with walked as materialized (
        select uid, scope, joined_at from (${members}) all_scopes
        order by joined_at, uid limit ${WALK}
      ), passing as materialized (
        select w.* from walked w, lateral (
          select from users u where u.app_no = ${appNo} and u.uid = w.uid
            and u.removed_at is null and ${onlineTo(appNo, viewer)} = ${online} limit 1) there
      ), page as (
        select * from passing order by joined_at, uid offset ${offset} limit ${limit}
      )
      select summary.*, listed.* from (
        select (select count(*) from walked) as walked, (select count(*) from passing) as passed,
          last.joined_at::text as last_place, last.uid as last_uid
        from (select 1) one left join (
          select joined_at, uid from walked order by joined_at desc, uid desc limit 1) last on true
      ) summary left join (
        select ${userColumns}, scope, joined_at, joined_at::text as place
        from page join users using (uid) where app_no = ${appNo}
      ) listed on true
      order by joined_at, uid`,
  )
  const [{ walked = 0, passed = 0, last_place: place = null, last_uid: uid = null } = {}] = found
  const rows = found.filter((row) => row.uid !== null)
  const gaveUp = walked === WALK && rows.length < limit && place !== null && uid !== null
  return {
    rows,
    count: { total: passed, capped: walked === WALK },
    stoppedAt: gaveUp ? keyOf({ place, uid }) : undefined,
  }
}

const NONE: Count = { total: 0, capped: false }

/** The list as it is paged: where a page is not full, the next goes on where this one stopped. */
export function membersByStatus(db: Executor, filter: StatusFilter) {
  let stoppedAt: PageKey | undefined
  return {
    async rows(after: PageKey | undefined, limit: number) {
      const walked = await walkMembers(db, filter, { after, offset: 0, limit })
      stoppedAt = walked.stoppedAt
      return walked.rows
    },
    stoppedAt: () => stoppedAt,
    async placeOf(count: number) {
      const from = { after: undefined, offset: count - 1, limit: 1 }
      const { rows, stoppedAt: end } = await walkMembers(db, filter, from)
      return rows[0] ? keyOf(rows[0]) : end
    },
    count: async () =>
      (await walkMembers(db, filter, { after: undefined, offset: 0, limit: 0 })).count,
    keyOf,
  }
}
