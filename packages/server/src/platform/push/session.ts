import * as http2 from 'node:http2'
import * as tls from 'node:tls'
import { type PushCall, Unanswered } from './call.ts'

/** How long an answer's body may be. Longer ones are cut. */
const ANSWER_CHARS = 4_096
/** Requests at the same time on one connection, even if the provider would allow more. */
const STREAMS = 500

interface SessionOptions {
  /** There is room for more calls. */
  onRoom(): void
  /** The provider certainly didn't process this call, so it can go to another session. */
  onMoved(call: PushCall): void
  /** It accepts no more calls. Those under way still get their answers. */
  onRetired(): void
  /** The connection is gone. The error says why, if it never worked. */
  onEnded(error?: Error): void
  timeoutMs: number
  idleMs: number
}

/** One HTTP/2 connection to a provider. */
export class Session {
  readonly #socket: tls.TLSSocket
  readonly #session: http2.ClientHttp2Session
  readonly #options: SessionOptions
  readonly #idle: NodeJS.Timeout
  readonly #connecting: NodeJS.Timeout
  /** How many streams the provider allows. None until its settings arrive. */
  #allowed = 0
  #streams = 0
  #retired = false
  #ended = false
  #idleSince = 0
  /** The provider processes no stream after this one. */
  #lastStream = Number.POSITIVE_INFINITY

  constructor(origin: string, options: SessionOptions) {
    this.#options = options
    const { hostname, port } = new URL(origin)
    const host = hostname.replace(/^\[|\]$/g, '')
    // Our own socket, because a session that was closed waits for a peer that may be dead.
    this.#socket = tls.connect({
      host,
      port: Number(port || 443),
      ...(!/^[\d.]+$|:/.test(host) && { servername: host }),
      ALPNProtocols: ['h2'],
    })
    this.#session = http2.connect(origin, {
      createConnection: () => this.#socket,
      settings: { enablePush: false },
    })
    this.#connecting = setTimeout(
      () => this.#end(new Error('no connection in time')),
      options.timeoutMs,
    )
    this.#idle = setTimeout(() => {
      if (this.isReady && this.#streams === 0) this.#end()
    }, options.idleMs).unref()
    this.#session.on('remoteSettings', ({ maxConcurrentStreams = STREAMS }) => {
      clearTimeout(this.#connecting)
      this.#allowed = Math.min(maxConcurrentStreams, STREAMS)
      this.#idle.refresh()
      if (this.room > 0) options.onRoom()
    })
    this.#session.on('goaway', (_code, lastStream) => {
      this.#lastStream = lastStream
      this.retire()
    })
    this.#session.on('error', (error) => this.#end(error))
    this.#socket.on('error', (error) => this.#end(error))
    this.#session.on('close', () => this.#end())
  }

  get isReady(): boolean {
    return this.#allowed > 0
  }

  /** How many calls it accepts now. */
  get room(): number {
    return this.#retired ? 0 : this.#allowed - this.#streams
  }

  /** Since when it has had nothing to do; undefined if it is in use. */
  get idleSince(): number | undefined {
    return this.isReady && this.#streams === 0 ? this.#idleSince : undefined
  }

  /** Sends a call. Check `room` before. */
  send(call: PushCall): void {
    let stream: http2.ClientHttp2Stream
    try {
      const { path, headers } = call.request
      stream = this.#session.request({ ':method': 'POST', ':path': path, ...headers })
    } catch {
      // The session closed a moment ago, and its event is still to come.
      this.retire()
      this.#options.onMoved(call)
      return
    }
    this.#streams++
    let status: number | undefined
    let headers: http2.IncomingHttpHeaders = {}
    let body = ''
    call.onTimeout = () => {
      // Whatever the reason is, the next calls use another connection.
      this.retire()
      stream.close(http2.constants.NGHTTP2_CANCEL)
    }
    stream.setEncoding('utf8')
    stream.once('response', (received) => {
      headers = received
      status = Number(received[':status'])
    })
    stream.on('data', (chunk: string) => {
      if (body.length < ANSWER_CHARS) body += chunk
    })
    let fault = 'the connection broke'
    stream.on('error', ({ message }) => {
      fault = message
    })
    stream.once('close', () => {
      this.#streams--
      const { id = 0, rstCode } = stream
      if (status !== undefined) call.resolve({ status, headers, body })
      else if (rstCode === http2.constants.NGHTTP2_REFUSED_STREAM || id > this.#lastStream) {
        this.#options.onMoved(call)
      } else call.reject(new Unanswered(fault))
      this.#freed()
    })
    stream.end(call.request.body)
  }

  /** Accepts no more calls, and closes the connection after the last answer. */
  retire(): void {
    if (this.#retired) return
    this.#retired = true
    if (this.#streams === 0) this.#end()
    else this.#options.onRetired()
  }

  close(): void {
    this.#end()
  }

  #freed(): void {
    if (this.#retired) {
      if (this.#streams === 0) this.#end()
      return
    }
    if (this.#streams === 0) {
      this.#idleSince = performance.now()
      this.#idle.refresh()
    }
    if (this.room > 0) this.#options.onRoom()
  }

  #end(error?: Error): void {
    if (this.#ended) return
    this.#ended = true
    const failed = this.isReady ? undefined : (error ?? new Error('the connection was closed'))
    clearTimeout(this.#connecting)
    clearTimeout(this.#idle)
    this.#retired = true
    this.#session.destroy()
    this.#socket.destroy()
    this.#options.onEnded(failed)
  }
}
