/** The queue of jobs, compared with bare writes of the same rows and with pg-boss, if it is installed. */
import pg from 'pg'
import { Type } from 'typebox'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { openBus } from '../src/platform/bus/bus.ts'
import { connectionConfig, type Db, openDb } from '../src/platform/db/db.ts'
import { ensureDatabase, migrate } from '../src/platform/db/migrate.ts'
import { defineJob, type Job } from '../src/platform/jobs/definition.ts'
import { enqueue } from '../src/platform/jobs/queue.ts'
import { Runner } from '../src/platform/jobs/runner.ts'
import { Worker } from '../src/platform/leases/leases.ts'
import { openLog } from '../src/platform/log/log.ts'
import { openMetrics } from '../src/platform/metrics/metrics.ts'
import { openSecrets } from '../src/platform/secrets/secrets.ts'
import { openTracing } from '../src/platform/tracing/tracing.ts'
import { databaseUrl } from '../test/engines.ts'
import { cpuOfTree, parentOf } from './cpu.ts'
import { atLeast, atMost, type Figure, median, type Report, reported, within } from './figure.ts'
import { walPosition, withPlainWal } from './wal.ts'

const ROUNDS = 5
const JOBS = 2_000
const APPS = 16
const WRITERS = 4
const SLOTS = 16
const DELAYS = 200
const IDLE_APPS = 10_000
const SUBJECT = 'jobs.bench'
const INPUT = { uid: 'amira', reason: 'bench' }

interface Cost {
  rate: number
  /** Microseconds of all PostgreSQL processes per job. */
  cpu: number
  /** Bytes of WAL per job. */
  wal: number
}

interface Bench {
  admin: pg.Client
  db: Db
  /** Starts a runner and returns a function that ends it. */
  start(): () => Promise<void>
  /** Resolves when so many more jobs have run. */
  ran(count: number): Promise<void>
}

/** The package isn't a dependency: `npm i --no-save pg-boss` adds it for this bench. */
interface Boss {
  start(): Promise<unknown>
  createQueue(name: string): Promise<void>
  send(name: string, data: object): Promise<unknown>
  work(name: string, options: object, work: (jobs: object[]) => Promise<void>): Promise<unknown>
  offWork(name: string): Promise<void>
  stop(options: object): Promise<void>
  on(event: 'error', listener: () => void): void
}

export async function jobs(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const url = databaseUrl(env, 'bench_jobs')
  await ensureDatabase(url)
  await migrate(url, 'cell')
  const admin = new pg.Client({ ...connectionConfig(url), statement_timeout: 0 })
  await admin.connect()
  const log = openLog('silent')
  const metrics = openMetrics()
  const secrets = openSecrets(env.LOQUAT_SECRET ?? '')
  const bus = openBus({ url: env.LOQUAT_NATS_URL ?? '', caFile: '', prefix: 'bench', log, secrets })
  const common = { url, label: 'bench', poolSize: 24, timeoutMs: 60_000, log }
  const onEnqueued = () => bus.publish(SUBJECT)
  const tracing = await openTracing('')
  const db = openDb({ ...common, timings: metrics.statements, tracing, onEnqueued })
  let [total, wanted] = [0, Number.POSITIVE_INFINITY]
  let reached = Promise.withResolvers<void>()
  const job: BenchJob = defineJob({
    name: 'bench.none',
    summary: 'Does nothing.',
    input: Type.Object({ uid: Type.String(), reason: Type.String() }),
    async run() {
      if (++total >= wanted) reached.resolve()
    },
  })
  const bench: Bench = {
    admin,
    db,
    start() {
      const worker = new Worker(() => db, log)
      worker.start()
      const stop = new AbortController()
      const runner = new Runner<undefined>({
        ...{ jobs: [job], worker, bus, log, slots: SLOTS, perApp: SLOTS, drainMs: 1_000 },
        unscheduled: [],
        ...{ subject: SUBJECT, db: () => db, context: () => undefined },
      })
      const ended = runner.run(stop.signal)
      return async () => {
        stop.abort()
        await ended
        await worker.close()
      }
    },
    async ran(count) {
      reached = Promise.withResolvers()
      wanted = total + count
      await reached.promise
    },
  }
  try {
    await admin.query(`
      insert into apps (app_no, app_id) select n, 'app' || n from generate_series(1, ${APPS}) n;
      create table bare (like jobs);
      alter table bare add primary key (app_no, id)`)
    const boss = await openBoss(url, report)
    const costs = { ours: [] as Cost[], bare: [] as Cost[], boss: [] as Cost[] }
    await withPlainWal(admin, async () => {
      for (let round = 1; round <= ROUNDS; round++) {
        costs.ours.push(await measure(bench, () => runOurs(bench, job)))
        costs.bare.push(await measure(bench, () => runBare(db)))
        if (boss) costs.boss.push(await measure(bench, () => runBoss(boss)))
        const rates = Object.entries(costs).map(
          ([who, [...all]]) => `${who} ${Math.round(all.at(-1)?.rate ?? 0)}`,
        )
        report(`round ${round} of ${ROUNDS}: ${rates.join(', ')} jobs/s`)
      }
    })
    await boss?.stop({ graceful: false })
    const [ours, bare] = [medians(costs.ours), medians(costs.bare)]
    const theirs = costs.boss.length > 0 ? medians(costs.boss) : undefined
    report('delays')
    const p99 = await delayOf(bench, job)
    const [few, many] = await idleBuffers(admin)
    return [
      atLeast('jobs/s', ours.rate, bare.rate, 1 / 3),
      atMost('PostgreSQL µs a job', ours.cpu, bare.cpu, 3),
      atMost('WAL bytes a job', ours.wal, bare.wal, 3),
      ...(theirs
        ? [
            atLeast('jobs/s beside pg-boss', ours.rate, theirs.rate),
            reported('PostgreSQL µs a job beside pg-boss', ours.cpu, theirs.cpu),
            reported('WAL bytes a job beside pg-boss', ours.wal, theirs.wal),
          ]
        : []),
      within('p99 of the delay on an idle cell, ms', p99, 0, 100),
      atMost(`buffers of an idle turn with ${IDLE_APPS} apps`, many, few, 1.2),
    ]
  } finally {
    await Promise.all([db.close(), bus.close(), admin.end(), metrics.close()])
  }
}

const medians = (costs: Cost[]): Cost => ({
  rate: median(costs.map(({ rate }) => rate)),
  cpu: median(costs.map(({ cpu }) => cpu)),
  wal: median(costs.map(({ wal }) => wal)),
})

async function measure({ admin }: Bench, work: () => Promise<void>): Promise<Cost> {
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid')
  const server = parentOf(rows[0]?.pid ?? 0)
  const [cpu, wal, started] = [cpuOfTree(server), await walPosition(admin), performance.now()]
  await work()
  const seconds = (performance.now() - started) / 1000
  return {
    rate: JOBS / seconds,
    cpu: ((cpuOfTree(server) - cpu) * 1e6) / JOBS,
    wal: ((await walPosition(admin)) - wal) / JOBS,
  }
}

/** Calls `write` for each number, from several writers at a time. */
async function writeAll(write: (n: number) => Promise<unknown>): Promise<void> {
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = writer; n < JOBS; n += WRITERS) await write(n)
    }),
  )
}

type BenchJob = Job<typeof INPUT, undefined>

/** Each job in a transaction of its own, then all of them by a runner. */
async function runOurs({ db, start, ran }: Bench, job: BenchJob): Promise<void> {
  await writeAll((n) => db.tx((tx) => enqueue(tx, 1 + (n % APPS), job, INPUT)))
  const done = ran(JOBS)
  const stop = start()
  await done
  await stop()
}

/** The same rows without a queue: inserted one by one, then changed and deleted in batches as large as a turn. */
async function runBare(db: Db): Promise<void> {
  const run = (text: string, values: unknown[], name: string) => db.query({ name, text, values })
  const insert = `insert into bare (app_no, id, name, state, run_at, created_at, input, priority, tries,
      epoch, cancelling, again, stepped)
    values ($1, $2, 'bench.none', 'ready', now(), now(), $3, 0, 0, 0, false, false, false)`
  await writeAll((n) =>
    db.tx((tx) => tx.query({ name: 'in', text: insert, values: [1 + (n % APPS), n, INPUT] })),
  )
  const change = `with gone as (
      delete from bare where app_no = any ($1) and id = any ($2)
    )
    update bare set state = 'running', epoch = epoch + 1, tries = tries + 1
    where app_no = any ($3) and id = any ($4) returning *`
  let before: number[] = []
  const apps = (ids: number[]) => ids.map((id) => 1 + (id % APPS))
  for (let n = 0; n < JOBS + SLOTS; n += SLOTS) {
    const next = Array.from({ length: SLOTS }, (_, nth) => n + nth).filter((id) => id < JOBS)
    await run(change, [apps(before), before, apps(next), next], 'turn')
    before = next
  }
}

async function openBoss(url: string, report: Report): Promise<Boss | undefined> {
  const name = 'pg-boss'
  try {
    const { PgBoss } = (await import(name)) as { PgBoss: new (url: string) => Boss }
    const boss = new PgBoss(url)
    boss.on('error', () => {})
    await boss.start()
    await boss.createQueue('bench')
    return boss
  } catch (error) {
    report(`without pg-boss (npm i --no-save pg-boss): ${(error as Error).message}`)
    return undefined
  }
}

async function runBoss(boss: Boss): Promise<void> {
  await writeAll(() => boss.send('bench', INPUT))
  const { promise, resolve } = Promise.withResolvers<void>()
  let done = 0
  const options = { batchSize: SLOTS, pollingIntervalSeconds: 0.5 }
  await boss.work('bench', options, async (batch) => {
    done += batch.length
    if (done >= JOBS) resolve()
  })
  await promise
  await boss.offWork('bench')
}

async function delayOf({ db, start, ran }: Bench, job: BenchJob): Promise<number> {
  const stop = start()
  const delays: number[] = []
  for (let n = 0; n < DELAYS; n++) {
    const done = ran(1)
    const started = performance.now()
    await db.tx((tx) => enqueue(tx, 1, job, INPUT))
    await done
    delays.push(performance.now() - started)
  }
  await stop()
  return delays.sort((a, b) => a - b)[Math.floor(DELAYS * 0.99)] ?? 0
}

/** What a turn without work reads, before and after there are many apps. */
async function idleBuffers(admin: pg.Client): Promise<[few: number, many: number]> {
  const read = async () => {
    const text = `explain (analyze, buffers, format json)
      select turn_jobs(gen_random_uuid(), null, '[]', ${SLOTS}, ${SLOTS}, -1)`
    await admin.query(text)
    const { rows } = await admin.query(text)
    return Number(rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks'])
  }
  await admin.query('vacuum analyze jobs')
  const few = await read()
  await admin.query(`insert into apps (app_no, app_id)
    select n, 'app' || n from generate_series(${APPS + 1}, ${IDLE_APPS}) n`)
  return [few, await read()]
}
