import type { ErrorCode } from '@loquat/protocol'
import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { Limiter } from '../platform/cache/limiter.ts'
import { fail, noAccess } from '../platform/http/fail.ts'
import { completeRoute, isWrite } from '../platform/http/route.ts'
import { Failures } from './failures.ts'
import { addLimitHeaders, IdempotencyKey } from './headers.ts'
import { type ManagedApp, mayUse, type Operator, roleIsTooSmall, type Section } from './operator.ts'
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

/** Makes every route below declare who may call it, and rejects everyone else. */
export function addManagement(app: FastifyInstance, deps: Deps): void {
  const limiter = new Limiter(deps.cache)
  const failures = new Failures(deps)

  app.addHook('onRoute', (route) => {
    const { manage, sessionOnly = false } = accessOf(route)
    const security =
      manage === 'public'
        ? []
        : [{ session: [] }, ...(sessionOnly ? [] : [{ key: [], secret: [] }])]
    completeRoute(route, { common: commonErrors(route, manage), security })
    if (!route.schema) return
    if (isWrite(route.method) && manage !== 'public') {
      route.schema.headers = Type.Object({ 'Idempotency-Key': Type.Optional(IdempotencyKey) })
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
