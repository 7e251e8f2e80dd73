/** How far one webhook has come in its app's log. */
export class LogCursor {
  /** The cursor in the database. */
  stored: number
  /** The log was read up to this position. */
  readTo: number
  /** The last known position of the log. */
  last: number
  /** Positions that were read and neither delivered nor queued yet, in ascending order. */
  readonly #unfinished = new Set<number>()

  constructor({ position, last }: { position: number; last: number }) {
    this.stored = position
    this.readTo = position
    this.last = last
  }

  get hasUnread(): boolean {
    return this.readTo < this.last
  }

  get unfinished(): number {
    return this.#unfinished.size
  }

  /** The position that could be stored now: everything up to it is finished. */
  get finished(): number {
    const [first] = this.#unfinished
    return first === undefined ? this.readTo : first - 1
  }

  begin(position: number): void {
    this.#unfinished.add(position)
  }

  finish(position: number): void {
    this.#unfinished.delete(position)
  }
}
