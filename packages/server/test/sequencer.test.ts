import assert from 'node:assert/strict'
import { before, suite, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { freePort } from '../src/engines/process.ts'
import { connectionConfig, type Tx } from '../src/platform/db/db.ts'
import { maintainEventLog } from '../src/platform/events/partitions.ts'
import { type Lease, Worker } from '../src/platform/leases/leases.ts'
import { asOwner, queryAt } from './databases.ts'
import { type TestApp, useServer } from './kit.ts'
import { announceNumber, loggedNumbers, rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { seeded } from './seed.ts'
import { until } from './until.ts'

const DAY_MS = 86_400_000

async function connect(t: TestContext, app: TestApp, url = app.cell.url): Promise<pg.Client> {
  const config = connectionConfig(url)
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
  const client = await connect(t, app, asOwner(app.cell.url))
  await client.query('begin')
  return {
    announced: false,
    enqueued: false,
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

  test('stay cheap while a long snapshot keeps old rows from being removed', async (t) => {
    const app = await server.newApp()
    const snapshot = await openTx(t, app)
    await rows(snapshot, 'set transaction isolation level repeatable read')
    await rows(snapshot, 'select from apps')
    const client = await connect(t, app)
    const lease = await leaseForever(t, app)

    await drain(client, lease)
    const few = await looking(client, lease)
    await fill(app)
    await drain(client, lease)
    // As many steps would have left it.
    await rows(
      app.cell.db,
      `do $$ begin for n in 1..3000 loop update sequencer_progress set taken = taken; end loop; end $$`,
    )
    const many = await looking(client, lease)
    // Visiting processed rows would cost about 250.
    assert.ok(many <= few + 10, `${few} buffers at first, ${many} after ${TAKEN} events`)
  })

  test('assign each committed event one position, in any order of commits', async (t) => {
    const app = await server.newApp()
    const client = await connect(t, app)
    const lease = await leaseForever(t, app)
    const pool = await Promise.all(Array.from({ length: 4 }, () => connect(t, app)))
    const schedule = fc.array(ACTION, { minLength: 40, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(schedule, async (actions) => {
        const writers = new InterleavedWriters(app, pool)
        for (const action of actions) await writers.act(action, client, lease)
        await writers.endAndCheck(client, lease)
      }),
      { numRuns: LONG ? 1_000 : 15, ...seeded },
    )
  })

  test('watch earlier days until no transaction can add to them', async (t) => {
    const app = await server.newApp()
    const client = await connect(t, app)
    const lease = await leaseForever(t, app)
    const progress = async () => {
      const text = `select (clock_timestamp() at time zone 'utc')::date - since as days, stamp is null as idle
        from sequencer_progress`
      return (await rows<{ days: number; idle: boolean }>(app.cell.db, text))[0]
    }
    // Transactions of other databases count too, so this can take a moment. A stamp that is left from a gap would end
    // the days that are added below.
    const settled = () =>
      until('the earlier days are settled', async () => {
        await drain(client, lease)
        const { days, idle } = (await progress()) ?? {}
        return days === 0 && idle
      })
    await settled()

    // As if the last day had just begun, and the sequencer had been away for two days.
    await maintainEventLog(app.cell.url, 14, Date.now() - 2 * DAY_MS)
    await rows(app.cell.db, 'update sequencer_progress set since = since - 2')
    const held = await openTx(t, app)
    await announceNumber(held, app, 1)
    await rows(held, 'update event_bodies set day = day - 2 where app_no = $1 and type <> $2', [
      app.no,
      'app.created',
    ])
    await commitNumbers(app, 2)
    await drain(client, lease)
    assert.equal((await progress())?.days, 2)
    await held.end('commit')
    await settled()
    assert.deepEqual(await loggedNumbers(app, 2), [2, 1])
  })

  test('continue after a restore into a cluster with lower transaction ids', async (t) => {
    const app = await server.newApp()
    const client = await connect(t, app)
    const lease = await leaseForever(t, app)
    const held = await openTx(t, app)
    await announceNumber(held, app, 1)
    await commitNumbers(app, 2)
    await drain(client, lease)
    await rows(app.cell.db, 'update sequencer_progress set stamp = 1000000000000')
    await drain(client, lease)
    await held.end('rollback')
    await until('the gap is forgotten', async () => {
      await drain(client, lease)
      const text = 'select from sequencer_progress where isempty(gaps + watched)'
      return (await rows(app.cell.db, text)).length === 1
    })
    assert.deepEqual(await loggedNumbers(app, 1), [2])
  })

  const fill = (app: TestApp) =>
    rows(
      app.cell.db,
      `insert into event_bodies (app_no, type, key, payload)
       select $1, 'app.settings.updated', 'app', '{}' from generate_series(1, $2::int)`,
      [app.no, TAKEN],
    )

  async function leaseForever(t: TestContext, app: TestApp): Promise<Lease> {
    const lease = await new Worker(() => app.cell.db, server.deps.log).take('sequencer')
    assert.ok(lease)
    const { workerId } = lease
    await rows(app.cell.db, `update workers set expires_at = 'infinity' where worker_id = $1`, [
      workerId,
    ])
    t.after(() => queryAt(app.cell.url, 'delete from leases where worker_id = $1', [workerId]))
    return lease
  }
})

/** What happens next: a writer begins, announces and ends, or the sequencer takes a step. */
const ACTION = fc.oneof(
  fc.record({
    writer: fc.nat(3),
    does: fc.constantFrom('announce', 'announce', 'commit', 'rollback'),
  }),
  fc.record({ steps: fc.integer({ min: 1, max: 4 }) }),
)

type Action = typeof ACTION extends fc.Arbitrary<infer A> ? A : never

/** Writers whose transactions overlap in a given order. */
class InterleavedWriters {
  readonly #app: TestApp
  readonly #writers: { client: pg.Client; open: number[] | undefined }[]
  readonly #before: number
  /** Committed events, with the last number that had been announced by then. */
  readonly #committed = new Map<number, number>()
  static #last = 0

  constructor(app: TestApp, pool: pg.Client[]) {
    this.#app = app
    this.#writers = pool.map((client) => ({ client, open: undefined }))
    this.#before = InterleavedWriters.#last
  }

  async act(action: Action, sequencer: pg.Client, lease: Lease): Promise<void> {
    if ('steps' in action) await step(sequencer, lease, action.steps)
    else if (action.does === 'announce') await this.#announce(action.writer)
    else await this.#end(action.writer, action.does)
  }

  /** Commits what is open, sequences everything, and compares the log. */
  async endAndCheck(sequencer: pg.Client, lease: Lease): Promise<void> {
    for (const nth of this.#writers.keys()) await this.#end(nth, 'commit')
    await drain(sequencer, lease)
    const all = await loggedNumbers(this.#app, 0)
    const logged = all.filter((n) => n > this.#before)
    const ascending = (a: number, b: number) => a - b
    assert.deepEqual(logged.toSorted(ascending), [...this.#committed.keys()].sort(ascending))
    for (const [nth, n] of logged.entries()) {
      const known = this.#committed.get(n) ?? 0
      assert.ok(!logged.slice(0, nth).some((earlier) => earlier > known), `${n} was overtaken`)
    }
  }

  async #announce(nth: number): Promise<void> {
    const writer = this.#writers[nth]
    if (!writer) return
    if (!writer.open) await writer.client.query('begin')
    const n = ++InterleavedWriters.#last
    const settings = JSON.stringify({ settings: { n } })
    const text = `insert into event_bodies (app_no, type, key, payload)
      values ($1, 'app.settings.updated', 'app', $2)`
    await writer.client.query(text, [this.#app.no, settings])
    writer.open = [...(writer.open ?? []), n]
  }

  async #end(nth: number, how: 'commit' | 'rollback'): Promise<void> {
    const writer = this.#writers[nth]
    if (!writer?.open) return
    await writer.client.query(how)
    if (how === 'commit') {
      for (const n of writer.open) this.#committed.set(n, InterleavedWriters.#last)
    }
    writer.open = undefined
  }
}

/** A step of at most `limit` events. Returns how many it took. */
async function step(client: pg.Client, { workerId, epoch }: Lease, limit: number): Promise<number> {
  const text = 'select taken from sequence_events($1::uuid, $2::bigint, $3::int, null)'
  const { rows } = await client.query<{ taken: number }>(text, [workerId, epoch, limit])
  return rows[0]?.taken ?? 0
}

/** Runs steps until no event is left, and some more, which forget gaps and earlier days. */
async function drain(client: pg.Client, lease: Lease): Promise<void> {
  for (let idle = 0; idle < 4; ) idle = (await step(client, lease, 1_000)) > 0 ? 0 : idle + 1
}

interface Plan {
  'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }]
}

/** The buffers that a step visits when there is nothing to do. */
async function looking(client: pg.Client, { workerId, epoch }: Lease) {
  const text = `
    explain (analyze, buffers, format json) select sequence_events($1::uuid, $2::bigint, 1, $3::tid)`
  const costs: number[] = []
  // The first step reads the catalogs into the connection's caches, and another one may settle a gap, depending on
  // transactions of other databases. The cheapest does neither.
  for (let n = 0; n < 10; n++) {
    const { rows } = await client.query('select ctid::text as place from sequencer_progress')
    const values = [workerId, epoch, rows[0]?.place]
    const plan = (await client.query<Plan>(text, values)).rows[0]?.['QUERY PLAN'][0].Plan
    assert.ok(plan)
    costs.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'])
  }
  return Math.min(...costs)
}
