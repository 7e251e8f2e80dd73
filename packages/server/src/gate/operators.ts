import { timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { cookieName, readCookie } from '../platform/http/cookies.ts'
import { fail } from '../platform/http/fail.ts'
import { isWrite } from '../platform/http/route.ts'
import type { Failures } from './failures.ts'
import type { ManagedApp, Operator } from './operator.ts'
import {
  findKeyOperator,
  findManagedApp,
  findSessionOperator,
  touchSession,
} from './operators.queries.ts'

/** The cookie with a session's token. */
export const SESSION_COOKIE = 'loquat_session'

export const isSecure = ({ config }: Pick<Deps, 'config'>) =>
  config.service.publicUrl.startsWith('https:')

/** The session token of a request, if it has one. */
export const sessionToken = (deps: Pick<Deps, 'config'>, { headers }: FastifyRequest) =>
  readCookie(headers.cookie, cookieName(SESSION_COOKIE, isSecure(deps)))

const textOf = (header: string | string[] | undefined) =>
  typeof header === 'string' ? header.trim() : ''

/** Where the request comes from, for the audit log and the list of sessions. */
export const originOf = ({ ip, headers }: FastifyRequest) => ({
  address: ip,
  userAgent: (headers['user-agent'] ?? '').slice(0, 300),
})

/** Unknown credentials per minute from one network: there are few operators. */
const FAILED = 100

/**
 * The calling operator: by key and secret, otherwise by session. Read from the directory on each
 * request, so that every process rejects revoked access at once.
 */
export async function operatorOf(
  deps: Pick<Deps, 'config' | 'directory' | 'secrets'>,
  failures: Failures,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Operator> {
  const [key, secret] = [textOf(request.headers.key), textOf(request.headers.secret)]
  const byKey = key !== '' || secret !== ''
  const token = byKey ? undefined : sessionToken(deps, request)
  if (byKey ? !key || !secret : !token) throw fail('AUTH_ERR_EMPTY_AUTH_HEADER')
  if (token) refuseForeignPages(request)
  const hash = deps.secrets.hash(token ?? secret)
  const found = await failures.find(
    { where: 'manage', limit: FAILED, from: { address: request.ip, reply } },
    () => hash,
    () => (token ? operatorOfSession(deps, hash) : operatorOfKey(deps, key, hash)),
  )
  if (!found) throw fail('AUTH_ERR_INVALID_CREDENTIALS')
  const { hash: _, ...operator } = found
  return { ...operator, ...originOf(request) }
}

type Found = Omit<Operator, 'address' | 'userAgent'> & { hash: Buffer }

async function operatorOfSession(
  { directory }: Pick<Deps, 'directory'>,
  hash: Buffer,
): Promise<Found | undefined> {
  const row = await findSessionOperator.maybeOne(directory.db, { tokenHash: hash })
  if (!row) return undefined
  if (row.stale) await touchSession.run(directory.db, { tokenHash: hash })
  const { operator_no: no, email, name, session_id: sessionId } = row
  return { hash, no, email, name, via: 'session', sessionId }
}

async function operatorOfKey(
  { directory }: Pick<Deps, 'directory'>,
  key: string,
  hash: Buffer,
): Promise<Found | undefined> {
  const row = /^[0-9a-f]{20}$/.test(key) && (await findKeyOperator.maybeOne(directory.db, { key }))
  if (!row || !timingSafeEqual(row.secret_hash, hash)) return undefined
  const { operator_no: no, email, name } = row
  return { hash, no, email, name, via: 'key' }
}

/**
 * A write with a cookie must come from a page of this very host: apps have sibling hosts, which
 * `SameSite` treats as our own. Every browser says where a request comes from, in `Sec-Fetch-Site`
 * or, without TLS, in `Origin`; scripts send neither, and have no cookies that could be misused.
 */
export function refuseForeignPages({ method, headers }: FastifyRequest): void {
  if (!isWrite(method)) return
  const site = headers['sec-fetch-site']
  const { origin, host } = headers
  const own =
    site === undefined
      ? origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
      : site === 'same-origin' || site === 'none'
  if (!own) throw fail('AUTH_ERR_FOREIGN_PAGE')
}

/** The app in the path, if the operator manages it; other apps look as if they didn't exist. */
export async function managedAppOf(
  { directory }: Pick<Deps, 'directory'>,
  { no: operatorNo }: Operator,
  appId: string,
): Promise<ManagedApp> {
  // Anything else can't be an app id, and the database can't store all of it.
  const row =
    /^[0-9a-f]{16}$/.test(appId) &&
    (await findManagedApp.maybeOne(directory.db, { appId, operatorNo }))
  if (!row) throw fail('ERR_APP_NOT_FOUND', { appId: appId.slice(0, 100) })
  return { no: row.app_no, id: row.app_id, role: row.role, archived: row.state === 'archived' }
}
