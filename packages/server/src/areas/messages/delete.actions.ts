import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { checkNoAction, checkThere, lockSeen, type Standing } from '../../core/message-access.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { appendChange } from './action-message.ts'
import { deleteMessage } from './queries.ts'

/** Returns the action message about the deletion. */
export function removeMessage(
  deps: Deps,
  actor: Actor,
  id: string,
  permanent: boolean,
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  return write(deps, actor, async (tx) => {
    const row = await lockSeen(tx, actor, id)
    checkChange(actor, row)
    if (!permanent) checkThere(row)
    const gone = await deleteMessage.one(tx, { appNo: app.no, id: row.id, by, permanent })
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

/** The sender may, in groups also admins and moderators, and the app. */
export function checkChange({ uid }: Actor, row: MessageRow & Standing): void {
  const leads = row.scope === 'admin' || row.scope === 'moderator'
  if (uid !== undefined && !row.takes_part) throw fail('ERR_MESSAGE_NO_ACCESS', { id: row.id })
  if (uid !== undefined && row.sender !== uid && !leads) throw fail('ERR_MESSAGE_NOT_A_SENDER')
  checkNoAction(row)
}
