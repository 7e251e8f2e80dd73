import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import pg from 'pg'
import { asOwner, cloneDatabase, dropDatabase } from '../../../test/databases.ts'
import { until } from '../../../test/until.ts'
import { openLog } from '../log/log.ts'
import { openMetrics } from '../metrics/metrics.ts'
import { openTracing } from '../tracing/tracing.ts'
import { type Db, openDb, sqlState } from './db.ts'
import { query } from './query.ts'

const none = {} as Record<string, never>
const wait = query<typeof none>('test.wait', 'select pg_sleep(600)')
const waitBriefly = query<typeof none>('test.waitBriefly', 'select pg_sleep(0.001)')
const one = query<typeof none, { one: number }>('test.one', 'select 1 as one')
const write = query<typeof none>('test.write', 'insert into notes default values')

const GONE = new Error('the client went away')

suite('a read', () => {
  let url: string
  let observer: pg.Client
  const metrics = openMetrics()
  before(async () => {
    // The service may create no table.
    url = asOwner(await cloneDatabase('cell'))
    observer = new pg.Client({ connectionString: url })
    await observer.connect()
    await observer.query('create table notes (id int generated always as identity)')
  })
  after(async () => {
    await observer.end()
    await dropDatabase(url)
    await metrics.close()
  })

  async function withDb(work: (db: Db) => Promise<void>): Promise<void> {
    const log = openLog('silent')
    const tracing = await openTracing('')
    const sizes = { poolSize: 1, readPoolSize: 1, timeoutMs: 60_000 }
    const db = openDb({ url, label: 'test', ...sizes, log, timings: metrics.statements, tracing })
    try {
      await work(db)
    } finally {
      await db.close()
    }
  }

  const sleeping = async () => {
    const text = `select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`
    return (await observer.query(text)).rowCount ?? 0
  }

  test('is cancelled in the database when its request ends, and its connection stays', () =>
    withDb(async (db) => {
      const pid = query<typeof none, { pid: number }>(
        'test.readPid',
        'select pg_backend_pid() as pid',
      )
      const before = await pid.one(db.reading().db, none)
      const reading = db.reading()
      const waits = wait.run(reading.db, none)
      await until('it runs', async () => (await sleeping()) === 1)
      reading.end(GONE)
      await assert.rejects(waits, GONE)
      assert.equal(await sleeping(), 0)
      assert.deepEqual(await pid.one(db.reading().db, none), before)
    }))

  test('starts no further statement', () =>
    withDb(async (db) => {
      const reading = db.reading()
      await assert.rejects(
        reading.db.tx(async (tx) => {
          await one.one(tx, none)
          reading.end(GONE)
          await one.one(tx, none)
        }),
        GONE,
      )
      await assert.rejects(one.one(reading.db, none), GONE)
      assert.deepEqual(await one.one(db.reading().db, none), { one: 1 })
    }))

  test('is cancelled inside its transaction too', () =>
    withDb(async (db) => {
      const reading = db.reading()
      const waits = reading.db.tx((tx) => wait.run(tx, none))
      await until('it runs', async () => (await sleeping()) === 1)
      reading.end(GONE)
      await assert.rejects(waits, GONE)
      assert.deepEqual(await one.one(db.reading().db, none), { one: 1 })
    }))

  test('can not write', () =>
    withDb(async (db) => {
      const readOnly = (error: unknown) => sqlState(error) === '25006'
      await assert.rejects(write.run(db.reading().db, none), readOnly)
      await assert.rejects(
        db.reading().db.tx((tx) => write.run(tx, none)),
        readOnly,
      )
    }))

  test('that is cancelled too late harms no later statement on its connection', () =>
    withDb(async (db) => {
      for (let n = 0; n < 300; n++) {
        const reading = db.reading()
        const waits = waitBriefly.run(reading.db, none).catch((error) => error)
        const next = one.one(db.reading().db, none)
        await new Promise((resolve) => setTimeout(resolve, n % 4))
        reading.end(GONE)
        await waits
        assert.deepEqual(await next, { one: 1 })
      }
    }))
})
