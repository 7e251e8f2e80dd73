import type { DeadLetterRow } from '../../areas/webhooks/deliveries.queries.ts'
import type { CallOutcome } from './caller.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'

interface Attempt extends CallOutcome {
  position: number
  type: string
  try: number
  /** Unix milliseconds. */
  at: number
}

interface KeyedPosition {
  key: string
  position: number
}

export interface DeadLetter {
  position: number
  upto: number
  type: string | null
  reason: DeadLetterRow['reason']
}

/** What happened since the last write to the database. record_deliveries stores it in one transaction. */
export class DeliveryBatch {
  readonly attempts: Attempt[] = []
  /** Events that have to wait in the backlog. */
  readonly queued: KeyedPosition[] = []
  /** Order keys that failed, and when to retry them. */
  readonly parked: { key: string; tries: number; seconds: number }[] = []
  /** Backlog events that were delivered or became dead letters. */
  readonly done: KeyedPosition[] = []
  readonly dead: DeadLetter[] = []
  succeeded = false
  /** How long the whole webhook waits because its circuit breaker opened. */
  waitSeconds: number | undefined
  /** Order keys of `queued`. They count as parked until the batch is written. */
  readonly queuedKeys = new Set<string>()
  /** Order keys whose retry has ended. They may be retried again once the batch is written. */
  readonly retriedKeys = new Set<string>()

  queue({ key, position }: KeyedPosition): void {
    this.queued.push({ key, position })
    this.queuedKeys.add(key)
  }

  /** Whether there is nothing to store. */
  get empty(): boolean {
    const { attempts, queued, parked, done, dead } = this
    return [attempts, queued, parked, done, dead].every(({ length }) => length === 0)
  }

  toJson({ failures, open, probes }: CircuitBreaker): string {
    const lists = { queued: this.queued, parked: this.parked, done: this.done, dead: this.dead }
    const filled = Object.entries(lists).filter(([, { length }]) => length > 0)
    return JSON.stringify({
      failures,
      waiting: open,
      probes,
      ...Object.fromEntries(filled),
      attempts: this.attempts,
      succeeded: this.succeeded,
      waitSeconds: this.waitSeconds,
    })
  }
}
