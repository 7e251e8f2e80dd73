import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../deps.ts'
import { Counters } from './counters.ts'

/** Counts the calls of all routes below, by operation and status. */
export function addUsage(app: FastifyInstance, deps: Deps): void {
  const counters = new Counters(deps)
  app.addHook('onResponse', (request, reply, done) => {
    const { actor, calledApp, routeOptions } = request
    if (calledApp) {
      const { operationId } = routeOptions.schema as { operationId: string }
      counters.count(calledApp, `api.${operationId}.${reply.statusCode}`)
    }
    if (calledApp && actor?.kind === 'user') counters.saw(calledApp, actor.uid)
    done()
  })
  app.addHook('onClose', () => counters.close())
}
