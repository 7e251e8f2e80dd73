import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, mock, suite, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import type { App } from '../src/platform/cells/directory.ts'
import { announce } from '../src/platform/events/announce.ts'
import { openSecrets } from '../src/platform/secrets/secrets.ts'
import { type Service, serve } from '../src/serve.ts'
import { cloneDatabase, dropDatabase, insertCell, queryAt, testEnv } from './databases.ts'
import { newApp, refused, type TestServer, useServer } from './kit.ts'
import { newOperator } from './operators.ts'
import { makeDatabase, type PrivateEngine, startPrivate } from './private-engines.ts'

const directoryOf = (server: TestServer) => server.env.LOQUAT_DIRECTORY_URL ?? ''
const newId = () => randomBytes(8).toString('hex')

/** A write that works for every app. */
const write = async ({ no: appNo, cell }: App) =>
  cell?.db.tx((tx) =>
    announce(tx, { appNo, type: 'app.settings.updated', key: 'app', payload: { settings: {} } }),
  )

/** How often this process has run a statement. */
async function runsOf(service: Service, statement: string): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${service.internalPort}/metrics`)).text()
  const line = page
    .split('\n')
    .find((entry) => entry.includes('_seconds_count') && entry.includes(`"${statement}"`))
  return Number(line?.split(' ')[1] ?? 0)
}

suite('two cells in one process', () => {
  const server = useServer({ cells: ['us-1', 'us-2'] })

  test('share the new apps of their region', async () => {
    const apps = []
    for (let nth = 0; nth < 4; nth++) apps.push(await server.newApp())
    assert.deepEqual(apps.map((app) => app.cell.id).sort(), ['us-1', 'us-1', 'us-2', 'us-2'])
  })

  test("keep an app's rows in its own cell only", async () => {
    for (const app of [await server.newApp(), await server.newApp()]) {
      await write(app)
      for (const cell of server.deps.directory.cells()) {
        const counted = await queryAt(
          cell.url,
          `select (select count(*) from apps where app_no = $1)::int as apps,
             (select count(*) from api_keys where app_no = $1)::int as keys,
             (select count(*) from outbox where app_no = $1)::int as events`,
          [app.no],
        )
        const here = cell.id === app.cell.id
        const expected = here ? { apps: 1, keys: 2, events: 2 } : { apps: 0, keys: 0, events: 0 }
        assert.deepEqual(counted.rows, [expected], `${app.cell.id} looked at in ${cell.id}`)
      }
    }
  })

  test('follow the move of an app after a refresh', async () => {
    const app = await server.newApp()
    const target = app.cell.id === 'us-1' ? 'us-2' : 'us-1'
    const move = 'update apps set cell_id = $1 where app_no = $2'
    await queryAt(directoryOf(server), move, [target, app.no])
    await server.deps.directory.refresh()
    const moved = await server.deps.directory.find(app.id)
    assert.deepEqual([moved?.no, moved?.cell?.id], [app.no, target])
  })

  test('forget a removed app after a refresh', async () => {
    const app = await server.newApp()
    await queryAt(directoryOf(server), 'delete from apps where app_no = $1', [app.no])
    assert.ok(await server.deps.directory.find(app.id))
    await server.deps.directory.refresh()
    assert.equal(await server.deps.directory.find(app.id), undefined)
  })
})

suite('a row in the table of cells', () => {
  const server = useServer({ env: { LOQUAT_REGIONS: 'us,eu,in' } })
  const urls: string[] = []
  const newCellDatabase = async () => {
    const url = await cloneDatabase('cell')
    urls.push(url)
    return url
  }
  after(() => Promise.all(urls.map(dropDatabase)))

  test('makes a new cell accept and serve apps at once', async () => {
    await insertCell(directoryOf(server), 'eu-1', await newCellDatabase())
    const app = await server.newApp('eu')
    assert.equal(app.cell.id, 'eu-1')
    await write(app)
    assert.deepEqual(await app.eventTypes(), ['app.created', 'app.settings.updated'])
  })

  test('lets a process serve an app that another process created on a cell it has not seen', async () => {
    await insertCell(directoryOf(server), 'in-1', await newCellDatabase())
    const elsewhere = await serve(readConfig(server.env), ['api'])
    try {
      const { id } = await newApp(elsewhere, 'in')
      const app = await server.deps.directory.find(id)
      assert.equal(app?.cell?.id, 'in-1')
      await write(app)
    } finally {
      await elsewhere.drain()
    }
  })

  test('moves a cell to another address, even for known apps', async () => {
    const app = await server.newApp('us')
    // The key is known now, but not to the new database.
    assert.equal((await app.call('GET', '/v3/users')).status, 200)
    const url = await newCellDatabase()
    await queryAt(url, 'insert into apps (app_no, app_id) values ($1, $2)', [app.no, app.id])
    const sealed = openSecrets(server.env.LOQUAT_SECRET ?? '').seal(['cells.url', 'us-1'], url)
    const readdress = `update cells set url_sealed = $1 where cell_id = 'us-1'`
    await queryAt(directoryOf(server), readdress, [sealed])
    await server.deps.directory.refresh()
    await refused(app.call('GET', '/v3/users'), 'AUTH_ERR_APIKEY_NOT_FOUND')
    const known = await server.deps.directory.find(app.id)
    assert.ok(known)
    assert.equal(known.cell?.url, url)
    await write(known)
    await write(app)
  })
})

suite("a cell whose address can't be used", () => {
  const server = useServer({ cells: ['us-1', 'us-2'] })
  const urls: string[] = []
  after(() => Promise.all(urls.map(dropDatabase)))

  test('keeps its old address, and the process follows all others', async () => {
    const { directory } = server.deps
    const apps = [await server.newApp(), await server.newApp()]
    const known = apps.find(({ cell }) => cell.id === 'us-1')
    assert.ok(known)
    const refusedUrl = 'postgres://me:hush@db.example.org/us-1?sslmode=disable'
    const sealed = server.deps.secrets.seal(['cells.url', 'us-1'], refusedUrl)
    const readdress = `update cells set url_sealed = $1 where cell_id = 'us-1'`
    await queryAt(directoryOf(server), readdress, [sealed])
    // Sorted before the next one.
    await insertCell(directoryOf(server), 'us-3', refusedUrl)
    const url = await cloneDatabase('cell')
    urls.push(url)
    await insertCell(directoryOf(server), 'us-4', url)
    const gone = apps.find(({ cell }) => cell.id === 'us-2')
    await queryAt(directoryOf(server), 'delete from apps where app_no = $1', [gone?.no])
    await directory.refresh()
    assert.deepEqual(
      directory
        .cells()
        .map(({ id }) => id)
        .sort(),
      ['us-1', 'us-2', 'us-4'],
    )
    assert.equal(directory.known(gone?.id ?? ''), undefined)
    assert.equal(directory.cell('us-1').url, known.cell.url)
    await write(known)
  })
})

suite('an app in a region that the process does not serve', () => {
  const server = useServer({ cells: ['us-1', 'eu-1', 'in-1'], env: { LOQUAT_REGIONS: 'us' } })

  test('has a known region but no cell, and a move is noticed', async () => {
    const id = newId()
    const place = `insert into apps (app_id, name, cell_id, state) values ($1, 'Far', 'eu-1', 'active')`
    await queryAt(directoryOf(server), place, [id])
    const app = await server.deps.directory.find(id)
    assert.deepEqual([app?.region, app?.cell], ['eu', undefined])

    await queryAt(directoryOf(server), `update apps set cell_id = 'in-1' where app_id = $1`, [id])
    await server.deps.directory.refresh()
    assert.equal((await server.deps.directory.find(id))?.region, 'in')
  })

  test('cannot be created, and the error names the setting', async () => {
    const rui = await newOperator(server)
    const { status, body } = await rui.call('POST', '/apps', { body: { name: 'X', region: 'eu' } })
    assert.equal(status, 400)
    assert.match(body.error.details.region[0], /call a server that does/)
    await assert.rejects(newApp(server.service, 'eu'), /See LOQUAT_REGIONS/)
  })

  test('causes no connection to its cell', () => {
    assert.deepEqual(
      server.deps.directory.cells().map((cell) => cell.id),
      ['us-1'],
    )
  })
})

suite('unknown app ids', () => {
  // The directory is read again only when a test says so. Before the server, which then starts its intervals in vain.
  before(() => mock.timers.enable({ apis: ['setInterval'] }))
  after(() => mock.timers.reset())

  const server = useServer()
  const id = newId()
  const lookups = () => runsOf(server.service, 'directory.listPlacements')

  test('are looked up in the directory once, however many requests there are', async () => {
    const { directory } = server.deps
    const together = await Promise.all(Array.from({ length: 50 }, () => directory.find(id)))
    assert.deepEqual(new Set(together), new Set([undefined]))
    for (let nth = 0; nth < 50; nth++) assert.equal(await directory.find(id), undefined)
    assert.equal(await lookups(), 1)
    assert.equal(await directory.find(newId()), undefined)
    assert.equal(await lookups(), 2)
  })

  test('are looked up again after the next refresh, and found if they exist by then', async () => {
    const place = `insert into apps (app_id, name, cell_id, state) values ($1, 'Late', 'us-1', 'active')`
    await queryAt(directoryOf(server), place, [id])
    const { directory } = server.deps
    assert.equal(await directory.find(id), undefined)
    await directory.refresh()
    assert.equal((await directory.find(id))?.id, id)
  })

  test('include apps that are still being created', async () => {
    const half = newId()
    const place = `insert into apps (app_id, name, cell_id) values ($1, 'Half', 'us-1')`
    await queryAt(directoryOf(server), place, [half])
    assert.equal(await server.deps.directory.find(half), undefined)
  })
})

suite('an outage', () => {
  let directoryCluster: PrivateEngine
  let cellCluster: PrivateEngine
  let service: Service
  let sharedUrl: string

  before(async () => {
    ;[directoryCluster, cellCluster] = await Promise.all([
      startPrivate('postgres'),
      startPrivate('postgres'),
    ])
    const directoryUrl = await makeDatabase(directoryCluster, 'directory')
    sharedUrl = await cloneDatabase('cell')
    await insertCell(directoryUrl, 'us-1', sharedUrl)
    await insertCell(directoryUrl, 'eu-1', await makeDatabase(cellCluster, 'cell'))
    service = await serve(readConfig(testEnv(directoryUrl, ['us-1', 'eu-1'])), ['api'])
  })
  after(async () => {
    await service?.drain()
    await Promise.all([directoryCluster?.remove(), cellCluster?.remove()])
    if (sharedUrl) await dropDatabase(sharedUrl)
  })

  test('of the directory leaves known apps working; unknown and new ones work after it', async () => {
    const { directory } = service.deps
    const app = await newApp(service, 'us')
    const stranger = newId()
    await directoryCluster.stop()

    await directory.refresh()
    const known = await directory.find(app.id)
    assert.deepEqual([known?.no, known?.cell], [app.no, app.cell])
    await write(app)
    assert.deepEqual(await app.eventTypes(), ['app.created', 'app.settings.updated'])
    await assert.rejects(async () => directory.find(stranger), /ECONNREFUSED/)
    await assert.rejects(async () => directory.find(stranger), 'a failure is not remembered')

    await directoryCluster.start()
    assert.equal(await directory.find(stranger), undefined)
    await write(await newApp(service, 'us'))
  })

  test('of a cell affects only its apps, which work again after it', async () => {
    const [near, far] = [await newApp(service, 'us'), await newApp(service, 'eu')]
    const underWay = far.cell.db.tx(async (tx) => {
      await tx.query({ name: 'test.one', text: 'select 1', values: [] })
      await cellCluster.stop()
      await tx.query({ name: 'test.one', text: 'select 1', values: [] })
    })
    await assert.rejects(underWay, 'a transaction under way ends with the cell')

    for (let nth = 0; nth < 3; nth++) {
      await assert.rejects(write(far))
      await write(near)
    }
    assert.equal((await service.deps.directory.find(far.id))?.cell, far.cell)

    await cellCluster.start()
    await write(far)
    assert.deepEqual(await far.eventTypes(), ['app.created', 'app.settings.updated'])
  })
})
