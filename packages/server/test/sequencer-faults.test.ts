import assert from 'node:assert/strict'
import { afterEach, suite, test } from 'node:test'
import type { Cell } from '../src/platform/cells/directory.ts'
import { type TestApp, useServer } from './kit.ts'
import { announceNumber, loggedNumbers, rows, Writers } from './log-writers.ts'
import { LONG } from './long.ts'
import { killRunning, startServing } from './loquat.ts'
import { assertWithin, timedTest } from './timed-test.ts'
import { until } from './until.ts'

/** How long the other process may take to take over from a stopped one. */
const TAKEOVER_MS = 5_000

async function epochOf(cell: Cell): Promise<number> {
  const text = `select epoch from leases where job = 'sequencer'`
  const [lease] = await rows<{ epoch: number }>(cell.db, text)
  return lease?.epoch ?? 0
}

/** Waits until another process has the lease and a later event is logged. */
async function sequencedByAnother(app: TestApp, formerEpoch: number) {
  await until('the lease changed hands', async () => (await epochOf(app.cell)) > formerEpoch)
  await app.cell.db.tx((tx) => announceNumber(tx, app, 1))
  await loggedNumbers(app, 1)
}

suite('the sequencer under faults', () => {
  const server = useServer({ env: { LOQUAT_POOL_SIZE: '24' } })
  afterEach(killRunning)

  const newApps = async (count: number) => {
    const apps: TestApp[] = []
    for (let nth = 0; nth < count; nth++) apps.push(await server.newApp())
    return apps
  }

  test('leaves no gap and loses or repeats no event when it is killed again and again', async (t) => {
    const writers = new Writers(t, await newApps(4))
    const first = await startServing('worker', server.env)
    await first.holds('sequencer')
    const second = await startServing('worker', server.env)
    await first.end('SIGKILL')

    await second.holds('sequencer')
    const third = await startServing('worker', server.env)
    await second.end('SIGKILL')

    await third.holds('sequencer')
    await writers.more(100)
    await writers.endAndCheck()
    await third.end()
  })

  timedTest(
    'is taken over when it stops responding, and does no harm when it resumes',
    async (t) => {
      // Processes of a failed attempt would keep the lease.
      await killRunning()
      const [probe, ...apps] = await newApps(4)
      assert.ok(probe)
      const first = await startServing('worker', server.env)
      await first.holds('sequencer')
      const second = await startServing('worker', server.env)
      const writers = new Writers(t, apps)
      await writers.more(100)

      const epoch = await epochOf(probe.cell)
      first.signal('SIGSTOP')
      const stopped = performance.now()
      await sequencedByAnother(probe, epoch)
      const took = performance.now() - stopped
      assertWithin(TAKEOVER_MS, took, 'the takeover')

      first.signal('SIGCONT')
      await first.logged('loss', (entry) => entry.msg === 'job lost to another worker')
      await writers.more(100)
      await writers.endAndCheck()
      // A worker that gets no time for seconds loses the lease once more.
      if (LONG) assert.equal(await epochOf(probe.cell), epoch + 1)
      await Promise.all([first.end(), second.end()])
    },
  )
})
