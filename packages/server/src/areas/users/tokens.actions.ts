import { randomBytes } from 'node:crypto'
import type { Actor } from '../../core/actor.ts'
import { refuseIf } from '../../core/policy.ts'
import { refuseBanned, sanctionsOf } from '../../core/sanctions.ts'
import { limitOf } from '../../core/settings.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail, noAccess } from '../../platform/http/fail.ts'
import { findUser } from './queries.ts'
import {
  findToken,
  findUnusedToken,
  insertToken,
  lockToken,
  removeOldTokens,
  removeToken,
  removeTokensOf,
  type TokenRow,
  updateToken,
} from './tokens.queries.ts'
import type { AuthToken, TokenUse } from './tokens.schema.ts'

type TokenDeps = Pick<Deps, 'secrets'>

/** The record in answers. */
export function toAuthToken({ secrets }: TokenDeps, row: TokenRow): AuthToken {
  return {
    uid: row.uid,
    authToken: secrets.open(['auth_tokens.token', row.app_no, row.uid], row.token_sealed),
    createdAt: Math.floor(row.created_at.getTime() / 1000),
    ...(row.platform !== null && { platform: row.platform }),
    ...(row.user_agent !== null && { userAgent: row.user_agent }),
    ...(row.app_info !== null && { appInfo: row.app_info }),
    ...(row.audit_id !== null && { auditId: String(row.audit_id) }),
  }
}

/**
 * `<uid>_<seconds><40 hexadecimal characters>`, stored as its keyed hash and its sealed value. Checks the operator's
 * rights here, because several operations create tokens.
 */
export async function addAuthToken(
  tx: Tx,
  deps: TokenDeps,
  { app: { no: appNo }, operator }: Actor,
  uid: string,
): Promise<AuthToken> {
  if (operator?.mayCreateTokens === false)
    throw noAccess("Your role in this app doesn't allow you to create auth tokens.")
  const { secrets } = deps
  const token = `${uid}_${Math.floor(Date.now() / 1000)}${randomBytes(20).toString('hex')}`
  const auditId = operator?.auditId ?? null
  const tokenSealed = secrets.seal(['auth_tokens.token', appNo, uid], token)
  const stored = { tokenHash: secrets.hash(token), tokenSealed, auditId }
  return toAuthToken(deps, await insertToken.one(tx, { appNo, uid, ...stored }))
}

export type RevokingDeps = Pick<Deps, 'revocations'>

/** Revokes all auth tokens of these users and returns their number. */
export async function revokeTokensOf(
  tx: Tx,
  deps: RevokingDeps,
  appNo: number,
  uids: string[],
): Promise<number> {
  return revoke(tx, deps, appNo, await removeTokensOf.many(tx, { appNo, uids }))
}

/** Makes every process reject these tokens and close their connections. */
async function revoke(
  tx: Tx,
  { revocations }: RevokingDeps,
  appNo: number,
  removed: { token_hash: Buffer }[],
): Promise<number> {
  const ids = removed.map((token) => token.token_hash.toString('hex'))
  if (ids.length > 0) await revocations.revoke(tx, { appNo, kind: 'token' }, ...ids)
  return ids.length
}

/** A new auth token, or without `force` the newest one that no device uses yet. */
export function createAuthToken(
  deps: Deps,
  actor: Actor,
  uid: string,
  force: boolean,
): Promise<AuthToken> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockUser(tx, appNo, uid)
    if (actor.sanctioned) refuseIf(refuseBanned({ sanctions: await sanctionsOf(actor.app, uid) }))
    const unused = force ? undefined : await findUnusedToken.maybeOne(tx, { appNo, uid })
    if (unused) return toAuthToken(deps, unused)
    const token = await addAuthToken(tx, deps, actor, uid)
    const keep = limitOf(actor.settings, 'limits.authTokensPerUser')
    await revoke(tx, deps, appNo, await removeOldTokens.many(tx, { appNo, uid, keep }))
    await announce(tx, { appNo, type: 'user.token.created', key: `user:${uid}`, payload: { uid } })
    return token
  })
}

/** Serialises creating and flushing a user's auth tokens. */
async function lockUser(tx: Tx, appNo: number, uid: string): Promise<void> {
  if (!(await lockUsers.maybeOne(tx, { appNo, uids: [uid] })))
    throw fail('ERR_UID_NOT_FOUND', { uid })
}

/** The user's auth token; fails with the reason if it isn't theirs. */
export async function getToken(
  db: Executor,
  { secrets }: TokenDeps,
  appNo: number,
  { uid, authToken }: { uid: string; authToken: string },
): Promise<TokenRow> {
  if (!(await findUser.maybeOne(db, { appNo, uid }))) throw fail('ERR_UID_NOT_FOUND', { uid })
  const row = await findToken.maybeOne(db, { appNo, tokenHash: secrets.hash(authToken) })
  if (!row) throw fail('ERR_AUTH_TOKEN_NOT_FOUND')
  if (row.uid !== uid) throw fail('ERR_AUTHTOKEN_NOT_ACCESSIBLE')
  return row
}

/**
 * Registers the device of an auth token. A token registered for one platform can't move to another.
 */
export function updateAuthToken(
  deps: Deps,
  actor: Actor,
  params: { uid: string; authToken: string },
  { platform = null, userAgent = null, appInfo }: NullableUse,
): Promise<AuthToken> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const { token_hash: tokenHash } = await getToken(tx, deps, appNo, params)
    const held = await lockToken.maybeOne(tx, { appNo, tokenHash })
    if (!held) throw fail('ERR_AUTH_TOKEN_NOT_FOUND')
    if (held.platform !== null && platform !== null && held.platform !== platform) {
      throw fail('ERR_AUTHTOKEN_UNAVAILABLE')
    }
    const use = { platform, userAgent, appInfo: appInfo ? JSON.stringify(appInfo) : null }
    const row = await updateToken.one(tx, { appNo, tokenHash, ...use })
    const payload = { uid: row.uid, ...(row.platform !== null && { platform: row.platform }) }
    await announce(tx, { appNo, type: 'user.token.updated', key: `user:${row.uid}`, payload })
    return toAuthToken(deps, row)
  })
}

type NullableUse = { [K in keyof TokenUse]: TokenUse[K] | null }

export function deleteAuthToken(
  deps: Deps,
  actor: Actor,
  params: { uid: string; authToken: string },
) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const { token_hash: tokenHash, uid } = await getToken(tx, deps, appNo, params)
    const removed = await removeToken.many(tx, { appNo, tokenHash })
    if ((await revoke(tx, deps, appNo, removed)) === 0) throw fail('ERR_AUTH_TOKEN_NOT_FOUND')
    await announceRevoked(tx, appNo, uid, 1)
    return { success: true as const, message: 'Auth token revoked.' }
  })
}

export function flushAuthTokens(deps: Deps, actor: Actor, uid: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockUser(tx, appNo, uid)
    const count = await revokeTokensOf(tx, deps, appNo, [uid])
    if (count > 0) await announceRevoked(tx, appNo, uid, count)
    return { success: true as const, message: `All auth tokens of ${uid} revoked.` }
  })
}

const announceRevoked = (tx: Tx, appNo: number, uid: string, count: number) =>
  announce(tx, { appNo, type: 'user.tokens.revoked', key: `user:${uid}`, payload: { uid, count } })
