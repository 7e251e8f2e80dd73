import { Redis } from 'ioredis'
import type { Logger } from '../log/log.ts'

/** Shared counters and the like. Everything in it may be lost at any time, or not be there at all. */
export interface Cache {
  /** Adds to a counter and returns its new value; rejects at once while Redis is out of reach. */
  add(key: string, amount: number, seconds: number): Promise<number>
  /** Keeps a text for a while. */
  set(key: string, value: string, seconds: number): Promise<void>
  /** The text if it is still there; rejects at once while Redis is out of reach. */
  get(key: string): Promise<string | undefined>
  close(): Promise<void>
}

export interface CacheOptions {
  url: string
  /** Keeps installations that share a Redis apart. */
  prefix: string
  log: Logger
  /** How long an answer may take: after that the caller goes on without. */
  answerMs?: number
}

export function openCache({ url, prefix, log, answerMs = 250 }: CacheOptions): Cache {
  const redis = new Redis(url, {
    keyPrefix: `${prefix}:`,
    // Callers have another way: they would rather know at once than wait.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: answerMs,
    retryStrategy: (tries) => Math.min(tries * 50, 1_000),
  })
  let down = false
  redis.on('error', (error: Error) => {
    if (!down) log.warn({ err: error }, 'Redis is out of reach: limits hold per process')
    down = true
  })
  redis.on('ready', () => {
    down = false
  })
  return {
    async add(key, amount, seconds) {
      const results = await redis.multi().incrby(key, amount).expire(key, seconds).exec()
      const [error, value] = results?.[0] ?? [new Error('no answer')]
      if (error) throw error
      return Number(value)
    },
    async set(key, value, seconds) {
      await redis.set(key, value, 'EX', seconds)
    },
    async get(key) {
      return (await redis.get(key)) ?? undefined
    },
    async close() {
      redis.disconnect()
    },
  }
}
