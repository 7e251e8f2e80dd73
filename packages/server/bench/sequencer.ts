/** Sequencing a full outbox, compared with inserting the same events into a plain log. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { ensureDatabase, migrate } from '../src/platform/db/migrate.ts'
import { maintainEventLog } from '../src/platform/events/partitions.ts'
import type { Lease } from '../src/platform/leases/leases.ts'
import { SEQUENCER_BATCH, sequenceStep } from '../src/workers/sequencer.ts'
import { databaseUrl } from '../test/engines.ts'
import { atLeast, type Figure, median } from './figure.ts'

const ROUNDS = 20
const ROUND_ROWS = 10_000
const APPS = 100

interface Cost {
  /** Rows per second of wall time. */
  rate: number
  /** Rows per second of the backend's CPU. Steady, while wall time depends on a shared disk. */
  cpuRate: number
}

export async function sequencer(
  env: EnginesEnv,
  report: (line: string) => void,
): Promise<Figure[]> {
  const url = databaseUrl(env, 'bench_sequencer')
  await ensureDatabase(url)
  await migrate(url, 'cell')
  await maintainEventLog(url, 14)
  const client = await connect(url)
  const other = await connect(url)
  try {
    const lease = await prepare(client)
    const quiet = await compare(client, lease, report)
    await other.query('begin isolation level repeatable read')
    await other.query('select from apps')
    report('the same under a long snapshot')
    const held = await compare(client, lease, report)
    return [
      atLeast('events/s', quiet.steps.rate, quiet.bare.rate, 0.5),
      atLeast('events a CPU second', quiet.steps.cpuRate, quiet.bare.cpuRate, 0.5),
      atLeast('events/s, long snapshot', held.steps.rate, held.bare.rate),
      atLeast('events a CPU second, long snapshot', held.steps.cpuRate, held.bare.cpuRate),
    ]
  } finally {
    await Promise.all([client.end(), other.end()])
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...connectionConfig(url),
    idle_in_transaction_session_timeout: 0,
    statement_timeout: 0,
  })
  await client.connect()
  return client
}

/** Creates the events, a log in one table without our function, and a lease that never expires. */
async function prepare(client: pg.Client): Promise<Lease> {
  await client.query(`
    create table source as
    select n as id, 1 + n % ${APPS} as app_no, (n - 1) / ${APPS} + 1 as position,
      'message.sent' as type, 'group-' || n % 1000 as key,
      json_build_object('messageId', n, 'text', repeat(md5(n::text), 8), 'sender', 'user-' || n) as payload,
      clock_timestamp() as at
    from generate_series(1, ${ROUNDS * ROUND_ROWS}) n;
    alter table source add primary key (id);
    create table bare as select * from events limit 0;
    alter table bare add primary key (app_no, position, day)`)
  await client.query('vacuum analyze source')
  const lease = { job: 'sequencer', workerId: randomUUID(), epoch: 1 }
  await client.query(`insert into workers values ($1, 'infinity')`, [lease.workerId])
  await client.query(`insert into leases values ('sequencer', $1, 1)`, [lease.workerId])
  return lease
}

/** Runs rounds of both in turn, so that a slow minute of the machine affects both, and returns the medians. */
async function compare(client: pg.Client, lease: Lease, report: (line: string) => void) {
  await client.query(`
    insert into event_bodies (app_no, type, key, payload)
    select app_no, type, key, payload from source order by id`)
  await client.query('truncate bare')
  const steps: Cost[] = []
  const bare: Cost[] = []
  for (let round = 0; round < ROUNDS; round++) {
    steps.push(await measure(client, () => drain(client, lease)))
    bare.push(await measure(client, () => insertBare(client, round * ROUND_ROWS)))
    const [ours, theirs] = [steps, bare].map((costs) => Math.round(costs.at(-1)?.rate ?? 0))
    report(`round ${round + 1} of ${ROUNDS}: ${ours} events/s, bare ${theirs}`)
  }
  return { steps: medians(steps), bare: medians(bare) }
}

const medians = (costs: Cost[]): Cost => ({
  rate: median(costs.map(({ rate }) => rate)),
  cpuRate: median(costs.map(({ cpuRate }) => cpuRate)),
})

async function measure(client: pg.Client, work: () => Promise<void>): Promise<Cost> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid ?? 0
  const cpuBefore = cpuNanoseconds(pid)
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  const cpuSeconds = (cpuNanoseconds(pid) - cpuBefore) / 1e9
  return { rate: ROUND_ROWS / seconds, cpuRate: ROUND_ROWS / cpuSeconds }
}

const cpuNanoseconds = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0])

async function drain(client: pg.Client, lease: Lease) {
  let place: string | null = null
  for (let left = ROUND_ROWS; left > 0; left -= SEQUENCER_BATCH) {
    const step = await sequenceStep(client, lease, place)
    if (step.taken !== SEQUENCER_BATCH) throw new Error('the outbox ran out')
    place = step.place
  }
}

/** Both tables are on this server, so the bare insert doesn't send rows over the network either. */
async function insertBare(client: pg.Client, from: number) {
  const text = `
    insert into bare (app_no, position, type, key, payload, at, day)
    select app_no, position, type, key, payload, at, (clock_timestamp() at time zone 'utc')::date
    from source where id > $1 and id <= $2`
  for (let batch = from; batch < from + ROUND_ROWS; batch += SEQUENCER_BATCH) {
    await client.query({ name: 'bare', text, values: [batch, batch + SEQUENCER_BATCH] })
  }
}
