import type { Budget } from './budget.ts'
import type { Entry } from './entry.ts'

const MAX_AGE_MS = 120_000
const MAX_BYTES = 32 * 1024 * 1024
/** A ring may keep this much even if the rings of all apps together exceed their budget. */
const MIN_BYTES = 256 * 1024
/** The approximate size of an entry without its frame. */
const ENTRY_BYTES = 500

/** A buffer of an app's newest events, in order and without gaps, indexed by topic. */
export class Ring {
  #entries: Entry[] = []
  /** The index of the oldest entry that is still kept. */
  #start = 0
  #bytes = 0
  /** Positions by topic, ascending. */
  readonly #byTopic = new Map<string, number[]>()
  readonly #budget: Budget

  /** The ring holds every event after this position. */
  after = 0

  constructor(budget: Budget) {
    this.#budget = budget
  }

  push(entry: Entry): void {
    this.#entries.push(entry)
    this.#count(entry, 1)
    for (const topic of entry.topics) {
      const known = this.#byTopic.get(topic)
      if (known) known.push(entry.position)
      else this.#byTopic.set(topic, [entry.position])
    }
    this.trim(entry.receivedAt)
  }

  clear(): void {
    this.trim(Infinity)
  }

  /** All events after a position. */
  since(position: number): Entry[] {
    return this.#entries.slice(this.#start + Math.max(0, position - this.after))
  }

  /** The events of a topic after one position and up to another. */
  inTopic(topic: string, after: number, upto: number): Entry[] {
    const found: Entry[] = []
    const positions = this.#byTopic.get(topic) ?? []
    for (let index = positions.length - 1; index >= 0; index--) {
      const position = positions[index] as number
      if (position <= after) break
      if (position <= upto) found.push(this.#get(position))
    }
    return found.reverse()
  }

  #get(position: number): Entry {
    return this.#entries[this.#start + position - this.after - 1] as Entry
  }

  #count({ frame }: Entry, sign: 1 | -1): void {
    const bytes = sign * (frame.length + ENTRY_BYTES)
    this.#bytes += bytes
    this.#budget.used += bytes
  }

  /** Drops events that are too old at `now` (monotonic clock), or that exceed the ring's share of memory. */
  trim(now: number): void {
    for (;;) {
      const oldest = this.#entries[this.#start]
      const maxBytes = this.#budget.exceeded ? MIN_BYTES : MAX_BYTES
      if (!oldest || (this.#bytes <= maxBytes && now - oldest.receivedAt <= MAX_AGE_MS)) break
      this.#start++
      this.after = oldest.position
      this.#count(oldest, -1)
      for (const topic of oldest.topics) {
        const positions = this.#byTopic.get(topic)
        positions?.shift()
        if (positions?.length === 0) this.#byTopic.delete(topic)
      }
    }
    // Compact only now and then: removing entries one by one would move all others each time.
    if (this.#start > 1_000 && this.#start > this.#entries.length / 2) {
      this.#entries = this.#entries.slice(this.#start)
      this.#start = 0
    }
  }
}
