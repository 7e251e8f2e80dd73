/** What becomes of an edit that waits for checks. */
import type { MessageRecord, ReviewRecord } from '@loquat/protocol'
import type { ServedApp } from '../../core/actor.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { findMessage } from '../../core/message-access.ts'
import type { MessageRow, ViewerAccess } from '../../core/message-rows.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { describeEdit, mayEdit, storeEdit } from '../messages/edit.actions.ts'
import { holdMentioned } from '../messages/queries.ts'
import {
  findHeldEdit,
  type HeldEditRow,
  lockEdited,
  lockFiles,
  removeHeldEdit,
} from './edits.queries.ts'
import { announceFailure, type Settlement } from './reviews.actions.ts'

/**
 * The outcome of the checks of an edit: the message gets the new content, or stays as it is. Does nothing if a later edit
 * waits by now, or if that was decided before. An edit of a message that was changed or deleted since is dropped.
 */
export function settleEdit(
  { cell, no: appNo }: Pick<ServedApp, 'cell' | 'no'>,
  id: string,
  editNo: string,
  settlement: Settlement,
): Promise<boolean> {
  return cell.db.tx(async (tx) => {
    const planned = await findHeldEdit.maybeOne(tx, { appNo, id })
    if (!planned) return false
    const { records } = await holdMentioned.one(tx, { appNo, uids: planned.mentions ?? [] })
    const head = await lockEdited.maybeOne(tx, { appNo, id })
    const edit = await removeHeldEdit.maybeOne(tx, { appNo, id, editNo })
    if (!edit) return false
    const uid = edit.edited_by === SYSTEM_UID ? undefined : edit.edited_by
    const row = head && (await findMessage.maybeOne(tx, { appNo, id, viewer: uid ?? null }))
    if (!row || isOutdated(row, edit)) return true
    const refused =
      !mayEdit(uid, row) ||
      (head.blocked && uid !== undefined) ||
      !(await areReady(tx, appNo, edit.files ?? []))
    const by = { app: { no: appNo }, settings: edit.settings, ...(uid !== undefined && { uid }) }
    const judged = (status: 'approved' | 'disapproved', rule?: { id: string; name: string }) =>
      describe(tx, by, row, edit, { status, ...(rule && { rule }) })
    const failed = settlement.status === 'failed' ? settlement : undefined
    const key = `conversation:${row.conversation}`
    if (settlement.status === 'disapproved' || failed?.outcome === 'disapproved' || refused) {
      const hit = settlement.status === 'disapproved' ? settlement : undefined
      const message = await judged('disapproved', hit && { id: hit.rule.id, name: hit.rule.name })
      await announce(tx, { appNo, type: 'message.edit.disapproved', key, payload: { message } })
      if (failed && !refused) return announceFailure(tx, appNo, row.conversation, message, failed)
      const why = hit ? reviewOf(hit) : { condition: {}, reason: REFUSED }
      const payload = { message, moderation: [why] }
      await announce(tx, { appNo, type: 'moderation.blocked', key, payload })
      return true
    }
    const { data, tags, files } = edit
    const mentions = edit.mentions && (records ?? {})
    await storeEdit(tx, by, row, { data, tags, files, mentions }, { status: 'approved' })
    const message = await judged('approved')
    if (failed) return announceFailure(tx, appNo, row.conversation, message, failed)
    await announce(tx, { appNo, type: 'moderation.approved', key, payload: { message } })
    return true
  })
}

const REFUSED = 'The message can no longer be edited by this user, or a file of it was deleted.'

/** Whether the message is no longer what the edit was made for. */
const isOutdated = (row: MessageRow & ViewerAccess, { edited_before }: HeldEditRow) =>
  row.deleted_at !== null || row.edited_at?.getTime() !== edited_before?.getTime()

/** The message with the new content, as its sender and webhooks see it. */
async function describe(
  tx: Tx,
  by: Parameters<typeof describeEdit>[1],
  row: MessageRow,
  { data, tags, held_at: at }: HeldEditRow,
  moderation: object,
): Promise<MessageRecord> {
  const action = await describeEdit(tx, by, row, { data: { ...data, moderation }, tags, at })
  return (action.data.entities as { on: { entity: MessageRecord } }).on.entity
}

function reviewOf({
  rule,
  condition,
  text,
  actions,
}: Extract<Settlement, { status: 'disapproved' }>): ReviewRecord {
  const blockedAt = Math.floor(Date.now() / 1_000)
  return {
    condition: { id: condition, found: text },
    rule: { ...rule, action: actions, blockedAt },
  }
}

/** Whether the files are still there. A file that no message refers to can be deleted while its edit waits. */
async function areReady(tx: Tx, appNo: number, files: string[]): Promise<boolean> {
  if (files.length === 0) return true
  const ready = await lockFiles.many(tx, { appNo, files })
  return ready.length === new Set(files).size
}
