import { setTimeout as sleep } from 'node:timers/promises'

type Answer<T> = T | undefined | false

/** The first answer that is neither undefined nor false; asks again until the deadline. */
export async function until<T>(
  what: string,
  ask: () => Answer<T> | Promise<Answer<T>>,
  deadlineMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const answer: Answer<T> = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await sleep(10)
  }
}

/** The milliseconds that passed until the answer was yes. */
export async function timeUntil(what: string, ask: () => Promise<boolean>): Promise<number> {
  const started = performance.now()
  await until(what, ask)
  return performance.now() - started
}
