import type { LogEntry } from '../../core/notifications/log.ts'

/** What happened to deliveries since the last write to the database. record_notified stores it in one transaction. */
export class Outcomes {
  /** Delivered ones that devices show now. */
  readonly shown: number[] = []
  /** Devices that don't exist any more, unless they were registered after this time. */
  readonly gone: { hash: string; before?: number }[] = []
  readonly waiting: { id: number; seconds: number }[] = []
  readonly ended: number[] = []
  readonly #log: LogEntry[] = []
  readonly #lanes = new Map<string, number[]>()

  /** Lets a lane wait. `ids` are its deliveries in memory; the first one failed. */
  wait(lane: string, ids: number[], seconds: number): void {
    const [id = 0] = ids
    this.waiting.push({ id, seconds })
    this.#lanes.set(lane, ids)
  }

  /** What the app's log says about it, if it has one. */
  get log(): LogEntry[] {
    return this.#log
  }

  /** The lanes that wait, with their deliveries. */
  get lanes(): ReadonlyMap<string, number[]> {
    return this.#lanes
  }

  get empty(): boolean {
    return this.waiting.length + this.ended.length === 0
  }

  toJson(): string {
    const filled = Object.entries(this).filter(([, { length }]) => length > 0)
    return JSON.stringify(Object.fromEntries(filled))
  }
}
