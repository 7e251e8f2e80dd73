import type { Actor } from '../../core/actor.ts'
import type { Readable } from '../../core/heads.ts'
import { firstIdOf } from '../../core/ids.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import type { Executor } from '../../platform/db/query.ts'
import { listMessagesDown, listMessagesUp, type Range } from './queries.ts'
import type { HistoryQuery, MessageFilters } from './schema.ts'

/** Oldest first in both directions. `prepend` returns the block right before the cursor. */
export async function pageOf(
  actor: Actor,
  head: Pick<Readable, 'no' | 'cleared_id'>,
  query: HistoryQuery,
  rowsOf: (db: Executor, range: Range) => Promise<MessageRow[]> = listMessages(query),
) {
  const { no: appNo, cell } = actor.app
  const { after, upto } = rangeOf(query)
  const rows = await rowsOf(cell.db, {
    ...{ appNo, conversation: head.no, limit: query.limit + 1 },
    ...{ after: Math.max(head.cleared_id, after), upto },
  })
  return toAnswer(actor, query, rows)
}

const listMessages = ({ affix }: HistoryQuery) =>
  (affix === 'prepend' ? listMessagesDown : listMessagesUp).many

/** Where the page lies: before the cursor (`prepend`), or after it. */
export function rangeOf({ affix, id, sentAt }: HistoryQuery) {
  const all = { after: 0, upto: Number.MAX_SAFE_INTEGER }
  if (id === undefined && sentAt === undefined) return all
  if (affix === 'prepend') return { ...all, upto: Number(id ?? firstIdOf(sentAt ?? 0)) - 1 }
  return { ...all, after: Number(id ?? firstIdOf((sentAt ?? 0) + 1) - 1) }
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
    ...asSeenBy(actor),
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
