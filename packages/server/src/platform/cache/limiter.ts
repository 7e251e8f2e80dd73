import type { Cache } from './cache.ts'

export interface Verdict {
  allowed: boolean
  limit: number
  /** What is left in this minute, as far as this process knows. */
  remaining: number
  /** Seconds until the next minute begins. */
  resetSeconds: number
}

interface Bucket {
  minute: number
  /** Requests that this process has allowed. */
  used: number
  /** Requests that this process may still allow without asking Redis. */
  granted: number
  /** What all processes together had leased at the last request to Redis, up to the limit. */
  takenByAll: number
  /** Granted while Redis was down, and not counted there yet. */
  unreported: number
  /** Requests that wait for Redis. */
  waiting: number
  asking: Promise<void> | undefined
}

/**
 * A lease is at most this share of what the process has used itself. So at most this share of the limit is leased
 * and never used, however many processes there are and however uneven their load is.
 */
const BLOCK_SHARE = 1 / 20
/** How long to leave Redis alone after a failure. */
const PAUSE_MS = 1_000

/**
 * Limits requests per calendar minute. Processes lease parts of a shared counter in Redis, so most requests don't
 * need Redis. While Redis is down, each process counts on its own, and reports what it allowed once Redis is back.
 */
export class Limiter {
  readonly #cache: Cache
  readonly #buckets = new Map<string, Bucket>()
  #pausedUntil = 0
  #sweptMinute = 0

  constructor(cache: Cache) {
    this.#cache = cache
  }

  /** Most verdicts are available at once: a promise for each would cost more than counting. */
  take(key: string, limit: number, now = Date.now()): Verdict | Promise<Verdict> {
    const bucket = this.#bucket(key, Math.floor(now / 60_000))
    if (bucket.granted > 0 || bucket.takenByAll >= limit) return decide(bucket, limit, now)
    return this.#ask(key, bucket, limit, now)
  }

  /** The verdict of `take` if the limit is reached, as far as this process knows. Counts nothing. */
  reached(key: string, limit: number, now = Date.now()): Verdict | undefined {
    const bucket = this.#buckets.get(key)
    if (bucket?.minute !== Math.floor(now / 60_000)) return undefined
    const left = bucket.used < limit && (bucket.granted > 0 || bucket.takenByAll < limit)
    return left ? undefined : decide(bucket, limit, now)
  }

  #bucket(key: string, minute: number): Bucket {
    this.#sweep(minute)
    let bucket = this.#buckets.get(key)
    if (bucket?.minute !== minute) {
      const none = { used: 0, granted: 0, takenByAll: 0, unreported: 0, waiting: 0 }
      bucket = { minute, ...none, asking: undefined }
      this.#buckets.set(key, bucket)
    }
    return bucket
  }

  async #ask(key: string, bucket: Bucket, limit: number, now: number): Promise<Verdict> {
    bucket.waiting++
    while (bucket.granted < 1 && bucket.takenByAll < limit) {
      bucket.asking ??= this.#lease(key, bucket, limit)
      await bucket.asking
    }
    bucket.waiting--
    // No await since the check: another waiting request could use it up in between.
    return decide(bucket, limit, now)
  }

  async #lease(key: string, bucket: Bucket, limit: number): Promise<void> {
    // Wait a moment, so that all requests of this tick are counted as waiting.
    await undefined
    const block = blockSize(bucket, limit)
    const { unreported } = bucket
    try {
      const taken = await this.#add(`rate:${key}:${bucket.minute}`, unreported + block)
      bucket.unreported = 0
      bucket.granted += Math.max(0, Math.min(block, limit - (taken - block)))
      bucket.takenByAll = Math.min(limit, taken)
    } catch {
      bucket.unreported += block
      bucket.granted += block
      bucket.takenByAll += block
    } finally {
      bucket.asking = undefined
    }
  }

  async #add(key: string, amount: number): Promise<number> {
    if (performance.now() < this.#pausedUntil) throw new Error('Redis is paused after a failure')
    try {
      return await this.#cache.add(key, amount, 120)
    } catch (error) {
      this.#pausedUntil = performance.now() + PAUSE_MS
      throw error
    }
  }

  /** Removes the buckets of past minutes, once a minute. */
  #sweep(minute: number): void {
    if (minute === this.#sweptMinute) return
    this.#sweptMinute = minute
    for (const [key, bucket] of this.#buckets) {
      if (bucket.minute < minute) this.#buckets.delete(key)
    }
  }
}

/** Counts a request if one is left. A limit that was lowered meanwhile also applies to leased requests. */
function decide(bucket: Bucket, limit: number, now: number): Verdict {
  const allowed = bucket.granted > 0 && bucket.used < limit
  if (allowed) {
    bucket.granted--
    bucket.used++
  }
  const left = Math.max(0, limit - bucket.takenByAll) + bucket.granted
  const remaining = Math.min(left, Math.max(0, limit - bucket.used))
  return { allowed, limit, remaining, resetSeconds: 60 - Math.floor((now % 60_000) / 1000) }
}

function blockSize({ used, waiting, takenByAll }: Bucket, limit: number): number {
  const left = limit - takenByAll
  const block = Math.max(waiting, Math.floor(Math.min(used, left) * BLOCK_SHARE))
  return Math.max(1, Math.min(block, left))
}
