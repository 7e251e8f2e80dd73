import assert from 'node:assert/strict'
import { afterEach, before, suite, test } from 'node:test'
import { Type } from 'typebox'
import type { Cell } from '../src/platform/cells/directory.ts'
import { Postponed, Unrecoverable } from '../src/platform/jobs/definition.ts'
import { enqueue } from '../src/platform/jobs/queue.ts'
import { queryAt } from './databases.ts'
import {
  add,
  countJob,
  jobsOf,
  makeCounted,
  startRunner,
  stopRunners,
  type TestJob,
  testJob,
} from './job-runner.ts'
import { useServer } from './kit.ts'
import { holdLock, whileWaiting } from './locks.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { assertWithin, timedTest } from './timed-test.ts'
import { until } from './until.ts'

suite('jobs', () => {
  const server = useServer({ env: { LOQUAT_POOL_SIZE: '30' } })
  let cell: Cell
  afterEach(stopRunners)
  before(async () => {
    cell = server.deps.directory.cell('us-1')
    await makeCounted(cell)
  })

  const none = Type.Object({})
  const numbered = Type.Object({ n: Type.Integer() })

  /** A job that calls `work` with its number, in this process. */
  const numberJob = (name: string, work: (n: number, signal: AbortSignal) => Promise<unknown>) =>
    testJob({
      name,
      input: numbered,
      async run({ input, signal }) {
        await work(input.n, signal)
      },
    })

  /** Runs the jobs until `done` returns true. */
  async function runUntil(
    jobs: readonly TestJob[],
    done: () => boolean | Promise<boolean>,
    options: Parameters<typeof startRunner>[3] = {},
  ) {
    const runner = startRunner(server.deps, cell, jobs, options)
    try {
      await until('the jobs have run', done)
    } finally {
      await runner.stop()
    }
  }

  const isEmpty = async (appNo: number) => (await jobsOf(cell, appNo)).length === 0

  /** Waits until the signal aborts, and throws its reason like any call that takes it. */
  const untilAborted = (signal: AbortSignal) =>
    new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason))
    })

  suite('a job', () => {
    test('runs once its transaction has committed, and never if it is rolled back', async () => {
      const app = await server.newApp()
      const ran: number[] = []
      const job = numberJob('test.commit', async (n) => ran.push(n))
      await assert.rejects(
        cell.db.tx(async (tx) => {
          await enqueue(tx, app.no, job, { n: 1 })
          throw new Error('rolled back')
        }),
      )
      const runner = startRunner(server.deps, cell, [job])
      await add(cell, app.no, job, { n: 2 })
      await until('it ran', () => ran.length > 0)
      await runner.stop()
      assert.deepEqual(ran, [2])
      assert.ok(await isEmpty(app.no), 'a finished job leaves no row')
    })

    test('continues from its checkpoint after a failure, and shows its progress', async () => {
      const app = await server.newApp()
      let failed = false
      const job = testJob({
        name: 'test.checkpoint',
        input: numbered,
        checkpoint: Type.Object({ next: Type.Integer() }),
        keep: true,
        async run({ appNo, id, input, saved, checkpoint, progress }) {
          for (let next = saved?.next ?? 0; next < input.n; next++) {
            await progress(next + 1, input.n)
            await checkpoint(async (tx) => {
              await rows(tx, 'insert into counted values ($1, $2, $3)', [appNo, id, next])
              if (next === 3 && !failed) {
                failed = true
                throw new Error('in the middle of a step')
              }
              return { next: next + 1 }
            })
          }
        },
      })
      const id = await add(cell, app.no, job, { n: 6 })
      const state = async () => (await jobsOf(cell, app.no))[0]?.state
      await runUntil([job], async () => (await state()) === 'done')
      const counted = await rows(cell.db, 'select n from counted where job_id = $1 order by n', [
        id,
      ])
      assert.deepEqual(
        counted.map(({ n }) => n),
        [0, 1, 2, 3, 4, 5],
      )
      const [row] = await jobsOf(cell, app.no)
      assert.deepEqual([row?.done, row?.total, row?.checkpoint], [6, 6, { next: 6 }])
      assert.equal(row?.error, 'in the middle of a step')
    })

    test('keeps its schedule beside workers that do not know it, until a version says that it has none', async () => {
      const scheduled = testJob({
        name: 'test.newer',
        input: none,
        schedule: { everySeconds: 3600 },
        run: async () => {},
      })
      const ran: number[] = []
      const known = numberJob('test.known', async (n) => ran.push(n))
      const app = await server.newApp()
      const text = `select key from job_schedules where app_no = 0 and key = 'test.newer'`
      const schedules = () => rows(cell.db, text, [])
      const runOne = async (jobs: readonly TestJob[], unscheduled: string[] = []) => {
        const before = ran.length
        await add(cell, app.no, known, { n: 1 })
        await runUntil([known, ...jobs], () => ran.length > before, { unscheduled })
      }
      await runOne([scheduled])
      assert.equal((await schedules()).length, 1)
      await runOne([])
      assert.equal((await schedules()).length, 1)
      await runOne([], ['test.newer'])
      assert.equal((await schedules()).length, 0)
    })

    test('repeats no named step that has a result', async () => {
      const app = await server.newApp()
      const calls: string[] = []
      const job = testJob({
        name: 'test.steps',
        input: none,
        async run({ appNo, id, step, effect }) {
          const fetched = await effect('fetch', async () => {
            calls.push('fetch')
            return { price: 7 }
          })
          await step('pay', async (tx) => {
            calls.push(`pay ${fetched.price}`)
            await rows(tx, 'insert into counted values ($1, $2, $3)', [appNo, id, fetched.price])
          })
          if (calls.length < 4) {
            calls.push('fail')
            throw new Error('after both steps')
          }
        },
      })
      calls.push('start')
      await add(cell, app.no, job, {})
      await runUntil([job], () => isEmpty(app.no))
      assert.deepEqual(calls, ['start', 'fetch', 'pay 7', 'fail'])
      assert.deepEqual(await rows(cell.db, 'select from job_steps where app_no = $1', [app.no]), [])
    })

    test('is dead after its tries or an unrecoverable failure, and can be retried', async () => {
      const app = await server.newApp()
      let broken = true
      const job = testJob({
        name: 'test.dead',
        input: numbered,
        tries: 2,
        async run({ input }) {
          if (broken) throw input.n === 1 ? new Error('broken') : new Unrecoverable('hopeless')
        },
      })
      await add(cell, app.no, job, { n: 1 })
      await add(cell, app.no, job, { n: 2 })
      await rows(cell.db, `select enqueue_job($1, 'test.dead', '{"n":"one"}')`, [app.no])
      const over = async () => (await jobsOf(cell, app.no)).every(({ state }) => state === 'dead')
      const runner = startRunner(server.deps, cell, [job])
      await until('all are dead', over)
      const dead = await jobsOf(cell, app.no)
      assert.deepEqual(
        dead.map(({ tries, error }) => [tries, error]),
        [
          [2, 'broken'],
          [1, 'hopeless'],
          [1, 'the input is invalid'],
        ],
      )
      broken = false
      const retry = 'select retry_job($1, $2) as state'
      const [answer] = await rows(cell.db, retry, [app.no, dead[0]?.id])
      assert.equal(answer?.state, 'ready')
      await until('it is done', async () => (await jobsOf(cell, app.no)).length === 2)
      await runner.stop()
    })

    test('waits for its delay, and is dead after its deadline', async () => {
      const app = await server.newApp()
      const ran: number[] = []
      const job = numberJob('test.times', async (n, signal) => {
        ran.push(n)
        if (n === 3) await untilAborted(signal)
      })
      await add(cell, app.no, job, { n: 1 }, { delaySeconds: 3600 })
      await add(cell, app.no, job, { n: 2 }, { delaySeconds: 0.1 })
      await add(cell, app.no, job, { n: 3 }, { deadlineSeconds: 0.2 })
      await add(cell, app.no, job, { n: 4 }, { deadlineSeconds: 0 })
      const over = async () => (await jobsOf(cell, app.no)).map(({ state }) => state).join()
      await runUntil([job], async () => (await over()) === 'waiting,dead,dead')
      assert.ok(ran.includes(2) && !ran.includes(1) && !ran.includes(4), ran.join())
      const errors = (await jobsOf(cell, app.no)).map(({ error }) => error)
      assert.deepEqual(errors, [null, 'the deadline passed', 'the deadline passed'])
    })

    test('that is postponed waits until it is woken, even if that happens before it waits', async () => {
      const app = await server.newApp()
      const wake = () =>
        rows(cell.db, 'select wake_job(app_no, id) from jobs where app_no = $1', [app.no])
      let runs = 0
      const job = testJob({
        name: 'test.postponed',
        input: none,
        async run() {
          if (++runs === 1) await wake()
          if (runs < 3) throw new Postponed(3_600_000)
        },
      })
      const runner = startRunner(server.deps, cell, [job])
      await add(cell, app.no, job, {})
      await until('it waits', async () => {
        const [row] = await jobsOf(cell, app.no)
        return runs === 2 && row?.state === 'waiting'
      })
      await wake()
      await until('it is done', () => isEmpty(app.no))
      await runner.stop()
      assert.equal(runs, 3)
    })

    test('with an unknown name is left to newer workers', async () => {
      const app = await server.newApp()
      await rows(cell.db, `select enqueue_job($1, 'test.unknown')`, [app.no])
      const state = async () => (await jobsOf(cell, app.no))[0]
      await runUntil([], async () => (await state())?.state === 'waiting')
      assert.equal((await state())?.tries, 0)
    })

    timedTest('starts within 100 ms on an idle cell', async () => {
      const app = await server.newApp()
      const { promise, resolve } = Promise.withResolvers<void>()
      let started = Promise.withResolvers<void>()
      const job = numberJob('test.delay', async () => {
        started.resolve()
        resolve()
      })
      const runner = startRunner(server.deps, cell, [job])
      await add(cell, app.no, job, { n: 0 })
      await promise
      const delays: number[] = []
      for (let n = 0; n < (LONG ? 200 : 10); n++) {
        started = Promise.withResolvers()
        const enqueued = performance.now()
        await add(cell, app.no, job, { n })
        await started.promise
        delays.push(performance.now() - enqueued)
      }
      await runner.stop()
      delays.sort((a, b) => a - b)
      assertWithin(100, delays[Math.floor(delays.length * 0.99)] ?? 0, 'p99')
    })
  })

  suite('turns between apps', () => {
    test('let the only job of one app start while another app has thousands', async () => {
      const [loud, quiet] = [await server.newApp(), await server.newApp()]
      const many = LONG ? 20_000 : 400
      const order: number[] = []
      const job = testJob({
        name: 'test.fair',
        input: none,
        async run({ appNo }) {
          order.push(appNo)
        },
      })
      const text = `select count(enqueue_job($1, 'test.fair')) from generate_series(1, $2)`
      await rows(cell.db, text, [loud.no, many])
      const runner = startRunner(server.deps, cell, [job])
      await until('it is under way', () => order.length > 50)
      const before = order.length
      await add(cell, quiet.no, job, {})
      await until('the other ran', () => order.includes(quiet.no))
      const waited = order.indexOf(quiet.no) - before
      await until('all ran', () => isEmpty(loud.no), 600_000)
      await runner.stop()
      assert.equal(order.length, many + 1)
      // Without turns it comes last. The rest allows for jobs that run until its transaction commits.
      assert.ok(waited < many / 2, `after ${waited} others`)
    })

    test('take the highest priority first, and no more than the limit of an app', async () => {
      const app = await server.newApp()
      const order: number[] = []
      let [running, most] = [0, 0]
      const job = numberJob('test.priority', async (n) => {
        most = Math.max(most, ++running)
        order.push(n)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
      })
      for (const [n, priority] of [0, 0, 9, -5, 9].entries()) {
        await add(cell, app.no, job, { n }, { priority })
      }
      const runners = [0, 1].map(() => startRunner(server.deps, cell, [job], { perApp: 1 }))
      await until('all ran', () => isEmpty(app.no))
      for (const runner of runners) await runner.stop()
      assert.deepEqual([order, most], [[2, 4, 0, 1, 3], 1])
    })

    test('keep a quarter of the slots for jobs that are not below priority 0', async () => {
      const apps = [await server.newApp(), await server.newApp(), await server.newApp()] as const
      const [one, two, urgent] = apps
      const release = Promise.withResolvers<void>()
      const ran: number[] = []
      const job = numberJob('test.slow', async (n) => {
        ran.push(n)
        if (n < 0) await release.promise
      })
      const low = { priority: -1 }
      for (const { no } of [one, two]) {
        for (let n = 0; n < 8; n++) await add(cell, no, job, { n: -1 }, low)
      }
      const runner = startRunner(server.deps, cell, [job], { slots: 8, perApp: 8 })
      await until('all but two slots are occupied', () => ran.length === 6)
      for (let n = 1; n <= 3; n++) {
        await add(cell, urgent.no, job, { n })
        await until('it ran', () => isEmpty(urgent.no))
      }
      assert.deepEqual(ran, [-1, -1, -1, -1, -1, -1, 1, 2, 3])
      release.resolve()
      for (const { no } of apps) await until('all ran', () => isEmpty(no))
      await runner.stop()
      await add(cell, one.no, job, { n: 4 }, low)
      await runUntil([job], () => isEmpty(one.no), { slots: 1 })
    })

    test("keep half of an app's slots for its jobs that are not below priority 0", async () => {
      const app = await server.newApp()
      const release = Promise.withResolvers<void>()
      const ran: number[] = []
      const job = numberJob('test.slow', async (n) => {
        ran.push(n)
        if (n < 0) await release.promise
      })
      for (let n = 0; n < 8; n++) await add(cell, app.no, job, { n: -1 }, { priority: -1 })
      const runner = startRunner(server.deps, cell, [job], { slots: 16, perApp: 4 })
      await until('two run', () => ran.length === 2)
      for (const n of [1, 2]) {
        await add(cell, app.no, job, { n })
        await until('it ran', () => ran.includes(n))
      }
      assert.deepEqual(ran, [-1, -1, 1, 2])
      release.resolve()
      await until('all ran', () => isEmpty(app.no))
      await runner.stop()
    })

    test('pass over apps that are archived or not in this cell', async () => {
      const app = await server.newApp()
      const ran: number[] = []
      const job = numberJob('test.archived', async (n) => ran.push(n))
      await rows(cell.db, 'update apps set archived_at = now() where app_no = $1', [app.no])
      await add(cell, app.no, job, { n: 1 })
      await add(cell, 999_999, job, { n: 2 })
      await add(cell, 0, job, { n: 3 })
      const runner = startRunner(server.deps, cell, [job])
      await until("the cell's own job ran", () => ran.length > 0)
      await until('the app waits', async () => (await jobsOf(cell, app.no))[0]?.state === 'waiting')
      await rows(cell.db, 'update apps set archived_at = null where app_no = $1', [app.no])
      await rows(cell.db, 'update jobs set run_at = now() where app_no = $1', [app.no])
      await until('it ran', () => isEmpty(app.no))
      await runner.stop()
      assert.deepEqual(ran, [3, 1])
      await rows(cell.db, 'delete from jobs where app_no = 999999')
    })

    test('cost the same with thousands of ready apps as with ten', async () => {
      const thousands = LONG ? 10_000 : 2_000
      const text = `insert into jobs (app_no, id, name, state, run_at, created_at, input)
      select 2000000 + n, nextval('job_ids'), 'test.flat', 'ready', now(), now(), '{}' from generate_series(1, $1) n`
      const explain = `explain (analyze, buffers, format json)
      select claim_jobs(gen_random_uuid(), 5, 5, $1)`
      const buffersOf = async () => {
        const [plan] = await rows<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
          cell.db,
          explain,
          [2_000_000],
        )
        return plan?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? 0
      }
      const apps = `insert into apps (app_no, app_id)
      select 2000000 + n, 'flat' || n from generate_series(1, $1) n`
      await rows(cell.db, apps, [thousands])
      try {
        await rows(cell.db, text, [10])
        await buffersOf()
        const few = await buffersOf()
        await rows(cell.db, text, [thousands])
        await queryAt(cell.url, 'vacuum analyze jobs')
        await buffersOf()
        const many = await buffersOf()
        assert.ok(many < few * 2 + 50, `${few} buffers with ten apps, ${many} with thousands`)
      } finally {
        await rows(cell.db, 'delete from jobs where app_no > 2000000')
      }
    })
  })

  suite('keys', () => {
    test('of deduplication leave one job, even if many enqueue it at once', async () => {
      const app = await server.newApp()
      const job = numberJob('test.dedupe', async () => {})
      const ids = await Promise.all(
        Array.from({ length: 20 }, () => add(cell, app.no, job, { n: 1 }, { dedupeKey: 'a' })),
      )
      assert.equal(new Set(ids).size, 1)
      assert.equal((await jobsOf(cell, app.no)).length, 1)
      await runUntil([job], () => isEmpty(app.no))
      const again = await add(cell, app.no, job, { n: 1 }, { dedupeKey: 'a' })
      assert.notEqual(again, ids[0])
      await runUntil([job], () => isEmpty(app.no))
    })

    test('of deduplication never lose what was written before the enqueue', async () => {
      const app = await server.newApp()
      const count = 'select count(*)::int as count from counted where app_no = $1'
      let seen = 0
      const job = testJob({
        name: 'test.lossless',
        input: none,
        async run({ appNo }) {
          seen = ((await rows(cell.db, count, [appNo]))[0]?.count as number) ?? 0
        },
      })
      const runner = startRunner(server.deps, cell, [job])
      const write = async (n: number) =>
        cell.db.tx(async (tx) => {
          await rows(tx, 'insert into counted values ($1, 0, $2)', [app.no, n])
          await enqueue(tx, app.no, job, {}, { dedupeKey: 'all' })
        })
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let n = 0; n < 25; n++) await write(writer * 25 + n)
      })
      await Promise.all(writers)
      await until('none is left', () => isEmpty(app.no))
      await runner.stop()
      assert.equal(seen, 100)
    })

    test('of deduplication start a job again that was enqueued while its last try failed', async () => {
      const app = await server.newApp()
      const enqueue = () => add(cell, app.no, job, { n: 1 }, { dedupeKey: 'a' })
      let runs = 0
      const job = testJob({
        name: 'test.again',
        input: Type.Object({ n: Type.Integer() }),
        tries: 1,
        checkpoint: Type.Integer(),
        async run({ saved, checkpoint }) {
          assert.equal(saved, undefined)
          await checkpoint(async () => 1)
          if (++runs > 1) return
          await enqueue()
          throw new Error('failed')
        },
      })
      await enqueue()
      await runUntil([job], () => isEmpty(app.no))
      assert.equal(runs, 2)
    })

    test('of deduplication start a job again that was enqueued before its worker drained', async () => {
      const app = await server.newApp()
      const seen: (number | undefined)[] = []
      const job = testJob({
        name: 'test.drained',
        input: none,
        checkpoint: Type.Integer(),
        async run({ saved, checkpoint, signal }) {
          seen.push(saved)
          if (seen.length > 1) return
          await checkpoint(async () => 1)
          await add(cell, app.no, job, {}, { dedupeKey: 'a' })
          await untilAborted(signal)
        },
      })
      const first = startRunner(server.deps, cell, [job])
      await add(cell, app.no, job, {}, { dedupeKey: 'a' })
      const again = 'select from jobs where app_no = $1 and again'
      await until(
        'it is enqueued again',
        async () => (await rows(cell.db, again, [app.no])).length > 0,
      )
      await first.stop()
      await runUntil([job], () => isEmpty(app.no))
      // It goes on, and then starts from the beginning.
      assert.deepEqual(seen, [undefined, 1, undefined])
    })

    test('of serial queues hold a job back that was retried while a later one runs', async () => {
      const app = await server.newApp()
      const job = numberJob('test.retried', async () => {})
      const ids: string[] = []
      for (let n = 0; n < 3; n++)
        ids.push(String(await add(cell, app.no, job, { n }, { serialKey: 'one' })))
      const [first, second, third] = ids
      const set = (id: string | undefined, state: string) =>
        rows(cell.db, `update jobs set state = $3, ended_at = $4 where app_no = $1 and id = $2`, [
          ...[app.no, id, state, state === 'dead' ? new Date() : null],
        ])
      await set(first, 'dead')
      await set(second, 'waiting')
      await rows(cell.db, 'select retry_job($1, $2)', [app.no, first])
      await rows(cell.db, 'select cancel_job($1, $2)', [app.no, third])
      const states = (await jobsOf(cell, app.no)).map(({ state }) => state)
      assert.deepEqual(states, ['blocked', 'waiting', 'cancelled'])
      await rows(cell.db, 'delete from jobs where app_no = $1', [app.no])
    })

    test('of serial queues keep the order, one at a time, past failures and removals', async () => {
      const app = await server.newApp()
      const order: string[] = []
      let running = 0
      const job = testJob({
        name: 'test.serial',
        input: Type.Object({ key: Type.String(), n: Type.Integer() }),
        tries: 2,
        async run({ input: { key, n } }) {
          if (key === 'a') assert.equal(++running, 1)
          await new Promise((resolve) => setTimeout(resolve, 2))
          if (key === 'a') running--
          if (n === 2 && !order.includes('failed')) {
            order.push('failed')
            throw new Error('retried first')
          }
          if (n === 4) throw new Unrecoverable('passed over')
          order.push(`${key}${n}`)
        },
      })
      for (let n = 1; n <= 6; n++) await add(cell, app.no, job, { key: 'a', n }, { serialKey: 'a' })
      await add(cell, app.no, job, { key: 'b', n: 1 }, { serialKey: 'b' })
      const third = (await jobsOf(cell, app.no))[2]?.id
      await rows(cell.db, 'select cancel_job($1, $2)', [app.no, third])
      const left = async () => (await jobsOf(cell, app.no)).map(({ state }) => state).join()
      await runUntil([job], async () => (await left()) === 'cancelled,dead')
      assert.deepEqual(
        order.filter((entry) => entry !== 'b1'),
        ['a1', 'failed', 'a2', 'a5', 'a6'],
      )
    })

    test('of serial queues start every job, even if they are added while the last one ends', async () => {
      const app = await server.newApp()
      const ran: number[] = []
      const job = numberJob('test.serial-race', async (n) => ran.push(n))
      const runner = startRunner(server.deps, cell, [job])
      for (let n = 0; n < 40; n++) await add(cell, app.no, job, { n }, { serialKey: 'one' })
      await until('all ran', () => isEmpty(app.no))
      await runner.stop()
      assert.deepEqual(
        ran,
        Array.from({ length: 40 }, (_, n) => n),
      )
    })
  })

  suite('cancelling', () => {
    test('a blocked job locks its key before its row, like the end of the job before', async () => {
      const app = await server.newApp()
      const job = numberJob('test.blocked', async () => {})
      const [, blocked] = [
        await add(cell, app.no, job, { n: 1 }, { serialKey: 'one' }),
        await add(cell, app.no, job, { n: 2 }, { serialKey: 'one' }),
      ]
      const held = await holdLock(app, `select lock_serial_key($1, 'one')`, [app.no])
      const cancelling = rows<{ state: string }>(cell.db, 'select cancel_job($1, $2) as state', [
        ...[app.no, blocked],
      ])
      const [answer] = await whileWaiting(held, cancelling, () =>
        rows(cell.db, 'select from jobs where app_no = $1 and id = $2 for update nowait', [
          ...[app.no, blocked],
        ]),
      )
      assert.equal(answer?.state, 'cancelled')
    })

    test('ends a job that has not started at once, and a running one at its next step', async () => {
      const app = await server.newApp()
      const { promise: started, resolve } = Promise.withResolvers<void>()
      const ran: number[] = []
      const job = numberJob('test.cancel', async (n, signal) => {
        ran.push(n)
        resolve()
        await untilAborted(signal)
      })
      const waiting = await add(cell, app.no, job, { n: 1 }, { delaySeconds: 3600 })
      const running = await add(cell, app.no, job, { n: 2 })
      const counting = await add(cell, app.no, countJob, { to: 1_000_000 })
      const runner = startRunner(server.deps, cell, [job, countJob])
      await started
      await until('it counts', async () => {
        const text = 'select from counted where job_id = $1'
        return (await rows(cell.db, text, [counting])).length > 2
      })
      const cancel = async (id: number) =>
        (await rows(cell.db, 'select cancel_job($1, $2) as state', [app.no, id]))[0]?.state
      assert.equal(await cancel(waiting), 'cancelled')
      assert.equal(await cancel(running), 'running')
      assert.equal(await cancel(counting), 'running')
      assert.equal(await cancel(1e9), null)
      await until('all ended', async () =>
        (await jobsOf(cell, app.no)).every(({ state }) => state === 'cancelled'),
      )
      await runner.stop()
      assert.deepEqual(ran, [2])
    })
  })

  suite('a runner', () => {
    test('still knows a job that it runs again when the run that lost it ends', async () => {
      const app = await server.newApp()
      const [first, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const epochs: number[] = []
      let stopped = false
      const job = testJob({
        name: 'test.late',
        input: none,
        async run({ signal, context }) {
          epochs.push(context.job.epoch)
          if (context.job.epoch === 1) await first.promise
          else await untilAborted(signal).finally(() => (stopped = true))
        },
      })
      const runner = startRunner(server.deps, cell, [job], { onEnd: () => ended.resolve() })
      const id = await add(cell, app.no, job, {})
      await until('it runs', () => epochs.length === 1)
      // As if it had been taken over and given back.
      const lose = `update jobs set state = 'ready', worker_id = null where app_no = $1`
      await rows(cell.db, lose, [app.no])
      await until('it runs again', () => epochs.length === 2)
      first.resolve()
      await ended.promise
      await rows(cell.db, 'select cancel_job($1, $2)', [app.no, id])
      await until('it is cancelled', async () => {
        const [row] = await jobsOf(cell, app.no)
        return row?.state === 'cancelled'
      })
      assert.deepEqual([epochs, stopped], [[1, 2], true])
      await runner.stop()
    })

    test('hands its jobs back when it drains, without counting a try', async () => {
      const app = await server.newApp()
      const { promise: started, resolve } = Promise.withResolvers<void>()
      let stopped = 0
      const job = numberJob('test.drain', async (_n, signal) => {
        resolve()
        if (stopped > 0) return
        try {
          await untilAborted(signal)
        } finally {
          stopped++
        }
      })
      const runner = startRunner(server.deps, cell, [job])
      await add(cell, app.no, job, { n: 1 })
      await started
      await runner.stop()
      const [row] = await jobsOf(cell, app.no)
      assert.deepEqual([row?.state, row?.tries, row?.epoch], ['ready', 0, 1])
      await runUntil([job], () => isEmpty(app.no))
    })

    test('lets work end that must not be cut off, and then hands the job back', async () => {
      const app = await server.newApp()
      const started = Promise.withResolvers<void>()
      const waits = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const seen: string[] = []
      // It is told to stop together with the other one.
      const other = numberJob('test.cut', async (_n, signal) => {
        if (seen.length > 0) return
        waits.resolve()
        await untilAborted(signal).finally(() => released.resolve())
      })
      const job = testJob({
        name: 'test.uncut',
        input: Type.Object({ n: Type.Number() }),
        checkpoint: Type.Object({}),
        async run({ signal, uncut, checkpoint }) {
          if (seen.length > 0) return
          await uncut(async () => {
            started.resolve()
            await released.promise
            await checkpoint(async () => ({}))
            seen.push(signal.aborted ? 'cut off' : 'ended')
          })
          seen.push(signal.aborted ? 'stopped' : 'went on')
          signal.throwIfAborted()
        },
      })
      const runner = startRunner(server.deps, cell, [job, other])
      await add(cell, app.no, job, { n: 1 })
      await add(cell, app.no, other, { n: 1 })
      await Promise.all([started.promise, waits.promise])
      await runner.stop()
      assert.deepEqual(seen, ['ended', 'stopped'])
      const handedBack = await jobsOf(cell, app.no)
      assert.deepEqual(
        handedBack.map(({ state }) => state),
        ['ready', 'ready'],
      )
      await runUntil([job, other], () => isEmpty(app.no))
    })

    test('finishes every job exactly once although it loses its connections', async () => {
      const app = await server.newApp()
      for (let n = 0; n < 20; n++) await add(cell, app.no, countJob, { to: 20 })
      const runner = startRunner(server.deps, cell, [countJob])
      const kill = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'loquat'`
      const count = 'select count(*)::int as count from counted where app_no = $1'
      for (let part = 1; part <= 4; part++) {
        await until('it gets on', async () => {
          const [counted] = await rows(cell.db, count, [app.no]).catch(() => [])
          return Number(counted?.count ?? 0) >= part * 80
        })
        await rows(cell.db, kill).catch(() => {})
      }
      await until('all are done', () => isEmpty(app.no).catch(() => false))
      await runner.stop()
      const twice = `select job_id, n from counted where app_no = $1 group by 1, 2 having count(*) > 1`
      assert.deepEqual(await rows(cell.db, twice, [app.no]), [])
      assert.equal((await rows(cell.db, count, [app.no]))[0]?.count, 400)
    })

    test('gives back jobs that it claimed without learning of it', async () => {
      const app = await server.newApp()
      const runner = startRunner(server.deps, cell, [countJob])
      await add(cell, app.no, countJob, { to: 1 })
      await until('it works', () => isEmpty(app.no))
      const text = `insert into jobs (app_no, id, name, state, epoch, tries, worker_id, run_at, created_at, input)
      values ($1, 1, 'test.count', 'running', 1, 1, $2, now(), now(), '{"to":1}')`
      await rows(cell.db, text, [app.no, runner.workerId])
      await until('it is done', () => isEmpty(app.no))
      await runner.stop()
    })
  })
})
