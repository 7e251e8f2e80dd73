/**
 * All messages of a user, as the app sees them: by page number, or before or after a message. What the
 * user sent and the user's 1:1 conversations are read apart, each by its index, and merged.
 */
import type { Actor } from '../../core/actor.ts'
import { checkKnown } from '../../core/heads.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import { joinSql, runSql, type Sql, sql } from '../../platform/db/sql.ts'
import type { Count } from '../../platform/lists/count.ts'
import {
  cappedPagination,
  type KeysetTools,
  keysetPage,
  type Paging,
} from '../../platform/lists/page.ts'
import { conditionsOf, isDirectOf, isWhole, sendersOf } from './filter.ts'
import { rowsOf } from './list.page.ts'
import { toAnswer } from './page.ts'
import { sizeOf } from './queries.ts'
import type { UserHistoryQuery } from './schema.ts'
import { directOf, type Listed, ONE, ofSenders, streamsOfConversations } from './streams.ts'
import { type Range, type Walked, walkOnce } from './walk.ts'

/** How far totals are counted. */
const CAP = 10_000

const LAST = Number.MAX_SAFE_INTEGER

interface UserList {
  actor: Actor
  query: UserHistoryQuery & { limit: number }
  /** Together, the messages of the user. A message can be in two of them. */
  parts: Listed[]
  down: boolean
  /** Whether the text index finds the messages. Then they aren't counted. */
  indexed: boolean
  /** The most messages that there can be. */
  most: number
}

export async function pageOfUser(
  tools: KeysetTools,
  actor: Actor,
  uid: string,
  given: UserHistoryQuery,
) {
  await checkKnown(actor, uid)
  const query = { ...given, limit: given.perPage }
  const { no: appNo, cell } = actor.app
  const { conversations, messages: most } = await sizeOf.one(cell.db, { appNo, uid })
  const parts = partsOf(appNo, uid, query, conversations)
  const whole = { actor, query, parts, down: query.affix === 'prepend', indexed: false, most }
  const list = query.searchKey ? await forSearch(whole, uid) : whole
  return query.id === undefined ? pageByNumber(tools, list, uid) : pageFrom(list, Number(query.id))
}

/** Searches in more messages than the cap use the text index. */
async function forSearch(list: UserList, uid: string): Promise<UserList> {
  const { actor, query, parts } = list
  const { limit, page, perPage } = query
  const all = await countBetween({ ...list, query: { limit, page, perPage } }, 0, LAST)
  if (!all.capped) return list
  const among = [sql`(m.sender = ${uid} or ${isDirectOf(actor.app.no, uid)})`]
  return { ...list, indexed: true, parts: parts.map((part) => ({ ...part, among })) }
}

function partsOf(
  appNo: number,
  uid: string,
  query: UserList['query'],
  conversations: number,
): Listed[] {
  const senders = sendersOf(query)
  const others = senders.filter((sender) => sender !== uid)
  const sent = { ...ofSenders([uid]), where: [], count: 1 }
  const { from, where } = directOf(appNo, uid)
  // Another user wrote to this one in one conversation only. The app changes messages in all of them.
  const named = others.length > 0 && !others.includes(SYSTEM_UID)
  const direct = {
    ...streamsOfConversations(
      { from, where: named ? [...where, sql`o.with_id = any(${others}::text[])`] : where },
      query,
    ),
    count: Math.max(1, named ? others.length : conversations),
  }
  return [
    ...(senders.length === others.length && senders.length > 0 ? [] : [sent]),
    ...(senders.length > 0 && others.length === 0 ? [] : [direct]),
  ]
}

async function pageByNumber(tools: KeysetTools, list: UserList, uid: string) {
  const { actor, query, down } = list
  const { page, perPage, withTags: _withTags, ...filters } = query
  const name = ['user messages', actor.app.no, uid, down ? 'desc' : 'asc']
  const identity = { name, filters: [actor.credential.toString('base64'), filters] }
  let walkedTo: number | undefined
  const paging: Paging<MessageRow> = {
    keyOf: ({ id }) => [id],
    async read(after, limit) {
      const found = await readAfter(list, after && Number(after[0]), limit)
      walkedTo = found.walkedTo
      const stopped = found.rows.length < limit && walkedTo !== undefined
      return { rows: found.rows, ...(stopped && { stoppedAt: [walkedTo as number] }) }
    },
    startOf: (count) => startOf(list, count),
    count: () => countBetween(list, 0, LAST),
  }
  const found = await keysetPage(tools, { ...paging, ...identity }, { page, perPage })
  const last = found.rows.length === perPage ? found.rows.at(-1)?.id : walkedTo
  return answer(list, found.rows, found.next === undefined ? undefined : last, found.meta)
}

/** The page before or after a message, and which one that is. */
async function pageFrom(list: UserList, id: number) {
  const { query, down } = list
  const { perPage } = query
  const { rows, walkedTo } = await readAfter(list, id, perPage + 1)
  const { total, ...count } = await countBetween(list, 0, LAST)
  const before = await (down ? countBetween(list, id - 1, LAST) : countBetween(list, 0, id + 1))
  const shown = rows.slice(0, perPage)
  const last = rows.length > perPage ? shown.at(-1)?.id : walkedTo
  const least = before.total + shown.length + (last === undefined ? 0 : 1)
  const page = Math.floor(before.total / perPage) + 1
  const counts = { ...count, total: Math.max(total, least) }
  const meta = cappedPagination({ page, perPage }, counts, shown.length, last === undefined)
  return answer(list, shown, last, meta)
}

type Pages = Pick<Awaited<ReturnType<typeof keysetPage>>['meta'], 'pagination'>

/** `last` is where the next page starts, if there is one. */
async function answer(
  { actor, query }: UserList,
  rows: MessageRow[],
  last: number | undefined,
  { pagination: pages }: Pages,
) {
  const { data, meta } = await toAnswer(actor, query, rows, last)
  return { data, meta: { ...meta, pagination: pages } }
}

/** The next messages after an id, in the direction of the list. */
async function readAfter(list: UserList, id: number | undefined, limit: number): Promise<Walked> {
  const { actor, query, parts, down } = list
  const range = { down, limit, after: down ? 0 : (id ?? 0), before: down ? (id ?? LAST) : LAST }
  if (isWhole(query)) return { rows: await readWhole(list, range), walkedTo: undefined }
  const isBefore = (one: number, other: number) => (down ? one > other : one < other)
  const rows = new Map<number, MessageRow>()
  let walkedTo: number | undefined
  for (const part of parts) {
    const found = await rowsOf(actor, part, query, range)
    for (const row of found.rows) rows.set(row.id, row)
    const end = found.rows.length < limit ? found.walkedTo : found.rows.at(-1)?.id
    if (end !== undefined && (walkedTo === undefined || isBefore(end, walkedTo))) walkedTo = end
  }
  const merged = [...rows.values()]
    .filter((row) => walkedTo === undefined || !isBefore(walkedTo, row.id))
    .sort((one, other) => (isBefore(one.id, other.id) ? -1 : 1))
  return { rows: merged.slice(0, limit), walkedTo: merged.length < limit ? walkedTo : undefined }
}

/** Without filters: the next ids of every stream by index alone, then the messages of the first ones. */
async function readWhole(list: UserList, range: Range): Promise<MessageRow[]> {
  const { actor, query, down } = list
  const { no: appNo, cell } = actor.app
  const found = await runSql<{ id: number }>(cell.db, 'history.idsOfUser', firstIds(list, range))
  const ids = found.map(({ id }) => id)
  const messages = sql`messages m where m.id = any(${ids}::bigint[])`
  const { rows } = await walkOnce(
    ...([cell.db, appNo, { list: ONE, messages, where: [] }] as const),
    conditionsOf(appNo, '', query),
    { ...range, width: ids.length + 1 },
  )
  const last = ids.at(-1)
  if (last === undefined || ids.length < range.limit || rows.length === range.limit) return rows
  // Some messages are removed but not yet swept.
  const rest = { ...range, ...(down ? { before: last } : { after: last }) }
  return [...rows, ...(await readWhole(list, { ...rest, limit: range.limit - rows.length }))]
}

/** The first ids of all parts in a range, each once. */
function firstIds(list: UserList, { after, before, limit }: Omit<Range, 'down'>): Sql {
  const order = list.down ? sql`desc` : sql`asc`
  const first = sql`order by m.id ${order} limit ${limit}`
  const ids = list.parts.map((part) => sql`(${idsIn(list, part, after, before, first)})`)
  return sql`select distinct id from (${joinSql(ids, ' union all ')}) ids
    order by id ${order} limit ${limit}`
}

/**
 * The ids of a part between two ids, by index alone unless there are filters. Messages that are removed
 * but not yet swept are among them. `rest` cuts each stream.
 */
function idsIn(list: UserList, part: Listed, after: number, before: number, rest: Sql): Sql {
  const appNo = list.actor.app.no
  const { message, conversation } = conditionsOf(appNo, '', list.query)
  const inConversation = sql`exists (select from conversations h
    where h.app_no = m.app_no and h.no = m.conversation and ${joinSql(conversation, ' and ')})`
  const passes = isWhole(list.query) ? sql`true` : joinSql([...message, inConversation], ' and ')
  return sql`select w.id from (${part.list}) s cross join lateral (
      select m.id from ${part.messages}
        and m.app_no = ${appNo} and m.id > ${after} and m.id < ${before} and ${passes} ${rest}
    ) w`
}

async function countBetween(list: UserList, after: number, before: number): Promise<Count> {
  if (list.indexed) return { total: 0, capped: true, most: list.most }
  const most = sql`limit ${CAP + 1}`
  const counted = list.parts.map((part) => sql`(${idsIn(list, part, after, before, most)} ${most})`)
  const [row] = await runSql<{ total: number }>(
    list.actor.app.cell.db,
    'history.countOfUser',
    sql`select count(distinct id) as total from (${joinSql(counted, ' union all ')}) counted`,
  )
  const total = row?.total ?? 0
  return {
    total: Math.min(total, CAP),
    capped: total > CAP,
    ...(total > CAP && { most: list.most }),
  }
}

/** The id of message number `count`. */
async function startOf(list: UserList, count: number): Promise<[number] | undefined> {
  if (list.indexed) {
    const last = (await readAfter(list, undefined, count)).rows[count - 1]
    return last && [last.id]
  }
  const ids = firstIds(list, { after: 0, before: LAST, limit: count })
  const [row] = await runSql<{ id: number }>(
    list.actor.app.cell.db,
    'history.startOfUser',
    sql`select id from (${ids}) numbered offset ${count - 1}`,
  )
  return row && [row.id]
}
