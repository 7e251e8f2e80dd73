import { randomBytes } from 'node:crypto'
import type { EventType } from '@loquat/protocol'
import type { Actor, KeyScope } from '../../core/actor.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { refuseOwnKey } from './policy.ts'
import {
  type ApiKeyRow,
  countApiKeys,
  findApiKey,
  insertApiKey,
  lockKeys,
  removeApiKey,
  updateApiKeyRow,
} from './queries.ts'
import type { ApiKey, ApiKeyChanges, NewApiKey } from './schema.ts'

const KEYS_PER_APP = 25

/** The record in answers. */
export function toApiKey(secrets: Secrets, row: ApiKeyRow): ApiKey {
  const apiKey = secrets.open(['api_keys.key', row.app_no], row.key_sealed)
  // Keys of one app are sealed for the same place. The hash says which row a value belongs to.
  if (!secrets.hash(apiKey).equals(row.key_hash)) throw new Error('a sealed API key was moved')
  return {
    apiKey,
    name: row.name,
    scope: row.scope,
    createdAt: Math.floor(row.created_at.getTime() / 1000),
  }
}

/** Creates an API key and stores its keyed hash and its sealed value. */
export async function addApiKey(
  tx: Tx,
  secrets: Secrets,
  key: { appNo: number; name: string; scope: KeyScope },
): Promise<ApiKey> {
  const apiKey = randomBytes(20).toString('hex')
  const keySealed = secrets.seal(['api_keys.key', key.appNo], apiKey)
  const stored = { keyHash: secrets.hash(apiKey), keySealed }
  return toApiKey(secrets, await insertApiKey.one(tx, { ...key, ...stored }))
}

export function createApiKey(
  deps: Deps,
  actor: Actor,
  { name, scope }: NewApiKey,
): Promise<ApiKey> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockKeys.run(tx, { appNo })
    const { count } = await countApiKeys.one(tx, { appNo })
    if (count >= KEYS_PER_APP) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: KEYS_PER_APP, what: 'API keys per app' })
    }
    const key = await addApiKey(tx, deps.secrets, { appNo, name, scope })
    await announceKey(tx, appNo, 'apikey.created', key)
    return key
  })
}

export function updateApiKey(
  deps: Deps,
  actor: Actor,
  apiKey: string,
  { name = null, scope = null }: { [K in keyof ApiKeyChanges]: ApiKeyChanges[K] | null },
): Promise<ApiKey> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const keyHash = otherKey(deps, actor, apiKey)
    const same = name === null && scope === null
    const row = same
      ? await findApiKey.maybeOne(tx, { appNo, keyHash })
      : await updateApiKeyRow.maybeOne(tx, { appNo, keyHash, name, scope })
    if (!row) throw fail('ERR_APIKEY_NOT_FOUND')
    if (same) return toApiKey(deps.secrets, row)
    await deps.revocations.revoke(tx, { appNo, kind: 'apikey' }, keyHash.toString('hex'))
    await announceKey(tx, appNo, 'apikey.updated', row)
    return toApiKey(deps.secrets, row)
  })
}

export function deleteApiKey(deps: Deps, actor: Actor, apiKey: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const keyHash = otherKey(deps, actor, apiKey)
    const row = await removeApiKey.maybeOne(tx, { appNo, keyHash })
    if (!row) throw fail('ERR_APIKEY_NOT_FOUND')
    await deps.revocations.revoke(tx, { appNo, kind: 'apikey' }, keyHash.toString('hex'))
    await announceKey(tx, appNo, 'apikey.deleted', row)
    return { success: true as const, message: 'API key deleted.' }
  })
}

/** The hash of an API key that the actor may change: any but its own. */
function otherKey({ secrets }: Deps, actor: Actor, apiKey: string): Buffer {
  const hash = secrets.hash(apiKey)
  refuseIf(refuseOwnKey(actor, hash))
  return hash
}

type KeyEvent = Extract<EventType, `apikey.${string}`>

const announceKey = (
  tx: Tx,
  appNo: number,
  type: KeyEvent,
  { name, scope }: Pick<ApiKey, 'name' | 'scope'>,
) => announce(tx, { appNo, type, key: 'apikeys', payload: { name, scope } })
