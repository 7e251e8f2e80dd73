import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { EventType } from '@loquat/protocol'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { mayUse, type Role, visibleEvents } from '../../gate/operator.ts'
import { LogWatch } from '../../platform/events/watch.ts'
import { readLog, startOfLog, type Wanted } from './record.ts'
import { EventList, EventListQuery } from './schema.ts'

export const eventRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const watch = new LogWatch(deps)
    const closing = new AbortController()
    // Runs before the server waits for requests in progress: requests that wait for events answer
    // immediately.
    app.addHook('preClose', async () => closing.abort())

    app.get(
      '/events',
      {
        config: {
          scope: 'fullAccess',
          users: false,
          onBehalfOf: 'ignored',
          rate: 'standard',
          errors: ['ERR_POSITION_TOO_OLD', 'ERR_POSITION_LOST'],
        },
        schema: {
          operationId: 'listEvents',
          tags: ['events'],
          summary: "Read the app's event log",
          description: 'Returns events in order, starting after a position.',
          querystring: EventListQuery,
          response: { 200: EventList },
        },
      },
      async (request, reply) => {
        const { actor, managed, query } = request
        const { no: appNo, cell } = actor.app
        const after = query.after ?? (await startOfLog(cell.db, appNo))
        const wanted = { ...query, after, types: typesFor(managed?.role, query.types) }
        if (query.wait === 0) return readLog(cell.db, appNo, after, wanted)
        const ended = new AbortController()
        reply.raw.once('close', () => ended.abort())
        const patience = AbortSignal.timeout(query.wait * 1000)
        const signal = AbortSignal.any([ended.signal, closing.signal, patience])
        return readOrWait(watch, request, wanted, signal)
      },
    )
  }

/** The requested types that an operator of this role may see; undefined means all. */
function typesFor(role: Role | undefined, asked: EventType[] | undefined) {
  if (!role || mayUse(role, 'settings')) return asked
  const visible = visibleEvents(role)
  return asked?.filter((type) => visible.includes(type)) ?? visible
}

/** Holds neither a database connection nor a slot while it waits. The signal is aborted in any case. */
async function readOrWait(
  watch: LogWatch,
  { actor: { app }, calledApp = app, turn }: FastifyRequest,
  query: Wanted & { after: number },
  signal: AbortSignal,
): Promise<EventList> {
  for (let { after } = query; ; ) {
    // The watch outlives this request, and so does the database that it reads.
    const grown = watch.grown(calledApp, after, signal)
    const log = await readLog(app.cell.db, app.no, after, query)
    if (log.data.length > 0 || signal.aborted) return log
    // Events that `types` filtered out aren't read again.
    if (log.meta.next.after > after) after = log.meta.next.after
    else await (turn?.outside(grown) ?? grown)
  }
}
