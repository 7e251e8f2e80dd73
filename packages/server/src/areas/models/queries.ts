import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type ProviderRow = Omit<CellRows['model_providers'], 'app_no'>

type OneProvider = { appNo: number; id: string }
type Values = {
  name: string
  url: string
  keySealed: Buffer | null
  inputPrice: number | null
  outputPrice: number | null
  fallbackId: string | null
  fallbackModel: string | null
  embeddingModel: string | null
}

const COLUMNS = `provider_id, name, kind, url, key_sealed, input_price, output_price, fallback_id,
  fallback_model, embedding_model, created_at, updated_at`

/** Serialises the changes of an app's providers and of the settings that refer to them. */
export const lockProviders = query<{ appNo: number }>(
  'models.lock',
  'select from apps where app_no = :appNo for no key update',
)

/** Sorted by id. An app has few, so all are read. */
export const listProviderRows = query<{ appNo: number }, ProviderRow>(
  'models.listProviders',
  `select ${COLUMNS} from model_providers where app_no = :appNo order by provider_id`,
)

export const findProvider = query<OneProvider, ProviderRow>(
  'models.findProvider',
  `select ${COLUMNS} from model_providers where app_no = :appNo and provider_id = :id`,
)

export type EmbeddingRow = ProviderRow & { embedding_model: string }

/** The provider that embeds the app's knowledge. */
export const findEmbedding = query<{ appNo: number }, EmbeddingRow>(
  'models.findEmbedding',
  `select ${COLUMNS} from model_providers
   where app_no = :appNo and embedding_model is not null order by provider_id limit 1`,
)

/** Reserves tokens for a call. Null if the app's month has too few. Prices are those of models that answer, so money isn't counted. */
export const reserveEmbedding = query<
  { appNo: number; model: string; tokens: number },
  { call: string | null }
>(
  'models.reserveEmbedding',
  `select reserve_embedding(:appNo::int, :model, :tokens::bigint) as call`,
)

export const settleEmbedding = query<{ appNo: number; call: string; tokens: number }>(
  'models.settleEmbedding',
  `select settle_embedding(:appNo::int, :call::uuid, :tokens::bigint)`,
)

/** No row if the id is taken. */
export const insertProvider = query<OneProvider & { kind: string } & Values, ProviderRow>(
  'models.insertProvider',
  `insert into model_providers
     (app_no, provider_id, name, kind, url, key_sealed, input_price, output_price, fallback_id, fallback_model,
      embedding_model)
   values (:appNo, :id, :name, :kind, :url, :keySealed, :inputPrice, :outputPrice, :fallbackId, :fallbackModel,
     :embeddingModel)
   on conflict do nothing
   returning ${COLUMNS}`,
)

export const updateProvider = query<OneProvider & Values, ProviderRow>(
  'models.updateProvider',
  `update model_providers set name = :name, url = :url, key_sealed = :keySealed,
     input_price = :inputPrice, output_price = :outputPrice, fallback_id = :fallbackId,
     fallback_model = :fallbackModel, embedding_model = :embeddingModel, updated_at = now()
   where app_no = :appNo and provider_id = :id
   returning ${COLUMNS}`,
)

export const removeProvider = query<OneProvider, ProviderRow>(
  'models.removeProvider',
  `delete from model_providers where app_no = :appNo and provider_id = :id returning ${COLUMNS}`,
)

/** Whether checks of messages, agents or other providers use it. An app has at most 100 agents. */
export const findUse = query<OneProvider, { use: string }>(
  'models.findUse',
  `select m.key as use from check_settings s, jsonb_each(s.models) m
   where s.app_no = :appNo and m.value ->> 'providerId' = :id
   union all
   select 'the agent ' || name from agents
   where app_no = :appNo and deleted_at is null and definition ->> 'providerId' = :id
   union all
   select 'the provider ' || name from model_providers where app_no = :appNo and fallback_id = :id
   limit 1`,
)
