/** A number of bytes of memory that all apps of a process share, or the share of one app. */
export class Budget {
  used = 0
  readonly #limit: number
  /** The budget that this one is a share of. */
  readonly #whole: Budget | undefined

  constructor(limit: number, whole?: Budget) {
    this.#limit = limit
    this.#whole = whole
  }

  get exceeded(): boolean {
    return this.used > this.#limit
  }

  /** Reserves bytes if that many are left, and returns whether it did. */
  reserve(bytes: number): boolean {
    if (this.used + bytes > this.#limit || this.#whole?.reserve(bytes) === false) return false
    this.used += bytes
    return true
  }

  /** Frees bytes that were reserved. */
  release(bytes: number): void {
    this.used -= bytes
    this.#whole?.release(bytes)
  }
}
