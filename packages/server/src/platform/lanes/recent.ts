import { performance } from 'node:perf_hooks'

/** An app whose last request is older than this doesn't notice what others do. */
const LATELY_MS = 1_000

interface Use {
  app: number
  at: number
}

/** Whether several apps used a cell lately. Remembers the newest use, and the newest one of any other app. */
export class RecentUse {
  #newest: Use = { app: 0, at: Number.NEGATIVE_INFINITY }
  #other: Use = this.#newest

  add(app: number): void {
    if (app !== this.#newest.app) this.#other = this.#newest
    this.#newest = { app, at: performance.now() }
  }

  byOthersThan(app: number): boolean {
    const { at } = this.#newest.app === app ? this.#other : this.#newest
    return performance.now() - at < LATELY_MS
  }
}
