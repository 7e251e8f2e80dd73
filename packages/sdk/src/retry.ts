import { LoquatError } from './error.ts'

const FIRST_DELAY_MS = 200
const LONGEST_DELAY_MS = 10_000
/** The delays for connections. See rule 5 of docs/realtime.md. */
const FIRST_RECONNECT_MS = 1_000
const LONGEST_RECONNECT_MS = 30_000
/** Rate limits are per minute, so a longer `Retry-After` means that retrying soon is pointless. */
const LONGEST_RETRY_AFTER_SECONDS = 60

/** Too many requests, or the server is unreachable. Proxies report network errors as 502 and 504. */
const TEMPORARY = [429, 502, 503, 504]

/** Whether the same request may succeed a little later. */
export function isTemporary(error: unknown): error is LoquatError {
  if (!(error instanceof LoquatError)) return false
  if ((error.retryAfter ?? 0) > LONGEST_RETRY_AFTER_SECONDS) return false
  return error.code === 'CLIENT_ERR_NO_ANSWER' || TEMPORARY.includes(error.status ?? 0)
}

/**
 * Milliseconds before the next attempt: the server's `Retry-After`, plus a delay that doubles each time. Half of that delay
 * is random, so that many clients don't retry at the same moment.
 */
export function retryDelay(retry: number, retryAfter = 0, random = Math.random()): number {
  const longest = Math.min(FIRST_DELAY_MS * 2 ** retry, LONGEST_DELAY_MS)
  return retryAfter * 1000 + (longest / 2) * (1 + random)
}

/** Milliseconds before the next connection: up to 1, 2, 4 … 30 seconds, of which half is random. */
export function reconnectDelay(failures: number, random = Math.random()): number {
  const longest = Math.min(FIRST_RECONNECT_MS * 2 ** failures, LONGEST_RECONNECT_MS)
  return (longest / 2) * (1 + random)
}

/** Reads the `Retry-After` header in seconds. Proxies may send a date instead. */
export function readRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (!header) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** Waits. Rejects with the signal's reason as soon as the signal is aborted. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Waits for the work, but rejects with the signal's reason if the signal is aborted first. */
export function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    void work.then(resolve, reject).then(() => signal.removeEventListener('abort', abort))
  })
}
