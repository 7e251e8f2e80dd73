import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { fail } from '../../platform/http/fail.ts'
import { getProviderRow } from '../models/actions.ts'
import { type BlockKind, listUnknown } from './blocks.queries.ts'
import { changeAgentUser } from './people.ts'
import {
  type AgentKind,
  type AgentRow,
  findAnyAgent,
  lockAgents,
  updateAgentRow,
} from './queries.ts'
import { findRevision, listRevisions, type RevisionRow, revise } from './revisions.queries.ts'
import type {
  AgentRevision,
  AgentRevisionDetails,
  AgentRevisionQuery,
  Content,
  RestoredRevision,
} from './revisions.schema.ts'

const toRevision = (agentUid: string, row: RevisionRow): AgentRevision => ({
  ...{ no: row.no, agentUid, changed: row.changed },
  ...(row.operator !== null && { operator: row.operator }),
  ...(row.api_key !== null && { apiKey: row.api_key }),
  ...(row.restores !== null && { restores: row.restores }),
  createdAt: row.created_at.getTime(),
})

async function getAgent(db: Executor, appNo: number, uid: string): Promise<AgentRow> {
  const row = await findAnyAgent.maybeOne(db, { appNo, uid })
  if (!row) throw fail('ERR_AGENT_NOT_FOUND', { uid })
  return row
}

async function getRow(db: Executor, appNo: number, uid: string, no: number) {
  const row = await findRevision.maybeOne(db, { appNo, uid, no })
  if (!row) throw fail('ERR_AGENT_REVISION_NOT_FOUND', { uid, no })
  return row
}

export async function listAgentRevisions({ app }: Actor, uid: string, query: AgentRevisionQuery) {
  const { limit, before = null } = query
  const { db } = app.cell
  await getAgent(db, app.no, uid)
  const rows = await listRevisions.many(db, { appNo: app.no, uid, before, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { data: shown.map((row) => toRevision(uid, row)), meta: last ? { next: last.no } : {} }
}

export async function getAgentRevision(
  { app }: Actor,
  uid: string,
  no: number,
): Promise<AgentRevisionDetails> {
  await getAgent(app.cell.db, app.no, uid)
  const row = await getRow(app.cell.db, app.no, uid, no)
  return { ...toRevision(uid, row), content: row.content as Content }
}

/**
 * Gives an agent the content of an earlier revision, which makes a new one. It stays active or not, and keeps its picture.
 * Headers of an external agent stay only if its URL does, because another server must not learn them.
 */
export function restoreAgentRevision(
  deps: Deps,
  actor: Actor,
  uid: string,
  no: number,
): Promise<RestoredRevision> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo })
    const before = await getAgent(tx, appNo, uid)
    const old = before.definition as Content
    const { content } = await getRow(tx, appNo, uid, no)
    const { leftOut, ...kept } = await withoutDeleted(tx, appNo, content as Content)
    const { name = before.name, ...definition } = kept.content
    // An agent that can't answer would be worse than one that stays as it is.
    if (definition.providerId !== undefined) await getProviderRow(tx, appNo, definition.providerId)
    await changeAgentUser(tx, deps, actor, {
      ...{ uid, before: { ...old, name: before.name }, after: { ...definition, name } },
    })
    const moved = definition.integrationMeta?.baseUrl !== old.integrationMeta?.baseUrl
    await updateAgentRow.run(tx, {
      ...{ appNo, uid, kind: before.kind as AgentKind, name, active: before.active },
      definition: JSON.stringify(definition),
      headersSealed: moved ? null : before.headers_sealed,
    })
    const last = await revise(tx, actor, uid, no)
    return { ...toRevision(uid, await getRow(tx, appNo, uid, last)), leftOut }
  })
}

const PARTS = {
  tools: 'tool',
  apiTools: 'apiTool',
  mcpServers: 'mcpServer',
  frontendActions: 'frontendAction',
  actions: 'tool',
} satisfies { [Field in keyof Content]: BlockKind }

/** Parts may have been deleted since. Somebody who has to go back at once can't wait until they are there again. */
async function withoutDeleted(tx: Tx, appNo: number, content: Content) {
  const leftOut: RestoredRevision['leftOut'] = []
  const kept = { ...content }
  for (const [field, kind] of Object.entries(PARTS) as [keyof typeof PARTS, BlockKind][]) {
    const slugs = content[field] ?? []
    const unknown = (await listUnknown.many(tx, { appNo, kind, slugs })).map(({ slug }) => slug)
    if (unknown.length === 0) continue
    kept[field] = slugs.filter((slug) => !unknown.includes(slug))
    leftOut.push(...unknown.map((name) => ({ field, name })))
  }
  return { content: kept, leftOut }
}
