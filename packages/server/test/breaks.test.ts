import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { checkLog, findWitness } from '../src/platform/events/breaks.ts'
import { type Service, serve } from '../src/serve.ts'
import { command } from './command.ts'
import { cloneDatabase, dropDatabase, insertCell, ownerEnv, queryAt, testEnv } from './databases.ts'
import { newApp } from './kit.ts'
import { type ServerProxy, startProxy } from './proxy.ts'
import { until } from './until.ts'

const JUMP = 1e12

let directoryUrl: string
let cellUrl: string
const made: string[] = []

async function makeDatabases() {
  directoryUrl = await cloneDatabase('directory')
  cellUrl = await cloneDatabase('cell')
  made.push(directoryUrl, cellUrl)
}
after(async () => {
  for (const url of made) await dropDatabase(url)
})

/** A cell with two apps, of which one has events with positions. */
async function makeCell() {
  await makeDatabases()
  await insertCell(directoryUrl, 'us-1', cellUrl)
  await queryAt(cellUrl, `insert into apps (app_no, app_id) values (1, 'one'), (2, 'two')`)
  await queryAt(cellUrl, 'insert into positions (app_no, position) values (1, 50)')
}

/** What a sequencer does when it connects. Returns why it broke the log. */
async function check(): Promise<string | undefined> {
  const [database, directory] = [cellUrl, directoryUrl].map(
    (url) => new pg.Client(connectionConfig(url)),
  ) as [pg.Client, pg.Client]
  await Promise.all([database.connect(), directory.connect()])
  try {
    const access = { cellId: 'us-1', database, directory }
    return (await checkLog(access, await findWitness(access))).cause
  } finally {
    await Promise.all([database.end(), directory.end()])
  }
}

const breaks = async () => {
  const text = 'select app_no, last::float, next::float from log_breaks order by next, app_no'
  return (await queryAt(cellUrl, text)).rows.map(({ app_no, last, next }) => [app_no, last, next])
}

suite('a check of the log', () => {
  beforeEach(makeCell)

  test('changes nothing if the database is the one that it was', async () => {
    assert.equal(await check(), undefined)
    assert.equal(await check(), undefined)
    assert.deepEqual(await breaks(), [])
  })

  for (const [what, at, change] of [
    ['another cluster', 'cell', `update log_origin set system_id = 'other'`],
    ['another cluster', 'directory', `update log_witnesses set system_id = 'other'`],
    ['another timeline', 'cell', 'update log_origin set timeline = timeline + 1'],
    ['another timeline', 'directory', 'update log_witnesses set timeline = timeline + 1'],
    ['lost WAL', 'directory', 'update log_witnesses set wal_position = wal_position * 2'],
    ['lost events', 'directory', 'update log_witnesses set taken = taken + 1'],
  ] as const) {
    test(`breaks it once: ${what}, according to the ${at}`, async () => {
      await check()
      await queryAt(at === 'cell' ? cellUrl : directoryUrl, change)
      assert.match((await check()) ?? '', new RegExp(what))
      // Also of an app whose first events had no position yet.
      assert.deepEqual(await breaks(), [
        [1, 50, JUMP],
        [2, 0, JUMP],
      ])
      assert.equal(await check(), undefined)
    })
  }

  test('continues the log of a synchronous cell after a failover, unless events are missing', async () => {
    await check()
    const set = ['cells', 'set', '--id', 'us-1', '--synchronous', 'yes']
    assert.equal((await command(set, testEnv(directoryUrl, ['us-1'], ownerEnv()))).code, 0)
    await queryAt(cellUrl, 'update log_origin set timeline = timeline + 1')
    await queryAt(directoryUrl, 'update log_witnesses set timeline = timeline + 1')
    assert.equal(await check(), undefined)
    await queryAt(directoryUrl, 'update log_witnesses set timeline = timeline + 1, taken = 1')
    assert.match((await check()) ?? '', /lost events/)
  })

  test('never repeats a jump, however old the backup of the cell or of the directory is', async () => {
    const restored = ['cells', 'restored', '--id', 'us-1']
    const env = testEnv(directoryUrl, ['us-1'])
    assert.equal((await command(restored, env)).code, 0)
    // The cell of before the break.
    await queryAt(cellUrl, 'delete from log_breaks; update positions set position = 40')
    assert.equal((await command(restored, env)).code, 0)
    // The directory of before both.
    await queryAt(directoryUrl, 'update break_counter set break_no = 0')
    assert.equal((await command(restored, env)).code, 0)
    const jumps = await breaks()
    assert.deepEqual(
      jumps.map(([, , next]) => next),
      [2 * JUMP, 2 * JUMP, 3 * JUMP, 3 * JUMP],
    )
    assert.equal((await command(['cells', 'restored', '--id', 'us-9'], env)).code, 1)
  })
})

suite('while the directory is down', () => {
  let service: Service
  let directory: ServerProxy
  let cell: ServerProxy

  before(async () => {
    await makeDatabases()
    directory = await startProxy(directoryUrl)
    cell = await startProxy(cellUrl)
    await insertCell(directoryUrl, 'us-1', cell.url(cellUrl))
    const env = testEnv(directory.url(directoryUrl), ['us-1'])
    service = await serve(readConfig(env), ['api', 'worker'])
  })
  after(async () => {
    await service.drain()
    directory.close()
    cell.close()
  })

  test('a sequencer that lost its connection waits, and sends go on', async () => {
    const app = await newApp(service)
    const [ana] = await app.users('ana', 'bo')
    const outbox = async () => (await queryAt(cellUrl, 'select from outbox')).rowCount ?? 0
    await until('all events have positions', async () => (await outbox()) === 0)
    const epoch = `select epoch::int from leases where job = 'sequencer'`
    const before = (await queryAt(cellUrl, epoch)).rows[0].epoch
    directory.point(undefined)
    cell.point(cellUrl)
    await until('it has the lease again', async () => {
      return (await queryAt(cellUrl, epoch)).rows[0].epoch > before
    })
    await until('a message is sent', () =>
      ana.sendText('bo').then(
        () => true,
        () => false,
      ),
    )
    // The worker goes on with its other work.
    const renewed = `select max(expires_at) > $1 as renewed from workers`
    const later = new Date(Date.now() + 5_000)
    await until('its leases are renewed', async () => {
      return (await queryAt(cellUrl, renewed, [later])).rows[0].renewed
    })
    assert.ok((await outbox()) > 0)
    directory.point(directoryUrl)
    await until('the events get their positions', async () => (await outbox()) === 0)
  })
})
