import type { Actor } from '../../core/actor.ts'
import type { Readable } from '../../core/heads.ts'
import { toMessages } from '../../core/message-record.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import type { Executor } from '../../platform/db/query.ts'
import { findSeq, listMessagesDown, listMessagesUp, type Range } from './queries.ts'
import type { HistoryQuery, MessageFilters } from './schema.ts'

/** Oldest first in both directions. `prepend` returns the block right before the cursor. */
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

/** The seq up to which (`prepend`) or after which the page lies. */
async function seqOfCursor(
  actor: Actor,
  { no: conversation }: Readable,
  { affix, id, sentAt }: HistoryQuery,
): Promise<number | undefined> {
  if (id === undefined && sentAt === undefined) return undefined
  const { no: appNo, cell } = actor.app
  const before = affix === 'prepend' ? 1 : 0
  const cursor =
    id === undefined ? { id: null, second: sentAt ?? 0 } : { id: Number(id), second: null }
  return (await findSeq.one(cell.db, { appNo, conversation, before, ...cursor })).seq
}

/**
 * `rows` are in the direction of the list and contain one more than requested, if there is one; the
 * answer is oldest first in both directions. `walkedTo` says how far the walk got, if it stopped
 * early.
 */
export async function toAnswer(
  actor: Actor,
  query: MessageFilters,
  rows: MessageRow[],
  walkedTo?: number,
) {
  const { limit } = query
  const down = query.affix === 'prepend'
  const shown = rows.slice(0, limit)
  if (down) shown.reverse()
  const data = await toMessages(actor.app.cell.db, actor.app.no, shown, {
    viewer: actor.uid,
    mentionBlocks: query.mentionsWithBlockedInfo,
    mentionTags: query.mentionswithTagInfo,
    hideQuoted: query.hideQuotedMessages,
    hideTags: !query.withTags,
  })
  const last = rows.length > limit ? data[down ? 0 : data.length - 1] : undefined
  const next = last
    ? { id: last.id, sentAt: last.sentAt }
    : walkedTo !== undefined && { id: String(walkedTo) }
  return {
    data,
    meta: {
      current: { limit, count: data.length },
      ...(next && { next: { affix: down ? 'prepend' : 'append', ...next } }),
    },
  }
}
