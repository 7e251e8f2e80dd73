import type { MessageRecord } from '@loquat/protocol'
import { type Actor, isModerator } from '../../core/actor.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import { listReferred } from '../../core/message-rows.ts'
import { seconds } from '../../core/time.ts'
import { cutPage, idRange } from '../../platform/http/id-page.ts'
import { listHeld, listReviewRows, type ReviewRow } from './reviews.queries.ts'
import type { BlockedMessage, ReviewQuery } from './reviews.schema.ts'

/** Blocked messages by message id. Those whose user or group was deleted are left out. */
export async function listReviews(actor: Actor, which: 'open' | 'done', query: ReviewQuery) {
  const { no: appNo, cell } = actor.app
  const rows = await listReviewRows(cell.db, appNo, which, query, idRange(query))
  const { shown, meta } = cutPage(rows, query)
  const ids = shown.map(({ id }) => id)
  const moderator = { viewer: null, moderates: isModerator(actor) }
  const found = [
    ...(which === 'done' ? await listReferred.many(cell.db, { appNo, ids }) : []),
    // Last, because a withheld message is among the others as a deleted one.
    ...(await listHeld.many(cell.db, { appNo, ids, ...moderator })),
  ]
  const records = await toMessages(cell.db, appNo, found, asSeenBy(actor))
  const messages = new Map(records.map((record) => [Number(record.id), record]))
  const data = shown.flatMap((row) => {
    const message = messages.get(row.id)
    return message ? [toBlocked(row, message, actor.app.id)] : []
  })
  return { data, meta: { ...meta, current: { ...meta.current, count: data.length } } }
}

function toBlocked(row: ReviewRow, message: MessageRecord, appId: string): BlockedMessage {
  const { rule_id, rule_name, revision_id, condition, found, reason, decision } = row
  return {
    ...(rule_id !== null && { ruleId: rule_id }),
    ...(rule_name !== null && { ruleName: rule_name }),
    ...(revision_id !== null && { revisionId: revision_id }),
    condition: { ...(condition !== null && { id: condition }), ...(found !== null && { found }) },
    ...(reason !== null && { reason }),
    message,
    action: row.actions,
    createdAt: seconds(row.blocked_at),
    updatedAt: seconds(row.updated_at),
    blockedAt: seconds(row.blocked_at),
    ...(row.reviewed_at && {
      appId,
      decision: decision as 'approved' | 'rejected',
      reviewedAt: seconds(row.reviewed_at),
    }),
  }
}
