const MINUTE = 60
const HOUR = 3_600

/** Seconds before each retry of an event, as Standard Webhooks proposes: nine retries over about three days. */
const DELAYS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** How often an event is retried before it becomes a dead letter. */
export const MAX_RETRIES = DELAYS.length

/**
 * Seconds to wait after this many failed attempts; a day after the last entry of the schedule. A random tenth is
 * added or subtracted, so that events that failed together aren't retried together.
 */
export function retryDelay(failedAttempts: number, random = Math.random()): number {
  const delay = DELAYS[Math.min(failedAttempts, MAX_RETRIES) - 1] ?? 0
  return delay * (0.9 + 0.2 * random)
}
