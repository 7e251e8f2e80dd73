import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { checkBlocks } from '../../core/heads.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { checkNoAction, checkThere, lockSeen, type Standing } from '../../core/message-access.ts'
import { toMessages } from '../../core/message-record.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import { limitOf } from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { countPinned, updatePinned } from './queries.ts'

/** Pins or unpins a message for all participants; repeating it changes nothing. */
export function pinMessage(deps: Deps, actor: Actor, id: string, pinned: boolean) {
  const { app, uid: by = SYSTEM_UID } = actor
  return write(deps, actor, async (tx) => {
    const row = await lockSeen(tx, actor, id)
    checkRight(actor, row)
    if (pinned && row.pinned_at === null) await checkPin(tx, actor, row)
    const changed = await updatePinned.maybeOne(tx, { appNo: app.no, id: row.id, by, pinned })
    if (changed) {
      const [shown] = await toMessages(tx, app.no, [{ ...row, ...changed }])
      const { receipts: _receipts, ...message } = shown as MessageRecord
      const event = { appNo: app.no, key: `conversation:${row.conversation}` }
      if (pinned) await announce(tx, { ...event, type: 'message.pinned', payload: { message } })
      else await announce(tx, { ...event, type: 'message.unpinned', payload: { message, by } })
    }
    return null
  })
}

/** Both users of a 1:1 conversation may, in groups admins and moderators, and the app. */
function checkRight({ uid }: Actor, row: MessageRow & Standing): void {
  if (uid === undefined) return
  if (!row.takes_part) throw fail('ERR_MESSAGE_NO_ACCESS', { id: row.id })
  const leads = row.scope === 'admin' || row.scope === 'moderator'
  if (row.kind === 'group' && !leads) throw fail('ERR_PERMISSION_DENIED')
}

/** The head is locked, so nobody else pins meanwhile. */
async function checkPin(tx: Tx, { app, settings, uid }: Actor, row: MessageRow & Standing) {
  checkNoAction(row)
  checkThere(row)
  const conversation = { appNo: app.no, conversation: row.conversation }
  if (uid !== undefined) await checkBlocks.run(tx, { ...conversation, uid })
  const limit = limitOf(settings, 'limits.pinnedMessages')
  const { count } = await countPinned.one(tx, conversation)
  if (count >= limit) throw fail('ERR_PINNED_MESSAGES_LIMIT_EXCEEDED', { limit })
}
