import type { Executor } from '../../platform/db/query.ts'
import type { Actor } from '../access/actor.ts'
import { isWhole } from './filter.ts'
import { checkKnown, findHeadWith, getHeadOf, type Readable } from './heads.ts'
import { idRange } from './id-page.ts'
import type { HistoryQuery, MessageFilters, UserHistoryQuery } from './list.schema.ts'
import { checkQuery, ofTalks, pageOfStreams, toAnswer, unreadCounts } from './list.ts'
import {
  findSeq,
  listMessagesDown,
  listMessagesUp,
  listReceipts,
  listSentDown,
  listSentUp,
  type MessageRow,
  type Range,
  type Standing,
} from './queries.ts'
import { toReceipt } from './record.ts'
import { ofSenders, talksNamed } from './streams.ts'

/** Messages between the actor and a user; without an actor all that the user sent. */
export async function historyWithUser(actor: Actor, uid: string, query: UserHistoryQuery) {
  checkQuery(actor, query)
  if (actor.uid === undefined) return withCursor(query, await historyOfSender(actor, uid, query))
  const head = await findHeadWith(actor, uid)
  if (query.count) return unreadCounts(actor, query, head ? [head] : [])
  return withCursor(
    query,
    await (head ? historyOf(actor, head, query) : toAnswer(actor, query, [])),
  )
}

/** `meta.cursor`: where the page ends, or how far was looked; none where nothing was found. */
function withCursor({ affix = 'append' }: HistoryQuery, { data, meta }: Page) {
  const id = meta.next?.id ?? data.at(affix === 'prepend' ? 0 : -1)?.id
  return { data, meta: { ...meta, ...(id !== undefined && { cursor: { affix, id } }) } }
}

type Page = Awaited<ReturnType<typeof toAnswer>>

export async function historyOfGroup(actor: Actor, guid: string, query: HistoryQuery) {
  checkQuery(actor, query)
  const head = await getHeadOf(actor, guid)
  return query.count ? unreadCounts(actor, query, [head]) : historyOf(actor, head, query)
}

/** Whether all messages are wanted, but for where the page begins. */
const isAll = ({ sentAt: _cursor, ...query }: MessageFilters) => isWhole(query)

function historyOf(actor: Actor, head: Readable, query: HistoryQuery) {
  if (isAll(query)) return pageOf(actor, head, query)
  const talks = talksNamed(actor.app.no, actor.uid ?? '', [head.no])
  return pageOfStreams(actor, ofTalks(actor.app.no, talks, [head], query, actor.uid), query)
}

/** Oldest first in both directions; `prepend` gives the block that is nearest before the cursor. */
export async function pageOf(
  actor: Actor,
  head: Readable,
  query: HistoryQuery,
  rowsOf: (db: Executor, range: Range) => Promise<MessageRow[]> = listMessages(query),
) {
  const { no: appNo, cell } = actor.app
  const range = { appNo, conversation: head.no, after: head.cleared_seq, upto: head.last_seq }
  const down = query.affix === 'prepend'
  const cursor = await seqOfCursor(actor, head, query)
  if (cursor !== undefined) {
    if (down) range.upto = Math.min(range.upto, cursor)
    else range.after = Math.max(range.after, cursor)
  }
  const rows = await rowsOf(cell.db, { ...range, limit: query.limit + 1 })
  return toAnswer(actor, query, rows)
}

const listMessages = ({ affix }: HistoryQuery) =>
  (affix === 'prepend' ? listMessagesDown : listMessagesUp).many

/** The place up to which (`prepend`), or after which, the page lies. */
async function seqOfCursor(
  actor: Actor,
  { no: conversation }: Readable,
  { affix, id, sentAt }: HistoryQuery,
): Promise<number | undefined> {
  if (id === undefined && sentAt === undefined) return undefined
  const { no: appNo, cell } = actor.app
  const before = affix === 'prepend' ? 1 : 0
  const place =
    id === undefined ? { id: null, second: sentAt ?? 0 } : { id: Number(id), second: null }
  return (await findSeq.one(cell.db, { appNo, conversation, before, ...place })).seq
}

async function historyOfSender(actor: Actor, sender: string, given: UserHistoryQuery) {
  await checkKnown(actor, sender)
  const query = { ...given, limit: given.perPage }
  if (!isAll(query) || (query.id === undefined && query.sentAt !== undefined)) {
    return pageOfStreams(actor, { ...ofSenders([sender]), where: [], count: 1 }, query)
  }
  const { no: appNo, cell } = actor.app
  const { down, ...range } = idRange(query)
  const rows = await (down ? listSentDown : listSentUp).many(cell.db, { appNo, sender, ...range })
  return toAnswer(actor, query, rows)
}

/** Members that are looked at for their receipts, in one request. */
const WALK = 2_000

/** Who received and read a message, by uid. */
export async function receiptsOf(
  actor: Actor,
  row: MessageRow & Standing,
  after: string,
  limit: number,
) {
  const { no: appNo, cell } = actor.app
  const { conversation, seq, sender } = row
  const message = { appNo, conversation, seq, sender }
  const walk = Math.max(WALK, limit)
  const rows = await listReceipts.many(cell.db, { ...message, after, walk, limit: limit + 1 })
  const found = rows.flatMap(({ uid, ...row }) => (uid === null ? [] : [{ ...row, uid }]))
  const shown = found.slice(0, limit)
  const next = found.length > limit ? shown.at(-1)?.uid : rows[0]?.looked_to
  return {
    data: shown.map(toReceipt),
    meta: {
      current: { limit, count: shown.length },
      ...(next && { next: { affix: 'append', id: next } }),
    },
  }
}
