import { type Static, Type } from 'typebox'
import type { Actor } from '../../core/actor.ts'
import { type Deps, defineJob } from '../../deps.ts'
import { appActor } from '../../gate/app-actor.ts'
import type { Tx } from '../../platform/db/db.ts'
import { ApiError } from '../../platform/http/fail.ts'
import { refusalOf } from '../../platform/http/refusal.ts'
import { dropMember } from '../groups/members.actions.ts'
import { addBlocks } from '../relations/blocks.actions.ts'
import { deactivate } from '../users/actions.ts'
import { addSanction } from './sanctions.actions.ts'

const Until = Type.Optional(Type.Integer())

/** What happens to the user of a message. The SQL function `rule_actions` builds them for rules. */
export const UserAction = Type.Union([
  Type.Object({ does: Type.Literal('kick'), guid: Type.String() }),
  Type.Object({
    does: Type.Enum(['mute', 'ban']),
    /** Absent: in the whole app. */
    guid: Type.Optional(Type.String()),
    until: Until,
  }),
  Type.Object({ does: Type.Literal('block'), by: Type.String() }),
  Type.Object({ does: Type.Literal('deactivate') }),
])
export type UserAction = Static<typeof UserAction>

/**
 * Acts on a user because a rule or a moderator decided so. Each action runs once, in the transaction of the step, and is
 * announced as if the app had called the operation.
 */
export const actJob = defineJob({
  name: 'moderation.act',
  summary: 'Kicks, bans, mutes, blocks or deactivates the sender of a message.',
  input: Type.Object({
    uid: Type.String(),
    reason: Type.String(),
    actions: Type.Array(UserAction),
  }),
  async run({ appNo, input: { uid, reason, actions }, step, context }) {
    const { deps } = context
    const actor = await appActor(context, appNo)
    for (const [n, action] of actions.entries()) {
      try {
        await step(`${n} ${action.does}`, (tx) => act(tx, deps, actor, { uid, reason, action }))
      } catch (error) {
        // It is impossible by now, or was done before: the user has left, owns the group, or is gone.
        const refusal = error instanceof ApiError ? error : refusalOf(error)
        if (!refusal) throw error
        deps.log.info({ code: refusal.code, does: action.does }, 'an action was refused')
      }
    }
  },
})

interface Act {
  uid: string
  reason: string
  action: UserAction
}

async function act(tx: Tx, deps: Deps, actor: Actor, { uid, reason, action }: Act) {
  if (action.does === 'kick') await dropMember(tx, actor, action.guid, uid)
  else if (action.does === 'block') await addBlocks(tx, actor, action.by, [uid])
  else if (action.does === 'deactivate') await deactivate(tx, deps, actor.app.no, [uid])
  else {
    const { does: kind, guid, until } = action
    const sanction = { uid, kind, reason, ...(guid && { guid }), ...(until && { until }) }
    await addSanction(tx, deps, actor, sanction, Date.now())
  }
  return null
}
