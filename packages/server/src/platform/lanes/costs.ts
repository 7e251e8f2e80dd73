import { LIGHT } from './slots.ts'

/**
 * How much the newest measurement counts if it is higher, and if it is lower. Work that runs alone because it is heavy ends
 * sooner: if that made it light at once, many would start together, and be heavy again.
 */
const RISING = 1 / 4
const FALLING = 1 / 32
/** Beyond this number of kinds of work, all are measured again. */
const MOST = 20_000

/** So many bytes of an answer count as a millisecond: the thread that serves all apps reads, joins and writes them. */
const BYTES_PER_MS = 10_000

/**
 * Up to so many milliseconds, work is light. Most of a read's time is the database's work. A write waits for its disk, or for
 * another server, and several of them wait together.
 */
const LIGHT_MS = { read: 20, write: 50 }
/** Beyond this, it takes four slots instead of two. */
const SLOW_MS = 200

/** What each kind of an app's work cost lately, which says how many slots the next takes. */
export class Costs {
  readonly #milliseconds = new Map<string, number>()

  /** What was never measured is light. */
  weightOf(kind: string, does: keyof typeof LIGHT_MS): number {
    const took = this.#milliseconds.get(kind) ?? 0
    if (took <= LIGHT_MS[does]) return LIGHT
    return took <= SLOW_MS ? 2 : 4
  }

  add(kind: string, milliseconds: number, bytes: number): void {
    const cost = Math.max(milliseconds, bytes / BYTES_PER_MS)
    const before = this.#milliseconds.get(kind) ?? cost
    if (this.#milliseconds.size >= MOST) this.#milliseconds.clear()
    this.#milliseconds.set(kind, before + (cost - before) * (cost > before ? RISING : FALLING))
  }
}
