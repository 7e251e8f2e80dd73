import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import type { Actor, KeyScope, ServedApp } from '../core/actor.ts'
import { type Settings, settingOf } from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import { Limiter } from '../platform/cache/limiter.ts'
import { badRequest, fail, noAccess } from '../platform/http/fail.ts'
import { addDeprecation, completeRoute, isWrite } from '../platform/http/route.ts'
import { COMMON_ERRORS, Id, isId, WRITE_ERRORS } from '../platform/http/schemas.ts'
import type { Logger } from '../platform/log/log.ts'
import { appOfRequest, servedApp, unknownApp } from './app-of-request.ts'
import { letPagesRead } from './cors.ts'
import type { Credentials, KnownKey, KnownUser } from './credentials.ts'
import { Failures } from './failures.ts'
import { addLimitHeaders, IdempotencyKey } from './headers.ts'
import { managedAppId } from './managed.ts'
import { mayUse, type Operator, type Role, roleIsTooSmall, sectionOfTag } from './operator.ts'
import { beginAudit, endAudit } from './operator-audit.ts'
import { managedAppOf, operatorOf } from './operators.ts'
import { findActiveUser } from './queries.ts'
import { redactError } from './redact.ts'

/** Who may call an operation, and how calls are counted. Every route declares it. */
export interface Access {
  /** The scope an API key needs. */
  scope: KeyScope
  /**
   * Whether a user may call it with an auth token; `self`: only about the user in the path, who
   * must be the caller.
   */
  users: boolean | 'self'
  onBehalfOf: 'required' | 'optional' | 'ignored'
  /**
   * The operation itself rejects users who can't act: this saves a statement on the hottest path.
   */
  checksUser?: boolean
  rate: RateClass
}

export type RateClass = 'core' | 'standard'

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor
    /** Set for requests with a valid credential, even if they are rejected later. */
    calledApp: ServedApp | undefined
    /** Set for calls by an operator, through the management API. */
    managed: { operator: Operator; role: Role; audit?: number } | undefined
  }
  interface FastifyContextConfig extends Partial<Access> {}
}

/** Makes every route below declare its access, and checks it for every request. */
export function addAccess(app: FastifyInstance, deps: Deps, credentials: Credentials): void {
  const limiter = new Limiter(deps.cache)
  const failures = new Failures(deps)
  const serviceHost = new URL(deps.config.service.publicUrl).hostname
  const finder = { directory: deps.directory, failures, serviceHost }

  app.addHook('onRoute', (route) => {
    const access = accessOf(route)
    addErrors(route, access)
    completeRoute(route, { common: commonErrors(route), security: [{ apikey: [] }] })
    addHeaders(route)
    addExtensions(route, access)
  })
  app.decorateRequest('actor')
  app.decorateRequest('calledApp')
  app.decorateRequest('managed')

  app.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions
    const access = accessOf({ url: request.url, config })
    if (config.deprecated) addDeprecation(reply, config.deprecated)
    const managed = managedAppId(request, serviceHost)
    const served =
      managed === undefined
        ? await appOfRequest(finder, request, reply)
        : await appOfOperator(deps, failures, request, reply, managed)
    const settings = await credentials.settings(served)
    if (!settings) throw unknownApp(served.id)
    // Before anything is rejected, because a page could not read the error otherwise. Only our own
    // pages may read answers to operators.
    if (!request.managed) letPagesRead(reply, settings, request.headers.origin)
    const caller = request.managed
      ? { key: keyOfOperator(deps, request.managed.operator) }
      : await callerOf({ credentials, failures, settings, request, reply }, served)
    request.calledApp = served
    await countRequest({ limiter, served, settings, rate: access.rate, reply }, caller)
    request.actor = await toActor(served, settings, caller, access, request)
    if (request.managed) {
      request.actor.operator = { mayCreateTokens: mayUse(request.managed.role, 'integration') }
    }
    // Each request already has a logger; another child would cost more.
    ;(request.log as Logger).setBindings({ app: served.id })
  })

  app.addHook('preHandler', (request, _reply, done) => {
    const write = isWrite(request.method)
    const key = write ? request.headers['idempotency-key'] : undefined
    if (typeof key === 'string')
      request.actor.retry = { key, requestHash: hashRequest(deps, request) }
    const { managed, actor } = request
    if (!managed || !write) return done()
    beginAudit(deps, managed.operator, actor.app, request).then((id) => {
      managed.audit = id
      if (actor.operator) actor.operator.auditId = id
      done()
    }, done)
  })

  app.addHook('onResponse', (request, reply, done) => {
    const id = request.managed?.audit
    if (id !== undefined) void endAudit(deps, id, reply.statusCode)
    done()
  })

  app.setErrorHandler(async (error, { actor, params }) => {
    throw await redactError(actor, error, params as { guid?: string })
  })
}

/** The app whose data an operator requests, if the operator's role allows it. */
async function appOfOperator(
  deps: Deps,
  failures: Failures,
  request: FastifyRequest,
  reply: FastifyReply,
  appId: string,
): Promise<ServedApp> {
  const operator = await operatorOf(deps, failures, request, reply)
  const { role, archived } = await managedAppOf(deps, operator, appId)
  const { tags = [] } = request.routeOptions.schema ?? {}
  if (!mayUse(role, sectionOfTag(tags[0] ?? ''))) throw noAccess(roleIsTooSmall(role))
  if (archived) throw unknownApp(appId)
  request.managed = { operator, role }
  return servedApp(await deps.directory.find(appId), appId, undefined)
}

/** An operator may do what an API key may; idempotency keys belong to the operator. */
const keyOfOperator = ({ secrets }: Deps, { no }: Operator): KnownKey => ({
  hash: secrets.hash(`operator ${no}`),
  scope: 'fullAccess',
})

const commonErrors = ({ method }: RouteOptions) =>
  isWrite(method) ? [...COMMON_ERRORS, ...WRITE_ERRORS] : COMMON_ERRORS

function accessOf({ url, config }: Pick<RouteOptions, 'url' | 'config'>): Access {
  const { scope, users, onBehalfOf, rate, checksUser = false } = config ?? {}
  if (!scope || users === undefined || !onBehalfOf || !rate) {
    throw new Error(`${url} does not say who may call it`)
  }
  return { scope, users, onBehalfOf, rate, checksUser }
}

const OnBehalfOf = Id('UID of the user on whose behalf an API key makes the call.')

function addHeaders({ method, config, schema }: RouteOptions): void {
  if (!schema) return
  const { onBehalfOf, users } = config ?? {}
  // Callers with an auth token don't need it; toActor requires it from API keys.
  const required = onBehalfOf === 'required' && !users
  const headers = {
    ...(required && { onBehalfOf: OnBehalfOf }),
    ...(onBehalfOf !== 'ignored' && !required && { onBehalfOf: Type.Optional(OnBehalfOf) }),
    ...(isWrite(method) && { 'Idempotency-Key': Type.Optional(IdempotencyKey) }),
  }
  if (Object.keys(headers).length > 0) schema.headers = Type.Object(headers)
}

/** Documents who may call an operation, and how calls are counted. */
function addExtensions({ schema }: RouteOptions, { scope, users, onBehalfOf, rate }: Access): void {
  Object.assign(schema ?? {}, {
    ...(users && { security: [{ apikey: [] }, { authToken: [] }] }),
    'x-scope': scope,
    'x-users': users,
    'x-on-behalf-of': onBehalfOf,
    'x-rate-class': rate,
  })
}

/** Errors that follow from who may call it. */
function addErrors(route: RouteOptions, { users, onBehalfOf }: Access): void {
  const { errors = [] } = route.config ?? {}
  const names = onBehalfOf !== 'ignored' || users === 'self'
  if (!names || errors.includes('ERR_UID_NOT_FOUND')) return
  route.config = { ...route.config, errors: [...errors, 'ERR_UID_NOT_FOUND'] }
}

type Caller = { key: KnownKey } | { user: KnownUser }

interface Shown {
  credentials: Credentials
  failures: Failures
  settings: Settings
  request: FastifyRequest
  reply: FastifyReply
}

/**
 * The user of the header `authToken`, otherwise the API key of the header `apikey`: with both, the
 * one that allows less.
 */
async function callerOf(
  { credentials, failures, settings, request, reply }: Shown,
  app: ServedApp,
): Promise<Caller> {
  const { authtoken, apikey } = request.headers
  const limit = Number(settingOf(settings, 'rate.failed'))
  const attempt = { where: String(app.no), limit, from: { address: request.ip, reply } }
  if (authtoken === undefined) {
    const value = textOf(apikey)
    if (!value) throw fail('AUTH_ERR_EMPTY_APIKEY')
    const hashOf = () => credentials.hashOf(value)
    const key = await failures.find(attempt, hashOf, () => credentials.key(app, value))
    if (!key) throw fail('AUTH_ERR_APIKEY_NOT_FOUND')
    return { key }
  }
  const token = textOf(authtoken)
  // A server that forgot to fill the header must not act as the app.
  if (!token) throw fail('AUTH_ERR_EMPTY_AUTH_TOKEN')
  const hashOf = () => credentials.hashOf(token)
  const user = await failures.find(attempt, hashOf, () => credentials.user(app, token))
  if (!user) throw fail('AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
  return { user }
}

const textOf = (header: string | string[] | undefined) =>
  typeof header === 'string' ? header.trim() : ''

const NO_UID = 'onBehalfOf must be a uid: 1 to 100 characters of a-z, 0-9, - and _'

async function toActor(
  app: ServedApp,
  settings: Settings,
  caller: Caller,
  access: Access,
  request: FastifyRequest,
): Promise<Actor> {
  if ('user' in caller) {
    const { hash, uid } = caller.user
    checkUserMay(access, uid, request)
    return { app, settings, credential: hash, kind: 'user', uid }
  }
  const { hash: credential, scope } = caller.key
  if (scope === 'authOnly' && access.scope === 'fullAccess') {
    throw noAccess(
      "The API key's scope is authOnly. This operation needs an API key with fullAccess.",
    )
  }
  const header = access.onBehalfOf === 'ignored' ? undefined : request.headers.onbehalfof
  const uid = textOf(header).toLowerCase()
  if (uid) {
    if (!isId(uid)) throw badRequest({ onBehalfOf: [NO_UID] })
    if (!access.checksUser) await checkUser(app, uid)
    return { app, settings, credential, scope, kind: 'appOnBehalf', uid }
  }
  // A server whose variable is empty must not act as the app by accident.
  if (header !== undefined) {
    throw badRequest({
      onBehalfOf: ['the header onBehalfOf is empty: leave it out to act as the app'],
    })
  }
  if (access.onBehalfOf === 'required') {
    throw badRequest({ onBehalfOf: ['the header onBehalfOf is required'] })
  }
  return { app, settings, credential, scope, kind: 'app' }
}

/** Users act only for themselves. What only another user may see looks as if it didn't exist. */
function checkUserMay({ users }: Access, uid: string, { headers, params }: FastifyRequest): void {
  const other = textOf(headers.onbehalfof).toLowerCase()
  if (!users) throw noAccess('This operation needs an API key; auth tokens may not call it.')
  if (other && other !== uid)
    throw noAccess('onBehalfOf names a different user than the auth token.')
  if (users !== 'self') return
  const named = (params as { uid: string }).uid.toLowerCase()
  if (named !== uid) throw fail('ERR_UID_NOT_FOUND', { uid: named })
}

/** Rejects a user who doesn't exist or is deactivated. */
export async function checkUser({ no: appNo, cell }: ServedApp, uid: string): Promise<void> {
  const known = await findActiveUser.maybeOne(cell.db, { appNo, uid })
  if (!known) throw fail('ERR_UID_NOT_FOUND', { uid: uid.slice(0, 100) })
}

interface Counted {
  limiter: Limiter
  served: ServedApp
  settings: Settings
  rate: RateClass
  reply: FastifyReply
}

/** Each user has a limit of their own, so that no device uses up the app's. */
async function countRequest(
  { limiter, served, settings, rate, reply }: Counted,
  caller: Caller,
): Promise<void> {
  if ('user' in caller) {
    const limit = Number(settingOf(settings, 'rate.user'))
    const verdict = await limiter.take(`${served.no}:user:${caller.user.uid}`, limit)
    if (!verdict.allowed) {
      addLimitHeaders(reply, 'user', verdict)
      throw fail('ERR_TOO_MANY_REQUESTS', { limit })
    }
  }
  const limit = Number(settingOf(settings, `rate.${rate}`))
  const verdict = await limiter.take(`${served.no}:${rate}`, limit)
  addLimitHeaders(reply, rate, verdict)
  if (!verdict.allowed) throw fail('ERR_TOO_MANY_REQUESTS', { limit })
}

/** Keyed, because bodies can contain secrets that are easy to guess. */
function hashRequest({ secrets }: Deps, { method, url, body }: FastifyRequest): Buffer {
  return secrets.hash(JSON.stringify([method, url, body]))
}
