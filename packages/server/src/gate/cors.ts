import type { FastifyInstance, FastifyReply } from 'fastify'
import { originsOf, type Settings } from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import { appOfRequest, readApp, unknownApp } from './app-of-request.ts'
import type { Credentials } from './credentials.ts'
import { Failures } from './failures.ts'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
/** Without `apikey`: everybody could read a key in a page. */
const HEADERS = 'appid, authtoken, content-type, idempotency-key, onbehalfof, x-request-id'
const READABLE =
  'retry-after, x-request-id, x-rate-limit, x-rate-limit-remaining, x-rate-limit-reset, ratelimit'
const PREFLIGHT_SECONDS = 600

/** Lets pages of the app's configured origins read the answer. */
export function letPagesRead(
  reply: FastifyReply,
  settings: Settings,
  origin: string | undefined,
): void {
  const origins = originsOf(settings)
  if (origins.length === 0) return
  if (origins.includes('*')) allow(reply, '*')
  else {
    reply.header('vary', 'Origin')
    if (origin !== undefined && origins.includes(origin)) allow(reply, origin)
  }
}

const allow = (reply: FastifyReply, origin: string) =>
  reply
    .header('access-control-allow-origin', origin)
    .header('access-control-expose-headers', READABLE)

/**
 * Answers preflights. On the bare host a preflight doesn't name the app, so any page may then try;
 * whether it can read the answer depends on the app's setting. Browsers don't add our credentials
 * by themselves, so a page can't use any that it doesn't have.
 */
export function addPreflight(app: FastifyInstance, deps: Deps, credentials: Credentials): void {
  const serviceHost = new URL(deps.config.service.publicUrl).hostname
  const finder = { directory: deps.directory, failures: new Failures(deps), serviceHost }
  app.options('/*', { schema: { hide: true } }, async (request, reply) => {
    const { origin, 'access-control-request-method': asked } = request.headers
    if (origin === undefined || asked === undefined) return reply.callNotFound()
    if (readApp(request.headers, serviceHost).appId) {
      const served = await appOfRequest(finder, request, reply)
      const state = await credentials.app(served)
      if (!state) throw unknownApp(served.id)
      letPagesRead(reply, state.settings, origin)
    } else allow(reply, '*')
    return reply
      .header('access-control-allow-methods', METHODS)
      .header('access-control-allow-headers', HEADERS)
      .header('access-control-max-age', PREFLIGHT_SECONDS)
      .code(204)
      .send()
  })
}
