import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type ProviderRow = Omit<CellRows['model_providers'], 'app_no'>

type OneProvider = { appNo: number; id: string }

const COLUMNS = 'provider_id, name, url, key_sealed, created_at, updated_at'

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

/** No row if the id is taken. */
export const insertProvider = query<
  OneProvider & { name: string; url: string; keySealed: Buffer | null },
  ProviderRow
>(
  'models.insertProvider',
  `insert into model_providers (app_no, provider_id, name, url, key_sealed)
   values (:appNo, :id, :name, :url, :keySealed)
   on conflict do nothing
   returning ${COLUMNS}`,
)

export const updateProvider = query<
  OneProvider & { name: string; url: string; keySealed: Buffer | null },
  ProviderRow
>(
  'models.updateProvider',
  `update model_providers set name = :name, url = :url, key_sealed = :keySealed, updated_at = now()
   where app_no = :appNo and provider_id = :id
   returning ${COLUMNS}`,
)

export const removeProvider = query<OneProvider, ProviderRow>(
  'models.removeProvider',
  `delete from model_providers where app_no = :appNo and provider_id = :id returning ${COLUMNS}`,
)

/** Whether the checks of messages use it. */
export const findUse = query<OneProvider, { use: string }>(
  'models.findUse',
  `select m.key as use from check_settings s, jsonb_each(s.models) m
   where s.app_no = :appNo and m.value ->> 'providerId' = :id limit 1`,
)
