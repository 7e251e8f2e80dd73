import type { Actor } from '../../core/actor.ts'
import { checkBlocks, lockHead } from '../../core/heads.ts'
import { conversationIdOf } from '../../core/ids.ts'
import { checkThere, findSeen, notAllowed, type Standing } from '../../core/message-access.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { elementIdsOf } from './interactive.ts'
import { insertInteractions } from './queries.ts'

/** Records that the actor used elements of an interactive message. Using them again succeeds. */
export function markInteracted(deps: Deps, actor: Actor, id: string, elementIds: string[]) {
  const { app, uid = '' } = actor
  const appNo = app.no
  return write(deps, actor, async (tx) => {
    const seen = await findSeen(tx, actor, id)
    await lockHead.maybeOne(tx, { appNo, conversation: seen.conversation })
    const row = await findSeen(tx, actor, id)
    checkInteraction(uid, row, elementIds)
    await checkBlocks.run(tx, { appNo, conversation: row.conversation, uid })
    const added = await insertInteractions.many(tx, { appNo, id: row.id, uid, elementIds })
    if (added.length > 0) {
      const interactions = added.map(({ element_id: elementId, at }) => ({
        ...{ elementId, interactedAt: seconds(at) },
      }))
      const payload = { uid, ...placeOf(row), messageId: String(row.id), interactions }
      const key = `conversation:${row.conversation}`
      await announce(tx, { appNo, type: 'message.interacted', key, payload })
    }
    return { success: true as const, message: 'Elements marked as used.' }
  })
}

/** All participants may; the sender only if the message allows it. */
function checkInteraction(uid: string, row: MessageRow & Standing, elementIds: string[]): void {
  if (!row.takes_part) throw fail('ERR_MESSAGE_NO_ACCESS', { id: row.id })
  checkThere(row)
  if (row.category !== 'interactive') throw notAllowed('The message is not interactive.')
  if (row.sender === uid && row.data.allowSenderInteraction !== true) {
    throw notAllowed('The message does not set allowSenderInteraction.')
  }
  const known = elementIdsOf(row.data)
  const unknown = elementIds.find((elementId) => !known.has(elementId))
  if (unknown === undefined) return
  throw badRequest({ interactions: [`the message has no element "${unknown.slice(0, 100)}"`] })
}

function placeOf({ kind, one, other, sender }: MessageRow) {
  return {
    conversationId: kind === 'group' ? `group_${one}` : conversationIdOf(one, other),
    receiverType: kind,
    messageSender: sender,
  }
}
