import { pauseAfter } from './timetable.ts'

/** Keys that fail one after the other: then it is not they, but the receiver. */
const BREAK_AFTER = 20

/** How the receiver of a webhook does, as its calls tell. */
export class Health {
  /** Different keys that failed, one after the other. */
  failures: number
  /** Nothing is sent but a probe now and then. */
  waiting: boolean
  probing = false
  /** Probes that failed, and the failure that began the wait. */
  probes: number
  readonly #failedKeys = new Set<string>()

  constructor({ failures, waiting, probes }: Pick<Health, 'failures' | 'waiting' | 'probes'>) {
    this.failures = failures
    this.waiting = waiting
    this.probes = probes
  }

  get mayCall(): boolean {
    return !this.waiting || this.probing
  }

  succeeded(): void {
    this.waiting = false
    this.probing = false
    this.probes = 0
    this.failures = 0
    this.#failedKeys.clear()
  }

  /** The seconds that the whole webhook waits from now on, where this failure says so. */
  failed(key: string): number | undefined {
    if (!this.#failedKeys.has(key)) this.failures++
    this.#failedKeys.add(key)
    const probed = this.waiting && this.probing
    const breaks = !this.waiting && this.failures >= BREAK_AFTER
    if (!probed && !breaks) return undefined
    this.waiting = true
    this.probing = false
    return pauseAfter(++this.probes)
  }
}
