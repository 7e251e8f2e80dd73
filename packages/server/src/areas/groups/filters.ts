import { type Sql, sql } from '../../platform/db/sql.ts'
import type { GroupListQuery } from './schema.ts'

/** Conditions on the groups `g` of a list, without types and the viewer. */
export function conditions(query: GroupListQuery): Sql[] {
  const { searchKey, searchIn, tags, guid, guids } = query
  const where: Sql[] = []
  if (searchKey) where.push(matches(searchKey, searchIn ?? ['name', 'guid']))
  if (tags) where.push(sql`g.tags <> '{}' and g.tags && ${tags}::text[]`)
  if (guid) where.push(sql`g.guid = ${guid}`)
  if (guids) where.push(sql`g.guid = any(${guids}::text[])`)
  return [...where, ...windows(query), ...sizes(query)]
}

function windows(query: GroupListQuery): Sql[] {
  const columns = {
    createdAt: sql`g.created_second`,
    updatedAt: sql`g.updated_at is not null and g.changed_second`,
  }
  return (['createdAt', 'updatedAt'] as const).flatMap((field) => {
    const [from, to] = [query[`${field}[from]`], query[`${field}[to]`]]
    const bounds: Sql[] = []
    if (from !== undefined) bounds.push(sql`${columns[field]} >= ${from}`)
    if (to !== undefined) bounds.push(sql`${columns[field]} <= ${to}`)
    return bounds
  })
}

const COMPARE = {
  gt: sql`>`,
  gte: sql`>=`,
  lt: sql`<`,
  lte: sql`<=`,
  eq: sql`=`,
}

function sizes(query: GroupListQuery): Sql[] {
  return (Object.keys(COMPARE) as (keyof typeof COMPARE)[]).flatMap((name) => {
    const size = query[`membersCount[${name}]`]
    return size === undefined ? [] : [sql`g.members_count ${COMPARE[name]} ${size}`]
  })
}

/** The text anywhere in the name, ignoring case and accents, or at the start of the guid. */
function matches(searchKey: string, searchIn: readonly string[]): Sql {
  const key = searchKey.toLowerCase()
  // A lone accent folds to an empty string: it matches nothing, while '' would match every name.
  const folded = sql`nullif(fold_name(${searchKey}), '')`
  const literal = sql`regexp_replace(${folded}, '([%_\\\\])', '\\\\\\1', 'g')`
  const parts: Sql[] = []
  if (searchIn.includes('name')) {
    // Search keys of one or two characters have no trigram: their characters find the candidates.
    const short = [...searchKey.normalize('NFKC')].length < 3
    parts.push(
      short
        ? sql`string_to_array(g.name_key, null) @> string_to_array(${folded}, null)
            and strpos(g.name_key, ${folded}) > 0`
        : sql`g.name_key like '%' || ${literal} || '%'`,
    )
  }
  if (searchIn.includes('guid')) parts.push(sql`g.guid >= ${key} and g.guid < ${`${key}~`}`)
  const [first = sql`false`, ...others] = parts.map((part) => sql`(${part})`)
  return sql`(${others.reduce((joined, part) => sql`${joined} or ${part}`, first)})`
}
