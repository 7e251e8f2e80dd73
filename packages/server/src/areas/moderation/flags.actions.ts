import type { Actor } from '../../core/actor.ts'
import { lockSeen } from '../../core/message-access.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import { listReferred } from '../../core/message-rows.ts'
import { refuseActionMessage, refuseDeleted, refuseIf, refuseReading } from '../../core/policy.ts'
import { settingOf } from '../../core/settings.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { cutPage, idRange } from '../../platform/http/id-page.ts'
import {
  countFlags,
  type FlagRow,
  insertReviewed,
  listFlaggedDown,
  listFlaggedUp,
  listFlags,
  removeFlags,
  upsertFlag,
} from './flags.queries.ts'
import type { FlagDecision, FlaggedMessage, FlagQuery, NewFlag } from './flags.schema.ts'
import { getFlagReason, listFlagReasons } from './reasons.actions.ts'
import { withhold } from './reviews.actions.ts'

/** A user reports a message. Enough reports hide it, if the app wants that. */
export function flagMessage(
  deps: Deps,
  actor: Actor,
  id: string,
  { reasonId, remark }: NewFlag,
): Promise<{ success: true; message: string }> {
  const { app, uid = '' } = actor
  const appNo = app.no
  return write(deps, actor, async (tx) => {
    const row = await lockSeen(tx, actor, id)
    refuseIf(refuseReading(actor, row) ?? refuseActionMessage(row) ?? refuseDeleted(row))
    await getFlagReason(tx, appNo, reasonId)
    await upsertFlag.run(tx, { appNo, id: row.id, uid, reasonId, remark: remark ?? null })
    const { count } = await countFlags.one(tx, { appNo, id: row.id })
    const most = Number(settingOf(actor.settings, 'moderation.hideAfterFlags'))
    if (most > 0 && count >= most) await withhold(tx, actor, row, null)
    await announce(tx, {
      ...{ appNo, type: 'message.flagged', key: `conversation:${row.conversation}` },
      payload: {
        ...{ uid, messageId: id, reasonId, flaggedCount: count },
        ...(remark !== undefined && { remark }),
      },
    })
    return { success: true, message: 'flagged' }
  })
}

export const reviewFlaggedMessage = (
  deps: Deps,
  actor: Actor,
  id: string,
  { status }: FlagDecision,
) => write(deps, actor, (tx) => decideFlagged(tx, actor, id, status))

/** A moderator drops the flags of a message, or hides it. Either way it is reviewed. */
export async function decideFlagged(
  tx: Tx,
  actor: Actor,
  id: string,
  status: FlagDecision['status'],
): Promise<{ success: true; message: string }> {
  const appNo = actor.app.no
  const row = await lockSeen(tx, actor, id)
  const { count } = await countFlags.one(tx, { appNo, id: row.id })
  if (count === 0) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  if (status === 'disapproved') {
    await withhold(tx, actor, row, 'rejected')
    return { success: true, message: status }
  }
  await removeFlags.run(tx, { appNo, id: row.id })
  await insertReviewed.run(tx, { appNo, id: row.id, sender: row.sender })
  await announce(tx, {
    ...{ appNo, type: 'message.unflagged', key: `conversation:${row.conversation}` },
    payload: { messageId: id },
  })
  return { success: true, message: status }
}

export async function listFlagged(actor: Actor, query: FlagQuery) {
  const { no: appNo, cell, id: appId } = actor.app
  const { down, ...range } = idRange(query)
  const rows = await (down ? listFlaggedDown : listFlaggedUp).many(cell.db, { appNo, ...range })
  const { shown, meta } = cutPage(rows, query)
  const ids = shown.map(({ id }) => id)
  const found = await listReferred.many(cell.db, { appNo, ids })
  const messages = await toMessages(cell.db, appNo, found, asSeenBy(actor))
  const flags = Map.groupBy(
    await listFlags.many(cell.db, { appNo, ids }),
    (flag) => flag.message_id,
  )
  const reasons = new Map((await listFlagReasons(actor.app)).map((reason) => [reason.id, reason]))
  const byId = new Map(messages.map((message) => [Number(message.id), message]))
  const data = ids.flatMap((id): FlaggedMessage[] => {
    const message = byId.get(id)
    const flaggedBy = (flags.get(id) ?? []).map((flag) => toFlag(flag, reasons.get(flag.reason_id)))
    return message ? [{ ...message, appId, flaggedCount: flaggedBy.length, flaggedBy }] : []
  })
  return { data, meta: { ...meta, current: { ...meta.current, count: data.length } } }
}

export const toFlag = (
  { uid, name, avatar, role, reason_id, remark, flagged_at }: FlagRow,
  reason: { name: string; description?: string } | undefined,
) => ({
  uid,
  ...(name !== null && { name }),
  ...(avatar !== null && { avatar }),
  ...(role !== null && { role }),
  reasonId: reason_id,
  ...(reason && { reasonName: reason.name }),
  ...(reason?.description !== undefined && { description: reason.description }),
  ...(remark !== null && { remark }),
  flaggedAt: seconds(flagged_at),
})
