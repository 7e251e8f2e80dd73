import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { lockHead } from '../../core/heads.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { lockVisible, readHeld } from '../../core/message-access.ts'
import type { MessageRow, ViewerAccess } from '../../core/message-rows.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { appendChange, describeChange } from './action-message.ts'
import { refuseDelete } from './policy.ts'
import { removeHeld, removeMessageRow } from './queries.ts'

export const deleteMessage = (
  deps: Deps,
  actor: Actor,
  id: string,
  permanent: boolean,
): Promise<MessageRecord> => write(deps, actor, (tx) => removeMessage(tx, actor, id, permanent))

/** Returns the action message that reports the deletion. */
export async function removeMessage(
  tx: Tx,
  actor: Actor,
  id: string,
  permanent: boolean,
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  const row = await lockVisible(tx, actor, id)
  if (!row) return deleteHeld(tx, actor, id)
  refuseIf(refuseDelete(actor, row, permanent))
  const gone = await removeMessageRow.one(tx, { appNo: app.no, id: row.id, by, permanent })
  return announceDeletion(tx, actor, row, gone, permanent)
}

/** Adds the action message about a message whose row was deleted, and tells everyone. */
export async function announceDeletion(
  tx: Tx,
  actor: Actor,
  row: MessageRow & ViewerAccess,
  gone: Pick<MessageRow, 'deleted_at' | 'deleted_by' | 'updated_at'>,
  permanent: boolean,
): Promise<MessageRecord> {
  const left = {
    ...row,
    ...{ data: {}, tags: [], quoted_id: null, thread: null },
    ...{ deleted_at: gone.deleted_at, deleted_by: gone.deleted_by, updated_at: gone.updated_at },
    ...{ pinned_at: null, pinned_by: null, reacted: false, saved: false },
  }
  const message = await appendChange(tx, actor, 'deleted', left, permanent)
  const key = `conversation:${row.conversation}`
  await announce(tx, { appNo: actor.app.no, type: 'message.deleted', key, payload: { message } })
  return message
}

/**
 * Nobody else knows of a held message, so no action message reports its deletion: the one in the answer isn't stored.
 */
async function deleteHeld(tx: Tx, actor: Actor, id: string): Promise<MessageRecord> {
  const appNo = actor.app.no
  const held = await readHeld(tx, actor, id)
  if (!held) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  refuseIf(refuseDelete(actor, held, true))
  await lockHead.maybeOne(tx, { appNo, conversation: held.conversation })
  const { deleted } = await removeHeld.one(tx, { appNo, id: held.id })
  if (deleted === 0) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  const deletedAt = new Date()
  const left = { ...held, data: {}, tags: [], quoted_id: null, deleted_at: deletedAt }
  return describeChange(tx, actor, 'deleted', {
    ...left,
    deleted_by: actor.uid ?? SYSTEM_UID,
    updated_at: deletedAt,
  })
}
