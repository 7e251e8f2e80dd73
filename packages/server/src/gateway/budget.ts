/** A number of bytes of memory that all apps of a process share. */
export class Budget {
  used = 0
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get exceeded(): boolean {
    return this.used > this.#limit
  }

  /** Reserves bytes if that many are left, and returns whether it did. Subtract them from `used` to free them. */
  reserve(bytes: number): boolean {
    if (this.used + bytes > this.#limit) return false
    this.used += bytes
    return true
  }
}
