import type { Actor, ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { isEmpty } from '../../platform/http/changes.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { getProviderRow } from '../models/actions.ts'
import { addAgentUser, changeAgentUser, checkBlocks, dropAgent } from './people.ts'
import {
  type AgentRow,
  findAgent,
  followLog,
  insertAgent,
  lockAgents,
  updateAgentRow,
} from './queries.ts'
import { revise } from './revisions.queries.ts'
import { type Agent, type AgentChanges, DEFAULT_MODEL, type NewAgent } from './schema.ts'

/** What is stored of a built agent, but for its name, its picture and whether it is active. */
export type Definition = Omit<NewAgent, 'name' | 'icon' | 'isActive'>

/** The record in answers. */
export function toAgent({ id: appId }: Pick<ServedApp, 'id'>, row: AgentRow): Agent {
  const definition = row.definition as Definition
  const { description, instruction, model = DEFAULT_MODEL } = definition
  return {
    ...{ uid: row.uid, appId, name: row.name, isActive: row.active, revision: row.revision },
    ...(row.icon !== null && { icon: row.icon }),
    ...(description !== undefined && { description }),
    answersMentions: definition.answersMentions ?? false,
    answersAgents: definition.answersAgents ?? false,
    handBackAfterSeconds: definition.handBackAfterSeconds ?? 0,
    tools: definition.tools ?? [],
    apiTools: definition.apiTools ?? [],
    mcpServers: definition.mcpServers ?? [],
    frontendActions: definition.frontendActions ?? [],
    serviceTools: definition.serviceTools ?? [],
    files: row.sources.filter((id) => !row.websites.includes(id)),
    ...{ websites: row.websites, otherKbIntegrations: [] },
    ...(row.last_message_at && { lastMessageAt: row.last_message_at.getTime() }),
    ...(instruction !== undefined && { instruction, formattedInstruction: instruction }),
    ...{ model, metaData: definition.metaData ?? {} },
    modelMetaData: definition.modelMetaData ?? {},
    ...(definition.providerId !== undefined && { providerId: definition.providerId }),
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  }
}

export async function getAgentRow(db: Executor, appNo: number, uid: string): Promise<AgentRow> {
  const row = await findAgent.maybeOne(db, { appNo, kind: 'built', uid })
  if (!row) throw fail('ERR_AGENT_NOT_FOUND', { uid })
  return row
}

export function createAgent(deps: Deps, actor: Actor, agent: NewAgent): Promise<Agent> {
  const { name, icon: _icon, isActive: active = true, ...definition } = agent
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const uid = await addAgentUser(tx, deps, actor, agent)
    await checkParts(tx, appNo, definition)
    await followLog.run(tx, { appNo })
    const fields = { name, active, definition: JSON.stringify(definition), headersSealed: null }
    const row = await insertAgent.one(tx, { appNo, kind: 'built', uid, ...fields })
    return toAgent(actor.app, { ...row, revision: await revise(tx, actor, uid) })
  })
}

export function updateAgent(deps: Deps, actor: Actor, uid: string, changes: AgentChanges) {
  return write(deps, actor, async (tx) => {
    await changeAgent(tx, deps, actor, uid, () => changes)
    return { success: true as const, message: `Agent ${uid} changed.` }
  })
}

export function addAgentMcpServers(deps: Deps, actor: Actor, uid: string, mcps: string[]) {
  return write(deps, actor, async (tx) => {
    const row = await changeAgent(tx, deps, actor, uid, ({ mcpServers: known }) => {
      const twice = mcps.find((slug) => known.includes(slug))
      if (twice !== undefined) throw fail('ERR_TOOL_ALREADY_ADDED', { id: twice })
      return { mcpServers: [...known, ...mcps] }
    })
    return toAgent(actor.app, row)
  })
}

export const deleteAgent = (deps: Deps, actor: Actor, uid: string) =>
  write(deps, actor, (tx) => dropAgent(tx, deps, actor, { uid, kind: 'built' }))

/** Changes an agent and its user in one transaction. */
async function changeAgent(
  tx: Tx,
  deps: Deps,
  actor: Actor,
  uid: string,
  decide: (agent: Agent) => AgentChanges,
): Promise<AgentRow> {
  const { app } = actor
  const appNo = app.no
  await lockAgents.run(tx, { appNo })
  const before = await getAgentRow(tx, appNo, uid)
  const agent = toAgent(app, before)
  const changes = decide(agent)
  if (isEmpty(changes)) return before
  const { name = before.name, icon, isActive: active = before.active, ...rest } = changes
  const definition = { ...(before.definition as Definition), ...rest }
  await checkParts(tx, appNo, rest)
  const after = { ...definition, name, icon }
  await changeAgentUser(tx, deps, actor, { uid, before: agent, after })
  const fields = { name, active, definition: JSON.stringify(definition), headersSealed: null }
  const row = await updateAgentRow.one(tx, { appNo, kind: 'built', uid, ...fields })
  return { ...row, revision: await revise(tx, actor, uid) }
}

async function checkParts(tx: Tx, appNo: number, parts: AgentChanges): Promise<void> {
  await checkBlocks(tx, appNo, [
    ['tool', parts.tools],
    ['apiTool', parts.apiTools],
    ['mcpServer', parts.mcpServers],
    ['frontendAction', parts.frontendActions],
  ])
  const names = parts.serviceTools?.map(({ name }) => name) ?? []
  if (new Set(names).size < names.length) {
    throw badRequest({ serviceTools: ['must not name a tool twice'] })
  }
  // Deleting a provider takes the same lock.
  if (parts.providerId !== undefined) await getProviderRow(tx, appNo, parts.providerId)
}
