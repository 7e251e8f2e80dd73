import type { IncomingMessage, Server } from 'node:http'
import type { BlockList } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientFrame, type CloseName, realtimeLimits } from '@loquat/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { Presence } from '../areas/presence/presence.ts'
import type { ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { type AppFinder, appOfSocket } from '../gate/app-of-request.ts'
import { Credentials } from '../gate/credentials.ts'
import { Failures } from '../gate/failures.ts'
import { hasValidHost } from '../platform/http/host.ts'
import { answerTo } from '../platform/http/refusal.ts'
import { networks } from '../platform/net/network.ts'
import { Authenticator } from './authenticator.ts'
import { executeFrame } from './commands.ts'
import { type DeviceInfo, infoOfRequest } from './device-info.ts'
import { checkFrame, readFrame } from './frames.ts'
import { Hubs } from './hubs.ts'
import { PresenceReporter } from './presence-reporter.ts'
import { closeCodeOf, Session } from './session.ts'
import { Turns } from './turns.ts'
import { Unauthenticated } from './unauthenticated.ts'

const PATH = '/v3/realtime'
/** One timer ticks for all connections. */
const TICK_MS = 1_000
/** How long to wait for the client's close frame. */
const CLOSE_TIMEOUT_MS = 5_000
/** The most connections that may wait for `auth`. Beyond that, the oldest of the app with the most are closed. */
const MAX_UNAUTHENTICATED = 20_000
const DRAIN_STEP_MS = 50

/** Accepts WebSocket connections from devices, reads their frames, and closes them. */
export class Gateway {
  readonly #deps: Deps
  readonly #presence: Presence
  readonly #hubs: Hubs
  readonly #turns = new Turns()
  readonly #authenticator: Authenticator
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Without compression, a client can't send a decompression bomb.
    perMessageDeflate: false,
    maxPayload: realtimeLimits.frameBytes,
    maxFragments: 16,
    // Automatic pongs would pile up for a client that never reads.
    autoPong: false,
    // Missing in the type definitions of ws.
    ...({ closeTimeout: CLOSE_TIMEOUT_MS } as object),
  })
  readonly #apps: AppFinder
  readonly #proxies: BlockList
  readonly #sessions = new Set<Session>()
  readonly #unauthenticated = new Unauthenticated(MAX_UNAUTHENTICATED)
  readonly #timer: NodeJS.Timeout
  #draining = false

  constructor(deps: Deps) {
    this.#deps = deps
    const failures = new Failures(deps)
    const serviceHost = new URL(deps.config.service.publicUrl).hostname
    this.#apps = { directory: deps.directory, failures, serviceHost }
    this.#proxies = networks(deps.config.http.trustedProxies)
    this.#presence = new Presence(deps)
    this.#presence.start()
    // After this, so that hubs hear of revocations when the credentials have forgotten them.
    const own = { ...deps, credentials: new Credentials(deps) }
    this.#hubs = new Hubs(own, new PresenceReporter(this.#presence))
    this.#authenticator = new Authenticator(own, failures, this.#hubs)
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    deps.metrics.gauge('loquat_gateway_connections', 'Open WebSocket connections.', () => [
      [this.#sessions.size],
    ])
  }

  /** Handles the WebSocket upgrades of an HTTP server. */
  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => {
      // The client may break the connection at any time; that isn't our error.
      socket.on('error', () => {})
      this.#turns.add(() => this.#upgrade(request, socket, head))
    })
  }

  /** Closes all connections, spread over some time so that the clients don't all reconnect at once. */
  async drain(seconds: number): Promise<void> {
    this.#draining = true
    const perStep =
      1 + Math.floor((this.#sessions.size * DRAIN_STEP_MS) / (seconds * 1000 + DRAIN_STEP_MS))
    while (this.#sessions.size > 0) {
      const open = [...this.#sessions].filter(({ closed }) => !closed)
      for (const session of open.slice(0, perStep)) session.close('draining')
      await sleep(DRAIN_STEP_MS)
    }
    clearInterval(this.#timer)
    this.#hubs.close()
    await this.#presence.close()
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // The request target may not be a valid URL.
    const url = URL.parse(request.url ?? '', 'ws://gateway')
    const rejection = this.#rejectionOf(request, url)
    if (!url || rejection) {
      // Otherwise the socket would stay half open for as long as the client likes.
      socket.once('finish', () => socket.destroy())
      socket.end(`HTTP/1.1 ${rejection}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const device = infoOfRequest(request, this.#proxies)
    const name = { host: request.headers.host, appId: url.searchParams.get('appId') }
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      ws.on('error', () => {})
      // Frames that arrive before the session listens would be lost.
      ws.pause()
      // Errors are close codes, because browsers don't show scripts the status of a failed upgrade.
      void appOfSocket(this.#apps, name, device.appInfo?.clientIp ?? '')
        .then(
          (app) => this.#open(ws, app, device),
          (error) => refuse(ws, error),
        )
        .finally(() => ws.resume())
    })
  }

  #rejectionOf(request: IncomingMessage, url: URL | null): string | undefined {
    if (!hasValidHost(request)) return '400 Bad Request'
    if (url?.pathname !== PATH) return '404 Not Found'
    return this.#draining ? '503 Service Unavailable' : undefined
  }

  #open(ws: WebSocket, app: ServedApp, device: DeviceInfo): void {
    if (ws.readyState !== ws.OPEN) return
    if (this.#draining) {
      ws.close(closeCodeOf.draining)
      return
    }
    const session = new Session(ws, app, device)
    this.#sessions.add(session)
    const excess = this.#unauthenticated.add(session)
    if (excess) this.#closeUnauthenticated(excess)
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      session.silentTicks = 0
      this.#receive(session, isBinary ? '' : data.toString())
    })
    ws.on('ping', (data) => session.pong(data))
    ws.on('pong', () => {
      if (session.admit()) session.silentTicks = 0
    })
    ws.on('close', () => this.#remove(session))
  }

  #remove(session: Session): void {
    session.closed = true
    session.typing?.endAll()
    this.#sessions.delete(session)
    this.#unauthenticated.delete(session)
    this.#authenticator.remove(session)
  }

  #receive(session: Session, text: string): void {
    if (session.closed || !session.admit()) return
    const frame = readFrame(text)
    if (!frame) {
      session.close('badFrame')
      return
    }
    // `auth` must be the first frame, and only the first.
    if ((frame.type === 'auth') !== this.#unauthenticated.delete(session)) {
      session.close('badFrame')
      return
    }
    session.enqueue(async () => {
      try {
        checkFrame(frame)
        if (frame.type === 'auth') await this.#authenticator.authenticate(session, frame.body)
        else await executeFrame(this.#deps, this.#authenticator.hubOf(session), session, frame)
        if (frame.id !== undefined) session.send('session.ok', undefined, frame.id)
      } catch (error) {
        this.#sendError(session, frame, error)
      }
    })
  }

  #sendError(session: Session, { type, id }: ClientFrame, error: unknown): void {
    const { code, message, details } = answerTo(error)
    if (code === 'ERR_EXCEPTION') {
      this.#deps.log.error({ err: error, frame: type }, 'unexpected error')
    }
    session.send('session.error', { code, message, ...(details && { details }) }, id)
    if (type === 'auth') session.close(closeNameFor[code] ?? 'fault')
  }

  #closeUnauthenticated(session: Session): void {
    this.#unauthenticated.delete(session)
    session.close('late')
  }

  #tick(): void {
    for (const session of this.#unauthenticated) {
      if (++session.unauthenticatedTicks > realtimeLimits.authSeconds) {
        this.#closeUnauthenticated(session)
      }
    }
    for (const session of this.#sessions) session.tick()
    this.#hubs.tick()
  }
}

/** Closes a connection whose app can't be served. */
function refuse(ws: WebSocket, error: unknown): void {
  const { code, devMessage } = answerTo(error)
  const name = closeNameFor[code] ?? 'fault'
  ws.close(closeCodeOf[name], devMessage ?? name)
}

/** The close code after an unknown app or a failed `auth`, by error code. Any other error closes with `fault`. */
const closeNameFor: Partial<Record<string, CloseName>> = {
  AUTH_ERR_AUTH_TOKEN_NOT_FOUND: 'unauthorized',
  AUTH_ERR_EMPTY_APPID: 'noApp',
  AUTH_ERR_INVALID_APPID: 'noApp',
  ERR_APP_SUSPENDED: 'suspended',
  ERR_USER_BANNED: 'banned',
  ERR_BAD_REQUEST: 'badFrame',
  ERR_PLAN_QUOTA_RESTRICTION: 'tooMany',
  ERR_TOO_MANY_REQUESTS: 'tooMany',
  ERR_TOO_MANY_AT_ONCE: 'tooMany',
}
