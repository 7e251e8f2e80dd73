import { type TestContext, test } from 'node:test'

const ATTEMPTS = 4

/**
 * A test with bounds in wall time. Shared machines pause for seconds, so one of a few attempts must
 * keep them: a pause spoils one, a fault of ours all.
 */
export function timedTest(name: string, work: (t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work(t)
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
        t.diagnostic(`attempt ${attempt}: ${(error as Error).message}`)
      }
    }
  })
}
