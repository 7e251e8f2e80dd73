import type { Budget } from './budget.ts'
import type { Entry } from './entry.ts'

const KEPT_MS = 120_000
const KEPT_BYTES = 32 * 1024 * 1024
/** Kept also where the rings of other apps take all that there is for them. */
const LEAST_BYTES = 256 * 1024
/** What an entry takes beside its frame, about. */
const ENTRY_BYTES = 500

/** The newest events of an app, in order and without a hole, also by the places where they are told. */
export class Ring {
  #entries: Entry[] = []
  /** Those before have gone. */
  #start = 0
  #bytes = 0
  /** Positions by place, ascending. */
  readonly #places = new Map<string, number[]>()
  readonly #budget: Budget

  /** All past this position is kept. */
  after = 0

  constructor(budget: Budget) {
    this.#budget = budget
  }

  push(entry: Entry): void {
    this.#entries.push(entry)
    this.#count(entry, 1)
    for (const place of entry.places) {
      const known = this.#places.get(place)
      if (known) known.push(entry.position)
      else this.#places.set(place, [entry.position])
    }
    this.trim(entry.heardAt)
  }

  /** Lets go of all. */
  clear(): void {
    this.trim(Infinity)
  }

  /** All past a position. */
  since(position: number): Entry[] {
    return this.#entries.slice(this.#start + Math.max(0, position - this.after))
  }

  /** What is told at a place, past one position and up to another. */
  at(place: string, after: number, upto: number): Entry[] {
    const found: Entry[] = []
    const positions = this.#places.get(place) ?? []
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

  /** Lets go of what is too old or too much, at a time of the monotonic clock. */
  trim(now: number): void {
    for (;;) {
      const oldest = this.#entries[this.#start]
      const most = this.#budget.exceeded ? LEAST_BYTES : KEPT_BYTES
      if (!oldest || (this.#bytes <= most && now - oldest.heardAt <= KEPT_MS)) break
      this.#start++
      this.after = oldest.position
      this.#count(oldest, -1)
      for (const place of oldest.places) {
        const positions = this.#places.get(place)
        positions?.shift()
        if (positions?.length === 0) this.#places.delete(place)
      }
    }
    // Not one by one: that would move all the others each time.
    if (this.#start > 1_000 && this.#start > this.#entries.length / 2) {
      this.#entries = this.#entries.slice(this.#start)
      this.#start = 0
    }
  }
}
