import { LoquatError } from './error.ts'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000
/** Of connections: docs/realtime.md, rule 5. */
const FIRST_RETURN_MS = 1_000
const LONGEST_RETURN_MS = 30_000
/** The limits of the server are per minute: it asks for no more than that. */
const LONGEST_RETRY_AFTER_SECONDS = 60

/** Too many requests, or nobody there: 502 and 504 are how a proxy tells of a network error. */
const PASSING = [429, 502, 503, 504]

/** Whether the same request can do better a little later. */
export function isPassing(error: unknown): error is LoquatError {
  if (!(error instanceof LoquatError)) return false
  if ((error.retryAfter ?? 0) > LONGEST_RETRY_AFTER_SECONDS) return false
  return error.code === 'CLIENT_ERR_NO_ANSWER' || PASSING.includes(error.status ?? 0)
}

/**
 * Milliseconds before the next try: what the server asked for, and on top a pause that doubles each
 * time. Half of that pause is chance, so that many clients don't come back at once.
 */
export function pauseBefore(retry: number, retryAfter = 0, chance = Math.random()): number {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** retry, LONGEST_PAUSE_MS)
  return retryAfter * 1000 + (longest / 2) * (1 + chance)
}

/** Milliseconds before the next connection, after so many that failed: 1, 2, 4 … 30 s, half of it chance. */
export function pauseBeforeReturn(failures: number, chance = Math.random()): number {
  const longest = Math.min(FIRST_RETURN_MS * 2 ** failures, LONGEST_RETURN_MS)
  return (longest / 2) * (1 + chance)
}

/** The header `Retry-After` in seconds; proxies also write a date. */
export function readRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (!header) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** Rejects with the reason of the signal as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
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

/** What comes of some work, unless the signal is aborted first: then its reason. */
export function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    void work.then(resolve, reject).then(() => signal.removeEventListener('abort', abort))
  })
}
