import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { Limiter, type Verdict } from '../../platform/cache/limiter.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { addDeprecation, completeRoute, isWrite } from '../../platform/http/route.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Actor, KeyScope, ServedApp } from './actor.ts'
import { appOfRequest } from './app-of-request.ts'
import { Credentials, type KnownKey } from './credentials.ts'

/** Who may call an operation, and how it is counted. Every route declares it. */
export interface Access {
  /** The least scope of an API key. */
  scope: KeyScope
  /** Whether a user may call it with a token. */
  users: boolean
  onBehalfOf: 'required' | 'optional' | 'ignored'
  rate: RateClass
}

export type RateClass = 'core' | 'standard'

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor
  }
  interface FastifyContextConfig extends Partial<Access> {}
}

/** Makes every route below declare its access, and lets nobody through without it. */
export function addAccess(app: FastifyInstance, deps: Deps): void {
  const credentials = new Credentials(deps)
  const limiter = new Limiter(deps.cache)
  const serviceHost = new URL(deps.config.service.publicUrl).hostname

  app.addHook('onRoute', (route) => {
    const access = accessOf(route)
    completeRoute(route)
    addHeaders(route)
    addExtensions(route, access)
  })
  app.decorateRequest('actor')

  app.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions
    const access = accessOf({ url: request.url, config })
    if (config.deprecated) addDeprecation(reply, config.deprecated)
    const served = await appOfRequest(deps.directory, serviceHost, request.headers)
    const key = await keyOfRequest(credentials, served, request)
    await countRequest({ credentials, limiter, served, rate: access.rate, reply })
    if (key.scope === 'authOnly' && access.scope === 'fullAccess') throw fail('AUTH_ERR_NO_ACCESS')
    request.actor = toActor(served, key, access, request)
    // Each request has a logger of its own already: another child would cost more.
    ;(request.log as Logger).setBindings({ app: served.id })
  })

  app.addHook('preHandler', (request, _reply, done) => {
    const key = isWrite(request.method) ? request.headers['idempotency-key'] : undefined
    if (typeof key === 'string')
      request.actor.retry = { key, requestHash: hashRequest(deps, request) }
    done()
  })
}

function accessOf({ url, config }: Pick<RouteOptions, 'url' | 'config'>): Access {
  const { scope, users, onBehalfOf, rate } = config ?? {}
  if (!scope || users === undefined || !onBehalfOf || !rate) {
    throw new Error(`${url} does not say who may call it`)
  }
  return { scope, users, onBehalfOf, rate }
}

const OnBehalfOf = Type.String({ description: 'UID of the user on whose behalf the call is made.' })
const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Makes retries safe: the same key within 24 hours gets the first answer.',
})

function addHeaders({ method, config, schema }: RouteOptions): void {
  if (!schema) return
  const { onBehalfOf } = config ?? {}
  const headers = {
    ...(onBehalfOf === 'required' && { onBehalfOf: OnBehalfOf }),
    ...(onBehalfOf === 'optional' && { onBehalfOf: Type.Optional(OnBehalfOf) }),
    ...(isWrite(method) && { 'Idempotency-Key': Type.Optional(IdempotencyKey) }),
  }
  if (Object.keys(headers).length > 0) schema.headers = Type.Object(headers)
}

/** Lets readers of the document know who may call an operation, and how it is counted. */
function addExtensions({ schema }: RouteOptions, { scope, users, onBehalfOf, rate }: Access): void {
  Object.assign(schema ?? {}, {
    'x-scope': scope,
    'x-users': users,
    'x-on-behalf-of': onBehalfOf,
    'x-rate-class': rate,
  })
}

async function keyOfRequest(
  credentials: Credentials,
  app: ServedApp,
  { headers }: FastifyRequest,
): Promise<KnownKey> {
  const value = typeof headers.apikey === 'string' ? headers.apikey.trim() : ''
  if (!value) throw fail('AUTH_ERR_EMPTY_APIKEY')
  const key = await credentials.key(app, value)
  if (!key) throw fail('AUTH_ERR_APIKEY_NOT_FOUND')
  return key
}

function toActor(app: ServedApp, key: KnownKey, access: Access, request: FastifyRequest): Actor {
  const caller = { app, credential: key.hash, scope: key.scope }
  const header = access.onBehalfOf === 'ignored' ? undefined : request.headers.onbehalfof
  const uid = typeof header === 'string' ? header.trim().toLowerCase() : ''
  if (uid) return { ...caller, kind: 'appOnBehalf', uid }
  if (access.onBehalfOf === 'required') {
    throw badRequest({ onBehalfOf: ['the header onBehalfOf is required'] })
  }
  return { ...caller, kind: 'app' }
}

interface Counted {
  credentials: Credentials
  limiter: Limiter
  served: ServedApp
  rate: RateClass
  reply: FastifyReply
}

async function countRequest({ credentials, limiter, served, rate, reply }: Counted) {
  const limit = Number(await credentials.setting(served, `rate.${rate}`))
  const verdict = await limiter.take(`${served.no}:${rate}`, limit)
  addLimitHeaders(reply, rate, verdict)
  if (!verdict.allowed) throw fail('ERR_TOO_MANY_REQUESTS', { limit })
}

/** The contract's own headers, and the fields of the IETF's draft beside them. */
function addLimitHeaders(reply: FastifyReply, rate: RateClass, verdict: Verdict): void {
  const { allowed, limit, remaining, resetSeconds } = verdict
  reply.header('x-rate-limit', limit)
  reply.header('x-rate-limit-remaining', remaining)
  reply.header('ratelimit-policy', `"${rate}";q=${limit};w=60`)
  reply.header('ratelimit', `"${rate}";r=${remaining};t=${resetSeconds}`)
  if (allowed) return
  reply.header('retry-after', resetSeconds)
  reply.header('x-rate-limit-reset', Math.floor(Date.now() / 1000) + resetSeconds)
}

/** Keyed: bodies can hold secrets that are easy to guess. */
function hashRequest({ secrets }: Deps, { method, url, body }: FastifyRequest): Buffer {
  return secrets.hash(JSON.stringify([method, url, body]))
}
