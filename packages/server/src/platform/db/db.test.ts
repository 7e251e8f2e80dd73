import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { asOwner, cloneDatabase, dropDatabase } from '../../../test/databases.ts'
import { useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { openLog } from '../log/log.ts'
import { openMetrics } from '../metrics/metrics.ts'
import { openTracing } from '../tracing/tracing.ts'
import { connectionConfig, type Db, openDb, sqlState } from './db.ts'
import { query } from './query.ts'

const none = {} as Record<string, never>
const getPid = query<typeof none, { pid: number }>('test.pid', 'select pg_backend_pid() as pid')
const increment = query<{ id: number }>('test.add', 'update tally set n = n + 1 where id = :id')
const getTally = query<{ id: number }, { n: number }>(
  'test.n',
  'select n from tally where id = :id',
)
const add = query<{ id: number }>('test.insert', 'insert into tally (id) values (:id)')
const repeatable = query<typeof none>(
  'test.repeatable',
  'set transaction isolation level repeatable read',
)

/** What PostgreSQL says when a session begins, and when an administrator ends it. */
const READY = Buffer.from('Z\0\0\0\x05I')
const reason = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0')
const SHUTDOWN = Buffer.concat([
  Buffer.from(['E'.charCodeAt(0), 0, 0, 0, reason.length + 4]),
  reason,
])

let url: string
let rival: pg.Client
before(async () => {
  // The service may create no table.
  url = asOwner(await cloneDatabase('cell'))
  rival = new pg.Client({ connectionString: url })
  await rival.connect()
  await rival.query('create table tally (id int primary key, n bigint not null default 0)')
})
after(async () => {
  await rival?.end()
  await dropDatabase(url)
})

/** Opens a separate pool and closes it after the test. */
async function withDb(work: (db: Db) => Promise<void>, poolSize = 2, options = '', address = url) {
  const metrics = openMetrics()
  const db = openDb({
    url: options ? `${address}?options=${encodeURIComponent(options)}` : address,
    label: 'test',
    poolSize,
    timeoutMs: 60_000,
    log: openLog('silent'),
    timings: metrics.statements,
    tracing: await openTracing(''),
    drawnKey: 'tally_pkey',
  })
  try {
    await work(db)
  } finally {
    await db.close()
    await metrics.close()
  }
}

async function newTally(): Promise<number> {
  const { rows } = await rival.query<{ id: number }>(
    'insert into tally (id) select coalesce(max(id), 0) + 1 from tally returning id',
  )
  return rows[0]?.id ?? 0
}

const rivalIncrement = (id: number) => rival.query('update tally set n = n + 1 where id = $1', [id])

suite('db.tx', () => {
  test('commits the work and returns its result', () =>
    withDb(async (db) => {
      const id = await newTally()
      const result = await db.tx(async (tx) => {
        await increment.run(tx, { id })
        return 'done'
      })
      assert.equal(result, 'done')
      assert.deepEqual(await getTally.one(db, { id }), { n: 1 })
    }))

  test('rolls back if the work throws, and does not run it again', () =>
    withDb(async (db) => {
      const id = await newTally()
      let runs = 0
      const work = db.tx(async (tx) => {
        runs++
        await increment.run(tx, { id })
        throw new Error('changed my mind')
      })
      await assert.rejects(work, /changed my mind/)
      assert.equal(runs, 1)
      assert.deepEqual(await getTally.one(db, { id }), { n: 0 })
    }, 1))

  test('a serialization failure runs the work again', () =>
    withDb(async (db) => {
      const id = await newTally()
      let runs = 0
      await db.tx(async (tx) => {
        await repeatable.run(tx, none)
        await getTally.one(tx, { id })
        if (++runs === 1) await rivalIncrement(id)
        await increment.run(tx, { id })
      })
      assert.equal(runs, 2)
      assert.deepEqual(await getTally.one(db, { id }), { n: 2 })
    }))

  test('a key that was drawn again runs the work again, at most three times', () =>
    withDb(async (db) => {
      const taken = await newTally()
      let runs = 0
      const insert = (existing: number) =>
        db.tx((tx) => add.run(tx, { id: ++runs > existing ? taken + 1 : taken }))
      await insert(3)
      assert.equal(runs, 4)
      runs = 0
      await assert.rejects(insert(9), (error) => sqlState(error) === '23505')
      assert.equal(runs, 4)
      const { rows } = await rival.query('select from tally where id = $1', [taken + 1])
      assert.equal(rows.length, 1)
    }))

  test('a transaction that PostgreSQL ended because it was idle runs again', () =>
    withDb(async (db) => {
      const id = await newTally()
      let runs = 0
      await db.tx(async (tx) => {
        await increment.run(tx, { id })
        if (++runs === 1) {
          const { rows } = await tx.query<{ pid: number }>({
            ...{ name: '', values: [] },
            text: `select pg_backend_pid() as pid, set_config('idle_in_transaction_session_timeout', '1', true)`,
          })
          const gone = 'select not exists (select from pg_stat_activity where pid = $1) as gone'
          await until(
            'it is ended',
            async () => (await rival.query(gone, [rows[0]?.pid])).rows[0].gone,
          )
          // By now the server's last message has arrived. Writing before reading it would only report a reset.
          await setImmediate()
        }
        await increment.run(tx, { id })
      })
      assert.equal(runs, 2)
      assert.deepEqual(await getTally.one(db, { id }), { n: 2 })
    }))

  test('gives up with the error after conflicts in every attempt', () =>
    withDb(async (db) => {
      const id = await newTally()
      let runs = 0
      const work = db.tx(async (tx) => {
        runs++
        await repeatable.run(tx, none)
        await getTally.one(tx, { id })
        await rivalIncrement(id)
        await increment.run(tx, { id })
      })
      await assert.rejects(work, (error) => sqlState(error) === '40001')
      assert.equal(runs, 6)
      assert.deepEqual(await getTally.one(db, { id }), { n: 6 })
    }))

  test('two transactions that lock in opposite order both succeed', () =>
    withDb(
      async (db) => {
        const [first, second] = [await newTally(), await newTally()]
        let [runs, locked] = [0, 0]
        const meeting = new EventTarget()
        const bothLocked = once(meeting, 'both')
        const lock = (ids: number[]) =>
          db.tx(async (tx) => {
            runs++
            for (const id of ids) {
              await increment.run(tx, { id })
              if (id !== ids[0]) continue
              if (++locked === 2) meeting.dispatchEvent(new Event('both'))
              await bothLocked
            }
          })
        await Promise.all([lock([first, second]), lock([second, first])])
        assert.ok(runs > 2, 'they met')
        assert.deepEqual(await getTally.one(db, { id: first }), { n: 2 })
        assert.deepEqual(await getTally.one(db, { id: second }), { n: 2 })
      },
      2,
      '-c deadlock_timeout=20ms',
    ))

  test('a connection lost between two statements fails only its transaction', () =>
    withDb(async (db) => {
      const id = await newTally()
      let lost = 0
      const work = db.tx(async (tx) => {
        await increment.run(tx, { id })
        lost = (await getPid.one(tx, none)).pid
        await rival.query('select pg_terminate_backend($1, 5000)', [lost])
        await increment.run(tx, { id })
      })
      await assert.rejects(work, /terminat|connection error/i)
      const { pid } = await getPid.one(db, none)
      assert.notEqual(pid, lost, 'the pool of one has a new connection')
      assert.deepEqual(await getTally.one(db, { id }), { n: 0 })
    }, 1))

  test('a connection lost while idle is replaced', () =>
    withDb(async (db) => {
      const { pid: lost } = await getPid.one(db, none)
      await rival.query('select pg_terminate_backend($1, 5000)', [lost])
      // The pool notices a moment later. Until then it may hand out the dead connection once.
      const again = () => getPid.one(db, none)
      const { pid } = await again().catch(again)
      assert.notEqual(pid, lost)
    }, 1))

  test('a connection that is lost in the packet that accepts it fails its statement alone', async (t) => {
    const { port, hostname } = new URL(url)
    const server = createServer((socket) => {
      const behind = connect(Number(port), hostname)
      behind.on('data', (packet: Buffer) => {
        socket.write(packet.includes(READY) ? Buffer.concat([packet, SHUTDOWN]) : packet)
      })
      socket.pipe(behind)
      for (const [one, other] of [
        [socket, behind],
        [behind, socket],
      ] as const)
        one.on('error', () => {}).on('close', () => other.destroy())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close())
    const target = new URL(url)
    target.port = String((server.address() as AddressInfo).port)
    await withDb(
      async (db) => {
        await assert.rejects(getPid.one(db, none), /terminat|connection error/i)
      },
      1,
      '',
      target.href,
    )
  })

  test('a refused statement keeps its connection', () =>
    withDb(async (db) => {
      const id = await newTally()
      const { pid } = await getPid.one(db, none)
      await assert.rejects(add.run(db, { id }), /duplicate key/)
      await assert.rejects(
        db.tx((tx) => add.run(tx, { id })),
        /duplicate key/,
      )
      assert.deepEqual(await getPid.one(db, none), { pid })
    }, 1))

  test('a connection to a server that became read-only is replaced', () =>
    withDb(
      async (db) => {
        const write = {
          query: () => increment.run(db, { id: 1 }),
          tx: () => db.tx((tx) => increment.run(tx, { id: 1 })),
        }
        for (const run of Object.values(write)) {
          const { pid } = await getPid.one(db, none)
          await assert.rejects(run(), /read-only transaction/)
          assert.notEqual((await getPid.one(db, none)).pid, pid)
        }
      },
      1,
      '-c default_transaction_read_only=on',
    ))

  test('failed transactions return their connections to the pool', () =>
    withDb(async (db) => {
      for (let nth = 0; nth < 5; nth++) {
        await assert.rejects(
          db.tx(async () => {
            throw new Error('no')
          }),
        )
      }
      await db.tx((tx) => getPid.one(tx, none))
    }, 2))
})

suite('connections', () => {
  test('bigint is read as number, date as text', async () => {
    const client = new pg.Client(connectionConfig(url))
    await client.connect()
    try {
      const { rows } = await client.query(
        `select 9007199254740991 as big, date '2026-03-01' as day, true as yes, 1.5::float8 as half`,
      )
      const values = { big: 9007199254740991, day: '2026-03-01', yes: true, half: 1.5 }
      assert.deepEqual(rows, [values])
    } finally {
      await client.end()
    }
  })

  test('the server ends a session that hangs in a transaction', () =>
    withDb(async (db) => {
      const get = query<typeof none, { idle: string; statement: string }>(
        'test.timeouts',
        `select current_setting('idle_in_transaction_session_timeout') as idle,
           current_setting('statement_timeout') as statement`,
      )
      const expected = { idle: '10s', statement: '1min' }
      assert.deepEqual(await get.one(db, none), expected)
      assert.deepEqual(await db.tx((tx) => get.one(tx, none)), expected)
    }))
})

suite('timings', () => {
  const server = useServer()

  test('/metrics shows the duration of each statement by name and database', async () => {
    await server.newApp()
    const address = `http://127.0.0.1:${server.service.internalPort}/metrics`
    const page = await (await fetch(address)).text()
    const count = (statement: string, db: string) =>
      page
        .split('\n')
        .filter((line) => line.startsWith('loquat_db_statement_seconds_count'))
        .find((line) => line.includes(`statement="${statement}"`) && line.includes(`db="${db}"`))
        ?.split(' ')[1]
    assert.equal(count('apps.insertPlacement', 'directory'), '1')
    assert.equal(count('apps.insert', 'us-1'), '1', 'in a transaction')
    assert.equal(count('apikeys.insert', 'us-1'), '2')
  })
})
