import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildApi } from './api.ts'
import type { Config } from './config.ts'
import { closeDeps, type Deps, openDeps } from './deps.ts'
import { startWorkers } from './workers/jobs.ts'

export const roles = ['api', 'gateway', 'worker'] as const
export type Role = (typeof roles)[number]

export interface Service {
  deps: Deps
  /** Where the REST interface listens, if this process has that role. */
  apiPort: number | undefined
  internalPort: number
  /** Stops taking work, finishes what is under way, and closes everything. */
  drain(): Promise<void>
}

/** Starts the given roles in this process. */
export async function serve(config: Config, wanted: readonly Role[]): Promise<Service> {
  const deps = openDeps(config)
  try {
    await deps.directory.start()
    deps.revocations.start()
    const internal = await listenInternal(deps)
    const workers = wanted.includes('worker') ? startWorkers(deps) : undefined
    const api = wanted.includes('api') ? await listenApi(deps) : undefined
    const apiPort = api?.port
    const internalPort = portOf(internal)
    deps.log.info({ roles: wanted, apiPort, internalPort }, 'ready')

    return {
      deps,
      apiPort,
      internalPort,
      async drain() {
        deps.log.info('draining')
        await Promise.all([api?.drain(), workers?.close()])
        internal.closeAllConnections()
        internal.close()
        await closeDeps(deps)
        deps.log.info('drained')
      },
    }
  } catch (error) {
    await closeDeps(deps)
    throw error
  }
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

async function listenApi(deps: Deps) {
  const { host, port, drainNoticeSeconds, drainSeconds } = deps.config.http
  let draining = false
  const app = await buildApi(deps, { draining: () => draining })
  await app.listen({ host, port })
  return {
    port: portOf(app.server as Server),
    /**
     * First every answer says `connection: close`, so that callers come back elsewhere; then no
     * connection is taken any more; what is still under way at the end is cut off.
     */
    async drain() {
      draining = true
      await sleep(drainNoticeSeconds * 1000)
      const late = setTimeout(() => app.server.closeAllConnections(), drainSeconds * 1000)
      await app.close()
      clearTimeout(late)
    },
  }
}

/** Metrics and health, on a port of their own: for the operator alone. */
function listenInternal({ config, metrics }: Deps): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/metrics') return metrics.handler(request, response)
    const [, status = 'unknown path'] = /^\/health\/(live|ready)$/.exec(request.url ?? '') ?? []
    response.writeHead(status === 'unknown path' ? 404 : 200, {
      'content-type': 'application/json',
    })
    return response.end(JSON.stringify({ status }))
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.http.internalPort, config.http.internalHost, () => resolve(server))
  })
}
