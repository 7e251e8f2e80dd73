import type { Actor } from '../../core/actor.ts'
import { checkBlocks, lockHead } from '../../core/heads.ts'
import { conversationIdOf } from '../../core/ids.ts'
import { findSeen } from '../../core/message-access.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import { refuseIf } from '../../core/policy.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { elementIdsOf } from './interactive.ts'
import { refuseInteraction } from './policy.ts'
import { insertInteractions } from './queries.ts'

/** Records that the actor used elements of an interactive message. Using them again succeeds. */
export function markInteractions(deps: Deps, actor: Actor, id: string, elementIds: string[]) {
  const { app, uid = '' } = actor
  const appNo = app.no
  return write(deps, actor, async (tx) => {
    const seen = await findSeen(tx, actor, id)
    await lockHead.maybeOne(tx, { appNo, conversation: seen.conversation })
    const row = await findSeen(tx, actor, id)
    refuseIf(refuseInteraction(actor, row))
    checkElements(row.data, elementIds)
    await checkBlocks.run(tx, { appNo, conversation: row.conversation, uid })
    const added = await insertInteractions.many(tx, { appNo, id: row.id, uid, elementIds })
    if (added.length > 0) {
      const interactions = added.map(({ element_id: elementId, at }) => ({
        ...{ elementId, interactedAt: seconds(at) },
      }))
      const payload = { uid, ...conversationFields(row), messageId: String(row.id), interactions }
      const key = `conversation:${row.conversation}`
      await announce(tx, { appNo, type: 'message.interacted', key, payload })
    }
    return { success: true as const, message: 'Elements marked as used.' }
  })
}

/** Every id must be an element of the message. */
function checkElements(data: MessageRow['data'], elementIds: string[]): void {
  const known = elementIdsOf(data)
  const unknown = elementIds.find((elementId) => !known.has(elementId))
  if (unknown === undefined) return
  throw badRequest({ interactions: [`the message has no element "${unknown.slice(0, 100)}"`] })
}

function conversationFields({ kind, one, other, sender }: MessageRow) {
  return {
    conversationId: kind === 'group' ? `group_${one}` : conversationIdOf(one, other),
    receiverType: kind,
    messageSender: sender,
  }
}
