import { reconnectDelay } from '../retry.ts'

/**
 * `offline`: the client reconnects on its own. `signedOut`: the token was rejected, and there is no new one. `refused`: the
 * gateway closed the connection for good. `closeCode` says why: a wrong app or address (4404), or a frame that is invalid
 * (4400) or too large (1009).
 */
export type ConnectionState =
  | 'stopped'
  | 'connecting'
  | 'online'
  | 'offline'
  | 'signedOut'
  | 'refused'

/** A frame from the gateway. See docs/realtime.md. */
export interface Frame {
  type: string
  id?: string
  position?: number
  // biome-ignore lint/suspicious/noExplicitAny: the type determines the body
  body?: any
}

// biome-ignore lint/suspicious/noExplicitAny: each platform has its own event types
type Listener = ((event: any) => void) | null

/** The part of a WebSocket that the client uses. The platform's own and packages such as `ws` provide it. */
export interface Socket {
  readonly readyState: number
  onopen: Listener
  onmessage: Listener
  onclose: Listener
  onerror: Listener
  send(text: string): void
  close(): void
}

/** The settings and callbacks of a connection. */
export interface ConnectionOptions {
  url: string
  token(): string
  /** What `auth` says about the device. */
  device?: object
  /** Gets a new token. Resolves to false if there is none, and rejects if that can't be decided now. */
  renew(refused: string): Promise<boolean>
  onState(state: ConnectionState, closeCode?: number): void
  /** Called for each event, once and in order. */
  onFrame(frame: Frame): void
  /** Called when events may have been missed, so that all data must be fetched again. */
  onGap(): void
  /** Replaces the global `WebSocket`. */
  WebSocket?: (new (url: string) => Socket) | undefined
}

const PING_MS = 25_000
const SILENCE_MS = 60_000
/** A connection that lasted this long resets the delay before the next one. */
const STEADY_MS = 30_000
const UNAUTHORIZED = 4401
/** Close codes of the WebSocket protocol that blame this client. */
const FAULTS = [1002, 1003, 1007, 1008, 1009]

const mayReturn = (code: number) => !(code >= 4400 && code < 4500) && !FAULTS.includes(code)

/** A connection to the gateway. Reconnects whenever it ends, and continues after the last position. */
export class Connection {
  readonly #options: ConnectionOptions
  #socket: Socket | undefined
  #position: number | undefined
  /** The token that this connection used. */
  #token = ''
  /** When this connection came online. */
  #onlineAt: number | undefined
  /** The number of failed connections in a row. */
  #failures = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #beat: ReturnType<typeof setInterval> | undefined
  #receivedAt = 0
  #sentAt = 0
  #running = false

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#running) return
    this.#running = true
    this.#failures = 0
    this.#open()
  }

  stop(): void {
    this.#end('stopped')
  }

  /** Ends the connection for good, because there is no valid token. */
  signOut(): void {
    this.#end('signedOut')
  }

  /** Sends a frame if connected. Otherwise drops it, because no frame is worth sending later. */
  send(type: string, body: object = {}, id?: string): void {
    if (this.#socket?.readyState !== 1) return
    this.#sentAt = Date.now()
    this.#socket.send(JSON.stringify({ type, id, body }))
  }

  /** Reconnects without waiting, for example when the device is back online. */
  reconnectNow(): void {
    if (!this.#running || this.#socket) return
    this.#failures = 0
    this.#open()
  }

  #open(): void {
    clearTimeout(this.#retry)
    this.#options.onState('connecting')
    const socket: Socket = new (this.#options.WebSocket ?? WebSocket)(this.#options.url)
    this.#socket = socket
    this.#receivedAt = Date.now()
    this.#beat = setInterval(() => this.#check(), 5_000)
    socket.onopen = () => {
      const position = this.#position
      const known = position === undefined ? {} : { position }
      this.#token = this.#options.token()
      this.send('auth', { authToken: this.#token, ...known, ...this.#options.device })
    }
    socket.onmessage = ({ data }: { data: unknown }) => {
      if (socket === this.#socket) this.#receive(JSON.parse(String(data)))
    }
    socket.onclose = ({ code }: { code: number }) => {
      if (socket === this.#socket) void this.#closed(code)
    }
    // The close event follows. Without a listener, the package `ws` would crash the process.
    socket.onerror = () => {}
  }

  #receive(frame: Frame): void {
    this.#receivedAt = Date.now()
    const { type, position, body } = frame
    if (type === 'session.ready' || type === 'session.reload') {
      const resumed = type === 'session.ready' && body.resumed === true
      if (!resumed) this.#position = body.position
      this.#onlineAt ??= Date.now()
      this.#options.onState('online')
      if (!resumed) this.#options.onGap()
      return
    }
    if (position !== undefined) {
      if (this.#position !== undefined && position <= this.#position) return
      this.#position = position
    }
    this.#options.onFrame(frame)
  }

  /** Detects connections that died without closing, and sends pings. */
  #check(): void {
    const now = Date.now()
    if (now - this.#receivedAt > SILENCE_MS) void this.#closed(0)
    else if (now - this.#sentAt > PING_MS) this.send('ping')
  }

  async #closed(code: number): Promise<void> {
    const since = this.#onlineAt
    if (since !== undefined && Date.now() - since >= STEADY_MS) this.#failures = 0
    this.#drop()
    if (!this.#running) return
    this.#options.onState('offline')
    const { renew } = this.#options
    // If it can't be decided whether there is a new token, reconnect: the gateway will reject the old one again.
    const returns =
      code === UNAUTHORIZED ? await renew(this.#token).catch(() => true) : mayReturn(code)
    if (!this.#running || this.#socket) return
    if (!returns) return code === UNAUTHORIZED ? this.signOut() : this.#end('refused', code)
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.#open(), reconnectDelay(this.#failures++))
  }

  #end(state: ConnectionState, closeCode?: number): void {
    this.#running = false
    this.#drop()
    this.#options.onState(state, closeCode)
  }

  #drop(): void {
    clearTimeout(this.#retry)
    clearInterval(this.#beat)
    const socket = this.#socket
    this.#socket = undefined
    this.#onlineAt = undefined
    if (socket && socket.readyState < 2) socket.close()
  }
}
