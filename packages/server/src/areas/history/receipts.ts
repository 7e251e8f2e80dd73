import { listedScopes } from '../../core/access/authorize.ts'
import type { Actor } from '../../core/actor.ts'
import { toReceipt } from '../../core/message-record.ts'
import type { MessageRow, ViewerAccess } from '../../core/message-rows.ts'
import { listReceipts, type ReceiptRow } from './queries.ts'

/** Members examined per statement: in a large group nobody may have read the message. */
const WALK = 5_000

/** Who received and read a message, sorted by uid: those members whom the actor may list. */
export async function receiptsOf(
  actor: Actor,
  row: MessageRow & ViewerAccess,
  after: string,
  limit: number,
) {
  const { no: appNo, cell } = actor.app
  const { conversation, id, sender } = row
  const message = {
    ...{ appNo, conversation, id, sender, walk: Math.max(WALK, limit) },
    ...{ viewer: actor.uid ?? null, scopes: listedScopes(actor, row, 'listMembers') ?? null },
  }
  const found: (ReceiptRow & { uid: string })[] = []
  for (let from: string | null = after; from !== null && found.length <= limit; ) {
    const wanted = limit + 1 - found.length
    const rows: ReceiptRow[] = await listReceipts.many(cell.db, {
      ...message,
      after: from,
      limit: wanted,
    })
    found.push(...rows.flatMap(({ uid, ...row }) => (uid === null ? [] : [{ ...row, uid }])))
    from = rows[0]?.looked_to ?? null
  }
  const shown = found.slice(0, limit)
  const next = found.length > limit ? shown.at(-1)?.uid : undefined
  return {
    data: shown.map(toReceipt),
    meta: {
      current: { limit, count: shown.length },
      ...(next && { next: { affix: 'append', id: next } }),
    },
  }
}
