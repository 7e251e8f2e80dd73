import assert from 'node:assert/strict'
import { before, suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { freePort } from '../src/engines/process.ts'
import { connectionConfig, type Tx } from '../src/platform/db/db.ts'
import { type Lease, Worker } from '../src/platform/leases/leases.ts'
import type { OutboxProgress } from '../src/workers/outbox-progress.ts'
import { SEQUENCER_BATCH, sequenceStep, startProgress } from '../src/workers/sequencer.ts'
import { type TestApp, useServer } from './kit.ts'
import { announceNumber, loggedNumbers, rows } from './log-writers.ts'

async function connect(t: TestContext, app: TestApp): Promise<pg.Client> {
  const config = connectionConfig(app.cell.url)
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 20_000 })
  await client.connect()
  t.after(() => client.end())
  return client
}

interface OpenTx extends Tx {
  end(how: 'commit' | 'rollback'): Promise<unknown>
}

/** A transaction that stays open until the test ends it. */
async function openTx(t: TestContext, app: TestApp): Promise<OpenTx> {
  const client = await connect(t, app)
  await client.query('begin')
  return {
    announced: false,
    afterCommit: () => {},
    query: (statement) => client.query(statement),
    end: (how) => client.query(how),
  }
}

const commitNumbers = async (app: TestApp, ...numbers: number[]) => {
  for (const n of numbers) await app.cell.db.tx((tx) => announceNumber(tx, app, n))
}

suite('the sequencer', () => {
  const server = useServer({ roles: ['worker'] })

  test('logs events of a long transaction after its commit', async (t) => {
    const app = await server.newApp()
    const held = await openTx(t, app)
    await announceNumber(held, app, 1)
    await commitNumbers(app, 2)
    await announceNumber(held, app, 3)
    await commitNumbers(app, 4, 5)
    assert.deepEqual(await loggedNumbers(app, 3), [2, 4, 5])
    await held.end('commit')
    assert.deepEqual(await loggedNumbers(app, 5), [2, 4, 5, 1, 3])
  })

  test('leaves no gap for events that were rolled back', async (t) => {
    const app = await server.newApp()
    const held = await openTx(t, app)
    await announceNumber(held, app, 1)
    await commitNumbers(app, 2, 3)
    assert.deepEqual(await loggedNumbers(app, 2), [2, 3])
    await held.end('rollback')
    await commitNumbers(app, 4)
    assert.deepEqual(await loggedNumbers(app, 3), [2, 3, 4])
  })

  test('logs consecutive changes in their order', async () => {
    const app = await server.newApp()
    const text = 'select from apps where app_no = $1 for update'
    let changes = 0
    const writer = async () => {
      for (let nth = 0; nth < 20; nth++) {
        await app.cell.db.tx(async (tx) => {
          await rows(tx, text, [app.no])
          await announceNumber(tx, app, ++changes)
        })
      }
    }
    await Promise.all(Array.from({ length: 16 }, writer))
    const logged = await loggedNumbers(app, changes)
    assert.deepEqual(
      logged,
      Array.from({ length: changes }, (_, index) => index + 1),
    )
  })
})

suite('the sequencer without NATS', () => {
  const env = { LOQUAT_NATS_URL: '' }
  before(async () => {
    env.LOQUAT_NATS_URL = `nats://127.0.0.1:${await freePort()}`
  })
  const server = useServer({ roles: ['worker'], env })

  test('finds events by polling', async () => {
    const app = await server.newApp()
    await commitNumbers(app, 1, 2, 3)
    assert.deepEqual(await loggedNumbers(app, 3), [1, 2, 3])
  })
})

suite('the steps of the sequencer', () => {
  const server = useServer()
  const TAKEN = 20_000

  test('stay cheap while a long snapshot keeps processed rows from being removed', async (t) => {
    const app = await server.newApp()
    const snapshot = await openTx(t, app)
    await rows(snapshot, 'set transaction isolation level repeatable read')
    await rows(snapshot, 'select from apps')
    const client = await connect(t, app)
    const lease = await leaseForever(app)

    const few = await looking(client, lease, await drain(client, lease))
    await fill(app)
    const many = await looking(client, lease, await drain(client, lease))
    // Visiting processed rows would cost about 250.
    assert.ok(many <= few + 10, `${few} buffers at first, ${many} after ${TAKEN} events`)
  })

  const fill = (app: TestApp) =>
    rows(
      app.cell.db,
      `insert into outbox (app_no, type, key, payload)
       select $1, 'app.settings.updated', 'app', '{}' from generate_series(1, $2::int)`,
      [app.no, TAKEN],
    )

  async function leaseForever(app: TestApp): Promise<Lease> {
    const lease = await new Worker(() => app.cell.db, server.deps.log).take('sequencer')
    assert.ok(lease)
    const text = `update workers set expires_at = 'infinity' where worker_id = $1`
    await rows(app.cell.db, text, [lease.workerId])
    return lease
  }
})

/** Runs steps until a complete one finds nothing. */
async function drain(client: pg.Client, lease: Lease): Promise<OutboxProgress> {
  const progress = await startProgress(client)
  while (progress.ranges.old !== null) {
    const step = await sequenceStep(client, lease, progress)
    progress.record(step, step.taken.length < SEQUENCER_BATCH)
  }
  return progress
}

interface Plan {
  'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }]
}

/** The buffers that a step visits when there is nothing to do. */
async function looking(client: pg.Client, { workerId, epoch }: Lease, { ranges }: OutboxProgress) {
  const { from, old, after, gaps } = ranges
  const text = `
    explain (analyze, buffers, format json)
    select sequence_events($1::uuid, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint[], 1)`
  const values = [workerId, epoch, from, old, after, gaps]
  // The first run reads the catalogs into the connection's caches.
  await client.query(text, values)
  const plan = (await client.query<Plan>(text, values)).rows[0]?.['QUERY PLAN'][0].Plan
  assert.ok(plan)
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}
