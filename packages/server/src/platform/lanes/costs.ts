import { LIGHT } from './slots.ts'

/** How much the newest measurement counts. */
const NEWEST = 1 / 4
/** Beyond this number of kinds of work, all are measured again. */
const MOST = 20_000

/** Work that takes at most so many milliseconds has this weight. */
const WEIGHTS = [
  [50, LIGHT],
  [200, 2],
  [Number.POSITIVE_INFINITY, 4],
] as const

/** How long each kind of an app's work took lately, which says how many slots the next takes. */
export class Costs {
  readonly #milliseconds = new Map<string, number>()

  /** What was never measured is light. */
  weightOf(kind: string): number {
    const took = this.#milliseconds.get(kind) ?? 0
    return WEIGHTS.find(([most]) => took <= most)?.[1] ?? LIGHT
  }

  add(kind: string, milliseconds: number): void {
    const before = this.#milliseconds.get(kind) ?? milliseconds
    if (this.#milliseconds.size >= MOST) this.#milliseconds.clear()
    this.#milliseconds.set(kind, before + (milliseconds - before) * NEWEST)
  }
}
