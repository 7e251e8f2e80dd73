import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  const { log } = deps
  const { host, port, internalPort, drainSeconds } = config.http
  try {
    await deps.directory.start()
    const internal = await listenInternal(deps, internalPort)
    const workers = wanted.includes('worker') ? startWorkers(deps) : undefined
    const api = wanted.includes('api') ? buildApi(deps) : undefined
    await api?.listen({ host, port })
    const apiPort = api && (api.server.address() as AddressInfo).port
    log.info({ roles: wanted, host, port: apiPort, internalPort: portOf(internal) }, 'ready')

    return {
      deps,
      apiPort,
      internalPort: portOf(internal),
      async drain() {
        log.info('draining')
        const late = new Promise((resolve) => setTimeout(resolve, drainSeconds * 1000).unref())
        await Promise.race([Promise.all([api?.close(), workers?.close()]), late])
        internal.closeAllConnections()
        internal.close()
        await Promise.race([closeDeps(deps), late])
        log.info('drained')
      },
    }
  } catch (error) {
    await closeDeps(deps)
    throw error
  }
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

/** Metrics and health for the operator alone: loopback unless the service listens wider. */
function listenInternal(deps: Deps, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/metrics') return deps.metrics.handler(request, response)
    const live = request.url === '/health/live'
    response.writeHead(live ? 200 : 404, { 'content-type': 'application/json' })
    return response.end(live ? '{"status":"live"}' : '{"status":"unknown path"}')
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, deps.config.http.host, () => resolve(server))
  })
}
