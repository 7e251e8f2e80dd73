import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiOptions } from './api.ts'
import type { Config } from './config.ts'
import { closeDeps, type Deps, openDeps } from './deps.ts'
import { addBacklogGauges, addProcessGauges } from './gauges.ts'

export const roles = ['api', 'gateway', 'worker'] as const
export type Role = (typeof roles)[number]

export interface Service {
  deps: Deps
  /** The port of the REST API, if this process has that role. */
  apiPort: number | undefined
  /** The port for WebSockets, if this process has that role. With the role `api`, it is the same port. */
  gatewayPort: number | undefined
  internalPort: number
  /** Where answers to emails arrive, if that is configured. */
  mailPort?: number
  /** Stops accepting work, finishes current work, and closes everything. */
  drain(): Promise<void>
}

/** Starts the given roles in this process. Loads only their code: it is most of a start's time. */
export async function serve(
  config: Config,
  wanted: readonly Role[],
  options: Pick<ApiOptions, 'console'> = {},
): Promise<Service> {
  const deps = await openDeps(config)
  try {
    await deps.directory.start()
    deps.revocations.start()
    addProcessGauges(deps)
    if (wanted.includes('api')) deps.lanes.share()
    if (wanted.includes('worker')) addBacklogGauges(deps)
    let draining = false
    const health = answerHealth(() => draining)
    const internal = await listenInternal(deps, health)
    const workers = wanted.includes('worker') ? await startWorkers(deps) : undefined
    const api = wanted.includes('api') ? await listenApi(deps, options) : undefined
    const mail = wanted.includes('api') && config.mail.listen ? await listenMail(deps) : undefined
    const gateway = wanted.includes('gateway')
      ? await listenGateway(deps, health, api?.server)
      : undefined
    const apiPort = api?.port
    const gatewayPort = gateway?.port
    const internalPort = portOf(internal)
    deps.log.info({ roles: wanted, apiPort, gatewayPort, internalPort }, 'ready')

    return {
      deps,
      apiPort,
      gatewayPort,
      internalPort,
      ...(mail && { mailPort: mail.port }),
      async drain() {
        deps.log.info('draining')
        draining = true
        await Promise.all([api?.drain(), gateway?.drain(), workers?.close(), mail?.close()])
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

async function startWorkers(deps: Deps) {
  const workers = await import('./workers/jobs.ts')
  return workers.startWorkers(deps)
}

async function listenMail(deps: Deps) {
  const { listenForMail } = await import('./api.ts')
  return listenForMail(deps)
}

async function listenApi(deps: Deps, options: ApiOptions) {
  const { buildApi } = await import('./api.ts')
  const { host, port, drainNoticeSeconds, drainSeconds } = deps.config.http
  let draining = false
  const app = await buildApi(deps, { ...options, draining: () => draining })
  await app.listen({ host, port })
  const server = app.server as Server
  return {
    server,
    port: portOf(server),
    /**
     * First, every response says `connection: close`, so that callers reconnect to other processes. Then no new
     * connections are accepted. Finally, requests that are still running are cut off.
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

/** Accepts WebSockets on the server of the REST API, if this process has one, or on its own server. */
async function listenGateway(deps: Deps, health: RequestListener, shared: Server | undefined) {
  const { Gateway } = await import('./gateway/gateway.ts')
  const { host, port, drainSeconds } = deps.config.http
  const gateway = new Gateway(deps)
  const server = shared ?? createServer(health)
  gateway.attach(server)
  if (!shared) await listen(server, port, host)
  return {
    port: portOf(server),
    /** Spreads the closing of connections over half the time, and leaves the other half for the close handshakes. */
    async drain() {
      await gateway.drain(drainSeconds / 2)
      if (!shared) server.close()
    },
  }
}

const listen = (server: Server, port: number, host: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })

/** Metrics and health, on a separate port that only operators can reach. */
function listenInternal({ config, metrics }: Deps, health: RequestListener): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/metrics') metrics.handler(request, response)
    else health(request, response)
  })
  return listen(server, config.http.internalPort, config.http.internalHost)
}

/** `live` is always true; `ready` is true until the process drains. */
const answerHealth =
  (draining: () => boolean): RequestListener =>
  ({ url = '' }, response) => {
    const [, check] = /^\/health\/(live|ready)$/.exec(url) ?? []
    const away = check === 'ready' && draining()
    const status = away ? 'draining' : (check ?? 'unknown path')
    const code = check === undefined ? 404 : away ? 503 : 200
    response.writeHead(code, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ status }))
  }
