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
  /** What this process may still hand out without asking. */
  granted: number
  /** What all processes together had taken when it last asked. */
  takenByAll: number
  asking: Promise<void> | undefined
}

/** Blocks are this share of what is left, so they shrink as the limit comes near. */
const BLOCK_SHARE = 1 / 20
const LARGEST_BLOCK_SHARE = 1 / 50
/** After a failure Redis is left alone for this long. */
const PAUSE_MS = 1_000

/**
 * Counts requests per calendar minute. Processes lease blocks of a shared counter in Redis, so most
 * requests ask nobody; what is leased and not used is at most a few percent of the limit, since blocks shrink as it
 * comes near. Without Redis each process grants the whole limit by itself.
 */
export class Limiter {
  readonly #cache: Cache
  readonly #buckets = new Map<string, Bucket>()
  #pausedUntil = 0
  #sweptMinute = 0

  constructor(cache: Cache) {
    this.#cache = cache
  }

  async take(key: string, limit: number, now = Date.now()): Promise<Verdict> {
    const minute = Math.floor(now / 60_000)
    this.#sweep(minute)
    let bucket = this.#buckets.get(key)
    if (bucket?.minute !== minute) {
      bucket = { minute, granted: 0, takenByAll: 0, asking: undefined }
      this.#buckets.set(key, bucket)
    }
    while (bucket.granted < 1 && bucket.takenByAll < limit) {
      bucket.asking ??= this.#lease(key, bucket, limit)
      await bucket.asking
    }
    const allowed = bucket.granted >= 1
    if (allowed) bucket.granted--
    const remaining = Math.max(0, limit - bucket.takenByAll) + bucket.granted
    return { allowed, limit, remaining, resetSeconds: 60 - Math.floor((now % 60_000) / 1000) }
  }

  async #lease(key: string, bucket: Bucket, limit: number): Promise<void> {
    try {
      const block = blockSize(limit, bucket.takenByAll)
      const before = (await this.#add(`rate:${key}:${bucket.minute}`, block)) - block
      bucket.granted += Math.max(0, Math.min(block, limit - before))
      bucket.takenByAll = Math.min(limit, before + block)
    } catch {
      this.#pausedUntil = Date.now() + PAUSE_MS
      bucket.granted += limit - bucket.takenByAll
      bucket.takenByAll = limit
    } finally {
      bucket.asking = undefined
    }
  }

  #add(key: string, amount: number): Promise<number> {
    if (Date.now() < this.#pausedUntil) return Promise.reject(new Error('Redis is left alone'))
    return this.#cache.add(key, amount, 120)
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

function blockSize(limit: number, taken: number): number {
  const block = Math.min((limit - taken) * BLOCK_SHARE, limit * LARGEST_BLOCK_SHARE)
  return Math.max(1, Math.floor(block))
}
