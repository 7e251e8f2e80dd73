import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { Deps } from './deps.ts'

/** The REST interface. */
export function buildApi(deps: Deps): FastifyInstance {
  const app = Fastify({ loggerInstance: deps.log as FastifyBaseLogger })
  let draining = false
  app.addHook('preClose', async () => {
    draining = true
  })
  app.get('/health/live', async () => ({ status: 'live' }))
  app.get('/health/ready', async (_request, reply) =>
    draining ? reply.code(503).send({ status: 'draining' }) : { status: 'ready' },
  )
  return app
}
