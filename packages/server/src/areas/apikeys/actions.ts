import { randomBytes } from 'node:crypto'
import type { Executor } from '../../platform/db/query.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { insertApiKey } from './queries.ts'

export type KeyScope = 'authOnly' | 'fullAccess'

export interface NewKey {
  appNo: number
  name: string
  scope: KeyScope
}

/** Makes a key and stores it as its keyed hash and its sealed value. Returns the value. */
export async function addApiKey(tx: Executor, secrets: Secrets, key: NewKey): Promise<string> {
  const apiKey = randomBytes(20).toString('hex')
  await insertApiKey.many(tx, {
    ...key,
    keyHash: secrets.hash(apiKey),
    keySealed: secrets.seal(apiKey),
  })
  return apiKey
}
