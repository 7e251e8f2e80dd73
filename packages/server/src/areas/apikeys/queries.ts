import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export const insertApiKey = query<{
  appNo: number
  keyHash: Buffer
  keySealed: Buffer
  name: string
  scope: string
}>(
  'apikeys.insert',
  `insert into api_keys (app_no, key_hash, key_sealed, name, scope)
   values (:appNo, :keyHash, :keySealed, :name, :scope)`,
)

export const listApiKeys = query<
  { appNo: number },
  Pick<CellRows['api_keys'], 'key_sealed' | 'scope'>
>(
  'apikeys.list',
  `select key_sealed, scope from api_keys where app_no = :appNo order by created_at, key_hash`,
)
