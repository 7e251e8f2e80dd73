import { realtimeLimits } from '@loquat/protocol'

/** Frames left out that a connection may be ahead by, before it is closed. */
const FLOOD = 200

const { framesPerSecond } = realtimeLimits

/**
 * The frames that a device may send. What is left out costs nothing of what is allowed: whoever sends a
 * little too much loses just that. It is counted apart, and whoever goes on at more than twice the rate is closed.
 */
export class Allowance {
  #left: number = 2 * framesPerSecond
  #excess = 0
  #at: number

  constructor(now: number) {
    this.#at = now
  }

  /** Counts a frame that came now, in milliseconds. */
  take(now: number): 'allowed' | 'leftOut' | 'flood' {
    const earned = ((now - this.#at) / 1_000) * framesPerSecond
    this.#at = now
    this.#left = Math.min(2 * framesPerSecond, this.#left + earned)
    this.#excess = Math.max(0, this.#excess - earned)
    if (this.#left >= 1) {
      this.#left--
      return 'allowed'
    }
    return ++this.#excess > FLOOD ? 'flood' : 'leftOut'
  }
}
