import { realtimeLimits } from '@loquat/protocol'

/**
 * A token bucket of bytes. It lets a frame pass while it isn't empty, even a larger one, so that a frame to many
 * receivers passes at all; then it stays empty until the debt is paid.
 */
class ByteBucket {
  readonly #perSecond: number
  #left: number
  #at: number

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond
    this.#left = perSecond
    this.#at = now
  }

  /** Whether some bytes are left at `now`, in milliseconds. */
  allows(now: number): boolean {
    const earned = ((now - this.#at) / 1_000) * this.#perSecond
    this.#at = now
    this.#left = Math.min(this.#perSecond, this.#left + earned)
    return this.#left > 0
  }

  take(bytes: number): void {
    this.#left -= bytes
  }

  get full(): boolean {
    return this.#left >= this.#perSecond
  }
}

/** Limits the ephemeral bytes that a gateway sends for an app and for each of its users: one user can't flood it. */
export class ByteLimiter {
  readonly #app: ByteBucket
  readonly #users = new Map<string, ByteBucket>()

  constructor(now: number) {
    this.#app = new ByteBucket(realtimeLimits.ephemeralAppRate, now)
  }

  /** Counts a user's bytes, unless the user or the app has used up this moment's. */
  take(uid: string, bytes: number, now: number): boolean {
    const user = this.#users.get(uid) ?? new ByteBucket(realtimeLimits.ephemeralUserRate, now)
    if (!user.allows(now) || !this.#app.allows(now)) return false
    this.#users.set(uid, user)
    user.take(bytes)
    this.#app.take(bytes)
    return true
  }

  /** Forgets users who have sent nothing lately. Call once a second. */
  tick(now: number): void {
    for (const [uid, user] of this.#users) {
      user.allows(now)
      if (user.full) this.#users.delete(uid)
    }
  }
}
