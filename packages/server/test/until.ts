import { setTimeout as sleep } from 'node:timers/promises'

type Answer<T> = T | undefined | false

/** Asks until the answer is neither undefined nor false, and returns it; fails after the deadline. */
export async function until<T>(
  what: string,
  ask: () => Answer<T> | Promise<Answer<T>>,
  deadlineMs = 300_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const answer: Answer<T> = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms for: ${what}`)
    await sleep(10)
  }
}

/** Asks until the answer is true, and returns the milliseconds that it took. */
export async function timeUntil(what: string, ask: () => Promise<boolean>): Promise<number> {
  const started = performance.now()
  await until(what, ask)
  return performance.now() - started
}
