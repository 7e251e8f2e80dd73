import type { EventType } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { lockHead } from '../../core/heads.ts'
import { readMessage } from '../../core/message-access.ts'
import { refuseIf } from '../../core/policy.ts'
import { limitOf } from '../../core/settings.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { refuseSave } from './policy.ts'
import { countSaved, holdMessage, insertSave, markSaved, removeSave } from './queries.ts'

/** Saves a message for the acting user; a message that is already saved stays as it is. */
export function saveMessage(deps: Deps, actor: Actor, id: string) {
  const { app, settings, uid = '' } = actor
  return write(deps, actor, async (tx) => {
    const row = await readMessage(actor, id, tx)
    refuseIf(refuseSave(row))
    const message = { appNo: app.no, id: row.id }
    // A second save by the same user waits here, so both are counted.
    const user = await lockUsers.maybeOne(tx, { appNo: app.no, uids: [uid] })
    if (!user) throw fail('ERR_UID_NOT_FOUND', { uid })
    if (!row.saved) {
      await lockHead.maybeOne(tx, { appNo: app.no, conversation: row.conversation })
      await markSaved.run(tx, message)
    }
    if (!(await holdMessage.maybeOne(tx, message))) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
    if (await insertSave.maybeOne(tx, { ...message, uid })) {
      const limit = limitOf(settings, 'limits.savedMessages')
      const { count } = await countSaved.one(tx, { appNo: app.no, uid })
      if (count > limit) throw fail('ERR_SAVED_MESSAGES_LIMIT_EXCEEDED', { limit })
      await announceSave(tx, app.no, 'message.saved', { uid, messageId: String(row.id) })
    }
    return null
  })
}

export function unsaveMessage(deps: Deps, actor: Actor, id: string) {
  const { app, uid = '' } = actor
  return write(deps, actor, async (tx) => {
    const row = await readMessage(actor, id, tx)
    if (await removeSave.maybeOne(tx, { appNo: app.no, id: row.id, uid })) {
      await announceSave(tx, app.no, 'message.unsaved', { uid, messageId: String(row.id) })
    }
    return null
  })
}

type SaveEvent = Extract<EventType, 'message.saved' | 'message.unsaved'>

const announceSave = (
  tx: Tx,
  appNo: number,
  type: SaveEvent,
  payload: { uid: string; messageId: string },
) => announce(tx, { appNo, type, key: `user:${payload.uid}`, payload })
