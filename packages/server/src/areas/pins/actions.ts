import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { checkBlocks } from '../../core/heads.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { lockSeen } from '../../core/message-access.ts'
import { toMessages } from '../../core/message-record.ts'
import { refuseIf } from '../../core/policy.ts'
import { limitOf } from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { refusePin, refuseUnpin } from './policy.ts'
import { countPinned, updatePinned } from './queries.ts'

/** Pins a message for everyone in its conversation. */
export const pinMessage = (deps: Deps, actor: Actor, id: string) => setPinned(deps, actor, id, true)

export const unpinMessage = (deps: Deps, actor: Actor, id: string) =>
  setPinned(deps, actor, id, false)

/** Succeeds without an event if nothing changes. */
function setPinned(deps: Deps, actor: Actor, id: string, pinned: boolean) {
  const { app, uid: by = SYSTEM_UID } = actor
  return write(deps, actor, async (tx) => {
    const row = await lockSeen(tx, actor, id)
    const pins = pinned && row.pinned_at === null
    refuseIf((pins ? refusePin : refuseUnpin)(actor, row))
    if (pins) await checkRoom(tx, actor, row.conversation)
    const changed = await updatePinned.maybeOne(tx, { appNo: app.no, id: row.id, by, pinned })
    if (changed) {
      const [shown] = await toMessages(tx, app.no, [{ ...row, ...changed }], { snapshot: true })
      const { receipts: _receipts, ...message } = shown as MessageRecord
      const event = { appNo: app.no, key: `conversation:${row.conversation}` }
      if (pinned) await announce(tx, { ...event, type: 'message.pinned', payload: { message } })
      else await announce(tx, { ...event, type: 'message.unpinned', payload: { message, by } })
    }
    return null
  })
}

/** The head is locked, so the count can't change until the pin is stored. */
async function checkRoom(tx: Tx, { app, settings, uid }: Actor, no: number): Promise<void> {
  const conversation = { appNo: app.no, conversation: no }
  if (uid !== undefined) await checkBlocks.run(tx, { ...conversation, uid })
  const limit = limitOf(settings, 'limits.pinnedMessages')
  const { count } = await countPinned.one(tx, conversation)
  if (count >= limit) throw fail('ERR_PINNED_MESSAGES_LIMIT_EXCEEDED', { limit })
}
