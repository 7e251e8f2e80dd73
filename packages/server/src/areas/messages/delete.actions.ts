import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { lockSeen } from '../../core/message-access.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { announce } from '../../platform/events/announce.ts'
import { appendChange } from './action-message.ts'
import { refuseDelete } from './policy.ts'
import { removeMessageRow } from './queries.ts'

/** Returns the action message that reports the deletion. */
export function deleteMessage(
  deps: Deps,
  actor: Actor,
  id: string,
  permanent: boolean,
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  return write(deps, actor, async (tx) => {
    const row = await lockSeen(tx, actor, id)
    refuseIf(refuseDelete(actor, row, permanent))
    const gone = await removeMessageRow.one(tx, { appNo: app.no, id: row.id, by, permanent })
    const left = {
      ...row,
      ...{ data: {}, tags: [], quoted_id: null, thread: null },
      ...{ deleted_at: gone.deleted_at, deleted_by: gone.deleted_by, updated_at: gone.updated_at },
      ...{ pinned_at: null, pinned_by: null, reacted: false, saved: false },
    }
    const message = await appendChange(tx, actor, 'deleted', left, permanent)
    const key = `conversation:${row.conversation}`
    await announce(tx, { appNo: app.no, type: 'message.deleted', key, payload: { message } })
    return message
  })
}
