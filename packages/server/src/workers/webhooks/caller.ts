import type { Histogram } from '@opentelemetry/api'
import { storableStart } from '../../platform/http/characters.ts'
import { FairSlots, isLight } from '../../platform/lanes/slots.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import { Outbound } from '../../platform/net/outbound.ts'
import type { Targets } from '../../platform/net/targets.ts'

const TIMEOUT_MS = 10_000
/** How much of a response is stored. */
const RESPONSE_BYTES = 1_000

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
  readonly #outbound: Outbound
  readonly #timings: Histogram
  readonly #calls = new FairSlots({ size: CALLS, queue: Number.POSITIVE_INFINITY })

  constructor({ targets, metrics }: { targets: Targets; metrics: Metrics }) {
    this.#outbound = new Outbound(targets)
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
    const limits = { timeoutMs: TIMEOUT_MS, answerBytes: RESPONSE_BYTES }
    try {
      const answer = await this.#outbound.post(url, { headers, body, ...limits })
      const text = storableStart(answer.body.toString('utf8'), RESPONSE_BYTES)
      return { status: answer.status, answer: text, error: null, ms: elapsed() }
    } catch (error) {
      const text = storableStart((error as Error).message, RESPONSE_BYTES)
      return { status: null, error: text, answer: null, ms: elapsed() }
    }
  }

  close(): void {
    this.#outbound.close()
  }
}
