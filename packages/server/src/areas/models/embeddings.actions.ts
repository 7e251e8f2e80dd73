import type { Tx } from '../../platform/db/db.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { embedAllJob, embedJob } from './embed.job.ts'
import { findEmbedding } from './queries.ts'

/** Embeds a source that was indexed, if the app has a model for that. */
export async function startEmbeddingOf(tx: Tx, appNo: number, sourceId: string): Promise<void> {
  if (!(await findEmbedding.maybeOne(tx, { appNo }))) return
  await enqueue(tx, appNo, embedJob, { sourceId }, { dedupeKey: sourceId, priority: -1 })
}

/** Embeds all sources. An app may have thousands, so a job starts theirs. */
export async function startEmbedding(tx: Tx, appNo: number): Promise<void> {
  await enqueue(tx, appNo, embedAllJob, {}, { dedupeKey: 'all', priority: -1 })
}
