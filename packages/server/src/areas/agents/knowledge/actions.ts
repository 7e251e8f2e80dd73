import type { Actor } from '../../../core/actor.ts'
import { readMessage } from '../../../core/message-access.ts'
import type { Deps } from '../../../deps.ts'
import { write } from '../../../gate/write.ts'
import type { Tx } from '../../../platform/db/db.ts'
import type { Executor } from '../../../platform/db/query.ts'
import { fail } from '../../../platform/http/fail.ts'
import { enqueue } from '../../../platform/jobs/queue.ts'
import { getAgentRow } from '../actions.ts'
import { lockAgents } from '../queries.ts'
import { indexKnowledgeJob, sweepKnowledgeJob } from './index.job.ts'
import {
  attachSources,
  type ChunkRow,
  countAttached,
  countSources,
  detachSources,
  findChunk,
  findSource,
  insertSource,
  isAgent,
  listStates,
  removeSource,
  type SourceRow,
  updateText,
} from './queries.ts'
import type {
  AttachParams,
  FailReason,
  KnowledgeChunk,
  KnowledgeSource,
  KnowledgeSourceDetails,
  KnowledgeTextChanges,
  NewKnowledgeText,
  SourceState,
} from './schema.ts'

const SOURCES_PER_APP = 10_000
/** A search names all sources of its agent. */
const SOURCES_PER_AGENT = 200

export const toSource = (row: SourceRow): KnowledgeSource => ({
  ...{ uniqueId: row.source_id, sourceType: row.kind, title: row.title },
  fileName: `${row.title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.txt`,
  status: row.state as SourceState,
  ...(row.reason !== null && { reason: row.reason as FailReason }),
  chunks: row.chunks,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime(),
})

export const toChunk = (row: ChunkRow): KnowledgeChunk => ({
  ...{ id: row.chunk_id, uniqueId: row.source_id, title: row.title },
  ...{ no: row.no, heading: row.heading, text: row.text },
})

const unknown = (id: string) => fail('ERR_KB_NOT_FOUND', { id })

export async function getKnowledgeSource(
  db: Executor,
  appNo: number,
  sourceId: string,
): Promise<KnowledgeSourceDetails> {
  const row = await findSource.maybeOne(db, { appNo, sourceId })
  if (!row) throw unknown(sourceId)
  return { ...toSource(row), ...(row.body !== null && { text: row.body }) }
}

export function createKnowledgeText(
  deps: Deps,
  actor: Actor,
  { title, text }: NewKnowledgeText,
): Promise<KnowledgeSource> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo })
    const { count } = await countSources.one(tx, { appNo })
    if (count >= SOURCES_PER_APP) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: SOURCES_PER_APP, what: 'sources' })
    }
    const row = await insertSource.one(tx, { appNo, kind: 'text', title, body: text })
    await enqueueIndex(tx, appNo, row.source_id)
    return toSource(row)
  })
}

export function updateKnowledgeText(
  deps: Deps,
  actor: Actor,
  sourceId: string,
  { title, text }: KnowledgeTextChanges,
): Promise<KnowledgeSource> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const row = await updateText.maybeOne(tx, {
      ...{ appNo, sourceId, title: title ?? null, body: text ?? null },
    })
    if (!row) throw unknown(sourceId)
    await enqueueIndex(tx, appNo, sourceId)
    return toSource(row)
  })
}

/** An app's sources are indexed one at a time, so that one app can't occupy the workers. */
const enqueueIndex = (tx: Tx, appNo: number, sourceId: string) =>
  enqueue(
    tx,
    appNo,
    indexKnowledgeJob,
    { sourceId },
    {
      ...{ dedupeKey: sourceId, serialKey: 'knowledge', priority: -1 },
    },
  )

/** No search finds it from now on. Its chunks are deleted a moment later. */
export function deleteKnowledgeSource(deps: Deps, actor: Actor, sourceId: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    if (!(await removeSource.maybeOne(tx, { appNo, sourceId }))) throw unknown(sourceId)
    await enqueue(tx, appNo, sweepKnowledgeJob, { sourceId })
    return { success: true as const, message: 'Source deleted.' }
  })
}

/** It changes nothing; a list of ids needs a body. */
export async function pollKnowledge(db: Executor, appNo: number, ids: string[]) {
  const rows = await listStates.many(db, { appNo, ids })
  return Object.fromEntries(rows.map(({ source_id: id, state }) => [id, state as SourceState]))
}

export function attachKnowledge(
  deps: Deps,
  actor: Actor,
  { uid, sourceType }: AttachParams,
  ids: string[],
) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo })
    await getAgentRow(tx, appNo, uid)
    const rows = await listStates.many(tx, { appNo, ids })
    const missing = ids.find(
      (id) => !rows.some(({ source_id, kind }) => source_id === id && kind === sourceType),
    )
    if (missing !== undefined) throw unknown(missing)
    await attachSources.run(tx, { appNo, agentUid: uid, ids })
    const { count } = await countAttached.one(tx, { appNo, agentUid: uid })
    if (count > SOURCES_PER_AGENT) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: SOURCES_PER_AGENT, what: 'sources' })
    }
    return { success: true as const, message: `Agent ${uid} knows ${ids.length} more.` }
  })
}

/** Sources that the agent doesn't have are skipped, so it can be repeated. */
export function detachKnowledge(deps: Deps, actor: Actor, uid: string, ids: string[]) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo })
    await getAgentRow(tx, appNo, uid)
    await detachSources.run(tx, { appNo, agentUid: uid, ids })
    return { success: true as const, message: `Agent ${uid} no longer knows ${ids.length}.` }
  })
}

/** What an answer cites, for those who may read the answer. */
export async function getMessageSource(
  actor: Actor,
  messageId: string,
  chunkId: string,
): Promise<KnowledgeChunk> {
  const { app } = actor
  const { sender, data } = await readMessage(actor, messageId)
  const { metadata } = data as { metadata?: { sources?: unknown } }
  const cited: { id?: unknown }[] = Array.isArray(metadata?.sources) ? metadata.sources : []
  const isCited = cited.some((source) => source?.id === chunkId)
  // Users can write any metadata into messages of their own.
  const { agent } = await isAgent.one(app.cell.db, { appNo: app.no, uid: sender })
  const row =
    isCited && agent && (await findChunk.maybeOne(app.cell.db, { appNo: app.no, chunkId }))
  if (!row) throw unknown(chunkId)
  return toChunk(row)
}
