import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { operations } from '../../../test/conformity.ts'
import { Device } from '../../../test/device.ts'
import { runQueued } from '../../../test/job-runner.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { startServing } from '../../../test/loquat.ts'
import { join, newOperator, type TestOperator } from '../../../test/operators.ts'
import { useReceiver } from '../../../test/receiver.ts'
import { prepare, send } from '../../../test/resources.ts'
import { rowsOf } from '../../../test/rows.ts'
import { assertWithin, timedTest } from '../../../test/timed-test.ts'
import { timeUntil, until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'
import { reconcileApps } from './reconcile.job.ts'

const server = useServer({ env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' } })

const receiver = useReceiver()

/** An app with its owner. */
async function owned(): Promise<{ app: TestApp; rui: TestOperator }> {
  const [app, rui] = [await server.newApp(), await newOperator(server)]
  await join(server, app, rui, 'owner')
  return { app, rui }
}

/** One round of the jobs that archive and remove apps. */
const keep = async ({ cell }: TestApp) => {
  await reconcileApps({ deps: server.deps, cell })
  await runQueued(server.deps, cell, 'apps.purge')
}

/** Reads the directory again, instead of waiting a few seconds for it. */
const refresh = () => server.deps.directory.refresh()

const change = (app: TestApp, set: string) =>
  server.deps.directory.db.query({
    name: '',
    text: `update apps set ${set} where app_no = $1`,
    values: [app.no],
  })

/** Creates something of every kind. */
async function fillApp(app: TestApp): Promise<void> {
  for (const operation of operations) {
    const request = await prepare(app, operation)
    const writes = operation.method !== 'GET' && operation.method !== 'DELETE'
    if (!writes) continue
    await send(app, request, { headers: { 'idempotency-key': operation.operationId } })
  }
}

/** The tables of the cell in which an app has rows. */
async function tablesOf(app: TestApp): Promise<string[]> {
  const digests = await rowsOf(app)
  return digests.filter(({ rows }) => rows !== null).map(({ table }) => table)
}

suite('restoreApp', () => {
  test('brings back everything of an app that looked unknown while it was archived', async () => {
    const { app, rui } = await owned()
    const [amira, bo] = await app.users('amira', 'bo')
    await amira.sendText('bo')
    const { authToken } = await app.client.authTokens.create('amira', { force: true })
    const before = await rowsOf(app)

    const { scheduledToDeleteAt } = await rui.client.apps.delete(app.id)
    const days = (scheduledToDeleteAt - Date.now() / 1000) / 86_400
    assert.ok(days > 29.9 && days < 30.1)
    const unknown = await app.call('GET', '/v3/users', { headers: { appid: '0123456789abcdef' } })
    for (const headers of [{}, { authtoken: authToken }, { apikey: 'x' }] as object[]) {
      const answer = await app.call('GET', '/v3/conversations', { headers: { ...headers } })
      assert.equal(answer.status, 404)
      const text = JSON.stringify(answer.body).replace(app.id, '0123456789abcdef')
      assert.deepEqual(JSON.parse(text), unknown.body)
    }
    await refused(rui.call('GET', `/apps/${app.id}/v3/users`), 'AUTH_ERR_INVALID_APPID')
    await refused(rui.call('GET', `/apps/${app.id}/settings`), 'AUTH_ERR_INVALID_APPID')
    await refused(rui.call('DELETE', `/apps/${app.id}`), 'ERR_APP_ARCHIVED')
    const listed = (await rui.client.apps.list()).data[0]
    assert.deepEqual(
      [listed?.state, listed?.scheduledToDeleteAt],
      ['archived', scheduledToDeleteAt],
    )
    // A process that has forgotten the app looks it up in vain, and again after the next refresh.
    await refresh()
    assert.equal((await app.call('GET', '/v3/users')).status, 404)

    assert.equal((await rui.client.apps.restore(app.id)).state, 'active')
    await refresh()
    assert.equal((await app.client.users.get('amira')).name, 'amira')
    const conversations = await bo.conversations.list()
    assert.equal(conversations.data[0]?.conversationId, 'amira_user_bo')
    assert.equal((await app.client.authTokens.list('amira')).data[0]?.authToken, authToken)
    // There are two events and a revocation for other processes; everything else is unchanged.
    const own = (rows: typeof before) =>
      rows.filter(({ table }) => !['event_bodies', 'revocations'].includes(table))
    assert.deepEqual(own(await rowsOf(app)), own(before))
    assert.deepEqual((await app.eventTypes()).slice(-2), ['app.archived', 'app.restored'])
    assert.deepEqual(await verify(app.cell, app.no), [])
    await refused(rui.call('POST', `/apps/${app.id}/restore`), 'ERR_APP_NOT_ARCHIVED')
  })

  test('ignores the repetition of an older change', async () => {
    const { app, rui } = await owned()
    const remove = () =>
      rui.call('DELETE', `/apps/${app.id}`, { headers: { 'idempotency-key': 'remove' } })
    const restore = () =>
      rui.call('POST', `/apps/${app.id}/restore`, { headers: { 'idempotency-key': 'restore' } })
    const removed = (await remove()).body
    const restored = (await restore()).body
    assert.deepEqual((await remove()).body, removed)
    await refresh()
    await app.client.users.list()

    await rui.client.apps.delete(app.id)
    assert.deepEqual((await restore()).body, restored)
    await refresh()
    assert.equal((await app.call('GET', '/v3/users')).status, 404)
    const types = (await app.eventTypes()).filter((type) => /app.(archived|restored)/.test(type))
    assert.deepEqual(types, ['app.archived', 'app.restored', 'app.archived'])
  })
})

suite('after the directory was restored from an older backup', () => {
  test('no app gets the number of an app that only its cell knows', async () => {
    const lost = await server.newApp()
    await lost.users('amira')
    const before = await rowsOf(lost)
    const run = async (text: string) =>
      (
        await server.deps.directory.db.query<{ next: number }>({
          name: '',
          text,
          values: [lost.no],
        })
      ).rows
    await run('delete from apps where app_no = $1')
    await run(`select setval('apps_app_no_seq', $1, false)`)
    await refresh()
    const { no } = await server.newApp()
    assert.ok(no > lost.no, `${no} after ${lost.no}`)
    await run(`select setval('apps_app_no_seq', $1, false)`)
    await keep(lost)
    const [drawn] = await run(`select nextval('apps_app_no_seq') as next where $1 > 0`)
    assert.ok((drawn?.next ?? 0) > no)
    assert.deepEqual(await rowsOf(lost), before)
  })

  test('nothing of an app is purged with a later app that got the same number', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const before = await rowsOf(app)
    await change(app, `app_id = '0123456789abcdef', state = 'creating', created_at = '2020-01-01'`)
    await keep(app)
    assert.deepEqual(await rowsOf(app), before)
    const placed = { name: '', text: 'select from apps where app_no = $1', values: [app.no] }
    assert.deepEqual((await server.deps.directory.db.query(placed)).rows, [])
  })
})

suite('deleteApp', () => {
  timedTest('takes effect in other processes within a second', async (t) => {
    const other = await startServing('api', server.env)
    t.after(() => other.end('SIGKILL'))
    const { app, rui } = await owned()
    const status = async () => (await app.call('GET', '/v3/users', { port: other.apiPort })).status
    assert.equal(await status(), 200)
    await rui.client.apps.delete(app.id)
    const took = await timeUntil('refused', async () => (await status()) === 404)
    assertWithin(1_000, took)
    assert.equal(await status(), 404)
  })

  test("closes the app's connections and accepts none until it is restored", async (t) => {
    const gateway = await startServing('api,gateway', server.env)
    t.after(() => gateway.end('SIGKILL'))
    const { app, rui } = await owned()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    const { authToken } = await app.client.authTokens.create('amira', { force: true })
    const connect = async () => {
      const device = new Device(gateway.apiPort, `?appId=${app.id}`)
      device.ws.on('open', () => device.send('auth', { authToken }))
      await until('an answer', () => device.frames.length > 0 || device.closeCode !== undefined)
      return device
    }
    const device = await connect()
    await device.waitFor('session.ready')
    await rui.client.apps.delete(app.id)
    assert.equal((await device.closed).code, 4404)
    assert.equal((await (await connect()).closed).code, 4404)
    await rui.client.apps.restore(app.id)
    const back = await until('it is accepted', async () => {
      const again = await connect()
      return again.frames[0]?.type === 'session.ready' && again
    })
    // Gateways read the revocation for half a minute; it must not close this connection.
    await back.settled()
    await back.close()
  })

  test('stops webhooks until the app is restored, without losing an event', async (t) => {
    const trust = { NODE_EXTRA_CA_CERTS: receiver.caFile }
    const worker = await startServing('worker', { ...server.env, ...trust })
    t.after(() => worker.end('SIGKILL'))
    const { app, rui } = await owned()
    const other = await server.newApp()
    const hook = async ({ client }: TestApp, id: string) => {
      await client.webhooks.create({ id, name: 'Hook', webhookURL: `${receiver.url}/${id}` })
      await client.webhooks.addTriggers(id, { triggerIds: ['group_created'] })
    }
    const calls = (id: string) => receiver.received.filter(({ path }) => path === `/${id}`)
    await hook(app, 'own')
    await app.client.groups.create({ guid: 'one', name: 'One' })
    await until('the first call', () => calls('own').length === 1)

    await rui.client.apps.delete(app.id)
    // A worker that finds this webhook has read all of them after the deletion.
    await hook(other, 'other')
    await other.client.groups.create({ guid: 'one', name: 'One' })
    await until('the round after', () => calls('other').length === 1)
    const text = `insert into event_bodies (app_no, type, key, payload)
      select app_no, type, 'two', payload from events where app_no = $1 and type = 'group.created'`
    await app.cell.db.query({ name: '', text, values: [app.no] })
    await other.client.groups.create({ guid: 'two', name: 'Two' })
    await until('later events', () => calls('other').length === 2)
    assert.equal(calls('own').length, 1)
    await rui.client.apps.restore(app.id)
    await until('the second call', () => calls('own').length === 2)
  })
})

suite('an app whose grace period is over', () => {
  test('has no row left in any table, while other apps keep theirs', async () => {
    const { app, rui } = await owned()
    const other = await server.newApp()
    await fillApp(app)
    await other.users('amira')
    const others = await rowsOf(other)
    const filled = await tablesOf(app)
    assert.ok(filled.length > 25, `only ${filled.join(', ')} had rows`)

    await rui.client.apps.delete(app.id)
    await keep(app)
    assert.deepEqual((await tablesOf(app)).length, filled.length, 'nothing is removed early')
    await change(app, `purge_at = now() - interval '1 second'`)
    await refused(rui.call('POST', `/apps/${app.id}/restore`), 'ERR_APP_NOT_ARCHIVED')
    await keep(app)

    assert.deepEqual(await tablesOf(app), [])
    assert.deepEqual(await rowsOf(other), others)
    const { db } = server.deps.directory
    for (const table of ['apps', 'collaborators', 'invitations']) {
      const text = `select from ${table} where app_no = $1`
      assert.equal((await db.query({ name: '', text, values: [app.no] })).rows.length, 0)
    }
    await refused(rui.call('GET', `/apps/${app.id}`), 'ERR_APP_NOT_FOUND')
    const { data } = await rui.client.auditEntries.list({ action: 'deleteApp' })
    assert.equal(data[0]?.appId, app.id, 'the audit log keeps its entries')
  })

  test('has all its rows in tables with an index on the app', async () => {
    const app = await server.newApp()
    const text = `
      select c.relname from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'app_no'
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and not c.relispartition and not exists (
          select from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum
            and i.indpred is null)
      order by 1`
    const { rows } = await app.cell.db.query({ name: '', text, values: [] })
    // Bodies are found by their positions; the other table is emptied all the time.
    assert.deepEqual(
      rows.map(({ relname }) => relname),
      ['event_bodies', 'revocations'],
    )
  })
})

suite('the state of an app after a crash', () => {
  test('follows the directory in its cell', async () => {
    const { app, rui } = await owned()
    await change(
      app,
      `state = 'archived', archived_at = now(), purge_at = now() + interval '1 day'`,
    )
    await keep(app)
    assert.equal((await app.call('GET', '/v3/users')).status, 404)
    await change(app, `state = 'active', archived_at = null, purge_at = null`)
    await keep(app)
    // The process may have looked it up while it was archived. Then it takes a few seconds.
    await refresh()
    const isServed = async () => (await app.call('GET', '/v3/users')).status === 200
    await until('the app is served again', isServed)
    assert.equal((await rui.client.apps.get(app.id)).state, 'active')
  })

  test('is removed after an hour if its creation never finished', async () => {
    const { app } = await owned()
    await change(app, `state = 'creating'`)
    await keep(app)
    assert.notDeepEqual(await tablesOf(app), [])
    await change(app, `created_at = now() - interval '61 minutes'`)
    await keep(app)
    assert.deepEqual(await tablesOf(app), [])
  })
})
