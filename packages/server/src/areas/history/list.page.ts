import { messageLimits } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import { guidOf, splitsOf } from '../../core/ids.ts'
import { sql } from '../../platform/db/sql.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { idRange } from '../../platform/http/id-page.ts'
import { conditionsOf, idsSentIn, isReadableBy, sendersOf } from './filter.ts'
import { toAnswer } from './page.ts'
import { countConversations, countUnread, listHeads } from './queries.ts'
import type { MessageFilters, MessageListQuery } from './schema.ts'
import { search } from './search.ts'
import {
  type Conversations,
  conversationsNamed,
  conversationsOf,
  type Listed,
  streamsOfApp,
  streamsOfConversations,
} from './streams.ts'
import { type Range, walk } from './walk.ts'

/** Searches walk over so many messages without the text index. */
export const SHORT = 15_000

/**
 * How long a request looks for messages. A page is shorter than asked for only if a filter without an index finds too
 * few among the millions of messages that can be read in this time. The next page continues there.
 */
const PATIENCE_MS = 10_000

/** A page of the app's messages, or of the acting user's conversations. */
export async function listMessages(actor: Actor, query: MessageListQuery) {
  checkQuery(actor, query)
  const { conversationId } = query
  const named = conversationId === undefined ? undefined : await headsWithId(actor, conversationId)
  if (query.count) return unreadCounts(actor, query, named)
  if (named) return pageOfStreams(actor, ofNamed(actor, named, query), query)
  if (actor.uid === undefined) return pageOfStreams(actor, ofApp(actor.app.no, '', query), query)
  return pageOfStreams(actor, await ofUser(actor.app, actor.uid, query), query)
}

const ofApp = (appNo: number, reader: string, query: MessageFilters): Listed => ({
  ...streamsOfApp(appNo, reader, query),
  count: Math.max(sendersOf(query).length, 1),
  among: reader === '' ? [] : [isReadableBy(appNo, reader)],
})

/**
 * A page over all of a user's conversations. For a user with many messages, senders are looked up
 * first.
 */
async function ofUser({ no, cell }: Actor['app'], uid: string, query: MessageFilters) {
  const { conversations, messages } = await countConversations.one(cell.db, { appNo: no, uid })
  const many = messages > SHORT && !query.unread
  if (many && sendersOf(query).length > 0) return ofApp(no, uid, query)
  return {
    ...streamsOfConversations(conversationsOf(no, uid, query), query),
    count: Math.max(conversations, 1),
    ...(many && { among: [isReadableBy(no, uid)] }),
  }
}

interface NamedHead {
  no: number
  messages: number
}

/** A page over given conversations, as far as the acting user is part of them. */
function ofNamed({ app, uid }: Actor, named: NamedHead[], query: MessageFilters): Listed {
  const nos = named.map(({ no }) => no)
  const own = uid === undefined ? undefined : conversationsOf(app.no, uid, query)
  const conversations = own
    ? { from: own.from, where: [...own.where, sql`h.no = any(${nos}::bigint[])`] }
    : conversationsNamed(app.no, '', nos)
  return ofConversations(app.no, conversations, named, query, uid)
}

/** A page over conversations that the reader may read. */
export function ofConversations(
  appNo: number,
  conversations: Conversations,
  named: NamedHead[],
  query: MessageFilters,
  reader: string | undefined,
): Listed {
  const nos = named.map(({ no }) => no)
  const length = Math.max(...named.map(({ messages }) => messages))
  const many = length > SHORT && !query.unread && !query.undelivered
  const among = [
    sql`m.conversation = any(${nos}::bigint[])`,
    ...(reader === undefined ? [] : [isReadableBy(appNo, reader)]),
  ]
  return {
    ...streamsOfConversations(conversations, query),
    count: 1,
    ...(many && { among }),
  }
}

/** Filters about marks or blocks need an acting user. */
export function checkQuery({ uid }: Actor, query: MessageFilters): void {
  if (query.hideDeleted && query.onlyDeleted) {
    throw badRequest({
      onlyDeleted: ['onlyDeleted and hideDeleted contradict each other: send only one'],
    })
  }
  for (const field of ['unread', 'undelivered', 'myMentionsOnly', 'count'] as const) {
    if (query[field] && uid === undefined) {
      throw badRequest({ [field]: [`${field} needs the header onBehalfOf`] })
    }
  }
}

function headsWithId({ app }: Actor, conversationId: string): Promise<NamedHead[]> {
  const pairs = splitsOf(conversationId)
  return listHeads.many(app.cell.db, {
    appNo: app.no,
    ones: pairs.map(([one]) => one),
    others: pairs.map(([, other]) => other),
    guid: guidOf(conversationId),
  })
}

/** Unread counts in all conversations of the acting user, or in the given ones. */
export async function unreadCounts(
  actor: Actor,
  query: MessageFilters,
  named: Pick<NamedHead, 'no'>[] | undefined,
) {
  const { receiverType, hideMessagesFromBlockedUsers = false } = query
  const rows = await countUnread.many(actor.app.cell.db, {
    appNo: actor.app.no,
    uid: actor.uid ?? '',
    kinds: receiverType ? [receiverType] : ['user', 'group'],
    nos: named?.map(({ no }) => no) ?? null,
    hideBlocked: hideMessagesFromBlockedUsers,
  })
  const data = rows.map((row) => ({
    entityType: row.kind,
    entityId: row.with_id,
    count: row.unread,
  }))
  return { data }
}

/** A page of the messages in these streams that pass the filter. */
export async function pageOfStreams(actor: Actor, streams: Listed, query: MessageFilters) {
  const { rows, walkedTo } = await rowsOf(actor, streams, query, idRange(query))
  return toAnswer(actor, query, rows, walkedTo)
}

/** The messages in these streams that pass the filter, in a range of ids and in the requested time. */
export function rowsOf(actor: Actor, streams: Listed, query: MessageFilters, range: Range) {
  const { no: appNo, cell } = actor.app
  const conditions = conditionsOf(appNo, actor.uid ?? '', query, messageLimits(actor.policy))
  const sent = idsSentIn(query)
  const wanted = {
    ...range,
    after: Math.max(range.after, sent.after),
    before: Math.min(range.before, sent.before),
    until: performance.now() + PATIENCE_MS,
  }
  return query.searchKey && streams.among
    ? search({ db: cell.db, appNo, streams, conditions }, query.searchKey, wanted)
    : walk(cell.db, appNo, streams, conditions, wanted)
}
