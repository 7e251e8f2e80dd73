import type { Actor, ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import type { ExternalAgent, ExternalAgentChanges, NewExternalAgent } from './external.schema.ts'
import { checkHeaders } from './headers.ts'
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

declare module '../../platform/secrets/secrets.ts' {
  interface Places {
    'agents.headers': [appNo: number, uid: string]
  }
}

/** What is stored of an external agent, but for its name, its picture, its headers and whether it is active. */
export type ExternalDefinition = Omit<
  NewExternalAgent,
  'name' | 'icon' | 'isActive' | 'suggestions'
>

/** The record in answers. */
export function toExternalAgent(
  { id: appId }: Pick<ServedApp, 'id'>,
  row: AgentRow,
): ExternalAgent {
  const { integrateWith, integrationType, instruction, ...rest } =
    row.definition as ExternalDefinition
  const { baseUrl, agentId, idempotent } = rest.integrationMeta
  return {
    ...{ uid: row.uid, appId, name: row.name, icon: row.icon ?? '', isActive: row.active },
    revision: row.revision,
    answersMentions: rest.answersMentions ?? false,
    answersAgents: rest.answersAgents ?? false,
    handBackAfterSeconds: rest.handBackAfterSeconds ?? 0,
    ...{ integrateWith, integrationType },
    integrationMeta: {
      baseUrl,
      ...(agentId !== undefined && { agentId }),
      ...(idempotent !== undefined && { idempotent }),
      hasHeaders: row.headers_sealed !== null,
    },
    ...{ tools: rest.tools ?? [], actions: rest.actions ?? [] },
    ...(instruction !== undefined && { instruction }),
    metaData: rest.metaData ?? {},
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

export async function createExternalAgent(
  deps: Deps,
  actor: Actor,
  given: NewExternalAgent,
): Promise<ExternalAgent> {
  const appNo = actor.app.no
  const agent = withSuggestions(given)
  const { name, icon: _icon, isActive: active = true, ...definition } = agent
  const { headers, ...integrationMeta } = agent.integrationMeta
  await checkTarget(deps, integrationMeta.baseUrl)
  return write(deps, actor, async (tx) => {
    const uid = await addAgentUser(tx, deps, actor, agent)
    await checkBlocks(tx, appNo, [['tool', [...(agent.tools ?? []), ...(agent.actions ?? [])]]])
    await followLog.run(tx, { appNo })
    const stored = JSON.stringify({ ...definition, integrationMeta })
    const headersSealed = sealed(deps, appNo, uid, headers)
    const fields = { name, active, definition: stored, headersSealed }
    const row = await insertAgent.one(tx, { appNo, kind: 'external', uid, ...fields })
    return toExternalAgent(actor.app, { ...row, revision: await revise(tx, actor, uid) })
  })
}

export async function updateExternalAgent(
  deps: Deps,
  actor: Actor,
  uid: string,
  given: ExternalAgentChanges,
) {
  const { app } = actor
  const appNo = app.no
  const changes = withSuggestions(given)
  const { integrationMeta: meta } = changes
  if (meta) await checkTarget(deps, meta.baseUrl)
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo })
    const before = await findAgent.maybeOne(tx, { appNo, kind: 'external', uid })
    if (!before) throw fail('ERR_AGENT_NOT_FOUND', { uid })
    const { name = before.name, icon, isActive: active = before.active, ...rest } = changes
    const old = before.definition as ExternalDefinition
    const { headers, ...integrationMeta } = meta ?? old.integrationMeta
    const definition: ExternalDefinition = { ...old, ...rest, integrationMeta }
    await checkBlocks(tx, appNo, [['tool', [...(rest.tools ?? []), ...(rest.actions ?? [])]]])
    const shown = toExternalAgent(app, before)
    const after = { name, icon, metaData: definition.metaData ?? {} }
    await changeAgentUser(tx, deps, actor, { uid, before: shown, after })
    // Whoever changes the URL would otherwise learn the headers.
    const moved = integrationMeta.baseUrl !== old.integrationMeta.baseUrl
    const kept = moved ? null : before.headers_sealed
    await updateAgentRow.run(tx, {
      ...{ appNo, kind: 'external', uid, name, active },
      definition: JSON.stringify(definition),
      headersSealed: headers === undefined ? kept : sealed(deps, appNo, uid, headers),
    })
    await revise(tx, actor, uid)
    return { success: true as const, message: `Agent ${uid} changed.` }
  })
}

export const deleteExternalAgent = (deps: Deps, actor: Actor, uid: string) =>
  write(deps, actor, (tx) => dropAgent(tx, deps, actor, { uid, kind: 'external' }))

/** Suggestions have an older name. */
function withSuggestions<T extends ExternalAgentChanges>({ suggestions, ...agent }: T) {
  if (suggestions === undefined) return agent
  return { ...agent, metaData: { ...agent.metaData, suggestedMessages: suggestions } }
}

async function checkTarget({ targets }: Deps, baseUrl: string): Promise<void> {
  const fault = await targets.faultOf(baseUrl)
  if (fault) throw badRequest({ 'integrationMeta.baseUrl': [`baseUrl ${fault}`] })
}

const sealed = (
  { secrets }: Deps,
  appNo: number,
  uid: string,
  headers: Record<string, string> | undefined,
) =>
  headers && Object.keys(headers).length > 0
    ? secrets.seal(['agents.headers', appNo, uid], JSON.stringify(checkHeaders(headers)))
    : null
