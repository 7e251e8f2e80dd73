import type { CallOutcome } from './caller.ts'
import type { Health } from './health.ts'

interface Attempt extends CallOutcome {
  position: number
  type: string
  try: number
  /** Unix milliseconds. */
  at: number
}

interface Place {
  key: string
  position: number
}

interface DeadLetter {
  position: number
  upto: number
  type: string | null
  reason: 'exhausted' | 'noRetry' | 'expired'
}

/** What happened and is not in the database yet: see record_deliveries. */
export class News {
  readonly attempts: Attempt[] = []
  /** Events that have to wait. */
  readonly queued: Place[] = []
  /** Keys that failed, and when to try them again. */
  readonly parked: { key: string; tries: number; seconds: number }[] = []
  /** Events of the backlog that were delivered or given up. */
  readonly done: Place[] = []
  readonly dead: DeadLetter[] = []
  succeeded = false
  /** From now on the whole webhook waits for so long. */
  waitSeconds: number | undefined
  /** Keys of these events are to be taken for parked until this is in the database. */
  readonly queuedKeys = new Set<string>()
  /** Keys that nobody works on any more, once this is in the database. */
  readonly drained = new Set<string>()

  queue(place: Place): void {
    this.queued.push({ key: place.key, position: place.position })
    this.queuedKeys.add(place.key)
  }

  /** Nothing that the database has to know. */
  get empty(): boolean {
    const { attempts, queued, parked, done, dead } = this
    return [attempts, queued, parked, done, dead].every(({ length }) => length === 0)
  }

  toJson({ failures, waiting, probes }: Health): string {
    const lists = { queued: this.queued, parked: this.parked, done: this.done, dead: this.dead }
    const filled = Object.entries(lists).filter(([, { length }]) => length > 0)
    return JSON.stringify({
      failures,
      waiting,
      probes,
      ...Object.fromEntries(filled),
      attempts: this.attempts,
      succeeded: this.succeeded,
      waitSeconds: this.waitSeconds,
    })
  }
}
