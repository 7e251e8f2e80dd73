import { createHash } from 'node:crypto'
import { embed } from '../../core/models/adapter.ts'
import type { Embedder } from '../../core/models/vectors.ts'
import type { Deps } from '../../deps.ts'
import type { Turn } from '../../gate/turn.ts'
import type { Executor } from '../../platform/db/query.ts'
import { CallFailed } from '../../platform/net/json-call.ts'
import { type EmbeddingRow, findEmbedding, reserveEmbedding, settleEmbedding } from './queries.ts'

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
  const { provider_id: providerId, embedding_model: model, url } = row
  const { key_sealed: sealed } = row
  const key = sealed ? secrets.open(['model_providers.key', appNo, providerId], sealed) : undefined
  const { outbound } = models
  const names = { id: vectorsIdOf(row), name: `${providerId} ${model}` }
  return { ...names, outbound, url, key, model, timeoutMs, signal }
}

/**
 * Embeds texts with one call, within the app's budget: the most that it can cost is reserved before. Undefined if the app's
 * month has too few tokens for it. The `turn` of a request isn't needed while the model is asked.
 */
export async function embedWithin(
  db: Executor,
  appNo: number,
  embedder: Embedder,
  texts: string[],
  turn?: Turn,
): Promise<Float32Array[] | undefined> {
  const most = Buffer.byteLength(texts.join(''))
  const { call } = await reserveEmbedding.one(db, { appNo, model: embedder.id, tokens: most })
  if (call === null) return undefined
  const settle = (tokens: number) => settleEmbedding.run(db, { appNo, call, tokens })
  try {
    const asking = embed(embedder, texts)
    const { vectors, tokens } = await (turn?.outside(asking) ?? asking)
    await settle(tokens)
    return vectors
  } catch (error) {
    // Otherwise nobody knows what the provider counts, so the call costs all that was reserved.
    if (error instanceof CallFailed) await settle(error.unsent || isRefusal(error) ? 0 : most)
    throw error
  }
}

const isRefusal = ({ category, status = 0 }: CallFailed) =>
  category === 'http_4xx' && status !== 408 && status !== 409
