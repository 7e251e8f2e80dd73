import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const ATTEMPTS = 6
const CALM_TRIES = 60
const LOOK_MS = 200
/** Of the processor, while we want all of one. */
const CALM_SHARE = 0.8

/**
 * A test with bounds in wall time. Shared machines pause for seconds, or give others most of their time for
 * minutes, so one of a few attempts must keep them, and waits for a calm moment: a pause spoils one, a
 * fault of ours all.
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

/** How much of a processor this process gets. */
function share(): number {
  const [started, before] = [performance.now(), process.cpuUsage()]
  while (performance.now() - started < LOOK_MS);
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / (performance.now() - started)
}
