import { authorize } from '../../core/access/authorize.ts'
import type { Actor } from '../../core/actor.ts'
import { readMessage } from '../../core/message-access.ts'
import { refuseIf } from '../../core/policy.ts'
import { refuseMutedAt } from '../../core/sanctions.ts'
import { limitOf } from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import { writeCall } from '../../gate/write.ts'
import { addReaction, removeReaction } from './queries.ts'

interface Reaction {
  id: string
  reaction: string
}

/** Succeeds without an event if the acting user has already reacted so. */
export async function addMessageReaction(deps: Deps, actor: Actor, { id, reaction }: Reaction) {
  const message = await readMessage(actor, id)
  const { scope, scope_rules: scopeRules } = message
  refuseIf(refuseMutedAt(actor, message))
  authorize(actor, { scopePermission: 'addReaction' }, { scope, scopeRules })
  const most = limitOf(actor.settings, 'limits.reactionsPerMessage')
  const added = { appNo: actor.app.no, id, uid: actor.uid ?? '', reaction, most }
  await writeCall(deps, actor, (db) => addReaction.run(db, added).then(() => null))
}

export async function removeMessageReaction(deps: Deps, actor: Actor, { id, reaction }: Reaction) {
  await readMessage(actor, id)
  const removed = { appNo: actor.app.no, id, uid: actor.uid ?? '', reaction }
  await writeCall(deps, actor, (db) => removeReaction.run(db, removed).then(() => null))
}
