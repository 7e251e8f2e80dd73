/**
 * The statements behind the list of a whole app: users by uid, each with their own list. A walk reads views in that
 * order, in windows of owners; views of 1:1 conversations come from an index alone unless a filter needs more. A seek
 * collects the views of few users and groups and sorts them. Both return sort keys, and only those of a page are joined
 * to everything that records show.
 */
import { type ConversationKind, SYSTEM_UID } from '../../core/ids.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, type Sql, sql } from '../../platform/db/sql.ts'
import type { AppViews, Seek } from './app.filter.ts'
import { SHOWN_BY_KEY, type ViewRow, type ViewSortKey } from './views.queries.ts'

/** The sort key of a view: its owner, and its sort key in the owner's list. */
export interface OwnedSortKey extends ViewSortKey {
  uid: string
}

/** Owners from one uid to another, inclusive; without an end, all that follow. */
export interface Window {
  from: string
  to: string | undefined
}

interface KeyRow {
  uid: string
  kind: ConversationKind
  with_id: string
  second: number
}

/** The owner of inbox row number `width` after the first one. */
export const findOwner = query<{ appNo: number; from: string; width: number }, { uid: string }>(
  'conversations.findOwner',
  `select uid from inbox where app_no = :appNo and uid >= :from
   order by uid limit 1 offset :width`,
)

const all = (conditions: readonly Sql[]): Sql => joinSql(conditions, ' and ')

/** A lookup by key for each row: PostgreSQL can't turn it into a join with all heads. */
const HEAD = sql`cross join lateral (
  select h.app_no, h.no, h.counted, h.purged_id, h.purged_counted, h.shown_id, h.updated_second
  from conversations h
  where h.app_no = i.app_no and h.no = i.conversation offset 0) h`

/** The columns of an inbox row that conditions use. */
const COLUMNS = sql`o.app_no, o.uid, o.kind, o.with_id, o.conversation, o.read_id, o.read_counted,
  o.own_since, o.cleared_id, o.tags, o.visible, o.blocked, o.scope`

/** Views of one kind: where their rows come from, and the time that they are sorted by. */
interface Part {
  kind: ConversationKind
  /** `from … where …` */
  source: Sql
  second: Sql
}

const OF_HEAD = sql`h.updated_second`

/**
 * The views of a window. Those of 1:1 conversations come from direct_views, in which views with blocked users are a range
 * of their own. If conditions need the inbox rows, these are read in the order of their keys, which is cheaper.
 */
function walked(views: AppViews, { from, to }: Window): Part[] {
  const { appNo, blocked, direct, joined, stated } = views
  const owners = sql`i.uid >= ${from}${to === undefined ? sql`` : sql` and i.uid <= ${to}`}`
  const parts: Part[] = []
  if (direct && stated) {
    parts.push({
      kind: 'user',
      second: OF_HEAD,
      source: sql`from inbox i ${HEAD}
        where i.app_no = ${appNo} and i.kind = 'user' and i.visible and (not i.blocked or ${blocked})
          and ${owners} and ${all(direct)}`,
    })
  } else if (direct) {
    for (const isBlocked of blocked ? [false, true] : [false]) {
      parts.push({
        kind: 'user',
        second: sql`i.updated_second`,
        source: sql`from direct_views i
          where i.app_no = ${appNo} and i.blocked = ${isBlocked} and ${owners}
            and ${all(direct)}`,
      })
    }
  }
  if (joined) {
    parts.push({
      kind: 'group',
      second: OF_HEAD,
      source: sql`from inbox i ${HEAD}
        where i.app_no = ${appNo} and i.kind = 'group' and i.scope is not null
          and h.shown_id > i.cleared_id and ${owners} and ${all(joined)}`,
    })
  }
  return parts
}

/** The keys of all views of the users, and with `either` of their counterparts' views of them. */
const candidates = ({ appNo }: AppViews, { uids, either }: Seek): Sql => {
  const own = (uid: Sql, withId: Sql) => sql`
    select ${uid} as uid, ${withId} as with_id from unnest(${uids}::text[]) sought (uid)
      cross join lateral (select o.uid, o.with_id from inbox o
        where o.app_no = ${appNo} and o.uid = sought.uid and o.kind = 'user' offset 0) own`
  const theirs = own(sql`own.with_id`, sql`own.uid`)
  return either ? sql`${theirs} union ${own(sql`own.uid`, sql`own.with_id`)}` : theirs
}

/** The members of the groups. */
const members = ({ appNo }: AppViews, { guids }: Seek): Sql =>
  sql`unnest(${guids}::text[]) sought (guid)
    cross join lateral (
      select h.app_no, h.no, h.counted, h.purged_id, h.purged_counted, h.shown_id, h.updated_second
      from conversations h
      where h.app_no = ${appNo} and h.kind = 'group' and h.one = sought.guid and h.other = ''
      offset 0) h
    cross join lateral (
      select ${COLUMNS} from inbox o
      where o.app_no = h.app_no and o.conversation = h.no and o.scope is not null offset 0) i`

/** Inbox rows and heads of 1:1 views with these keys. */
const rowsOf = ({ appNo, blocked }: AppViews, keys: Sql): Sql =>
  sql`from (${keys}) key
      cross join lateral (
        select ${COLUMNS} from inbox o
        where o.app_no = ${appNo} and o.uid = key.uid and o.kind = 'user'
          and o.with_id = key.with_id offset 0) i ${HEAD}
    where i.visible and (not i.blocked or ${blocked})`

/** Heads of 1:1 views with these keys. The head says whether both views are visible, so few inbox rows are read. */
const headsOf = ({ appNo, blocked }: AppViews, keys: Sql): Sql =>
  sql`from (select ${appNo}::int as app_no, key.uid, key.with_id from (${keys}) key) i
      cross join lateral (
        select h.* from conversations h
        where h.app_no = i.app_no and h.kind = 'user'
          and h.one = least(i.uid, i.with_id) and h.other = greatest(i.uid, i.with_id) offset 0) h
    where i.uid <> ${SYSTEM_UID} and h.shown_id > 0
      and (h.hidden = 0 or (
        select o.visible from inbox o
        where o.app_no = i.app_no and o.uid = i.uid and o.kind = 'user' and o.with_id = i.with_id))
      and (${blocked} or not case when i.uid = h.one then h.blocked_one else h.blocked_other end)`

function sought(views: AppViews, seek: Seek): Part[] {
  const { direct, joined, stated } = views
  const parts: Part[] = []
  if (direct) {
    const found = (stated ? rowsOf : headsOf)(views, candidates(views, seek))
    parts.push({ kind: 'user', second: OF_HEAD, source: sql`${found} and ${all(direct)}` })
  }
  if (joined) {
    parts.push({
      kind: 'group',
      second: OF_HEAD,
      source: sql`from ${members(views, seek)}
        where h.shown_id > i.cleared_id and ${all(joined)}`,
    })
  }
  return parts
}

const union = (parts: Sql[]): Sql => joinSql(parts, ' union all ')

const selected = ({ kind, source, second }: Part): Sql =>
  sql`select i.uid, ${kind}::text as kind, i.with_id, ${second} as second ${source}`

const IN_ORDER = sql`order by uid, second desc, with_id, kind`

/** The next views of a window, in order. `after` is a sort key of its first owner. */
export async function walkWindow(
  db: Executor,
  views: AppViews,
  window: Window,
  {
    after,
    offset = 0,
    limit,
  }: { after?: OwnedSortKey | undefined; offset?: number; limit: number },
): Promise<OwnedSortKey[]> {
  const ordered = walked(views, window).map(
    (part) => sql`(${selected(part)} and ${isAfter(part, after)}
      order by i.uid, ${part.second} desc, i.with_id limit ${offset + limit})`,
  )
  const rows = await runSql<KeyRow>(
    db,
    'conversations.walkWindow',
    sql`select uid, kind, with_id, second from (${union(ordered)}) views
      ${IN_ORDER} offset ${offset} limit ${limit}`,
  )
  return rows.map(toOwnedSortKey)
}

function isAfter({ kind, second }: Part, after: OwnedSortKey | undefined): Sql {
  if (!after) return sql`true`
  const same = kind > after.kind ? sql`>=` : sql`>`
  return sql`(i.uid <> ${after.uid} or ${second} < ${after.second}
    or (${second} = ${after.second} and i.with_id ${same} ${after.withId}))`
}

/** How many views of a window pass. */
export const countWindow = (db: Executor, views: AppViews, window: Window): Promise<number> =>
  countRows(
    db,
    'conversations.countWindow',
    union(walked(views, window).map(({ source }) => sql`select 1 ${source}`)),
  )

/** How many inbox rows a seek has to read, up to `most`. */
export const countCandidates = (
  db: Executor,
  views: AppViews,
  seek: Seek,
  most: number,
): Promise<number> =>
  countRows(
    db,
    'conversations.countCandidates',
    sql`select 1 from (${candidates(views, { ...seek, either: false })}) candidate
      union all select 1 from ${members(views, seek)} limit ${most}`,
  )

/**
 * Views that the app's totals still count although a user in them was removed: they count until they are swept, those of
 * removed groups don't. An index has the few users, and both inbox rows of a 1:1 conversation are there until its head goes.
 */
export const countRemovedViews = query<
  { appNo: number; users: boolean; groups: boolean; blocked: boolean },
  { removed: number }
>(
  'conversations.countRemoved',
  `with gone as materialized (
     select uid from users where app_no = :appNo and removed_at is not null
   ), own as materialized (
     select i.uid, i.with_id, i.visible and (not i.blocked or :blocked::boolean) as counts
     from gone cross join lateral (
       select o.* from inbox o
       where :users::boolean and o.app_no = :appNo and o.uid = gone.uid and o.kind = 'user' offset 0) i
   )
   select (
     (select count(*) from own where counts)
     + (select count(*) from own cross join lateral (
         select from inbox o
         where o.app_no = :appNo and o.uid = own.with_id and o.kind = 'user' and o.with_id = own.uid
           and o.visible and (not o.blocked or :blocked) offset 0) other
       where own.with_id <> all (array(select uid from gone)))
     + (select count(*) from gone cross join lateral (
         select o.* from inbox o
         where :groups::boolean and o.app_no = :appNo and o.uid = gone.uid and o.kind = 'group'
           and o.scope is not null offset 0) i
       cross join lateral (
         select from conversations h
         where h.app_no = :appNo and h.no = i.conversation and h.shown_id > i.cleared_id offset 0) h
       where i.with_id <> all (array(
         select guid from groups where app_no = :appNo and removed_at is not null)))
   )::int as removed`,
)

async function countRows(db: Executor, label: string, rows: Sql): Promise<number> {
  const [row] = await runSql<{ count: number }>(
    db,
    label,
    sql`select count(*)::int as count from (${rows}) counted`,
  )
  return row?.count ?? 0
}

/** All views that a seek finds, in order. */
export async function seekViews(
  db: Executor,
  views: AppViews,
  seek: Seek,
): Promise<OwnedSortKey[]> {
  const parts = sought(views, seek)
  if (parts.length === 0) return []
  const rows = await runSql<KeyRow>(
    db,
    'conversations.seekViews',
    sql`select uid, kind, with_id, second from (${union(parts.map(selected))}) views ${IN_ORDER}`,
  )
  return rows.map(toOwnedSortKey)
}

const toOwnedSortKey = ({ uid, kind, with_id, second }: KeyRow): OwnedSortKey => ({
  ...{ uid, kind, second },
  withId: with_id,
})

/** The views with these keys, if they are still there, each with the second that it was sorted by. */
export const showViews = query<
  { appNo: number; withBlocks: boolean; withCounterpartTags: boolean; keys: string },
  ViewRow & { sort_second: number }
>('conversations.show', SHOWN_BY_KEY)

export const toKeys = (keys: readonly OwnedSortKey[]): string =>
  JSON.stringify(keys.map(({ uid, kind, withId, second }) => [uid, kind, withId, second]))
