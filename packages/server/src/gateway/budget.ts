/** Bytes of memory that all apps of a process share: what one of them takes, others go without. */
export class Budget {
  used = 0
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get exceeded(): boolean {
    return this.used > this.#limit
  }

  /** Whether so much is left; it is taken then, until it is given back. */
  take(bytes: number): boolean {
    if (this.used + bytes > this.#limit) return false
    this.used += bytes
    return true
  }
}
