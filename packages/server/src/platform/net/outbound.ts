import * as http from 'node:http'
import * as https from 'node:https'
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

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  async #send(url: URL, call: Call, signal: AbortSignal): Promise<Answer> {
    for (;;) {
      let sent: http.ClientRequest | undefined
      try {
        return await new Promise<Answer>((resolve, reject) => {
          sent = this.#request(url, call.headers, signal)
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

  #request(url: URL, headers: Record<string, string>, signal: AbortSignal): http.ClientRequest {
    const { lookup } = this.#targets
    const options = { method: 'POST', headers, signal, ...(lookup && { lookup }) }
    return url.protocol === 'https:'
      ? https.request(url, { ...options, agent: this.#agents['https:'] })
      : http.request(url, { ...options, agent: this.#agents['http:'] })
  }
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
