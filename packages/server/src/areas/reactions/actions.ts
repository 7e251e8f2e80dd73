import type { Actor } from '../../core/actor.ts'
import { readMessage } from '../../core/message-access.ts'
import { limitOf } from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import { writeCall } from '../../gate/write.ts'
import { addReaction, removeReaction } from './queries.ts'

/** Adds or removes a reaction of the acting user; repeating it changes nothing. */
export async function react(
  deps: Deps,
  actor: Actor,
  { id, reaction, added }: { id: string; reaction: string; added: boolean },
): Promise<void> {
  await readMessage(actor, id)
  const one = { appNo: actor.app.no, id, uid: actor.uid ?? '', reaction }
  const most = limitOf(actor.settings, 'limits.reactionsPerMessage')
  await writeCall(deps, actor, async (db) => {
    await (added ? addReaction.run(db, { ...one, most }) : removeReaction.run(db, one))
    return null
  })
}
