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
  #events: number | undefined
  #at = 0
  #busy = true

  constructor(db: Executor) {
    this.#db = db
  }

  async rest(workedMs: number, signal: AbortSignal): Promise<void> {
    const now = performance.now()
    if (now - this.#at > 1_000) {
      const { events } = await countEvents.one(this.#db, {})
      const perSecond = (events - (this.#events ?? events)) / ((now - this.#at) / 1_000)
      this.#busy = this.#events !== undefined && perSecond > BUSY
      this.#events = events
      this.#at = now
    }
    if (!this.#busy) return
    await sleep(Math.min(workedMs * RESTS, LONGEST_REST_MS), undefined, { signal })
  }
}
