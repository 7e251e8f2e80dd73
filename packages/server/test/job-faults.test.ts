import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { afterEach, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Cell } from '../src/platform/cells/directory.ts'
import { add, countJob, makeCounted } from './job-runner.ts'
import { useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { killRunning, Running } from './loquat.ts'
import { assertWithin, timedTest } from './timed-test.ts'
import { until } from './until.ts'

const FAULTS = LONG ? 50 : 6
const TAKEOVER_MS = 5_000
const PROCESS = fileURLToPath(new URL('job-process.ts', import.meta.url))

const server = useServer({ env: { LOQUAT_POOL_SIZE: '10' } })

async function startProcess(): Promise<Running> {
  const env = { PATH: process.env.PATH ?? '', ...server.env, LOQUAT_LOG_LEVEL: 'info' }
  const child = spawn(process.execPath, [PROCESS], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const running = new Running(child)
  await running.logged('ready', ({ msg }) => msg === 'ready')
  return running
}

const countOf = async ({ db }: Cell, appNo: number) => {
  const text = 'select count(*)::int as count from counted where app_no = $1'
  return Number((await rows(db, text, [appNo]))[0]?.count)
}

suite('jobs whose workers are killed and suspended', () => {
  afterEach(killRunning)

  test('all end, and each of their steps takes effect once', async (t) => {
    const app = await server.newApp()
    const { cell, no } = app
    await makeCounted(cell)
    const [jobs, steps] = [4, 40]
    let workers = [await startProcess(), await startProcess()]
    const counts = { killed: 0, suspended: 0 }
    const resumed: Promise<void>[] = []
    for (let fault = 0; fault < FAULTS; fault++) {
      const before = await countOf(cell, no)
      for (let n = 0; n < jobs; n++) await add(cell, no, countJob, { to: steps })
      await until('a step', async () => (await countOf(cell, no)) > before)
      const [victim, ...others] = workers.toSorted(() => Math.random() - 0.5)
      assert.ok(victim)
      if (Math.random() < 0.5) {
        counts.killed++
        await victim.end('SIGKILL')
        workers = [...others, await startProcess()]
      } else {
        counts.suspended++
        victim.signal('SIGSTOP')
        // Others take over after three seconds; it resumes before or after that.
        const resume = sleep(Math.random() * 5_000).then(() => victim.signal('SIGCONT'))
        resumed.push(resume)
        if (workers.length < 4) workers = [...workers, await startProcess()]
      }
    }
    await Promise.all(resumed)
    t.diagnostic(JSON.stringify(counts))
    await until('all end', async () => {
      const left = await rows(cell.db, 'select from jobs where app_no = $1', [no])
      return left.length === 0
    })
    const twice = `select job_id, n from counted where app_no = $1 group by 1, 2 having count(*) > 1`
    assert.deepEqual(await rows(cell.db, twice, [no]), [])
    assert.equal(await countOf(cell, no), FAULTS * jobs * steps)
    const ended = await Promise.all(workers.map((worker) => worker.end()))
    assert.deepEqual(
      ended.map(({ code }) => code),
      workers.map(() => 0),
    )
  })

  timedTest('go on in another process within five seconds', async () => {
    await killRunning()
    const app = await server.newApp()
    const { cell, no } = app
    await makeCounted(cell)
    const victim = await startProcess()
    const id = await add(cell, no, countJob, { to: 1_000_000 })
    await until('it runs', async () => (await countOf(cell, no)) > 0)
    const other = await startProcess()
    await victim.end('SIGKILL')
    const killed = performance.now()
    const before = await countOf(cell, no)
    await until('it goes on', async () => (await countOf(cell, no)) > before)
    assertWithin(TAKEOVER_MS, performance.now() - killed, 'the takeover')
    await rows(cell.db, 'select cancel_job($1, $2)', [no, id])
    await other.end()
  })
})
