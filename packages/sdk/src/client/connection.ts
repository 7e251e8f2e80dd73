import { pauseBefore } from '../retry.ts'

/** `offline`: it comes back by itself. `signedOut`: the token is refused, and there is no other. */
export type ConnectionState = 'stopped' | 'connecting' | 'online' | 'offline' | 'signedOut'

/** A frame of the gateway: docs/realtime.md. */
export interface Frame {
  type: string
  id?: string
  position?: number
  // biome-ignore lint/suspicious/noExplicitAny: the type says what it holds
  body?: any
}

/** What the connection needs to know of whoever uses it. */
export interface ConnectionOptions {
  url: string
  token(): string
  renew(): Promise<boolean>
  onState(state: ConnectionState): void
  /** What happened, in order and once. */
  onFrame(frame: Frame): void
  /** What happened before is not known: everything has to be read anew. */
  onGap(): void
  /** Instead of the global one. */
  WebSocket?: typeof WebSocket | undefined
}

const PING_MS = 25_000
const SILENCE_MS = 60_000
const UNAUTHORIZED = 4401
/** Faults of ours that come from the WebSocket protocol itself. */
const FAULTS = [1002, 1003, 1007, 1008, 1009]

const mayReturn = (code: number) => !(code >= 4400 && code < 4500) && !FAULTS.includes(code)

/** One connection to the gateway, made again whenever it ends, from the last position on. */
export class Connection {
  readonly #options: ConnectionOptions
  #socket: WebSocket | undefined
  #position: number | undefined
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
    this.#running = false
    this.#drop()
    this.#options.onState('stopped')
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
    const Socket = this.#options.WebSocket ?? WebSocket
    const socket = new Socket(this.#options.url)
    this.#socket = socket
    this.#heardAt = Date.now()
    this.#beat = setInterval(() => this.#check(), 5_000)
    socket.onopen = () => {
      const position = this.#position
      const known = position === undefined ? {} : { position }
      this.send('auth', { authToken: this.#options.token(), ...known })
    }
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket) this.#hear(JSON.parse(String(data)))
    }
    socket.onclose = ({ code }) => {
      if (socket === this.#socket) void this.#closed(code)
    }
  }

  #hear(frame: Frame): void {
    this.#heardAt = Date.now()
    const { type, position, body } = frame
    if (type === 'session.ready' || type === 'session.reload') {
      const resumed = type === 'session.ready' && body.resumed === true
      if (!resumed) this.#position = body.position
      this.#failures = 0
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
    this.#drop()
    if (!this.#running) return
    this.#options.onState('offline')
    if (code === UNAUTHORIZED && !(await this.#options.renew())) return this.#end()
    if (code !== UNAUTHORIZED && !mayReturn(code)) return this.#end()
    if (!this.#running || this.#socket) return
    const pause = this.#failures === 0 ? Math.random() * 500 : pauseBefore(this.#failures + 1)
    this.#failures++
    this.#retry = setTimeout(() => this.#open(), pause)
  }

  #end(): void {
    this.#running = false
    this.#options.onState('signedOut')
  }

  #drop(): void {
    clearTimeout(this.#retry)
    clearInterval(this.#beat)
    const socket = this.#socket
    this.#socket = undefined
    if (socket && socket.readyState < 2) socket.close()
  }
}
