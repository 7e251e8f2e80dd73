import { Redis } from 'ioredis'
import type { Logger } from '../log/log.ts'
import { brokerTls } from '../net/tls.ts'

/** A store for counters and other data that processes share. Its content may be lost at any time. */
export interface Cache {
  /** Adds to a counter and returns its new value. Rejects at once while Redis can't be reached. */
  add(key: string, amount: number, seconds: number): Promise<number>
  /** Stores a text for some seconds. */
  set(key: string, value: string, seconds: number): Promise<void>
  /** Returns the text if it is still stored. Rejects at once while Redis can't be reached. */
  get(key: string): Promise<string | undefined>
  close(): Promise<void>
}

export interface CacheOptions {
  url: string
  /** See `TlsRules`. */
  caFile: string
  /** Separates installations that share a Redis. */
  prefix: string
  log: Logger
  /** The timeout of a command. Callers continue without Redis after it. */
  answerMs?: number
}

export function openCache({ url, caFile, prefix, log, answerMs = 250 }: CacheOptions): Cache {
  const redis = new Redis(url, {
    ...brokerTls(url, caFile),
    keyPrefix: `${prefix}:`,
    // Callers can do without Redis, so an immediate error is better than a wait.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: answerMs,
    retryStrategy: (tries) => Math.min(tries * 50, 1_000),
  })
  let down = false
  redis.on('error', (error: Error) => {
    if (!down) log.warn({ err: error }, "can't reach Redis; rate limits apply per process")
    down = true
  })
  redis.on('ready', () => {
    down = false
  })
  return {
    async add(key, amount, seconds) {
      const results = await redis.multi().incrby(key, amount).expire(key, seconds).exec()
      const [error, value] = results?.[0] ?? [new Error('no response')]
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
