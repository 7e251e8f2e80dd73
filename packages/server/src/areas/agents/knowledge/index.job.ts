import { Type } from 'typebox'
import { sweepAll } from '../../../core/sweep.ts'
import { defineJob } from '../../../deps.ts'
import type { Tx } from '../../../platform/db/db.ts'
import { type Chunk, chunkIdOf, chunksOf, wordsOf } from './chunks.ts'
import {
  countOtherChunks,
  endIndexing,
  findSource,
  insertChunks,
  lockSource,
  removeChunks,
  type SourceRow,
  sweepChunks,
} from './queries.ts'
import type { FailReason } from './schema.ts'

/** The most chunks of an app. */
const APP_CHUNKS = 100_000
/** The most chunks of a source: about as many as a transaction writes in two seconds. */
const SOURCE_CHUNKS = 5_000
const BATCH = 200

/** Cuts a source into chunks. The old ones are found until the new ones replace them. */
export const indexKnowledgeJob = defineJob({
  name: 'knowledge.index',
  summary: 'Indexes a source of knowledge for agents.',
  input: Type.Object({ sourceId: Type.String() }),
  checkpoint: Type.Object({}),
  async run({ appNo, input: { sourceId }, checkpoint, context: { cell } }) {
    const source = await findSource.maybeOne(cell.db, { appNo, sourceId })
    if (source?.state !== 'indexing') return
    const chunks = chunksOf(source.body ?? '')
    await checkpoint(async (tx) => {
      if (await lockSource.maybeOne(tx, { appNo, sourceId })) {
        await replaceChunks(tx, appNo, source, chunks)
      }
      return {}
    })
  },
})

/** A source that was changed meanwhile stays `indexing`: its job runs again. */
async function replaceChunks(tx: Tx, appNo: number, source: SourceRow, chunks: Chunk[]) {
  const { source_id: sourceId, revision } = source
  const { count } = await countOtherChunks.one(tx, { appNo, sourceId })
  const reason = faultOf(chunks.length, count)
  const stored = reason ? [] : chunks
  await removeChunks.run(tx, { appNo, sourceId })
  for (let first = 0; first < stored.length; first += BATCH) {
    await insertChunks.run(tx, {
      ...{ appNo, sourceId, first },
      ...columnsOf(source, stored.slice(first, first + BATCH)),
    })
  }
  await endIndexing.run(tx, {
    ...{ appNo, sourceId, revision, chunks: stored.length },
    ...(reason ? { state: 'failed', reason } : { state: 'indexed', reason: null }),
  })
}

function faultOf(chunks: number, others: number): FailReason | undefined {
  if (chunks === 0) return 'empty'
  if (chunks > SOURCE_CHUNKS) return 'too_long'
  return others + chunks > APP_CHUNKS ? 'app_full' : undefined
}

const columnsOf = ({ source_id: id, title }: SourceRow, chunks: Chunk[]) => ({
  ids: chunks.map((chunk) => chunkIdOf(id, chunk)),
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
