/**
 * Tests with bounds in wall time. `npm test` asserts what they do, not how long it takes: no test may fail
 * because the machine is slow. `npm run test:long` asserts the bounds, with the machine to itself.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LONG } from './long.ts'

const ATTEMPTS = LONG ? 6 : 1
const CALM_TRIES = 60
const LOOK_MS = 200
/** Of the processor, while we want all of one. */
const CALM_SHARE = 0.8

/**
 * A test that asserts a bound. Shared machines pause for seconds, or give others most of their time
 * for minutes, so in the long form one of a few attempts must keep the bound, and each waits for a calm
 * moment: a pause spoils one attempt, a fault of ours all of them.
 */
export function timedTest(name: string, work: (t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work(t)
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
        t.diagnostic(`attempt ${attempt}: ${(error as Error).message}`)
        for (let n = 0; n < CALM_TRIES && share() < CALM_SHARE; n++) await sleep(1_000)
      }
    }
  })
}

/** Asserts the bound in the long form alone. Only in a `timedTest`, which tries again. */
export function assertWithin(boundMs: number, tookMs: number, what = 'it'): void {
  if (LONG) assert.ok(tookMs < boundMs, `${what} took ${Math.round(tookMs)} ms`)
}

/** How much of a processor this process gets. */
function share(): number {
  const [started, before] = [performance.now(), process.cpuUsage()]
  while (performance.now() - started < LOOK_MS);
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / (performance.now() - started)
}
