import type { Embedder } from '../../core/models/vectors.ts'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../platform/db/query.ts'
import { findEmbedding } from './queries.ts'

/** The model that says what texts mean. Undefined if the app has none. */
export async function findEmbedder(
  { secrets, models }: Pick<Deps, 'secrets' | 'models'>,
  db: Executor,
  appNo: number,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Embedder | undefined> {
  const row = await findEmbedding.maybeOne(db, { appNo })
  if (!row || row.embedding_model === null) return undefined
  const { provider_id: providerId, embedding_model: model, url, key_sealed: sealed } = row
  const key = sealed ? secrets.open(['model_providers.key', appNo, providerId], sealed) : undefined
  const { outbound } = models
  return { id: `${providerId} ${model}`, outbound, url, key, model, timeoutMs, signal }
}
