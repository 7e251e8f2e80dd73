/**
 * Where a list looks for its messages: one or more streams, each a range of an index in id order. A
 * rare property has a stream of its own, so that no list walks over all other messages.
 */
import { joinSql, type Sql, sql } from '../../platform/db/sql.ts'
import { categoriesOf, isReadableBy, sendersOf, typesOf } from './filter.ts'
import type { MessageFilters } from './schema.ts'

export interface Streams {
  /** One row `s` per stream, numbered by `n`. */
  list: Sql
  /** The messages `m` of stream `s`. */
  messages: Sql
  /** Conditions that the streams alone don't guarantee. */
  where: readonly Sql[]
}

/**
 * The streams of a list: how many there are, and how to recognise their messages if they were found
 * another way.
 */
export interface Listed extends Streams {
  count: number
  /** Undefined if the streams are short and best read one by one. */
  among?: readonly Sql[]
}

/** A single stream. */
export const ONE = sql`select 0::bigint as n`
const MESSAGES = sql`messages m where true`

/** Streams of the whole app, limited to what the reader may read if there is a reader. */
export function streamsOfApp(appNo: number, reader: string, query: MessageFilters): Streams {
  const where = reader === '' ? [] : [isReadableBy(appNo, reader)]
  const senders = sendersOf(query)
  if (senders.length > 0) return { ...ofSenders(senders), where }
  if (query.mentionedUids) return { ...ofMentioned(query.mentionedUids), where }
  const rare = rareMark(query)
  if (rare) return { list: ONE, messages: sql`messages m where ${rare}`, where }
  const types = typesOf(query)
  if (types.length > 0 && !types.includes('text')) return { ...ofTypes(types), where }
  const categories = categoriesOf(query)
  if (categories.length > 0 && !categories.includes('message')) {
    return { ...ofCategories(categories), where }
  }
  return { list: ONE, messages: MESSAGES, where }
}

/** The conditions of the partial indexes for rare properties. */
function rareMark(query: MessageFilters): Sql | undefined {
  const {
    onlyDeleted,
    tags,
    hasMentions,
    hasAttachments,
    attachmentTypes,
    hasLinks,
    hasReactions,
  } = query
  const changed = (['updatedAt', 'editedAt'] as const).some(
    (field) => query[`${field}[from]`] !== undefined || query[`${field}[to]`] !== undefined,
  )
  if (onlyDeleted || changed) return sql`m.updated_at is not null`
  if (tags) return sql`m.tags <> '{}'`
  if (hasMentions) return sql`m.data ? 'mentions'`
  if (hasAttachments || attachmentTypes) return sql`m.data ? 'attachments'`
  if (hasReactions) return sql`m.reacted`
  return hasLinks ? sql`has_link(m.data)` : undefined
}

const numbered = (values: string[]): Sql =>
  sql`select n, value from unnest(${[...new Set(values)]}::text[]) with ordinality as v (value, n)`

export const ofSenders = (senders: string[]) => ({
  list: numbered(senders),
  messages: sql`messages m where m.sender = s.value`,
})

const ofCategories = (categories: string[]) => ({
  list: numbered(categories),
  messages: sql`messages m where m.category = s.value and m.category <> 'message'`,
})

const ofTypes = (types: string[]) => ({
  list: numbered(types),
  messages: sql`messages m where m.type = s.value and m.type <> 'text'`,
})

const ofMentioned = (uids: string[]) => ({
  list: numbered(uids),
  messages: sql`mentions k join messages m on m.app_no = k.app_no and m.id = k.message_id
    where k.app_no = m.app_no and k.uid = s.value`,
})

/** Conversations `h`, with the reader's inbox row `i` if there is a reader. */
export interface Conversations {
  from: Sql
  where: readonly Sql[]
}

/** All conversations of a user: 1:1 conversations and those of joined groups. */
export const conversationsOf = (
  appNo: number,
  uid: string,
  { receiverType }: MessageFilters,
): Conversations => ({
  from: sql`inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation`,
  where: [
    sql`i.app_no = ${appNo} and i.uid = ${uid} and (i.kind = 'user' or i.scope is not null)`,
    sql`h.last_id > greatest(h.purged_id, i.cleared_id)`,
    ...(receiverType ? [sql`i.kind = ${receiverType}`] : []),
  ],
})

/** Given conversations that the reader may read. */
export const conversationsNamed = (
  appNo: number,
  reader: string,
  nos: number[],
): Conversations => ({
  from: sql`conversations h left join inbox i
    on i.app_no = h.app_no and i.conversation = h.no and i.uid = ${reader}`,
  where: [sql`h.app_no = ${appNo} and h.no = any(${nos}::bigint[])`],
})

/**
 * One stream per conversation. It starts where the reader cleared the conversation, or at the first
 * unread or undelivered message.
 */
export function streamsOfConversations(
  conversations: Conversations,
  query: MessageFilters,
): Streams {
  const starts = [sql`h.purged_id`, sql`coalesce(i.cleared_id, 0)`]
  if (query.unread) starts.push(sql`coalesce(i.read_id, 0)`)
  if (query.undelivered) starts.push(DELIVERED)
  return {
    list: sql`select h.no as n, h.no, greatest(${joinSql(starts, ', ')}) as after
      from ${conversations.from} where ${joinSql(conversations.where, ' and ')}`,
    messages: sql`messages m where m.conversation = s.no and m.id > s.after`,
    where: [],
  }
}

/** A user's 1:1 conversations as the app sees them, whether the user cleared them or not. */
export const directOf = (appNo: number, uid: string): Conversations => ({
  from: sql`inbox o join conversations h on h.app_no = o.app_no and h.no = o.conversation
    left join inbox i on false`,
  where: [
    sql`o.app_no = ${appNo} and o.uid = ${uid} and o.kind = 'user'`,
    sql`h.last_id > h.purged_id`,
  ],
})

/**
 * A message that was read was also delivered. If one of two users blocks the other, no mark says
 * so.
 */
const DELIVERED = sql`coalesce(greatest(i.read_id,
  (select max(k.upto_id) from marks k where k.app_no = i.app_no and k.conversation = i.conversation
    and k.uid = i.uid and k.kind = 'read'),
  (select max(k.upto_id) from marks k where k.app_no = i.app_no and k.conversation = i.conversation
    and k.uid = i.uid and k.kind = 'delivered')), 0)`
