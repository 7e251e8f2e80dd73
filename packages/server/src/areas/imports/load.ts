/** How much of a cell long work may take. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Executor, query } from '../../platform/db/query.ts'

/** Live events per second from which on a cell is in use. */
const BUSY = 2
/** Of a cell in use, such work takes a third of one connection's time. */
const RESTS = 2
const LONGEST_REST_MS = 2_000

/** How many events the cell has announced: a measure of how busy it is. Imports and exports announce none. */
const countEvents = query<Record<string, never>, { events: number }>(
  'imports.countEvents',
  'select last_value as events from event_ids',
)

/** Rests after each transaction while others use the cell. */
export class Load {
  readonly #db: Executor
  readonly #clock: () => number
  #seen: { events: number; at: number } | undefined
  #busy = false

  constructor(db: Executor, clock = () => performance.now()) {
    this.#db = db
    this.#clock = clock
  }

  async rest(workedMs: number, signal?: AbortSignal): Promise<void> {
    const ms = await this.restMs(workedMs)
    if (ms > 0) await sleep(ms, undefined, { ...(signal && { signal }) })
  }

  /** How long to rest after work. It looks at the cell once a second. */
  async restMs(workedMs: number): Promise<number> {
    const at = this.#clock()
    if (!this.#seen || at - this.#seen.at > 1_000) {
      const { events } = await countEvents.one(this.#db, {})
      if (this.#seen) {
        const perSecond = (events - this.#seen.events) / ((at - this.#seen.at) / 1_000)
        this.#busy = perSecond > BUSY
      }
      this.#seen = { events, at }
    }
    return this.#busy ? Math.min(workedMs * RESTS, LONGEST_REST_MS) : 0
  }
}
