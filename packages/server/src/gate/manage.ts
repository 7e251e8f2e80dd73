import type { ErrorCode } from '@loquat/protocol'
import type { FastifyInstance, FastifyReply, FastifySchema, RouteOptions } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { Limiter } from '../platform/cache/limiter.ts'
import { fail, noAccess } from '../platform/http/fail.ts'
import type { DocumentOptions } from '../platform/http/openapi.ts'
import { completeRoute, isWrite } from '../platform/http/route.ts'
import { failures as failureSchemas } from '../platform/http/schemas.ts'
import { Failures } from './failures.ts'
import { addLimitHeaders, IdempotencyKey } from './headers.ts'
import {
  type ManagedApp,
  mayUse,
  type Operator,
  roleIsTooSmall,
  type Section,
  sectionOfTag,
} from './operator.ts'
import { managedAppOf, operatorOf, refuseForeignPages } from './operators.ts'

/** Who may call an operation of the management API. Every route declares it. */
export interface ManageAccess {
  /** Everyone; every operator, about their own account; or collaborators of the app in the path. */
  manage: 'public' | 'account' | Section
  /** Requires a session: key and secret aren't enough for the account's own security. */
  sessionOnly?: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests by an operator. */
    operator: Operator
    managedApp: ManagedApp
  }
  interface FastifyContextConfig extends Partial<ManageAccess> {}
}

const SHARED: readonly ErrorCode[] = [
  'ERR_BAD_REQUEST',
  'ERR_TOO_MANY_REQUESTS',
  'ERR_EXCEPTION',
  'ERR_MISSION_FAILED',
]

/** By a session, or by an operator key with its secret. The session comes first. */
const SECURITY: Record<string, string[]>[] = [{ session: [] }, { key: [], secret: [] }]
const RetryHeaders = Type.Object({ 'Idempotency-Key': Type.Optional(IdempotencyKey) })

/** Makes every route below declare who may call it, and rejects everyone else. */
export function addManagement(app: FastifyInstance, deps: Deps): void {
  const limiter = new Limiter(deps.cache)
  const failures = new Failures(deps)

  app.addHook('onRoute', (route) => {
    const { manage, sessionOnly = false } = accessOf(route)
    const security = manage === 'public' ? [] : SECURITY.slice(0, sessionOnly ? 1 : undefined)
    completeRoute(route, { common: commonErrors(route, manage), security })
    if (!route.schema) return
    if (isWrite(route.method) && manage !== 'public') {
      route.schema.headers = RetryHeaders
    }
    Object.assign(route.schema, { 'x-manage': manage, 'x-session-only': sessionOnly })
  })
  app.decorateRequest('operator')
  app.decorateRequest('managedApp')

  app.addHook('onRequest', async (request, reply) => {
    const { manage, sessionOnly } = accessOf(request.routeOptions)
    if (manage === 'public') return refuseForeignPages(request)
    const operator = await operatorOf(deps, failures, request, reply)
    request.operator = operator
    await countRequest(limiter, deps, operator, reply)
    if (sessionOnly && operator.via !== 'session') {
      throw noAccess('This operation needs a session. Sign in instead of sending key and secret.')
    }
    if (manage === 'account') return
    const { appId = '' } = request.params as { appId?: string }
    request.managedApp = await managedAppOf(deps, operator, appId)
    const { role } = request.managedApp
    if (!mayUse(role, manage)) throw noAccess(roleIsTooSmall(role))
  })
}

function accessOf({
  url,
  config,
}: Pick<RouteOptions, 'config'> & { url?: string | undefined }): ManageAccess {
  const { manage, sessionOnly = false } = config ?? {}
  if (!manage) throw new Error(`${url} does not say who may call it`)
  return { manage, sessionOnly }
}

function commonErrors({ method }: RouteOptions, manage: ManageAccess['manage']): ErrorCode[] {
  const errors = [...SHARED]
  if (isWrite(method)) errors.push('ERR_PAYLOAD_TOO_LARGE', 'AUTH_ERR_FOREIGN_PAGE')
  if (manage === 'public') return errors
  if (isWrite(method)) errors.push('ERR_IDEMPOTENCY_KEY_REUSED')
  errors.push('AUTH_ERR_EMPTY_AUTH_HEADER', 'AUTH_ERR_INVALID_CREDENTIALS', 'AUTH_ERR_NO_ACCESS')
  if (manage !== 'account') errors.push('ERR_APP_NOT_FOUND')
  return errors
}

/**
 * The routes of an app's webhooks and of moderation as the management API offers them: `managed.ts` leads from there to
 * the routes of the REST API. The rest of an app's data is only described by the REST API's document.
 */
export const describeShared: NonNullable<DocumentOptions['also']> = ({ schema, url, route }) => {
  if (!/^\/v3\/(webhooks|moderation)(\/|$)/.test(url)) return undefined
  const section = sectionOfTag(schema.tags?.[0] ?? '')
  const errors = [...commonErrors(route, section), ...(route.config?.errors ?? [])]
  const answers = schema.response as Record<string, TSchema>
  const { properties } = (schema.params ?? Type.Object({})) as ReturnType<typeof Type.Object>
  const appId = Type.String({ maxLength: 100, description: 'Id of the app.' })
  const { operationId, tags, summary, description, querystring, body } = schema
  return {
    url: url.replace('/v3/', '/apps/:appId/'),
    schema: {
      ...{ operationId, tags, summary, ...(description !== undefined && { description }) },
      params: Type.Object({ appId, ...properties }),
      ...(querystring !== undefined && { querystring }),
      ...(body !== undefined && { body }),
      ...(isWrite(route.method) && { headers: RetryHeaders }),
      response: { 200: answers[200], ...failureSchemas([...errors, 'AUTH_ERR_INVALID_APPID']) },
      security: SECURITY,
      ...{ 'x-manage': section, 'x-session-only': false },
    } as FastifySchema,
  }
}

async function countRequest(
  limiter: Limiter,
  { config }: Deps,
  { no }: Operator,
  reply: FastifyReply,
): Promise<void> {
  const limit = config.manage.rate
  const verdict = await limiter.take(`operator:${no}`, limit)
  addLimitHeaders(reply, 'manage', verdict)
  if (!verdict.allowed) throw fail('ERR_TOO_MANY_REQUESTS', { limit })
}
