import { setTimeout as sleep } from 'node:timers/promises'

/** The first answer that is neither undefined nor false; asks again until the deadline. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  deadlineMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + deadlineMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await sleep(10)
  }
}
