import type { CellRows } from '../../../db/rows.gen.ts'
import type { KeyScope } from '../../core/actor.ts'
import { query } from '../../platform/db/query.ts'

export type ApiKeyRow = Pick<
  CellRows['api_keys'],
  'app_no' | 'key_hash' | 'key_sealed' | 'name' | 'created_at'
> & {
  scope: KeyScope
}

/** Serialises the creation of an app's API keys, so that the count below is exact. */
export const lockKeys = query<{ appNo: number }>(
  'apikeys.lock',
  'select from apps where app_no = :appNo for no key update',
)

export const countApiKeys = query<{ appNo: number }, { count: number }>(
  'apikeys.count',
  'select count(*) from api_keys where app_no = :appNo',
)

export const insertApiKey = query<
  { appNo: number; keyHash: Buffer; keySealed: Buffer; name: string; scope: KeyScope },
  ApiKeyRow
>(
  'apikeys.insert',
  `insert into api_keys (app_no, key_hash, key_sealed, name, scope)
   values (:appNo, :keyHash, :keySealed, :name, :scope)
   returning app_no, key_hash, key_sealed, name, scope, created_at`,
)

/** Newest first. An app has at most 25, so all are read and paged in memory. */
export const listApiKeys = query<
  { appNo: number; scope: string | null; searchKey: string | null },
  ApiKeyRow
>(
  'apikeys.list',
  `select app_no, key_hash, key_sealed, name, scope, created_at
   from api_keys
   where app_no = :appNo
     and (:scope::text is null or scope = :scope)
     and (:searchKey::text is null or strpos(lower(name), lower(:searchKey)) > 0)
   order by created_at desc, key_hash`,
)

export const findApiKey = query<{ appNo: number; keyHash: Buffer }, ApiKeyRow>(
  'apikeys.find',
  `select app_no, key_hash, key_sealed, name, scope, created_at
   from api_keys where app_no = :appNo and key_hash = :keyHash`,
)

export const updateApiKeyRow = query<
  { appNo: number; keyHash: Buffer; name: string | null; scope: KeyScope | null },
  ApiKeyRow
>(
  'apikeys.update',
  `update api_keys set name = coalesce(:name, name), scope = coalesce(:scope, scope)
   where app_no = :appNo and key_hash = :keyHash
   returning app_no, key_hash, key_sealed, name, scope, created_at`,
)

export const removeApiKey = query<{ appNo: number; keyHash: Buffer }, ApiKeyRow>(
  'apikeys.remove',
  `delete from api_keys where app_no = :appNo and key_hash = :keyHash
   returning app_no, key_hash, key_sealed, name, scope, created_at`,
)
