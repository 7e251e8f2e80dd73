import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { directoryQuery } from '../../platform/db/query.ts'

export type KeyRow = Pick<DirectoryRows['operator_keys'], 'key' | 'name' | 'created_at'>

/** Newest first; there are only a few. */
export const listKeys = directoryQuery<{ operatorNo: number }, KeyRow>(
  'operatorKeys.list',
  `select key, name, created_at from operator_keys
   where operator_no = :operatorNo order by created_at desc, key`,
)

export const insertKey = directoryQuery<
  { operatorNo: number; key: string; secretHash: Buffer; name: string },
  KeyRow
>(
  'operatorKeys.insert',
  `insert into operator_keys (operator_no, key, secret_hash, name)
   values (:operatorNo, :key, :secretHash, :name)
   returning key, name, created_at`,
)

export const updateKeySecret = directoryQuery<
  { operatorNo: number; key: string; secretHash: Buffer },
  KeyRow
>(
  'operatorKeys.updateSecret',
  `update operator_keys set secret_hash = :secretHash
   where key = :key and operator_no = :operatorNo
   returning key, name, created_at`,
)

export const removeAllKeys = directoryQuery<{ operatorNo: number }>(
  'operatorKeys.removeAll',
  'delete from operator_keys where operator_no = :operatorNo',
)

export const removeKey = directoryQuery<{ operatorNo: number; key: string }, KeyRow>(
  'operatorKeys.remove',
  `delete from operator_keys where key = :key and operator_no = :operatorNo
   returning key, name, created_at`,
)
