import type { Cache } from './cache.ts'

export interface Verdict {
  allowed: boolean
  limit: number
  /** Left in this minute, as far as this process knows. */
  remaining: number
  /** Seconds until the next minute begins. */
  resetSeconds: number
}

interface Bucket {
  minute: number
  /** What this process has handed out. */
  used: number
  /** What this process may still hand out without asking. */
  granted: number
  /** What all processes together had taken when it last asked, as far as it counts. */
  takenByAll: number
  /** Handed out while Redis was away, and not yet counted there. */
  unreported: number
  /** How many requests wait for the answer. */
  waiting: number
  asking: Promise<void> | undefined
}

/**
 * A block is at most this share of what the process has used itself. So all that is leased and
 * never used is at most this share of the limit, however many processes there are and however
 * unevenly they are used.
 */
const BLOCK_SHARE = 1 / 20
/** After a failure Redis is left alone for this long. */
const PAUSE_MS = 1_000

/**
 * Counts requests per calendar minute. Processes lease blocks of a shared counter in Redis, so
 * most requests ask nobody. Without Redis each process counts by itself, and reports what it
 * handed out once Redis is back.
 */
export class Limiter {
  readonly #cache: Cache
  readonly #buckets = new Map<string, Bucket>()
  #pausedUntil = 0
  #sweptMinute = 0

  constructor(cache: Cache) {
    this.#cache = cache
  }

  /** Most verdicts are there at once: a promise for each would cost more than the counting. */
  take(key: string, limit: number, now = Date.now()): Verdict | Promise<Verdict> {
    const bucket = this.#bucket(key, Math.floor(now / 60_000))
    if (bucket.granted > 0 || bucket.takenByAll >= limit) return decide(bucket, limit, now)
    return this.#ask(key, bucket, limit, now)
  }

  /** The verdict that `take` would give where the limit is reached, as far as this process knows. Takes nothing. */
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
    // In the same turn as the check: another one who waited would use it up in between.
    return decide(bucket, limit, now)
  }

  async #lease(key: string, bucket: Bucket, limit: number): Promise<void> {
    // Those who wait are sure to use their part.
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
    if (performance.now() < this.#pausedUntil) throw new Error('Redis is left alone')
    try {
      return await this.#cache.add(key, amount, 120)
    } catch (error) {
      this.#pausedUntil = performance.now() + PAUSE_MS
      throw error
    }
  }

  /** Buckets of past minutes go, once a minute. */
  #sweep(minute: number): void {
    if (minute === this.#sweptMinute) return
    this.#sweptMinute = minute
    for (const [key, bucket] of this.#buckets) {
      if (bucket.minute < minute) this.#buckets.delete(key)
    }
  }
}

/** Uses up one, if there is one. A limit that was lowered meanwhile holds for what is leased too. */
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
