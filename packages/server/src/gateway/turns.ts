const TURN_MS = 5

/**
 * Work that can come in thousands at once, such as new connections after a network failure. It is done in the order in
 * which it came, a few milliseconds at a time; between these turns, others are served.
 */
export class Turns {
  #waiting: (() => void)[] = []

  add(work: () => void): void {
    if (this.#waiting.push(work) === 1) setImmediate(() => this.#turn())
  }

  #turn(): void {
    const end = performance.now() + TURN_MS
    let done = 0
    while (done < this.#waiting.length && performance.now() < end) this.#waiting[done++]?.()
    this.#waiting = this.#waiting.slice(done)
    if (this.#waiting.length > 0) setImmediate(() => this.#turn())
  }
}
