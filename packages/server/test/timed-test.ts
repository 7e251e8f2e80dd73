/**
 * Tests with bounds in wall-clock time. `npm test` asserts what they do, not how long it takes, because no
 * test may fail on a slow machine. `npm run test:long` asserts the bounds and needs an idle machine.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LONG } from './long.ts'

const ATTEMPTS = LONG ? 6 : 1
const CALM_TRIES = 60
const LOOK_MS = 200
/** The share of a processor that we must get while we want a whole one. */
const CALM_SHARE = 0.8

/**
 * A test that asserts a bound. Shared machines pause for seconds or are busy for minutes, so in the long
 * form only one of several attempts must keep the bound, and each waits for a calm moment. A pause fails
 * one attempt; a real fault fails all of them.
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

/** Asserts the bound in the long form only. Use it in a `timedTest`, which tries again. */
export function assertWithin(boundMs: number, tookMs: number, what = 'it'): void {
  if (LONG) assert.ok(tookMs < boundMs, `${what} took ${Math.round(tookMs)} ms`)
}

/** The share of a processor that this process gets. */
function share(): number {
  const [started, before] = [performance.now(), process.cpuUsage()]
  while (performance.now() - started < LOOK_MS);
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / (performance.now() - started)
}
