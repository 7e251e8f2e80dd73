import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { addPreflight } from './areas/access/cors.ts'
import { Credentials } from './areas/access/credentials.ts'
import { addAccess } from './areas/access/plugin.ts'
import { apiKeyRoutes } from './areas/apikeys/routes.ts'
import { botRoutes } from './areas/bots/routes.ts'
import { deprecatedConversationRoutes } from './areas/conversations/deprecated.routes.ts'
import { pinRoutes } from './areas/conversations/pins.routes.ts'
import { conversationRoutes } from './areas/conversations/routes.ts'
import { eventRoutes } from './areas/events/routes.ts'
import { memberRoutes } from './areas/groups/members.routes.ts'
import { groupRoutes } from './areas/groups/routes.ts'
import { messageListRoutes } from './areas/messages/list.routes.ts'
import { pinnedMessageRoutes } from './areas/messages/pins.routes.ts'
import { reactionRoutes } from './areas/messages/reactions.routes.ts'
import { messageRoutes } from './areas/messages/routes.ts'
import { savedMessageRoutes } from './areas/messages/saves.routes.ts'
import { threadRoutes } from './areas/messages/threads.routes.ts'
import { relationRoutes } from './areas/relations/routes.ts'
import { roleRoutes } from './areas/roles/routes.ts'
import { userRoutes } from './areas/users/routes.ts'
import { authTokenRoutes } from './areas/users/tokens.routes.ts'
import { deliveryRoutes } from './areas/webhooks/deliveries.routes.ts'
import { webhookRoutes } from './areas/webhooks/routes.ts'
import type { Deps } from './deps.ts'
import { addOpenApi, addReference } from './platform/http/openapi.ts'
import { openHttp } from './platform/http/server.ts'

/** Every area of the REST interface. */
const areas: ((deps: Deps) => FastifyPluginAsync)[] = [
  apiKeyRoutes,
  roleRoutes,
  userRoutes,
  authTokenRoutes,
  botRoutes,
  relationRoutes,
  groupRoutes,
  memberRoutes,
  messageRoutes,
  threadRoutes,
  reactionRoutes,
  pinnedMessageRoutes,
  savedMessageRoutes,
  messageListRoutes,
  conversationRoutes,
  pinRoutes,
  deprecatedConversationRoutes,
  eventRoutes,
  webhookRoutes,
  deliveryRoutes,
]

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
  const { log, metrics, tracing } = deps
  const app = openHttp({ log, timings: metrics.requests, tracing, draining })
  addHealth(app, draining)
  await addOpenApi(app)
  const credentials = new Credentials(deps)
  const v3: FastifyPluginAsync = async (scope) => {
    addAccess(scope, deps, credentials)
    for (const area of [...areas, ...more]) await scope.register(area(deps))
  }
  await app.register(v3, { prefix: '/v3' })
  const preflight: FastifyPluginAsync = async (scope) => addPreflight(scope, deps, credentials)
  await app.register(preflight, { prefix: '/v3' })
  await addReference(app, '/v3')
  return app
}

function addHealth(app: FastifyInstance, draining: () => boolean): void {
  app.get('/health/live', async () => ({ status: 'live' }))
  app.get('/health/ready', async (_request, reply) =>
    draining() ? reply.code(503).send({ status: 'draining' }) : { status: 'ready' },
  )
}
