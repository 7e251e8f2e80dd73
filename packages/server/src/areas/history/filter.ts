import { type MessageLimits, shownConditions } from '../../core/access/visible.ts'
import { firstIdOf } from '../../core/ids.ts'
import { storable } from '../../core/time.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { MessageFilters } from './schema.ts'

/** The conditions of a list, independent of the streams. */
export interface Conditions {
  /** Conditions on the message `m` alone, the cheapest first. */
  message: readonly Sql[]
  /**
   * Conditions on `m` and its conversation `h`: that the message still exists, and the requested
   * filters.
   */
  conversation: readonly Sql[]
}

/** The reader is '' if the app itself asks. `limits`: what the reader's role may see. */
export const conditionsOf = (
  appNo: number,
  reader: string,
  query: MessageFilters,
  limits?: MessageLimits,
): Conditions => ({
  message: [
    ...(limits ? shownConditions(limits) : []),
    ...kindConditions(query),
    ...stateConditions(query),
    ...timeConditions(query),
    ...contentConditions(appNo, query),
    ...readerConditions(appNo, reader, query),
    ...when(query.searchKey, holds(query.searchKey ?? '')),
  ],
  conversation: [isThere(appNo), ...when(query.receiverType, sql`h.kind = ${query.receiverType}`)],
})

/** Whether there is no filter at all. */
export const isWhole = (query: MessageFilters): boolean => {
  const { message, conversation } = conditionsOf(0, '', query)
  return message.length === 0 && conversation.length === 1
}

const when = (asked: unknown, condition: Sql): Sql[] => (asked ? [condition] : [])

const oneOf = <T>(one: T | undefined, several: readonly T[] | undefined): T[] => [
  ...(one === undefined ? [] : [one]),
  ...(several ?? []),
]
export const sendersOf = ({ sender, senders }: MessageFilters) => oneOf(sender, senders)
export const categoriesOf = ({ category, categories }: MessageFilters) =>
  oneOf(category, categories)
export const typesOf = ({ type, types }: MessageFilters) => oneOf(type, types)

/** One of these values, if any are given. */
const among = (column: Sql, wanted: readonly string[]): Sql[] =>
  when(wanted.length > 0, sql`${column} = any(${wanted}::text[])`)

function kindConditions(query: MessageFilters): Sql[] {
  return [
    ...among(sql`m.category`, categoriesOf(query)),
    ...among(sql`m.type`, typesOf(query)),
    ...among(sql`m.sender`, sendersOf(query)),
  ]
}

function contentConditions(appNo: number, query: MessageFilters): Sql[] {
  const {
    hasAttachments,
    attachmentTypes,
    hasLinks,
    hasMentions,
    mentionedUids,
    tags,
    hasReactions,
  } = query
  return [
    ...when(hasAttachments, sql`jsonb_path_exists(m.data, '$.attachments[*]')`),
    ...when(
      attachmentTypes,
      sql`m.data ? 'attachments' and attachment_kinds(m.type, m.data) && ${attachmentTypes}::text[]`,
    ),
    ...when(hasLinks, sql`has_link(m.data)`),
    ...when(hasMentions, sql`m.data ? 'mentions'`),
    ...when(mentionedUids, mentions(appNo, mentionedUids ?? [])),
    ...when(
      hasReactions,
      sql`m.reacted and exists (select from reaction_counts r
        where r.app_no = ${appNo} and r.message_id = m.id)`,
    ),
    ...when(tags, sql`m.tags && ${tags}::text[]`),
  ]
}

const mentions = (appNo: number, uids: string[]): Sql => sql`exists (
  select from mentions k
  where k.app_no = ${appNo} and k.message_id = m.id and k.uid = any(${uids}::text[]))`

function stateConditions({ hideDeleted, onlyDeleted, hideReplies }: MessageFilters): Sql[] {
  return [
    ...when(hideDeleted, sql`m.deleted_at is null`),
    ...when(onlyDeleted, sql`m.deleted_at is not null`),
    ...when(hideReplies, sql`m.parent_id is null`),
  ]
}

/** streams.ts handles where a conversation is unread or undelivered from. */
function readerConditions(appNo: number, reader: string, query: MessageFilters): Sql[] {
  const { unread, undelivered, myMentionsOnly, hideMessagesFromBlockedUsers } = query
  return [
    ...when(unread, sql`m.counts and m.deleted_at is null and m.sender <> ${reader}`),
    ...when(undelivered, sql`m.sender <> ${reader}`),
    ...when(myMentionsOnly, mentions(appNo, [reader])),
    ...when(
      hideMessagesFromBlockedUsers,
      sql`m.sender <> all (array(
        select b.blocked_uid from blocks b where b.app_no = ${appNo} and b.uid = ${reader}))`,
    ),
  ]
}

/** Seconds, both inclusive. */
interface Seconds {
  from?: number
  to?: number
}

/** When messages were sent: the intersection of all time filters and the cursor. */
function sentIn(query: MessageFilters): Seconds {
  const { fromTimestamp, toTimestamp, affix, id, sentAt } = query
  const cursor = id === undefined ? sentAt : undefined
  const down = affix === 'prepend'
  const froms = [
    fromTimestamp,
    query['sentAt[from]'],
    down || cursor === undefined ? undefined : cursor + 1,
  ]
  const tos = [
    fromTimestamp === undefined ? undefined : toTimestamp,
    query['sentAt[to]'],
    down && cursor !== undefined ? cursor - 1 : undefined,
  ]
  const given = (values: (number | undefined)[]) => values.filter((value) => value !== undefined)
  return {
    ...(given(froms).length > 0 && { from: Math.max(...given(froms)) }),
    ...(given(tos).length > 0 && { to: Math.min(...given(tos)) }),
  }
}

/** The same as ids, both exclusive. */
export function idsSentIn(query: MessageFilters) {
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = sentIn(query)
  return { after: firstIdOf(from) - 1, before: firstIdOf(to + 1) }
}

function timeConditions(query: MessageFilters): Sql[] {
  const sent = sentIn(query)
  const { after, before } = idsSentIn(query)
  const updated = { from: query['updatedAt[from]'], to: query['updatedAt[to]'] }
  const edited = { from: query['editedAt[from]'], to: query['editedAt[to]'] }
  const changed = updated.from !== undefined || updated.to !== undefined
  return [
    ...when(sent.from !== undefined, sql`m.id > ${after}`),
    ...when(sent.to !== undefined, sql`m.id < ${before}`),
    ...when(changed, sql`m.updated_at is not null`),
    ...within(sql`m.updated_at`, updated),
    ...within(sql`m.edited_at`, edited),
  ]
}

interface Window {
  from?: number | undefined
  to?: number | undefined
}

const within = (column: Sql, { from, to }: Window): Sql[] => [
  ...when(from !== undefined, sql`${column} >= to_timestamp(${storable(from)})`),
  ...when(to !== undefined, sql`${column} < to_timestamp(${storable(to)}) + interval '1 second'`),
]

/**
 * The text anywhere, taken literally. A search key that folds to an empty string (a lone accent)
 * matches nothing.
 */
const holds = (searchKey: string): Sql =>
  sql`strpos(fold_text(searched_text(m.data)), nullif(fold_text(${searchKey}), '')) > 0`

/**
 * Leaves out messages that are removed but not yet swept: purged ones, and those of removed users
 * or groups.
 */
const isThere = (appNo: number): Sql => sql`m.id > h.purged_id
  and not (
    case h.kind when 'user' then array[m.sender, h.one, h.other] else array[m.sender] end) && array(
    select uid from users where app_no = ${appNo} and removed_at is not null)
  and not (h.kind = 'group' and h.one = any (array(
    select guid from groups where app_no = ${appNo} and removed_at is not null)))`

/** In one of this user's conversations, after the point where it was cleared. */
export const isReadableBy = (appNo: number, uid: string): Sql => sql`exists (
  select from inbox i
  where i.app_no = ${appNo} and i.conversation = m.conversation and i.uid = ${uid}
    and (i.kind = 'user' or i.scope is not null) and m.id > i.cleared_id)`

/** In one of this user's 1:1 conversations. */
export const isDirectOf = (appNo: number, uid: string): Sql => sql`exists (
  select from inbox i
  where i.app_no = ${appNo} and i.conversation = m.conversation and i.uid = ${uid}
    and i.kind = 'user')`
