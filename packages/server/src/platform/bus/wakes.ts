/** Ends a wait early. A wake-up while nothing waits is kept for the next wait. */
export class Wakes {
  #pending = false
  #resume: (() => void) | undefined

  wake(): void {
    this.#pending = true
    this.#resume?.()
  }

  async wait(ms: number): Promise<void> {
    if (!this.#pending) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#resume = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#pending = false
    this.#resume = undefined
  }
}
