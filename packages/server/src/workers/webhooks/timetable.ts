const MINUTE = 60
const HOUR = 3_600

/** Seconds before each retry, as Standard Webhooks proposes: nine over three days. */
const PAUSES = [
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

export const RETRIES = PAUSES.length

/**
 * Seconds before the next try after so many that failed; past the end of the table, a day. A tenth
 * either way is chance: what failed together does not come back together.
 */
export function pauseAfter(failed: number, chance = Math.random()): number {
  const pause = PAUSES[Math.min(failed, RETRIES) - 1] ?? 0
  return pause * (0.9 + 0.2 * chance)
}
