import * as http from 'node:http'
import * as https from 'node:https'
import type { Histogram } from '@opentelemetry/api'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import { ForbiddenTarget, type Targets } from '../../platform/net/targets.ts'

const TIMEOUT_MS = 10_000
/** What is kept of an answer. */
const ANSWER_BYTES = 1_000
/** A receiver's idle connection is closed before it closes it, mostly. */
const IDLE_MS = 4_000
/** Connections to one host that stay open: a handshake costs more than all else of a call. */
const IDLE_SOCKETS = 256

/** What came of a call. */
export interface CallOutcome {
  status: number | null
  /** Why there is no status. */
  error: string | null
  /** The beginning of the answer. */
  answer: string | null
  ms: number
}

/** Whether the receiver took it. */
export const isDelivered = ({ status }: CallOutcome): boolean =>
  status !== null && status >= 200 && status <= 299

function nameOf(outcome: CallOutcome) {
  if (isDelivered(outcome)) return 'delivered'
  return outcome.status === null ? 'unreachable' : 'refused'
}

/** Calls webhooks. Redirects are not followed: an answer of that kind is a failure. */
export class Caller {
  readonly #targets: Targets
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS }),
    'https:': new https.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS }),
  }

  readonly #timings: Histogram

  constructor({ targets, metrics }: { targets: Targets; metrics: Metrics }) {
    this.#targets = targets
    this.#timings = metrics.webhookCalls
  }

  async post(url: string, headers: Record<string, string>, body: string): Promise<CallOutcome> {
    const outcome = await this.#tryToPost(url, headers, body)
    this.#timings.record(outcome.ms / 1000, { outcome: nameOf(outcome) })
    return outcome
  }

  async #tryToPost(
    url: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<CallOutcome> {
    const started = performance.now()
    const took = () => Math.round(performance.now() - started)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const fault = this.#targets.shapeFaultOf(url)
      if (fault) throw new ForbiddenTarget(`the URL ${fault}`)
      const answered = await this.#send(new URL(url), headers, body, signal)
      return { ...answered, error: null, ms: took() }
    } catch (error) {
      const text = signal.aborted ? 'no answer within 10 s' : (error as Error).message
      return { status: null, error: storable(text), answer: null, ms: took() }
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  async #send(url: URL, headers: Record<string, string>, body: string, signal: AbortSignal) {
    for (;;) {
      let sent: http.ClientRequest | undefined
      try {
        return await new Promise<Pick<CallOutcome, 'status' | 'answer'>>((resolve, reject) => {
          sent = this.#request(url, headers, signal)
          sent.once('error', reject)
          sent.once('response', (response) => void read(response).then(resolve))
          // 101: without a listener there would be neither an answer nor an error.
          sent.once('upgrade', ({ statusCode }, socket) => {
            socket.destroy()
            resolve({ status: statusCode ?? 0, answer: '' })
          })
          sent.end(body)
        })
      } catch (error) {
        // The receiver closed an idle connection just when we used it: that says nothing.
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

/** The status counts, whatever becomes of the rest of the answer. */
async function read(response: http.IncomingMessage) {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= ANSWER_BYTES) break
    }
  } catch {
    // Cut off.
  }
  const answer = storable(Buffer.concat(chunks).subarray(0, ANSWER_BYTES).toString('utf8'))
  return { status: response.statusCode ?? 0, answer }
}

/** PostgreSQL takes no U+0000 in a text. */
const storable = (text: string) => text.replaceAll('\0', '').slice(0, ANSWER_BYTES).toWellFormed()
