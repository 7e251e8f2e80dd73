import { pauseBeforeReturn } from '../retry.ts'

/**
 * `offline`: it comes back by itself. `signedOut`: the token is refused, and there is no other. `refused`: the gateway
 * does not take it as it is, for what `closeCode` says: a wrong app or address (4404), a frame that is none (4400) or
 * too large (1009).
 */
export type ConnectionState =
  | 'stopped'
  | 'connecting'
  | 'online'
  | 'offline'
  | 'signedOut'
  | 'refused'

/** A frame of the gateway: docs/realtime.md. */
export interface Frame {
  type: string
  id?: string
  position?: number
  // biome-ignore lint/suspicious/noExplicitAny: the type says what it holds
  body?: any
}

// biome-ignore lint/suspicious/noExplicitAny: the events of each platform are types of its own
type Listener = ((event: any) => void) | null

/** What is used of a WebSocket: that of the platform has it, and that of packages such as `ws`. */
export interface Socket {
  readonly readyState: number
  onopen: Listener
  onmessage: Listener
  onclose: Listener
  onerror: Listener
  send(text: string): void
  close(): void
}

/** What the connection needs to know of whoever uses it. */
export interface ConnectionOptions {
  url: string
  token(): string
  /** Whether there is another token; rejects when that is not known now. */
  renew(refused: string): Promise<boolean>
  onState(state: ConnectionState, closeCode?: number): void
  /** What happened, in order and once. */
  onFrame(frame: Frame): void
  /** What happened before is not known: everything has to be read anew. */
  onGap(): void
  /** Instead of the global one. */
  WebSocket?: (new (url: string) => Socket) | undefined
}

const PING_MS = 25_000
const SILENCE_MS = 60_000
/** A connection that lasted this long did not fail. */
const STEADY_MS = 30_000
const UNAUTHORIZED = 4401
/** Faults of ours that come from the WebSocket protocol itself. */
const FAULTS = [1002, 1003, 1007, 1008, 1009]

const mayReturn = (code: number) => !(code >= 4400 && code < 4500) && !FAULTS.includes(code)

/** One connection to the gateway, made again whenever it ends, from the last position on. */
export class Connection {
  readonly #options: ConnectionOptions
  #socket: Socket | undefined
  #position: number | undefined
  /** The token of this connection. */
  #token = ''
  /** Since when it is online. */
  #onlineAt: number | undefined
  /** How many in a row did not last. */
  #failures = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #beat: ReturnType<typeof setInterval> | undefined
  #heardAt = 0
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

  /** There is no token to come back with. */
  signOut(): void {
    this.#end('signedOut')
  }

  /** Sends a frame, if there is a connection now: none of them is worth waiting for. */
  send(type: string, body: object = {}, id?: string): void {
    if (this.#socket?.readyState !== 1) return
    this.#sentAt = Date.now()
    this.#socket.send(JSON.stringify({ type, id, body }))
  }

  /** Without the pause that is left, such as when the device is back in a network. */
  hurry(): void {
    if (!this.#running || this.#socket) return
    this.#failures = 0
    this.#open()
  }

  #open(): void {
    clearTimeout(this.#retry)
    this.#options.onState('connecting')
    const socket: Socket = new (this.#options.WebSocket ?? WebSocket)(this.#options.url)
    this.#socket = socket
    this.#heardAt = Date.now()
    this.#beat = setInterval(() => this.#check(), 5_000)
    socket.onopen = () => {
      const position = this.#position
      const known = position === undefined ? {} : { position }
      this.#token = this.#options.token()
      this.send('auth', { authToken: this.#token, ...known })
    }
    socket.onmessage = ({ data }: { data: unknown }) => {
      if (socket === this.#socket) this.#hear(JSON.parse(String(data)))
    }
    socket.onclose = ({ code }: { code: number }) => {
      if (socket === this.#socket) void this.#closed(code)
    }
    // It closes too. Without a listener the package `ws` would end the process.
    socket.onerror = () => {}
  }

  #hear(frame: Frame): void {
    this.#heardAt = Date.now()
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

  /** A connection can be dead without having ended. */
  #check(): void {
    const now = Date.now()
    if (now - this.#heardAt > SILENCE_MS) void this.#closed(0)
    else if (now - this.#sentAt > PING_MS) this.send('ping')
  }

  async #closed(code: number): Promise<void> {
    const since = this.#onlineAt
    if (since !== undefined && Date.now() - since >= STEADY_MS) this.#failures = 0
    this.#drop()
    if (!this.#running) return
    this.#options.onState('offline')
    const { renew } = this.#options
    // As long as nobody can say whether there is another token, the next connection asks again.
    const returns =
      code === UNAUTHORIZED ? await renew(this.#token).catch(() => true) : mayReturn(code)
    if (!this.#running || this.#socket) return
    if (!returns) return code === UNAUTHORIZED ? this.signOut() : this.#end('refused', code)
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.#open(), pauseBeforeReturn(this.#failures++))
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
