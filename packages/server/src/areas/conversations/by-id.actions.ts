import type { Actor } from '../../core/actor.ts'
import { splitsOf } from '../../core/ids.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { idOf, lockView, type ViewKey, viewPayload } from './actions.ts'
import { refuseClearForAll } from './policy.ts'
import { clearViews, findHeads } from './queries.ts'
import { findView } from './views.queries.ts'

/**
 * The actor's conversation with a printed id. Two ids can print alike (`a_user_b` with `c`, `a`
 * with `b_user_c`): the actor's own conversation is meant.
 */
export async function findByPrintedId(db: Executor, actor: Actor, id: string): Promise<ViewKey> {
  const appNo = actor.app.no
  const uid = actor.uid ?? ''
  for (const viewKey of topicsOf(uid, id)) {
    if (await findView.maybeOne(db, { appNo, ...viewKey })) return viewKey
  }
  const pairs = splitsOf(id)
  const ones = pairs.map(([one]) => one)
  const others = pairs.map(([, other]) => other)
  const guid = id.startsWith('group_') ? id.slice('group_'.length) : ''
  if (await findHeads.maybeOne(db, { appNo, ones, others, guid })) {
    throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
  }
  throw fail('ERR_CONVERSATION_NOT_FOUND', { id })
}

function topicsOf(uid: string, id: string): ViewKey[] {
  const viewKeys: ViewKey[] = splitsOf(id)
    .filter((pair) => pair.includes(uid))
    .map(([one, other]) => ({ uid, kind: 'user', withId: one === uid ? other : one }))
  if (id.startsWith('group_'))
    viewKeys.push({ uid, kind: 'group', withId: id.slice('group_'.length) })
  return viewKeys
}

/** Clears the views of both users, or of all group members, which only an admin may do. */
export function deleteConversation(deps: Deps, actor: Actor, id: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const viewKey = await findByPrintedId(tx, actor, id)
    const head = await lockView(tx, appNo, viewKey)
    refuseIf(refuseClearForAll(actor, viewKey.kind, head.scope))
    await clearViews.run(tx, { appNo, conversation: head.no })
    const payload = { ...viewPayload(viewKey), forAll: true }
    const key = `conversation:${head.no}`
    await announce(tx, { appNo, type: 'conversation.cleared', key, payload })
    return {
      success: true as const,
      message: `Conversation ${idOf(viewKey)} cleared for everyone.`,
    }
  })
}
