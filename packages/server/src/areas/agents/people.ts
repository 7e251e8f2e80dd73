/** Agents as users, and the names that they refer to. */
import { randomUUID } from 'node:crypto'
import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Tx } from '../../platform/db/db.ts'
import { fail } from '../../platform/http/fail.ts'
import { addUser, changeUser, deactivate } from '../users/actions.ts'
import type { UserChanges } from '../users/schema.ts'
import { type BlockKind, listUnknown } from './blocks.queries.ts'
import { detachAll } from './knowledge/queries.ts'
import { type AgentKind, countAgents, lockAgents, removeAgent, unfollowLog } from './queries.ts'

const AGENTS_PER_APP = 100

/** What users see of an agent. */
export interface Appearance {
  name: string
  icon?: string | undefined
  description?: string | undefined
  metaData?: Record<string, unknown> | undefined
}

const metadataOf = ({ description, metaData }: Appearance) => ({
  ...(description !== undefined && { description }),
  ...metaData,
})

/** Adds the user of a new agent, and returns its uid. */
export async function addAgentUser(tx: Tx, deps: Deps, actor: Actor, agent: Appearance) {
  const appNo = actor.app.no
  await lockAgents.run(tx, { appNo })
  const { count } = await countAgents.one(tx, { appNo })
  if (count >= AGENTS_PER_APP) {
    throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: AGENTS_PER_APP, what: 'agents' })
  }
  const uid = randomUUID()
  const { name, icon: avatar } = agent
  const fields = { uid, name, role: '@agentic', metadata: metadataOf(agent) }
  const user = { ...fields, ...(avatar !== undefined && { avatar }) }
  await addUser(tx, deps, { actor, user, bot: false })
  return uid
}

/** Lets users see a change. */
export async function changeAgentUser(
  tx: Tx,
  deps: Deps,
  actor: Actor,
  { uid, before, after }: { uid: string; before: Appearance; after: Appearance },
): Promise<void> {
  const [was, is] = [metadataOf(before), metadataOf(after)]
  const changes: UserChanges = {
    ...(after.name !== before.name && { name: after.name }),
    ...(after.icon !== undefined && after.icon !== before.icon && { avatar: after.icon }),
    ...(JSON.stringify(was) !== JSON.stringify(is) && { metadata: is }),
  }
  if (Object.keys(changes).length === 0) return
  await changeUser(tx, deps, actor, uid, changes)
}

/** The user stays, deactivated: conversations with the agent can still be read. */
export async function dropAgent(
  tx: Tx,
  deps: Deps,
  actor: Actor,
  { uid, kind }: { uid: string; kind: AgentKind },
) {
  const appNo = actor.app.no
  await lockAgents.run(tx, { appNo })
  if (!(await removeAgent.maybeOne(tx, { appNo, uid, kind }))) {
    throw fail('ERR_AGENT_NOT_FOUND', { uid })
  }
  await unfollowLog.run(tx, { appNo })
  await detachAll.run(tx, { appNo, agentUid: uid })
  await deactivate(tx, deps, appNo, [uid])
  return { success: true as const, message: `Agent ${uid} deleted.` }
}

/** Agents refer to parts that exist. The caller holds the lock. */
export async function checkBlocks(
  tx: Tx,
  appNo: number,
  named: [BlockKind, string[] | undefined][],
): Promise<void> {
  for (const [kind, slugs = []] of named) {
    if (slugs.length === 0) continue
    const [unknown] = await listUnknown.many(tx, { appNo, kind, slugs })
    if (unknown) throw fail('ERR_TOOL_NOT_FOUND', { id: unknown.slug })
  }
}
