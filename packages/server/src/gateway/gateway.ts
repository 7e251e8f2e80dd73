import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientFrame, realtimeLimits } from '@loquat/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { Presence } from '../areas/presence/presence.ts'
import type { ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { appOfSocket } from '../gate/app-of-request.ts'
import { ApiError } from '../platform/http/fail.ts'
import { answerTo } from '../platform/http/refusal.ts'
import { carryOut } from './commands.ts'
import { Door } from './door.ts'
import { checkFrame, readFrame } from './frames.ts'
import { Hubs } from './hubs.ts'
import { PresenceReport } from './presence-report.ts'
import { codeOf, Session } from './session.ts'

const PATH = '/v3/realtime'
/** The clock of all connections: one timer, not one for each. */
const ROUND_MS = 1_000
/** A close that is not answered by then needs no answer. */
const CLOSE_MS = 5_000
/** Connections that have not shown a token yet; of more, the oldest go. */
const UNPROVEN = 20_000

/** Devices' connections: how they come, what they say, and how they end. */
export class Gateway {
  readonly #deps: Deps
  readonly #presence: Presence
  readonly #hubs: Hubs
  readonly #door: Door
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Nothing is inflated: a bomb is a fault of the protocol.
    perMessageDeflate: false,
    maxPayload: realtimeLimits.frameBytes,
    maxFragments: 16,
    // It would answer whoever does not read, without end.
    autoPong: false,
    // Its types do not know this one yet.
    ...({ closeTimeout: CLOSE_MS } as object),
  })
  readonly #serviceHost: string
  readonly #sessions = new Set<Session>()
  /** Oldest first. */
  readonly #unproven = new Set<Session>()
  readonly #timer: NodeJS.Timeout
  #draining = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#serviceHost = new URL(deps.config.service.publicUrl).hostname
    this.#presence = new Presence(deps)
    this.#presence.start()
    this.#hubs = new Hubs(deps, new PresenceReport(this.#presence))
    this.#door = new Door(deps, this.#hubs)
    this.#timer = setInterval(() => this.#round(), ROUND_MS)
    deps.metrics.gauge('loquat_gateway_connections', 'WebSockets that are open.', () => [
      [this.#sessions.size],
    ])
  }

  /** Takes the connections that come to a server. */
  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head))
  }

  /** Ends all connections, spread over some time, so that not all come back at once. */
  async drain(seconds: number): Promise<void> {
    this.#draining = true
    const share = 1 + Math.floor((this.#sessions.size * DRAIN_MS) / (seconds * 1000 + DRAIN_MS))
    while (this.#sessions.size > 0) {
      const open = [...this.#sessions].filter(({ closed }) => !closed)
      for (const session of open.slice(0, share)) session.close('draining')
      await sleep(DRAIN_MS)
    }
    clearInterval(this.#timer)
    this.#hubs.close()
    await this.#presence.close()
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A socket that breaks meanwhile is no fault of ours.
    socket.on('error', () => {})
    // Clients can ask for what is no URL.
    const url = URL.parse(request.url ?? '', 'ws://gateway')
    const refusal =
      url?.pathname !== PATH ? '404 Not Found' : this.#draining && '503 Service Unavailable'
    if (!url || refusal) {
      // Else it stays half open for as long as the client likes.
      socket.once('finish', () => socket.destroy())
      socket.end(`HTTP/1.1 ${refusal}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const name = { host: request.headers.host, appId: url.searchParams.get('appId') }
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      ws.on('error', () => {})
      // What came before anybody listens would be lost.
      ws.pause()
      // A browser sees how a WebSocket was closed, but not how it was refused.
      void appOfSocket(this.#deps.directory, this.#serviceHost, name)
        .then(
          (app) => this.#open(ws, app, request.headers['user-agent']),
          (error) =>
            error instanceof ApiError
              ? ws.close(codeOf.noApp, error.devMessage ?? 'noApp')
              : ws.close(codeOf.fault, 'fault'),
        )
        .finally(() => ws.resume())
    })
  }

  #open(ws: WebSocket, app: ServedApp, userAgent: string | undefined): void {
    if (ws.readyState !== ws.OPEN) return
    if (this.#draining) {
      ws.close(codeOf.draining)
      return
    }
    const session = new Session(ws, app, userAgent)
    this.#sessions.add(session)
    this.#unproven.add(session)
    if (this.#unproven.size > UNPROVEN) {
      const [oldest] = this.#unproven
      if (oldest) this.#lateFor(oldest)
    }
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      session.silent = 0
      this.#hear(session, isBinary ? '' : data.toString())
    })
    ws.on('ping', (data) => session.pong(data))
    ws.on('pong', () => {
      if (session.admit()) session.silent = 0
    })
    ws.on('close', () => this.#forget(session))
  }

  #forget(session: Session): void {
    session.closed = true
    session.typing?.endAll()
    this.#sessions.delete(session)
    this.#unproven.delete(session)
    this.#door.leave(session)
  }

  #hear(session: Session, text: string): void {
    if (session.closed || !session.admit()) return
    const frame = readFrame(text)
    if (!frame) {
      session.close('badFrame')
      return
    }
    if ((frame.type === 'auth') !== this.#unproven.delete(session)) {
      session.close('badFrame')
      return
    }
    session.inTurn(async () => {
      try {
        checkFrame(frame)
        if (frame.type === 'auth') await this.#door.enter(session, frame.body)
        else await carryOut(this.#deps, this.#door.hubOf(session), session, frame)
        if (frame.id !== undefined) session.send('session.ok', undefined, frame.id)
      } catch (error) {
        this.#failed(session, frame, error)
      }
    })
  }

  #failed(session: Session, { type, id }: ClientFrame, error: unknown): void {
    const { code, message } = answerTo(error)
    if (code === 'ERR_EXCEPTION') this.#deps.log.error({ err: error, frame: type }, 'unexpected')
    session.send('session.error', { code, message }, id)
    if (type === 'auth') session.close(closeFor[code] ?? 'fault')
  }

  #lateFor(session: Session): void {
    this.#unproven.delete(session)
    session.close('late')
  }

  #round(): void {
    for (const session of this.#unproven) {
      if (++session.waited > realtimeLimits.authSeconds) this.#lateFor(session)
    }
    for (const session of this.#sessions) session.round()
    this.#hubs.round()
  }
}

const DRAIN_MS = 50

/** How a connection ends whose `auth` was refused; faults of ours with `fault`. */
const closeFor: Partial<Record<string, 'unauthorized' | 'noApp' | 'badFrame' | 'tooMany'>> = {
  AUTH_ERR_AUTH_TOKEN_NOT_FOUND: 'unauthorized',
  AUTH_ERR_INVALID_APPID: 'noApp',
  ERR_BAD_REQUEST: 'badFrame',
  ERR_PLAN_QUOTA_RESTRICTION: 'tooMany',
}
