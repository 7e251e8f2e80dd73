import { createHash } from 'node:crypto'
import type { Embedder } from '../../core/models/vectors.ts'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../platform/db/query.ts'
import { type EmbeddingRow, findEmbedding } from './queries.ts'

/** What the vectors of a model are known by. Models of two servers may have the same name, and are different ones. */
export function vectorsIdOf({ provider_id: id, embedding_model: model, url }: EmbeddingRow) {
  const server = createHash('sha256').update(url).digest('hex').slice(0, 8)
  return `${id} ${model} ${server}`
}

/** The model that says what texts mean. Undefined if the app has none. */
export async function findEmbedder(
  { secrets, models }: Pick<Deps, 'secrets' | 'models'>,
  db: Executor,
  appNo: number,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Embedder | undefined> {
  const row = await findEmbedding.maybeOne(db, { appNo })
  if (!row) return undefined
  const { provider_id: providerId, embedding_model: model, url, exhausted } = row
  const { key_sealed: sealed } = row
  const key = sealed ? secrets.open(['model_providers.key', appNo, providerId], sealed) : undefined
  const { outbound } = models
  const names = { id: vectorsIdOf(row), name: `${providerId} ${model}` }
  return { ...names, exhausted, outbound, url, key, model, timeoutMs, signal }
}
