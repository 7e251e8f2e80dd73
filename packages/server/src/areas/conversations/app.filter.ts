import { SYSTEM_UID } from '../../core/ids.ts'
import { unreadOf } from '../../core/unread.ts'
import type { Db } from '../../platform/db/db.ts'
import { joinSql, Sql, sql } from '../../platform/db/sql.ts'
import {
  agents,
  type Condition,
  findMatches,
  foldSearchKey,
  type Matches,
  namedGroups,
  namedUsers,
  taggedGroups,
  taggedUsers,
} from './counterparts.ts'
import type { ViewFilter } from './list.ts'

/** Which views the list of a whole app contains. */
export interface AppFilter extends ViewFilter {
  /** Whether each conversation occurs once, as the view of its smallest uid. */
  unique: boolean
}

/** The same as conditions on inbox rows, or rows of direct_views, `i` and heads `h`. */
export interface AppViews {
  appNo: number
  /** Whether views with users whom the owner blocks are included. */
  blocked: boolean
  /** Conditions on views of 1:1 conversations and of groups; undefined if the list has none of them. */
  direct: readonly Sql[] | undefined
  joined: readonly Sql[] | undefined
  /** Whether the conditions on views of 1:1 conversations need the inbox row or the head. */
  stated: boolean
  /** All views that pass are among those of these users and groups. */
  seek: Seek | undefined
}

export interface Seek {
  uids: string[]
  /** Whether these users are owners or counterparts of the views, and not only counterparts. */
  either: boolean
  guids: string[]
}

const OWNER = sql`i.uid`
const WITH = sql`i.with_id`

type Find = (condition: Condition) => Promise<Matches>

/** Lists the users and groups that a filter names unless they are more than `mostMatches`. */
export async function toAppViews(
  db: Db,
  filter: AppFilter,
  mostMatches: number,
): Promise<AppViews> {
  const { appNo, blocked } = filter
  const byTag = filter.userTags ?? filter.groupTags ?? filter.tags
  const users = filter.users && (!byTag || filter.userTags !== null)
  const groups = filter.groups && !filter.onlyAgentic && (!byTag || groupTagsOf(filter).length > 0)
  const text = filter.searchKey
    ? (await foldSearchKey.one(db, { searchKey: filter.searchKey })).folded
    : undefined
  if (text === null || (!users && !groups)) return { ...NOTHING, appNo, blocked }
  const find: Find = (condition) => findMatches(db, condition, mostMatches)
  const direct = users ? await directOf(find, filter, text) : undefined
  const joined = groups ? await joinedOf(find, filter, text) : undefined
  const seekable = (!direct || direct.seek) && (!joined || joined.seek)
  return {
    ...{ appNo, blocked },
    stated: filter.unread || filter.conversationTags !== null,
    direct: direct?.conditions,
    joined: joined?.conditions,
    seek: seekable
      ? {
          uids: direct?.seek?.ids ?? [],
          either: direct?.seek?.either ?? false,
          guids: joined?.seek ?? [],
        }
      : undefined,
  }
}

const NOTHING = {
  ...{ direct: undefined, joined: undefined, stated: false },
  seek: { uids: [], either: false, guids: [] },
}

const groupTagsOf = ({ groupTags, tags }: AppFilter): string[][] =>
  [groupTags, tags].filter((list) => list !== null)

/** Removed, though not yet swept. */
const removedUsers = (appNo: number) =>
  sql`array(select uid from users where app_no = ${appNo} and removed_at is not null)`
const removedGroups = (appNo: number) =>
  sql`array(select guid from groups where app_no = ${appNo} and removed_at is not null)`

/** A conversation is agentic if either user is; a search for unique conversations looks at both names too. */
async function directOf(find: Find, filter: AppFilter, text: string | undefined) {
  const { appNo, userTags, hideAgentic, onlyAgentic, unique } = filter
  const removed = removedUsers(appNo)
  const conditions = [sql`${OWNER} <> all (${removed})`, sql`${WITH} <> all (${removed})`]
  const seeks: { ids: string[]; either: boolean }[] = []
  const add = ({ ids, has }: Matches, either: boolean, orElse?: Sql) => {
    const parts = [has(WITH), ...(either ? [has(OWNER)] : []), ...(orElse ? [orElse] : [])]
    conditions.push(anyOf(parts))
    // The app itself has no inbox rows that lead to its views.
    if (ids && !orElse) seeks.push({ ids, either })
  }
  if (userTags) add(await find(taggedUsers(appNo, userTags)), false)
  if (text !== undefined) {
    const system = 'system'.includes(text) ? sql`${WITH} = ${SYSTEM_UID}` : undefined
    add(await find(namedUsers(appNo, text)), unique, system)
  }
  if (onlyAgentic) add(await find(agents(appNo)), true)
  if (hideAgentic) {
    const { has } = await find(agents(appNo))
    conditions.push(sql`not ${anyOf([has(WITH), has(OWNER)])}`)
  }
  conditions.push(...ownConditions(filter))
  if (unique) conditions.push(isFirstDirect(filter))
  return { conditions, seek: seeks.sort((a, b) => a.ids.length - b.ids.length)[0] }
}

async function joinedOf(find: Find, filter: AppFilter, text: string | undefined) {
  const { appNo } = filter
  const conditions = [
    sql`${OWNER} <> all (${removedUsers(appNo)})`,
    sql`${WITH} <> all (${removedGroups(appNo)})`,
  ]
  const seeks: string[][] = []
  const add = ({ ids, has }: Matches) => {
    conditions.push(has(WITH))
    if (ids) seeks.push(ids)
  }
  const tags = groupTagsOf(filter)
  if (tags.length > 0) add(await find(taggedGroups(appNo, tags)))
  if (text !== undefined) add(await find(namedGroups(appNo, text)))
  conditions.push(...ownConditions(filter))
  if (filter.unique) conditions.push(isFirstOfGroup(filter))
  return { conditions, seek: seeks.sort((a, b) => a.length - b.length)[0] }
}

/** Conditions on the owner's own state. */
function ownConditions({ conversationTags, unread }: AppFilter): Sql[] {
  const conditions: Sql[] = []
  if (conversationTags) conditions.push(sql`i.tags && ${conversationTags}::text[]`)
  if (unread) conditions.push(sql`${new Sql([unreadOf('i')], [])} <> 0`)
  return conditions
}

// The subqueries of the following conditions return one value. PostgreSQL could turn `exists` into a join with all
// inbox rows.

/** No visible view of the conversation has a smaller uid. */
const isFirstDirect = ({ blocked }: AppFilter): Sql =>
  sql`(i.uid <= i.with_id or not coalesce((
    select o.visible and (not o.blocked or ${blocked}) from inbox o
    where o.app_no = i.app_no and o.uid = i.with_id and o.kind = 'user' and o.with_id = i.uid
  ), false))`

const isFirstOfGroup = ({ appNo }: AppFilter): Sql =>
  sql`(select o.uid from inbox o
    where o.app_no = i.app_no and o.conversation = i.conversation and o.uid < i.uid
      and o.scope is not null and o.cleared_id < h.shown_id
      and o.uid <> all (${removedUsers(appNo)})
    order by o.uid limit 1) is null`

const anyOf = (parts: readonly Sql[]): Sql => sql`(${joinSql(parts, ' or ')})`
