/** Users and groups that a filter of the app's list names by tag, name or role. They are found first, by an index. */
import type { Db } from '../../platform/db/db.ts'
import { query } from '../../platform/db/query.ts'
import { joinSql, runSql, type Sql, sql } from '../../platform/db/sql.ts'
import { filterIndexes, planned } from '../../platform/lists/planner.ts'

/** Users or groups that satisfy a condition. */
export interface Matches {
  /** Their ids, unless they are too many to list. */
  ids: string[] | undefined
  /** Whether one of them has this id. */
  has(id: Sql): Sql
}

/** A condition, and the statement that finds by index the ids that satisfy it. */
export interface Condition {
  find: Sql
  test(id: Sql): Sql
}

/** If more ids match than `most`, the walk tests the users and groups that it meets one by one. */
export async function findMatches(
  db: Db,
  { find, test }: Condition,
  most: number,
): Promise<Matches> {
  const rows = await planned(db, filterIndexes, (tx) =>
    runSql<{ id: string }>(
      tx,
      'conversations.findMatches',
      sql`select id from (${find}) found limit ${most + 1}`,
    ),
  )
  if (rows.length > most) return { ids: undefined, has: test }
  const ids = [...new Set(rows.map(({ id }) => id))]
  // Inside coalesce, PostgreSQL hashes the ids once and probes them for each row. Otherwise it might join.
  return { ids, has: (id) => sql`coalesce(${id} in (select unnest(${ids}::text[])), false)` }
}

const isUser = (appNo: number, id: Sql, is: Sql): Sql =>
  sql`coalesce((select ${is} from users u where u.app_no = ${appNo} and u.uid = ${id}), false)`

const isGroup = (appNo: number, id: Sql, is: Sql): Sql =>
  sql`coalesce((select ${is} from groups g where g.app_no = ${appNo} and g.guid = ${id}), false)`

/** Hidden from the planner, which otherwise relies on statistics of the whole cell. */
const unseen = (value: Sql): Sql => sql`(select ${value})`

export const taggedUsers = (appNo: number, tags: string[]): Condition => ({
  find: sql`select uid as id from users
    where app_no = ${appNo} and tags <> '{}' and tags && ${unseen(sql`${tags}::text[]`)}`,
  test: (id) => isUser(appNo, id, sql`u.tags && ${tags}::text[]`),
})

/** Groups with any tag of each list. */
export const taggedGroups = (appNo: number, lists: string[][]): Condition => {
  const overlaps = (column: Sql, value: (tags: Sql) => Sql) =>
    joinSql(
      lists.map((tags) => sql`${column} && ${value(sql`${tags}::text[]`)}`),
      ' and ',
    )
  return {
    find: sql`select guid as id from groups
      where app_no = ${appNo} and tags <> '{}' and ${overlaps(sql`tags`, unseen)}`,
    test: (id) =>
      isGroup(
        appNo,
        id,
        overlaps(sql`g.tags`, (tags) => tags),
      ),
  }
}

export const agents = (appNo: number): Condition => ({
  find: sql`select uid as id from users
    where app_no = ${appNo} and role = '@agentic' and removed_at is null`,
  test: (id) => isUser(appNo, id, sql`u.role = '@agentic'`),
})

/** A search key as names are compared; null if nothing is left of it, which matches no name. */
export const foldSearchKey = query<{ searchKey: string }, { folded: string | null }>(
  'conversations.foldSearchKey',
  `select nullif(fold_name(:searchKey), '') as folded`,
)

/** The users whose names contain a folded text: at the start, by the order of names, or after it, by the search index. */
export const namedUsers = (appNo: number, text: string): Condition => {
  const starting = sql`name_key >= ${unseen(sql`${text}::text`)}
    and name_key < ${unseen(sql`${`${text}\u{10ffff}`}::text`)}`
  return {
    find: joinSql(
      [
        sql`select uid as id from users where app_no = ${appNo}
          and deactivated_at is null and removed_at is null and ${starting}`,
        sql`select uid from users where app_no = ${appNo}
          and deactivated_at is not null and removed_at is null and ${starting}`,
        sql`select uid from users where app_no = ${appNo}
          and ${contains(sql`substr(name_key, 2)`, text)}`,
      ],
      ' union all ',
    ),
    test: (id) => isUser(appNo, id, sql`strpos(u.name_key, ${text}) > 0`),
  }
}

export const namedGroups = (appNo: number, text: string): Condition => ({
  find: sql`select guid as id from groups
    where app_no = ${appNo} and ${contains(sql`name_key`, text)}`,
  test: (id) => isGroup(appNo, id, sql`strpos(g.name_key, ${text}) > 0`),
})

/** Texts of one or two characters have no trigram: their characters find the candidates. */
const contains = (column: Sql, text: string): Sql =>
  [...text].length < 3
    ? sql`string_to_array(${column}, null) @> ${unseen(sql`string_to_array(${text}, null)`)}
        and strpos(${column}, ${text}) > 0`
    : sql`${column} like ${unseen(sql`${`%${text.replaceAll(/[%_\\]/g, '\\$&')}%`}::text`)}`
