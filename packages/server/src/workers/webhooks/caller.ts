import * as http from 'node:http'
import * as https from 'node:https'
import type { Histogram } from '@opentelemetry/api'
import { FairSlots, isLight } from '../../platform/lanes/slots.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import { ForbiddenTarget, type Targets } from '../../platform/net/targets.ts'

const TIMEOUT_MS = 10_000
/** How much of a response is stored. */
const RESPONSE_BYTES = 1_000
/** Shorter than most receivers' keep-alive timeout, so that we close idle connections before they do. */
const IDLE_MS = 4_000
/** Idle connections kept per host. A handshake costs more than the rest of a call. */
const IDLE_SOCKETS = 256

/** Calls at the same time, of all apps and of one: receivers that hang hold each for ten seconds. */
const CALLS = 1_024
const CALLS_PER_APP = 256

/** The outcome of a call. */
export interface CallOutcome {
  status: number | null
  /** Why there is no response. */
  error: string | null
  /** The beginning of the response body. */
  answer: string | null
  ms: number
}

/** Whether the receiver accepted the event. */
export const isDelivered = ({ status }: CallOutcome): boolean =>
  status !== null && status >= 200 && status <= 299

function nameOf(outcome: CallOutcome) {
  if (isDelivered(outcome)) return 'delivered'
  return outcome.status === null ? 'unreachable' : 'refused'
}

/** Calls webhooks. It doesn't follow redirects: they count as failures. */
export class Caller {
  readonly #targets: Targets
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS }),
    'https:': new https.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS }),
  }

  readonly #timings: Histogram
  readonly #calls = new FairSlots({ size: CALLS, queue: Number.POSITIVE_INFINITY })

  constructor({ targets, metrics }: { targets: Targets; metrics: Metrics }) {
    this.#targets = targets
    this.#timings = metrics.times(
      'loquat_webhook_call_seconds',
      'Time of a webhook call, by outcome: delivered, refused or unreachable.',
    )
  }

  /** Runs a call of an app, as soon as its app and all apps together have few enough. */
  inTurn<T>(app: number, call: () => Promise<T>): Promise<T> {
    const work = { app, weight: isLight, last: false, perApp: CALLS_PER_APP }
    return this.#calls.run(work, call)
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
    const elapsed = () => Math.round(performance.now() - started)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const fault = this.#targets.shapeFaultOf(url)
      if (fault) throw new ForbiddenTarget(`the URL ${fault}`)
      const answered = await this.#send(new URL(url), headers, body, signal)
      return { ...answered, error: null, ms: elapsed() }
    } catch (error) {
      const text = signal.aborted ? 'no response within 10 seconds' : (error as Error).message
      return { status: null, error: storable(text), answer: null, ms: elapsed() }
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
          // Status 101. Without this listener there would be neither a response nor an error.
          sent.once('upgrade', ({ statusCode }, socket) => {
            socket.destroy()
            resolve({ status: statusCode ?? 0, answer: '' })
          })
          sent.end(body)
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
async function read(response: http.IncomingMessage) {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= RESPONSE_BYTES) break
    }
  } catch {
    // The connection broke; keep what was read.
  }
  const answer = storable(Buffer.concat(chunks).subarray(0, RESPONSE_BYTES).toString('utf8'))
  return { status: response.statusCode ?? 0, answer }
}

/** PostgreSQL can't store U+0000 in text. */
const storable = (text: string) => text.replaceAll('\0', '').slice(0, RESPONSE_BYTES).toWellFormed()
