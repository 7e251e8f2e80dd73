import type { ErrorCode } from '@loquat/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import {
  type Action,
  authorize,
  type RoleAction,
  type ScopeAction,
} from '../core/access/authorize.ts'
import type { Feature } from '../core/access/definitions.ts'
import type { AppRules, RolePolicy } from '../core/access/rules.ts'
import type { Actor, KeyScope, ServedApp } from '../core/actor.ts'
import { refuseIf } from '../core/policy.ts'
import { refuseBanned, refuseMuted, sanctionsOf } from '../core/sanctions.ts'
import { type Settings, settingOf } from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import { Limiter } from '../platform/cache/limiter.ts'
import { badRequest, fail, noAccess } from '../platform/http/fail.ts'
import { addDeprecation, completeRoute, isWrite } from '../platform/http/route.ts'
import { COMMON_ERRORS, Id, isId, WRITE_ERRORS } from '../platform/http/schemas.ts'
import type { Logger } from '../platform/log/log.ts'
import { appOfRequest, servedApp, unknownApp } from './app-of-request.ts'
import { letPagesRead } from './cors.ts'
import type { AppState, Credentials, KnownKey, KnownUser } from './credentials.ts'
import { Failures } from './failures.ts'
import { addLimitHeaders, IdempotencyKey } from './headers.ts'
import { managedAppId } from './managed.ts'
import { mayUse, type Operator, type Role, roleIsTooSmall, sectionOfTag } from './operator.ts'
import { beginAudit, endAudit } from './operator-audit.ts'
import { managedAppOf, operatorOf } from './operators.ts'
import { findActiveUser } from './queries.ts'
import { redactError } from './redact.ts'
import { admit, workOf } from './turn.ts'

/** Who may call an operation, and how calls are counted. Every route declares it. */
export interface Access {
  /** The scope an API key needs. */
  scope: KeyScope
  /**
   * Whether a user may call it with an auth token; `self`: only about the user in the path or the
   * query, who must be the caller.
   */
  users: boolean | 'self'
  onBehalfOf: 'required' | 'optional' | 'ignored'
  /**
   * The operation itself rejects users who can't act: this saves a statement on the hottest path.
   */
  checksUser?: boolean
  /** Others read what it writes, so a muted user may not call it. */
  speaks?: boolean
  rate: RateClass
  /**
   * The features that a role may not use without this operation failing. The gate checks a single one; of several, the
   * operation knows which ones it uses. `none` says why no rule names an operation that users can call.
   */
  feature?: Feature | readonly Feature[] | { none: string }
  /** The permissions of roles and of scopes in groups that decide about it. */
  permission?: RoleAction
  scopePermission?: ScopeAction
}

export type RateClass = 'core' | 'standard' | 'import'

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor
    /** Set for requests with a valid credential, even if they are rejected later. */
    calledApp: ServedApp | undefined
    /** Set for calls by an operator, through the management API. */
    managed: { operator: Operator; role: Role; audit?: number } | undefined
  }
  interface FastifyContextConfig extends Partial<Access> {}
  interface FastifyInstance {
    /** What rules say about the operations that users can call. */
    actionsByOperation: Map<string, Action>
  }
}

/** Makes every route below declare its access, and checks it for every request. */
export function addAccess(app: FastifyInstance, deps: Deps, credentials: Credentials): void {
  const limiter = new Limiter(deps.cache)
  const failures = new Failures(deps)
  const serviceHost = new URL(deps.config.service.publicUrl).hostname
  const finder = { directory: deps.directory, failures, serviceHost }

  app.decorate('actionsByOperation', new Map())
  app.addHook('onRoute', (route) => {
    const access = accessOf(route)
    const { operationId } = (route.schema ?? {}) as { operationId?: string }
    if (access.feature && operationId) app.actionsByOperation.set(operationId, actionOf(access))
    addErrors(route, access)
    const work = workOf(route)
    route.config = { ...route.config, ...(work && { work }) }
    completeRoute(route, { common: commonErrors(route), security: [{ apikey: [] }] })
    addHeaders(route)
    addExtensions(route, access)
  })
  app.decorateRequest('actor')
  app.decorateRequest('calledApp')
  app.decorateRequest('managed')
  app.decorateRequest('turn')

  app.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions
    const access = accessOf({ url: request.url, config })
    if (config.deprecated) addDeprecation(reply, config.deprecated)
    const managed = managedAppId(request, serviceHost)
    const served =
      managed === undefined
        ? await appOfRequest(finder, request, reply)
        : await appOfOperator(deps, failures, request, reply, managed)
    const state = await credentials.app(served)
    if (!state) throw unknownApp(served.id)
    const { settings } = state
    // Before anything is rejected, because a page could not read the error otherwise. Only our own
    // pages may read answers to operators.
    if (!request.managed) letPagesRead(reply, settings, request.headers.origin)
    if (state.suspended) throw fail('ERR_APP_SUSPENDED')
    const caller = request.managed
      ? { key: keyOfOperator(deps, request.managed.operator) }
      : await callerOf({ credentials, failures, settings, request, reply }, served)
    request.calledApp = served
    await countRequest({ limiter, served, settings, rate: access.rate, reply }, caller)
    deps.lanes.note(served.cell.id, served.no)
    // A write has to arrive first: a slow upload must not hold a slot.
    const app = isWrite(request.method)
      ? served
      : await admit(deps, served, settings, request, reply)
    request.actor = await toActor(app, state, caller, access, request)
    if (state.sanctioned) await applySanctions(request.actor, access, request)
    authorize(request.actor, actionAtGate(access))
    if (request.managed) {
      const { role, operator } = request.managed
      request.actor.operator = {
        email: operator.email,
        mayCreateTokens: mayUse(role, 'integration'),
        mayModerate: mayUse(role, 'moderation'),
      }
    }
    // Each request already has a logger; another child would cost more.
    ;(request.log as Logger).setBindings({ app: served.id })
  })

  app.addHook('preHandler', (request, reply, done) => {
    const { actor, method, routeOptions } = request
    if (!isWrite(method) || !routeOptions.config.work) return done()
    admit(deps, actor.app, actor.settings, request, reply).then(() => done(), done)
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

  app.addHook('onSend', (request, _reply, payload, done) => {
    request.turn?.leave(lengthOf(payload))
    done(null, payload)
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

/** Nearly: characters for texts, because counting their bytes would be work. */
const lengthOf = (payload: unknown) =>
  typeof payload === 'string' || payload instanceof Uint8Array ? payload.length : 0

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
  const { scope, users, onBehalfOf, rate, checksUser = false, speaks = false } = config ?? {}
  if (!scope || users === undefined || !onBehalfOf || !rate) {
    throw new Error(`${url} does not say who may call it`)
  }
  const { feature, permission, scopePermission } = config ?? {}
  if ((users || onBehalfOf !== 'ignored') && !feature) {
    throw new Error(`${url} does not say which feature of users it is, or why it is none`)
  }
  return {
    ...{ scope, users, onBehalfOf, rate, checksUser, speaks },
    ...(feature && { feature }),
    ...(permission && { permission }),
    ...(scopePermission && { scopePermission }),
  }
}

/** What can be decided before the request is read. */
const actionAtGate = ({ feature, permission }: Access): Action => ({
  ...(typeof feature === 'string' && { features: [feature] }),
  ...(permission && { permission }),
})

const actionOf = (access: Access): Action => ({
  features: featuresOf(access),
  ...(access.permission && { permission: access.permission }),
  ...(access.scopePermission && { scopePermission: access.scopePermission }),
})

/** All features that decide about an operation. */
const featuresOf = ({ feature = [] }: Access): readonly Feature[] =>
  typeof feature === 'string' ? [feature] : 'none' in feature ? [] : feature

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
function addExtensions({ schema }: RouteOptions, access: Access): void {
  const { scope, users, onBehalfOf, rate, feature, permission, scopePermission } = access
  const features = featuresOf(access)
  Object.assign(schema ?? {}, {
    ...(users && { security: [{ apikey: [] }, { authToken: [] }] }),
    'x-scope': scope,
    'x-users': users,
    'x-on-behalf-of': onBehalfOf,
    'x-rate-class': rate,
    ...(features.length > 0 && { 'x-features': features }),
    ...(feature &&
      typeof feature === 'object' &&
      'none' in feature && { 'x-no-feature': feature.none }),
    ...(permission && { 'x-permission': permission }),
    ...(scopePermission && { 'x-scope-permission': scopePermission }),
  })
}

/** Permissions that leave something out of an answer. Where they refuse, the route says so. */
const ONLY_HIDE: readonly RoleAction[] = ['listMessages', 'getUserDetails']

/** Errors that follow from who may call it. */
function addErrors(route: RouteOptions, access: Access): void {
  const { users, onBehalfOf, permission, scopePermission, speaks } = access
  const { errors = [] } = route.config ?? {}
  const more: ErrorCode[] = [
    ...(onBehalfOf !== 'ignored' || users === 'self' ? (['ERR_UID_NOT_FOUND'] as const) : []),
    ...(users || onBehalfOf !== 'ignored' ? (['ERR_USER_BANNED'] as const) : []),
    ...(speaks ? (['ERR_USER_MUTED'] as const) : []),
    ...(featuresOf(access).length > 0 ? (['ERR_FEATURE_RESTRICTED'] as const) : []),
    ...((permission && !ONLY_HIDE.includes(permission)) || scopePermission
      ? (['ERR_PERMISSION_DENIED'] as const)
      : []),
  ]
  route.config = { ...route.config, errors: [...new Set([...errors, ...more])] }
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
  { settings, rules, moderation }: AppState,
  caller: Caller,
  access: Access,
  request: FastifyRequest,
): Promise<Actor> {
  if ('user' in caller) {
    const { hash, uid } = caller.user
    checkUserMay(access, uid, request)
    const policy = rules.size > 0 ? await policyOf(app, rules, uid) : undefined
    return { app, settings, policy, moderation, credential: hash, kind: 'user', uid }
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
    const policy =
      access.checksUser && rules.size > 0
        ? await policyOf(app, rules, uid)
        : !access.checksUser && rules.get(await checkUser(app, uid))
    const of = { app, settings, ...(policy && { policy }), moderation }
    return { ...of, credential, scope, kind: 'appOnBehalf', uid }
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
  return { app, settings, moderation, credential, scope, kind: 'app' }
}

/** Refuses what the acting user's sanctions forbid. Mutes in the group of a message are checked when it is read. */
async function applySanctions(
  actor: Actor,
  { speaks }: Access,
  { params }: FastifyRequest,
): Promise<void> {
  actor.sanctioned = true
  if (actor.uid === undefined) return
  actor.sanctions = await sanctionsOf(actor.app, actor.uid)
  refuseIf(refuseBanned(actor))
  const { guid } = params as { guid?: string }
  if (speaks) refuseIf(refuseMuted(actor, guid?.toLowerCase()))
}

/** Users act only for themselves. What only another user may see looks as if it didn't exist. */
function checkUserMay({ users }: Access, uid: string, request: FastifyRequest): void {
  const { headers, params, query } = request
  const other = textOf(headers.onbehalfof).toLowerCase()
  if (!users) throw noAccess('This operation needs an API key; auth tokens may not call it.')
  if (other && other !== uid)
    throw noAccess('onBehalfOf names a different user than the auth token.')
  if (users !== 'self') return
  const { uid: given = '' } = { ...(query as { uid?: unknown }), ...(params as { uid?: unknown }) }
  const named = String(given).toLowerCase()
  if (named !== uid) throw fail('ERR_UID_NOT_FOUND', { uid: named })
}

/** The rules of a user's role, if it has any. The operation itself rejects users who can't act. */
async function policyOf(
  { no: appNo, cell }: ServedApp,
  rules: AppRules,
  uid: string,
): Promise<RolePolicy | undefined> {
  const user = await findActiveUser.maybeOne(cell.db, { appNo, uid })
  return user && rules.get(user.role)
}

/** Rejects a user who doesn't exist or is deactivated. Otherwise returns the user's role. */
export async function checkUser({ no: appNo, cell }: ServedApp, uid: string): Promise<string> {
  const known = await findActiveUser.maybeOne(cell.db, { appNo, uid })
  if (!known) throw fail('ERR_UID_NOT_FOUND', { uid: uid.slice(0, 100) })
  return known.role
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
