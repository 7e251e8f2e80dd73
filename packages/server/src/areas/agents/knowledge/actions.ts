import type { Actor } from '../../../core/actor.ts'
import { readMessage } from '../../../core/message-access.ts'
import type { Deps } from '../../../deps.ts'
import { write } from '../../../gate/write.ts'
import type { Tx } from '../../../platform/db/db.ts'
import type { Executor } from '../../../platform/db/query.ts'
import { fail } from '../../../platform/http/fail.ts'
import { enqueue } from '../../../platform/jobs/queue.ts'
import {
  beginFileCheck,
  discardFile,
  driverOf,
  isUploaded,
  reserveWhole,
  wholeUrl,
} from '../../files/actions.ts'
import { getAgentRow } from '../actions.ts'
import { lockAgents } from '../queries.ts'
import { enqueueCrawl } from './crawl/crawl.job.ts'
import { indexKnowledgeJob, sweepKnowledgeJob } from './index.job.ts'
import {
  attachSources,
  beginUploaded,
  type ChunkRow,
  countAttached,
  countSources,
  detachSources,
  failUpload,
  findChunk,
  findSource,
  insertSource,
  isAgent,
  listStale,
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
  KnowledgeUploads,
  NewKnowledgeText,
  NewUploads,
  SourceState,
} from './schema.ts'

const SOURCES_PER_APP = 10_000
/** A search names all sources of its agent. */
const SOURCES_PER_AGENT = 200

export const toSource = (row: SourceRow): KnowledgeSource => ({
  ...{ uniqueId: row.source_id, sourceType: row.kind, title: row.title },
  fileName: row.file_name ?? `${row.title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.txt`,
  status: row.state as SourceState,
  ...(row.reason !== null && { reason: row.reason as FailReason }),
  chunks: row.chunks,
  ...(row.url !== null && { url: row.url, pages: row.pages }),
  ...(row.depth !== null && { depth: row.depth }),
  ...(row.most_pages !== null && { maxPages: row.most_pages }),
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime(),
})

export const toChunk = (row: ChunkRow): KnowledgeChunk => ({
  ...{ id: row.chunk_id, uniqueId: row.source_id, title: row.title },
  ...{ no: row.no, heading: row.heading, text: row.text },
  ...(row.url !== null && { url: row.url }),
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
    await lockSources(tx, appNo, 1)
    const row = await insertSource.one(tx, {
      ...{ appNo, kind: 'text', state: 'indexing', title, body: text },
      ...{ fileId: null, fileName: null, mimeType: null },
    })
    await enqueueIndex(tx, appNo, row)
    return toSource(row)
  })
}

/** Serialises what adds sources. */
export async function lockSources(tx: Tx, appNo: number, more: number): Promise<void> {
  await lockAgents.run(tx, { appNo })
  const { count } = await countSources.one(tx, { appNo })
  if (count + more > SOURCES_PER_APP) {
    throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: SOURCES_PER_APP, what: 'sources' })
  }
}

/** Says where to upload files. The URLs of a retry lead to the same files. */
export async function initiateKnowledgeUploads(
  deps: Deps,
  actor: Actor,
  { files }: NewUploads,
): Promise<KnowledgeUploads> {
  const driver = driverOf(deps)
  const { app } = actor
  const appNo = app.no
  const ids = await write(deps, actor, async (tx) => {
    await lockSources(tx, appNo, files.length)
    const made: { uploadId: string; fileId: string }[] = []
    for (const { fileName, mimeType, fileSize: size } of files) {
      const fileId = await reserveWhole(tx, actor, { name: fileName, mimeType, size })
      const { source_id: uploadId } = await insertSource.one(tx, {
        ...{ appNo, kind: 'uploads', state: 'uploading', title: fileName, body: null },
        ...{ fileId, fileName, mimeType },
      })
      made.push({ uploadId, fileId })
    }
    return made
  })
  const uploads = files.map(async (file, nth) => {
    const { uploadId = '', fileId: id = '' } = ids[nth] ?? {}
    const { fileSize: size, mimeType: type } = file
    return { uploadId, ...file, presignedUrl: await wholeUrl(driver, app.id, { id, size, type }) }
  })
  return { uploads: await Promise.all(uploads) }
}

/** Nobody tells us that an upload is complete, so we look when somebody asks about it. */
async function beginUploads(deps: Deps, actor: Actor, ids: string[]): Promise<void> {
  const { app } = actor
  const appNo = app.no
  for (const row of await listStates.many(app.cell.db, { appNo, ids })) {
    const { source_id: sourceId, file_id: fileId, state } = row
    if (state !== 'uploading' || fileId === null) continue
    const uploaded = await isUploaded(deps, app, fileId)
    if (uploaded === undefined) await failUpload.run(app.cell.db, { appNo, sourceId })
    if (!uploaded) continue
    // The answer to this request is another one's.
    const { retry: _retry, ...once } = actor
    await beginFileCheck(deps, once, fileId)
    await app.cell.db.tx(async (tx) => {
      if (await beginUploaded.maybeOne(tx, { appNo, sourceId })) {
        await enqueueIndex(tx, appNo, row)
      }
    })
  }
}

/** Starts jobs again that have given up, for example because the file store was down for hours. */
async function resumeIndexing({ app }: Actor, ids: string[]): Promise<void> {
  await app.cell.db.tx(async (tx) => {
    const stale = await listStale.many(tx, { appNo: app.no, ids })
    for (const row of stale) {
      if (row.kind === 'websites') await enqueueCrawl(tx, app.no, row.source_id)
      else await enqueueIndex(tx, app.no, row)
    }
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
    await enqueueIndex(tx, appNo, row)
    return toSource(row)
  })
}

/**
 * An app's texts are indexed one at a time, so that one app can't occupy the workers. Uploads may wait for the check of
 * their file, and must not hold up others.
 */
const enqueueIndex = (
  tx: Tx,
  appNo: number,
  { source_id: sourceId, kind }: Pick<SourceRow, 'source_id' | 'kind'>,
) =>
  enqueue(...([tx, appNo, indexKnowledgeJob, { sourceId }] as const), {
    ...{ dedupeKey: sourceId, priority: -1 },
    ...(kind === 'text' && { serialKey: 'knowledge' }),
  })

/** No search finds it from now on. Its chunks are deleted a moment later. */
export function deleteKnowledgeSource(deps: Deps, actor: Actor, sourceId: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    // Nobody attaches it meanwhile.
    await lockAgents.run(tx, { appNo })
    const gone = await removeSource.maybeOne(tx, { appNo, sourceId })
    if (!gone) throw unknown(sourceId)
    if (gone.file_id !== null) await discardFile(tx, appNo, gone.file_id)
    await enqueue(tx, appNo, sweepKnowledgeJob, { sourceId })
    return { success: true as const, message: 'Source deleted.' }
  })
}

/** Notices uploads that are complete. */
export async function pollKnowledge(deps: Deps, actor: Actor, ids: string[]) {
  const { app } = actor
  await beginUploads(deps, actor, ids)
  await resumeIndexing(actor, ids)
  const rows = await listStates.many(app.cell.db, { appNo: app.no, ids })
  return Object.fromEntries(rows.map(({ source_id: id, state }) => [id, state as SourceState]))
}

export async function attachKnowledge(
  deps: Deps,
  actor: Actor,
  { uid, sourceType }: AttachParams,
  ids: string[],
) {
  const appNo = actor.app.no
  await beginUploads(deps, actor, ids)
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
    return { success: true as const, message: `Agent ${uid} has these sources now.` }
  })
}

/** Sources that the agent doesn't have are skipped, so it can be repeated. */
export function detachKnowledge(
  deps: Deps,
  actor: Actor,
  { uid, sourceType }: AttachParams,
  ids: string[],
) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo })
    await getAgentRow(tx, appNo, uid)
    await detachSources.run(tx, { appNo, agentUid: uid, ids, kind: sourceType })
    return { success: true as const, message: `Agent ${uid} does not have these sources any more.` }
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
