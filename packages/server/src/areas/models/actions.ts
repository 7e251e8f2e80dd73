import type { EventType } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import type { ProviderKind } from '../../core/models/prompt.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { isEmpty } from '../../platform/http/changes.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { startEmbedding } from './embeddings.actions.ts'
import {
  findProvider,
  findUse,
  insertProvider,
  listProviderRows,
  lockProviders,
  type ProviderRow,
  removeProvider,
  updateProvider,
} from './queries.ts'
import type { ModelProvider, ModelProviderChanges, NewModelProvider } from './schema.ts'

declare module '../../platform/secrets/secrets.ts' {
  interface Places {
    'model_providers.key': [appNo: number, id: string]
  }
}

const PROVIDERS_PER_APP = 25

/** The record in answers. */
export const toModelProvider = (row: ProviderRow): ModelProvider => ({
  ...{ id: row.provider_id, name: row.name, kind: row.kind as ProviderKind, url: row.url },
  ...(row.input_price !== null && { inputPrice: row.input_price }),
  ...(row.output_price !== null && { outputPrice: row.output_price }),
  ...(row.fallback_id !== null && { fallbackId: row.fallback_id }),
  ...(row.fallback_model !== null && { fallbackModel: row.fallback_model }),
  ...(row.embedding_model !== null && { embeddingModel: row.embedding_model }),
  hasKey: row.key_sealed !== null,
  ...{ createdAt: seconds(row.created_at), updatedAt: seconds(row.updated_at) },
})

export async function getProviderRow(db: Executor, appNo: number, id: string) {
  const row = await findProvider.maybeOne(db, { appNo, id })
  if (!row) throw fail('ERR_MODEL_PROVIDER_NOT_FOUND', { id })
  return row
}

export async function createModelProvider(
  deps: Deps,
  actor: Actor,
  provider: NewModelProvider,
): Promise<ModelProvider> {
  const appNo = actor.app.no
  const { id, name, kind = 'openai', url, key } = provider
  const {
    inputPrice = null,
    outputPrice = null,
    fallbackId = null,
    fallbackModel = null,
    embeddingModel = null,
  } = provider
  await checkTarget(deps, url)
  return write(deps, actor, async (tx) => {
    await lockProviders.run(tx, { appNo })
    const rows = await listProviderRows.many(tx, { appNo })
    if (rows.length >= PROVIDERS_PER_APP) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: PROVIDERS_PER_APP, what: 'providers' })
    }
    await checkFallback(tx, appNo, id, fallbackId)
    const keySealed = sealed(deps, appNo, id, key)
    const prices = { inputPrice, outputPrice }
    checkEmbedding(kind, embeddingModel)
    const others = { ...prices, fallbackId, fallbackModel, embeddingModel }
    const row = await insertProvider.maybeOne(tx, {
      appNo,
      id,
      name,
      kind,
      url,
      keySealed,
      ...others,
    })
    if (!row) throw badRequest({ id: [`there is already a provider "${id}"`] })
    if (embeddingModel !== null) await startEmbedding(tx, appNo)
    return announceProvider(tx, appNo, 'model.provider.created', row)
  })
}

export async function updateModelProvider(
  deps: Deps,
  actor: Actor,
  id: string,
  changes: ModelProviderChanges,
): Promise<ModelProvider> {
  const appNo = actor.app.no
  if (changes.url !== undefined) await checkTarget(deps, changes.url)
  return write(deps, actor, async (tx) => {
    await lockProviders.run(tx, { appNo })
    const before = await getProviderRow(tx, appNo, id)
    if (isEmpty(changes)) return toModelProvider(before)
    const { name = before.name, url = before.url, key } = changes
    const { inputPrice = before.input_price, outputPrice = before.output_price } = changes
    const { fallbackId = before.fallback_id, fallbackModel = before.fallback_model } = changes
    const { embeddingModel = before.embedding_model } = changes
    checkEmbedding(before.kind, embeddingModel)
    await checkFallback(tx, appNo, id, fallbackId)
    // Whoever changes the URL would otherwise learn the key.
    const moved = url !== before.url && key === undefined
    const kept = moved ? null : before.key_sealed
    const keySealed = key === undefined ? kept : sealed(deps, appNo, id, key)
    const others = { inputPrice, outputPrice, fallbackId, fallbackModel, embeddingModel }
    const row = await updateProvider.one(tx, { appNo, id, name, url, keySealed, ...others })
    // Also if it has none any more: another one may count now.
    const isOther = embeddingModel !== before.embedding_model
    const isMended = embeddingModel !== null && (url !== before.url || key !== undefined)
    if (isOther || isMended) await startEmbedding(tx, appNo)
    return announceProvider(tx, appNo, 'model.provider.updated', row)
  })
}

export function deleteModelProvider(deps: Deps, actor: Actor, id: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockProviders.run(tx, { appNo })
    const used = await findUse.maybeOne(tx, { appNo, id })
    if (used) throw fail('ERR_MODEL_PROVIDER_IN_USE', { id, use: used.use })
    const row = await removeProvider.maybeOne(tx, { appNo, id })
    if (!row) throw fail('ERR_MODEL_PROVIDER_NOT_FOUND', { id })
    if (row.embedding_model !== null) await startEmbedding(tx, appNo)
    await announceProvider(tx, appNo, 'model.provider.deleted', row)
    return { success: true as const, message: `Provider ${id} deleted.` }
  })
}

/** It exists, and is another one. Fallbacks may form a ring: each is asked once. */
async function checkFallback(tx: Tx, appNo: number, id: string, fallbackId: string | null) {
  if (fallbackId === null) return
  if (fallbackId === id) throw badRequest({ fallbackId: ['must be another provider'] })
  await getProviderRow(tx, appNo, fallbackId)
}

function checkEmbedding(kind: string, embeddingModel: string | null): void {
  if (embeddingModel === null || kind === 'openai') return
  throw badRequest({ embeddingModel: ['only providers of the kind "openai" embed'] })
}

async function checkTarget({ models }: Deps, url: string): Promise<void> {
  const fault = await models.targets.faultOf(url)
  if (fault) throw badRequest({ url: [`url ${fault}`] })
}

const sealed = ({ secrets }: Deps, appNo: number, id: string, key: string | null | undefined) =>
  key ? secrets.seal(['model_providers.key', appNo, id], key) : null

type ProviderEvent = Extract<EventType, `model.provider.${string}`>

async function announceProvider(tx: Tx, appNo: number, type: ProviderEvent, row: ProviderRow) {
  const record = toModelProvider(row)
  const { id, name, url } = record
  await announce(tx, {
    appNo,
    type,
    key: `provider:${id}`,
    payload: { provider: { id, name, url } },
  })
  return record
}
