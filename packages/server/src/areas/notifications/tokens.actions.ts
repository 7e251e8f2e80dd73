import type { Actor } from '../../core/actor.ts'
import { isZone } from '../../core/notifications/zones.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { badRequest, fail, noAccess } from '../../platform/http/fail.ts'
import { findToken } from '../users/tokens.queries.ts'
import { lockUser, storeZone } from './preferences.actions.ts'
import { findDefault } from './providers.queries.ts'
import { masked } from './secrets.ts'
import {
  findPushProvider,
  holdSession,
  listPushTokens,
  type PushTokenRow,
  removeOldPushTokens,
  removePushTokens,
  storePushToken,
} from './tokens.queries.ts'
import { type NewPushToken, PLATFORMS, type PushToken, type Subscription } from './tokens.schema.ts'

declare module '../../platform/secrets/secrets.ts' {
  interface Places {
    'push_tokens.push': [appNo: number, uid: string]
  }
}

/** The oldest ones go first. */
const TOKENS_PER_USER = 100

/** What is stored of a device, encrypted. */
export interface Device {
  token: string
  /** Of a browser's subscription, whose token is its endpoint. */
  keys?: Subscription['keys']
}

/** The session that push tokens belong to. */
interface Session {
  uid: string
  tokenHash: Buffer
}

/** The caller's own session, or the one whose auth token a server names. */
async function sessionOf(
  db: Executor,
  { secrets }: Deps,
  actor: Actor,
  authToken: string | undefined,
): Promise<Session> {
  const tokenHash = authToken === undefined ? undefined : secrets.hash(authToken)
  if (actor.kind === 'user') {
    if (tokenHash && !tokenHash.equals(actor.credential))
      throw noAccess('A device manages the push tokens of its own session.')
    return { uid: actor.uid, tokenHash: actor.credential }
  }
  if (!tokenHash) throw badRequest({ authToken: ['authToken is required'] })
  const row = await findToken.maybeOne(db, { appNo: actor.app.no, tokenHash })
  if (!row) throw fail('ERR_AUTH_TOKEN_NOT_FOUND')
  return { uid: row.uid, tokenHash }
}

/** The same value can be an auth token, so their hashes differ. */
const hashOf = ({ secrets }: Deps, token: string) => secrets.hash(`push token ${token}`)

export async function registerPushToken(deps: Deps, actor: Actor, given: NewPushToken) {
  const appNo = actor.app.no
  const { platform, providerId = null, timezone } = given
  const device = await readDevice(deps, given)
  if (timezone !== undefined && !isZone(timezone))
    throw badRequest({ timezone: ['timezone must be a name of the IANA database'] })
  return write(deps, actor, async (tx) => {
    const { uid, tokenHash } = await sessionOf(tx, deps, actor, given.authToken)
    await lockUser(tx, appNo, uid)
    // A token that is being revoked is gone, and its push tokens would be.
    if (!(await holdSession.maybeOne(tx, { appNo, tokenHash })))
      throw fail('ERR_AUTH_TOKEN_NOT_FOUND')
    const provider = await providerOf(tx, appNo, platform, providerId)
    await storePushToken.run(tx, {
      ...{ appNo, uid, tokenHash, platform, providerId: provider },
      pushHash: hashOf(deps, device.token),
      pushSealed: deps.secrets.seal(['push_tokens.push', appNo, uid], JSON.stringify(device)),
    })
    await removeOldPushTokens.run(tx, { appNo, uid, keep: TOKENS_PER_USER })
    if (timezone !== undefined) await storeZone(tx, appNo, uid, timezone)
    return { success: true as const, message: 'Push token registered.' }
  })
}

/**
 * The provider that a device names, or null for the default at any time. A browser's subscription belongs to the key that
 * it was made with, so it stays with today's default.
 */
async function providerOf(tx: Tx, appNo: number, platform: string, id: string | null) {
  const isBrowser = platform === 'web_push'
  const kind = isBrowser ? platform : platform.slice(0, platform.indexOf('_'))
  if (id !== null && !(await findPushProvider.maybeOne(tx, { appNo, kind, id })))
    throw fail('ERR_PROVIDER_NOT_FOUND', { id })
  if (id !== null || !isBrowser) return id
  return (await findDefault.maybeOne(tx, { appNo, channel: 'push', kind }))?.provider_id ?? null
}

/** The field of the platform says which device it is; others are ignored. */
async function readDevice({ targets }: Deps, given: NewPushToken): Promise<Device> {
  const field = PLATFORMS[given.platform] ?? 'fcmToken'
  const value = given[field]
  if (value === undefined)
    throw badRequest({ [field]: [`${field} is required for ${given.platform}`] })
  if (typeof value === 'string') return { token: value }
  const { endpoint, keys } = value
  const fault = await targets.faultOf(endpoint)
  if (fault) throw badRequest({ 'subscription.endpoint': [`subscription.endpoint ${fault}`] })
  const faults = keyFaults(keys)
  if (faults.length > 0) throw badRequest({ 'subscription.keys': faults })
  return { token: endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } }
}

/** A point of the curve P-256, uncompressed, and 16 bytes: RFC 8291. */
function keyFaults({ p256dh, auth }: Subscription['keys']): string[] {
  const bytes = (text: string) => (/^[\w-]*$/.test(text) ? Buffer.from(text, 'base64url') : null)
  const point = bytes(p256dh)
  return [
    ...(point?.length === 65 && point[0] === 4
      ? []
      : ['p256dh must be a public key of 65 bytes, as base64url']),
    ...(bytes(auth)?.length === 16 ? [] : ['auth must be 16 bytes, as base64url']),
  ]
}

/** What is stored of a device. */
export const openDevice = (
  { secrets }: Pick<Deps, 'secrets'>,
  { app_no: appNo, uid, push_sealed }: Pick<PushTokenRow, 'app_no' | 'uid' | 'push_sealed'>,
) => JSON.parse(secrets.open(['push_tokens.push', appNo, uid], push_sealed)) as Device

/** The record in answers. A device doesn't learn the credentials of other sessions. */
function toPushToken({ secrets }: Deps, actor: Actor, row: PushTokenRow): PushToken {
  const { app_no: appNo, uid, platform, provider_id: providerId } = row
  const { token } = openDevice({ secrets }, row)
  const authToken = secrets.open(['auth_tokens.token', appNo, uid], row.session_sealed)
  const own = actor.kind !== 'user' || row.token_hash.equals(actor.credential)
  return {
    uid,
    authToken: own ? authToken : masked(authToken),
    platform,
    ...(providerId !== null && { providerId }),
    pushToken: token,
    pushTokenType: platform.endsWith('_voip') ? 'voip' : 'chat',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** The push tokens of a session, or all of its user. */
export async function listTokens(
  db: Executor,
  deps: Deps,
  actor: Actor,
  { authToken, all }: { authToken?: string | undefined; all: boolean },
): Promise<PushTokenRow[]> {
  const { uid, tokenHash } = await sessionOf(db, deps, actor, authToken)
  const session = all ? null : tokenHash
  return listPushTokens.many(db, { appNo: actor.app.no, uid, tokenHash: session })
}

export const toPushTokens = (deps: Deps, actor: Actor, rows: PushTokenRow[]) => ({
  pushTokens: rows.map((row) => toPushToken(deps, actor, row)),
})

export function unregisterSessionPushTokens(
  deps: Deps,
  actor: Actor,
  of: { authToken?: string | undefined; all: boolean },
) {
  return write(deps, actor, async (tx) =>
    remove(tx, deps, actor, await listTokens(tx, deps, actor, of)),
  )
}

export function unregisterPushToken(
  deps: Deps,
  actor: Actor,
  pushToken: string,
  authToken: string | undefined,
) {
  const hash = hashOf(deps, pushToken)
  return write(deps, actor, async (tx) => {
    const rows = await listTokens(tx, deps, actor, { authToken, all: true })
    const named = rows.filter((row) => row.push_hash.equals(hash))
    if (named.length === 0) throw fail('ERR_TOKEN_NOT_FOUND')
    return remove(tx, deps, actor, named)
  })
}

async function remove(tx: Tx, deps: Deps, actor: Actor, rows: PushTokenRow[]) {
  const [first] = rows
  if (first) {
    const hashes = rows.map((row) => row.push_hash)
    await removePushTokens.run(tx, { appNo: actor.app.no, uid: first.uid, hashes })
  }
  return toPushTokens(deps, actor, rows)
}
