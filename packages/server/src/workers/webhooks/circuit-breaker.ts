import { retryDelay } from './retry-schedule.ts'

/** After this many different order keys failed in a row, the receiver is at fault, not the events. */
const OPEN_AFTER = 20

/**
 * Stops calls to a receiver that is down. While the breaker is open, the webhook makes only one probe call at a
 * time, on the same schedule as retries. A successful call closes it.
 */
export class CircuitBreaker {
  /** Different order keys that failed in a row. */
  failures: number
  open: boolean
  probing = false
  /** Failed probes, including the failure that opened the breaker. */
  probes: number
  readonly #failedKeys = new Set<string>()

  constructor(state: { failures: number; open: boolean; probes: number }) {
    this.failures = state.failures
    this.open = state.open
    this.probes = state.probes
  }

  get mayCall(): boolean {
    return !this.open || this.probing
  }

  succeeded(): void {
    this.open = false
    this.probing = false
    this.probes = 0
    this.failures = 0
    this.#failedKeys.clear()
  }

  /** Counts a failed call. Returns the seconds until the next probe if the failure opens the breaker or was a probe. */
  failed(orderKey: string): number | undefined {
    if (!this.#failedKeys.has(orderKey)) this.failures++
    this.#failedKeys.add(orderKey)
    const probeFailed = this.open && this.probing
    const opens = !this.open && this.failures >= OPEN_AFTER
    if (!probeFailed && !opens) return undefined
    this.open = true
    this.probing = false
    return retryDelay(++this.probes)
  }
}
