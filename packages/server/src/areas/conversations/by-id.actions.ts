import type { Actor } from '../../core/actor.ts'
import { splitsOf } from '../../core/ids.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { idOf, lockView, type ViewKey, viewPayload } from './actions.ts'
import { CLEARED_AT_ONCE, clearMembersJob } from './clear.job.ts'
import { refuseClearForAll } from './policy.ts'
import { clearMembers, clearView, findHeads } from './queries.ts'
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
    const { no: conversation, scope } = await lockView(tx, appNo, viewKey)
    refuseIf(refuseClearForAll(actor, viewKey.kind, scope))
    const { uid, kind, withId } = viewKey
    const users = kind === 'user' ? [uid, withId].sort() : []
    for (const one of users) await clearView.one(tx, { appNo, conversation, uid: one })
    const forAll = kind === 'user' || (await clearGroup(tx, appNo, viewKey, conversation))
    const payload = { ...viewPayload(viewKey), forAll }
    const key = `conversation:${conversation}`
    await announce(tx, { appNo, type: 'conversation.cleared', key, payload })
    const done = forAll ? 'cleared' : 'is being cleared'
    const message = `Conversation ${idOf(viewKey)} ${done} for everyone.`
    return { success: true as const, message }
  })
}

/**
 * Clears the views of the first members and the actor's own, and returns whether that was all. Nobody can send a message
 * meanwhile, so a job clears the views of the other members of a large group, and announces it when it is done.
 */
async function clearGroup(
  tx: Tx,
  appNo: number,
  { uid, withId: guid }: ViewKey,
  no: number,
): Promise<boolean> {
  const first = { appNo, conversation: no, upto: null, after: '', limit: CLEARED_AT_ONCE }
  const { upto, last } = await clearMembers.one(tx, first)
  if (last === null) return true
  await clearView.one(tx, { appNo, conversation: no, uid })
  await enqueue(tx, appNo, clearMembersJob, { no, guid, by: uid, upto, after: last })
  return false
}
