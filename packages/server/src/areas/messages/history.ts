import type { Executor } from '../../platform/db/query.ts'
import type { Actor } from '../access/actor.ts'
import { checkKnown, findHeadWith, getHeadOf, type Readable } from './heads.ts'
import {
  findSeq,
  listMessagesDown,
  listMessagesUp,
  listReceipts,
  listSentDown,
  listSentUp,
  type MessageRow,
  type Range,
} from './queries.ts'
import { toMessages, toReceipt } from './record.ts'
import type { HistoryQuery, UserHistoryQuery } from './schema.ts'

/** Messages between the actor and a user; without an actor all that the user sent. */
export async function historyWithUser(actor: Actor, uid: string, query: UserHistoryQuery) {
  if (actor.uid === undefined) return historyOfSender(actor, uid, query)
  const head = await findHeadWith(actor, uid)
  return head ? pageOf(actor, head, query) : answer(actor, query, [], false)
}

export async function historyOfGroup(actor: Actor, guid: string, query: HistoryQuery) {
  return pageOf(actor, await getHeadOf(actor, guid), query)
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
  return answer(actor, query, rows, down)
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
    id === undefined
      ? { id: null, second: (sentAt ?? 0) - before }
      : { id: Number(id) - before, second: null }
  return (await findSeq.one(cell.db, { appNo, conversation, ...place })).seq
}

async function historyOfSender(actor: Actor, sender: string, query: UserHistoryQuery) {
  await checkKnown(actor, sender)
  const { no: appNo, cell } = actor.app
  const down = query.affix === 'prepend'
  const cursor = query.id === undefined ? undefined : Number(query.id)
  const list = down ? listSentDown : listSentUp
  const rows = await list.many(cell.db, {
    appNo,
    sender,
    after: down ? 0 : (cursor ?? 0),
    before: down ? (cursor ?? Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER,
    limit: query.perPage + 1,
  })
  return answer(actor, { ...query, limit: query.perPage }, rows, down)
}

/** `rows` hold one more than asked for, where there is one. */
async function answer(actor: Actor, query: HistoryQuery, rows: MessageRow[], down: boolean) {
  const { limit } = query
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  if (down) shown.reverse()
  const { no: appNo, cell } = actor.app
  const data = await toMessages(cell.db, appNo, shown, { viewer: actor.uid })
  const next = rows.length > limit && last && data[down ? 0 : data.length - 1]
  return {
    data,
    meta: {
      current: { limit, count: data.length },
      ...(next && {
        next: { affix: down ? 'prepend' : 'append', id: next.id, sentAt: next.sentAt },
      }),
    },
  }
}

/** Who received and read a message, by uid. */
export async function receiptsOf(actor: Actor, row: MessageRow, after: string, limit: number) {
  const { no: appNo, cell } = actor.app
  const { conversation, seq, sender } = row
  const message = { appNo, conversation, seq, sender }
  const rows = await listReceipts.many(cell.db, { ...message, after, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    data: shown.map(toReceipt),
    meta: {
      current: { limit, count: shown.length },
      ...(rows.length > limit && last && { next: { affix: 'append', id: last.uid } }),
    },
  }
}
