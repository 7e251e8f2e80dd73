import type { Tx } from '../../platform/db/db.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { embedJob } from './embed.job.ts'
import { findEmbedding, listSources } from './queries.ts'

/** Embeds a source that was indexed, if the app has a model for that. */
export async function startEmbeddingOf(tx: Tx, appNo: number, sourceId: string): Promise<void> {
  if (!(await findEmbedding.maybeOne(tx, { appNo }))) return
  await enqueue(tx, appNo, embedJob, { sourceId }, { dedupeKey: sourceId, priority: -1 })
}

/** Embeds all sources. */
export async function startEmbedding(tx: Tx, appNo: number): Promise<void> {
  for (const { source_id: sourceId } of await listSources.many(tx, { appNo }))
    await startEmbeddingOf(tx, appNo, sourceId)
}
