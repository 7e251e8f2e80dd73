import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { sweepAll } from '../../../core/sweep.ts'
import { type Deps, defineJob } from '../../../deps.ts'
import type { Cell } from '../../../platform/cells/directory.ts'
import type { Tx } from '../../../platform/db/db.ts'
import { Postponed } from '../../../platform/jobs/definition.ts'
import { discardFile } from '../../files/actions.ts'
import { findFile } from '../../files/queries.ts'
import { prefixOf } from '../../files/record.ts'
import { startEmbeddingOf } from '../../models/embeddings.actions.ts'
import { type Chunk, chunkIdOf, wordsOf } from './chunks.ts'
import { type Extracted, extract } from './extract.ts'
import {
  countOtherChunks,
  endIndexing,
  findSource,
  lockSource,
  putChunks,
  removeChunks,
  type SourceRow,
  sweepChunks,
} from './queries.ts'
import type { FailReason, FileType } from './schema.ts'

/** The most chunks of an app. */
export const APP_CHUNKS = 100_000
const BATCH = 200
/** How often to look whether a file was checked. */
const CHECK_MS = 1_000

/** Cuts a source into chunks. The old ones are found until the new ones replace them. */
export const indexKnowledgeJob = defineJob({
  name: 'knowledge.index',
  summary: 'Indexes a source of knowledge for agents.',
  input: Type.Object({ sourceId: Type.String() }),
  checkpoint: Type.Object({}),
  async run({ appNo, input: { sourceId }, checkpoint, signal, context: { deps, cell } }) {
    const source = await findSource.maybeOne(cell.db, { appNo, sourceId })
    if (source?.state !== 'indexing') return
    const read =
      source.kind === 'text'
        ? await extract({ text: source.body ?? '' }, { appNo, signal })
        : await readUpload(deps, cell, appNo, source, signal)
    await checkpoint(async (tx) => {
      if (await lockSource.maybeOne(tx, { appNo, sourceId })) {
        await replaceChunks(tx, appNo, source, read)
        if (source.file_id !== null) await discardFile(tx, appNo, source.file_id)
        await startEmbeddingOf(tx, appNo, sourceId)
      }
      return {}
    })
  },
})

/** The text of a file that was uploaded, once it was checked. */
async function readUpload(
  { files: driver }: Pick<Deps, 'files'>,
  { db }: Cell,
  appNo: number,
  { file_id: id, mime_type: type, app_id: appId }: SourceRow & { app_id: string },
  signal: AbortSignal,
): Promise<Extracted> {
  if (!driver) throw new Error('this worker has no store for files')
  const file = id === null ? undefined : await findFile.maybeOne(db, { appNo, id })
  if (file?.state === 'checking') throw new Postponed(CHECK_MS)
  if (file?.state !== 'ready') return { reason: 'rejected' }
  const folder = await driver.openScratch()
  try {
    const path = join(folder, 'file')
    await driver.fetch([`${prefixOf(appId, file.id)}/body`], path, signal)
    return await extract({ path, type: type as FileType }, { appNo, signal })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A source that was changed meanwhile stays `indexing`: its job runs again. */
async function replaceChunks(tx: Tx, appNo: number, source: SourceRow, read: Extracted) {
  const { source_id: sourceId, revision } = source
  const { count } = await countOtherChunks.one(tx, { appNo, sourceId })
  const reason = faultOf(read, count)
  const stored = 'chunks' in read && !reason ? read.chunks : []
  await removeChunks.run(tx, { appNo, sourceId, kept: idsOf(sourceId, stored) })
  await storeChunks(tx, { appNo, sourceId, pageId: null, title: source.title, first: 0 }, stored)
  await endIndexing.run(tx, {
    ...{ appNo, sourceId, revision, chunks: stored.length },
    ...(reason ? { state: 'failed', reason } : { state: 'indexed', reason: null }),
  })
}

function faultOf(read: Extracted, others: number): FailReason | undefined {
  if ('reason' in read) return read.reason
  return others + read.chunks.length > APP_CHUNKS ? 'app_full' : undefined
}

/** A source, or a page of one. */
interface Owner {
  appNo: number
  sourceId: string
  pageId: string | null
  title: string
  /** The place of its first chunk in the source. */
  first: number
}

/** Stores chunks. Those that exist stay, with their vectors. */
export async function storeChunks(tx: Tx, owner: Owner, chunks: Chunk[]): Promise<void> {
  const { title, ...place } = owner
  const id = owner.pageId ?? owner.sourceId
  for (let from = 0; from < chunks.length; from += BATCH) {
    const some = columnsOf({ id, title }, chunks.slice(from, from + BATCH))
    await putChunks.run(tx, { ...place, first: owner.first + from, ...some })
  }
}

/** The ids of the chunks of a source or page. */
export const idsOf = (ownerId: string, chunks: Chunk[]) =>
  chunks.map((chunk) => chunkIdOf(ownerId, chunk))

const columnsOf = ({ id, title }: { id: string; title: string }, chunks: Chunk[]) => ({
  ids: idsOf(id, chunks),
  headings: chunks.map(({ heading }) => heading),
  texts: chunks.map(({ text }) => text),
  headWords: chunks.map(({ heading }) => wordsOf(`${title} ${heading}`)),
  textWords: chunks.map(({ text }) => wordsOf(text)),
})

export const sweepKnowledgeJob = defineJob({
  name: 'knowledge.sweep',
  summary: 'Deletes the chunks of a deleted source of knowledge.',
  input: Type.Object({ sourceId: Type.String() }),
  run: (run) =>
    sweepAll(run, (limit) =>
      run.context.cell.db.call((tx) =>
        sweepChunks.one(tx, { appNo: run.appNo, sourceId: run.input.sourceId, limit }),
      ),
    ),
})
