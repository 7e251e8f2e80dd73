import { realtimeLimits } from '@loquat/protocol'

/** A connection is closed after this many dropped frames in excess of the rate. */
const MAX_EXCESS = 200

const { framesPerSecond } = realtimeLimits

/**
 * A token bucket for the frames that a device sends. A dropped frame uses no token, so a client that is slightly
 * too fast loses only the excess. Dropped frames fill a second bucket, which drains at the same rate: a client that
 * keeps sending at more than twice the rate overflows it.
 */
export class FrameLimiter {
  #tokens: number = 2 * framesPerSecond
  #excess = 0
  #at: number

  constructor(now: number) {
    this.#at = now
  }

  /** Counts a frame that arrived at `now`, in milliseconds. */
  take(now: number): 'allowed' | 'dropped' | 'flood' {
    const earned = ((now - this.#at) / 1_000) * framesPerSecond
    this.#at = now
    this.#tokens = Math.min(2 * framesPerSecond, this.#tokens + earned)
    this.#excess = Math.max(0, this.#excess - earned)
    if (this.#tokens >= 1) {
      this.#tokens--
      return 'allowed'
    }
    return ++this.#excess > MAX_EXCESS ? 'flood' : 'dropped'
  }
}
