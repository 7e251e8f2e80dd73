import type { Actor } from '../../core/actor.ts'
import { toReceipt } from '../../core/message-record.ts'
import type { MessageRow, ViewerAccess } from '../../core/message-rows.ts'
import { listReceipts } from './queries.ts'

/** Members examined for receipts per request. */
const WALK = 2_000

/** Who received and read a message, sorted by uid. */
export async function receiptsOf(
  actor: Actor,
  row: MessageRow & ViewerAccess,
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
