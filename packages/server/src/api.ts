import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { addAccess } from './areas/access/plugin.ts'
import { apiKeyRoutes } from './areas/apikeys/routes.ts'
import type { Deps } from './deps.ts'
import { addOpenApi } from './platform/http/openapi.ts'
import { openHttp } from './platform/http/server.ts'

/** Every area of the REST interface. */
const areas: ((deps: Deps) => FastifyPluginAsync)[] = [apiKeyRoutes]

export interface ApiOptions {
  draining?: () => boolean
  /** Routes beside those of the areas: for tests. */
  more?: (typeof areas)[number][]
}

/** The REST interface. */
export async function buildApi(
  deps: Deps,
  { draining = () => false, more = [] }: ApiOptions = {},
): Promise<FastifyInstance> {
  const app = openHttp({ log: deps.log, timings: deps.metrics.requests, draining })
  addHealth(app, draining)
  await addOpenApi(app)
  const v3: FastifyPluginAsync = async (scope) => {
    addAccess(scope, deps)
    for (const area of [...areas, ...more]) await scope.register(area(deps))
  }
  await app.register(v3, { prefix: '/v3' })
  app.get('/v3/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  return app
}

function addHealth(app: FastifyInstance, draining: () => boolean): void {
  app.get('/health/live', async () => ({ status: 'live' }))
  app.get('/health/ready', async (_request, reply) =>
    draining() ? reply.code(503).send({ status: 'draining' }) : { status: 'ready' },
  )
}
