import * as http from 'node:http'
import * as https from 'node:https'
import { TLSSocket } from 'node:tls'
import { ForbiddenTarget, type Targets } from './targets.ts'

/** Shorter than most servers' keep-alive timeout, so that we close idle connections before they do. */
const IDLE_MS = 4_000
/** Idle connections kept per host. A handshake costs more than the rest of a call. */
const IDLE_SOCKETS = 256

export interface Call {
  headers: Record<string, string>
  body: string | Buffer
  timeoutMs: number
  /** How much of the answer's body is read. */
  answerBytes: number
  /** Ends the call for another reason. */
  signal?: AbortSignal
}

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
}

export interface StreamedCall {
  /** POST unless given. */
  method?: string
  headers: Record<string, string>
  body?: string
  /** Fails if nothing arrives for so long. */
  idleMs: number
  signal: AbortSignal
}

/** A response whose body is still arriving. */
export interface StreamedAnswer {
  status: number
  headers: http.IncomingHttpHeaders
  /** Fails with `IdleTimeout`, or if the connection breaks. Stop reading, and the connection is closed. */
  chunks: AsyncIterable<Buffer>
}

/** Nothing arrived for too long. */
export class IdleTimeout extends Error {}

/** There was no connection, so nothing was sent. `cause` says why. */
export class Unsent extends Error {}

/** Calls URLs that tenants choose. It doesn't follow redirects. */
export class Outbound {
  readonly #targets: Targets
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS }),
    'https:': new https.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS }),
  }

  constructor(targets: Targets) {
    this.#targets = targets
  }

  /** Fails with `ForbiddenTarget`, or with the reason why there is no answer. */
  async post(url: string, call: Call): Promise<Answer> {
    const timeout = AbortSignal.timeout(call.timeoutMs)
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout
    const fault = this.#targets.shapeFaultOf(url)
    if (fault) throw new ForbiddenTarget(`the URL ${fault}`)
    try {
      return await this.#send(new URL(url), call, signal)
    } catch (error) {
      if (!timeout.aborted) throw error
      throw new Error(`no response within ${call.timeoutMs / 1000} seconds`)
    }
  }

  /**
   * The same for a response that takes long, piece by piece. It never repeats a call. Fails with `Unsent` if there is no
   * connection, also after `idleMs`.
   */
  async stream(
    url: string,
    { method = 'POST', headers, body, idleMs, signal }: StreamedCall,
  ): Promise<StreamedAnswer> {
    const fault = this.#targets.shapeFaultOf(url)
    if (fault) throw new ForbiddenTarget(`the URL ${fault}`)
    // A connection of its own: one that was idle may be closed just now, and then nobody knows whether the call arrived.
    const sent = this.#request(new URL(url), { method, headers, signal, shared: false })
    const connection = watchConnection(sent, idleMs)
    let response: http.IncomingMessage | undefined
    sent.setTimeout(idleMs, () => {
      const error = new IdleTimeout(`nothing received for ${idleMs / 1000} seconds`)
      // Once there is a response, its reader has to learn the reason.
      if (response) response.destroy(error)
      else sent.destroy(error)
    })
    response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      sent.once('error', reject)
      sent.once('response', resolve)
      sent.once('upgrade', (_response, socket) => {
        socket.destroy()
        reject(new Error('the server switched protocols'))
      })
      sent.end(body)
    }).catch((error: Error) => {
      if (connection.made || error instanceof ForbiddenTarget) throw error
      throw new Unsent(error.message, { cause: error })
    })
    // While nobody reads, the response has the error too.
    sent.on('error', () => {})
    return { status: response.statusCode ?? 0, headers: response.headers, chunks: response }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  async #send(url: URL, call: Call, signal: AbortSignal): Promise<Answer> {
    for (;;) {
      let sent: http.ClientRequest | undefined
      try {
        return await new Promise<Answer>((resolve, reject) => {
          sent = this.#request(url, { method: 'POST', headers: call.headers, signal, shared: true })
          sent.once('error', reject)
          sent.once('response', (response) => void read(response, call.answerBytes).then(resolve))
          // Status 101. Without this listener there would be neither a response nor an error.
          sent.once('upgrade', ({ statusCode, headers }, socket) => {
            socket.destroy()
            resolve({ status: statusCode ?? 0, headers, body: Buffer.alloc(0) })
          })
          sent.end(call.body)
        })
      } catch (error) {
        // The receiver closed an idle connection just as we used it. Try again with a new one.
        const { code } = error as NodeJS.ErrnoException
        if (!(sent?.reusedSocket && code === 'ECONNRESET')) throw error
      }
    }
  }

  #request(
    url: URL,
    {
      shared,
      ...request
    }: { method: string; headers: Record<string, string>; signal: AbortSignal; shared: boolean },
  ): http.ClientRequest {
    // The system's resolver knows the names of a private network.
    const lookup = this.#targets.isOpen(url.href) ? undefined : this.#targets.lookup
    const options = { ...request, ...(lookup && { lookup }) }
    return url.protocol === 'https:'
      ? https.request(url, { ...options, agent: shared && this.#agents['https:'] })
      : http.request(url, { ...options, agent: shared && this.#agents['http:'] })
  }
}

/** Whether the new connection of a request was made, with TLS if it uses it. It fails if that takes too long. */
function watchConnection(sent: http.ClientRequest, mostMs: number): { made: boolean } {
  const connection = { made: false }
  // The request's own timeout only starts with the connection.
  const timer = setTimeout(
    () => sent.destroy(new Error(`no connection within ${mostMs / 1000} seconds`)),
    mostMs,
  )
  sent.once('close', () => clearTimeout(timer))
  sent.once('socket', (socket) => {
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      connection.made = true
      clearTimeout(timer)
    })
  })
  return connection
}

/** Only the status matters, even if the body is cut off. */
async function read(response: http.IncomingMessage, most: number): Promise<Answer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= most) break
    }
  } catch {
    // The connection broke; keep what was read.
  }
  const body = Buffer.concat(chunks).subarray(0, most)
  return { status: response.statusCode ?? 0, headers: response.headers, body }
}
