import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { operations } from '../../../test/conformity.ts'
import { Device } from '../../../test/device.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { startServing } from '../../../test/loquat.ts'
import { join, newOperator, type TestOperator } from '../../../test/operators.ts'
import { useReceiver } from '../../../test/receiver.ts'
import { prepare, send } from '../../../test/resources.ts'
import { rowsOf } from '../../../test/rows.ts'
import { assertWithin, timedTest } from '../../../test/timed-test.ts'
import { timeUntil, until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'
import { reconcileApps } from '../../workers/apps.ts'

const server = useServer({ env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' } })

const receiver = useReceiver()

async function owned(): Promise<{ app: TestApp; rui: TestOperator }> {
  const [app, rui] = [await server.newApp(), await newOperator(server)]
  await join(server, app, rui, 'owner')
  return { app, rui }
}

/** One round of the worker's job. */
const keep = ({ cell }: TestApp) =>
  reconcileApps({ deps: server.deps, cell, signal: new AbortController().signal })

/** The directory's word on an app is a few seconds old at most. */
const refresh = () => server.deps.directory.refresh()

const change = (app: TestApp, set: string) =>
  server.deps.directory.db.query({
    name: '',
    text: `update apps set ${set} where app_no = $1`,
    values: [app.no],
  })

/** Something of every kind that operations make. */
async function fillApp(app: TestApp): Promise<void> {
  for (const operation of operations) {
    const request = await prepare(app, operation)
    const writes = operation.method !== 'GET' && operation.method !== 'DELETE'
    if (!writes) continue
    await send(app, request, { headers: { 'idempotency-key': operation.operationId } })
  }
}

/** Rows of an app in every table of its cell that has any. */
async function tablesOf(app: TestApp): Promise<string[]> {
  const digests = await rowsOf(app)
  return digests.filter(({ rows }) => rows !== null).map(({ table }) => table)
}

suite('an app that was deleted', () => {
  test('answers nobody, and is back with all that it had', async () => {
    const { app, rui } = await owned()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    await app.client.users.create({ uid: 'bo', name: 'Bo' })
    const amira = app.client.onBehalfOf('amira')
    await amira.messages.send({ receiver: 'bo', receiverType: 'user', data: { text: 'Hello' } })
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
    const data = await rui.call('GET', `/apps/${app.id}/v3/users`)
    assert.equal(data.body.error.code, 'AUTH_ERR_INVALID_APPID')
    const settings = await rui.call('GET', `/apps/${app.id}/settings`)
    assert.equal(settings.body.error.code, 'AUTH_ERR_INVALID_APPID')
    const again = await rui.call('DELETE', `/apps/${app.id}`)
    assert.equal(again.body.error.code, 'ERR_APP_ARCHIVED')
    const listed = (await rui.client.apps.list()).data[0]
    assert.deepEqual(
      [listed?.state, listed?.scheduledToDeleteAt],
      ['archived', scheduledToDeleteAt],
    )

    assert.equal((await rui.client.apps.restore(app.id)).state, 'active')
    await refresh()
    assert.equal((await app.call('GET', '/v3/users/amira')).body.data.name, 'Amira')
    const conversations = await app.client.onBehalfOf('bo').conversations.list()
    assert.equal(conversations.data[0]?.conversationId, 'amira_user_bo')
    assert.equal((await app.client.authTokens.list('amira')).data[0]?.authToken, authToken)
    // Two events tell of it, and processes were told; all else is as it was.
    const own = (rows: typeof before) =>
      rows.filter(({ table }) => !['outbox', 'revocations'].includes(table))
    assert.deepEqual(own(await rowsOf(app)), own(before))
    assert.deepEqual((await app.eventTypes()).slice(-2), ['app.archived', 'app.restored'])
    assert.deepEqual(await verify(app.cell, app.no), [])
    const twice = await rui.call('POST', `/apps/${app.id}/restore`)
    assert.equal(twice.body.error.code, 'ERR_APP_NOT_ARCHIVED')
  })

  test('stays as it is when an older change is repeated', async () => {
    const { app, rui } = await owned()
    const remove = () =>
      rui.call('DELETE', `/apps/${app.id}`, { headers: { 'idempotency-key': 'remove' } })
    const restore = () =>
      rui.call('POST', `/apps/${app.id}/restore`, { headers: { 'idempotency-key': 'restore' } })
    const removed = (await remove()).body
    const restored = (await restore()).body
    assert.deepEqual((await remove()).body, removed)
    await refresh()
    assert.equal((await app.call('GET', '/v3/users')).status, 200)

    await rui.client.apps.delete(app.id)
    assert.deepEqual((await restore()).body, restored)
    await refresh()
    assert.equal((await app.call('GET', '/v3/users')).status, 404)
    const told = (await app.eventTypes()).filter((type) => /app.(archived|restored)/.test(type))
    assert.deepEqual(told, ['app.archived', 'app.restored', 'app.archived'])
  })

  timedTest('is gone for other processes within a second', async (t) => {
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

  test('loses its connections, and takes none until it is restored', async (t) => {
    const gateway = await startServing('api,gateway', server.env)
    t.after(() => gateway.end('SIGKILL'))
    const { app, rui } = await owned()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    const { authToken } = await app.client.authTokens.create('amira', { force: true })
    /** Whether it is let in. */
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
    const back = await until('it is let in', async () => {
      const again = await connect()
      return again.frames[0]?.type === 'session.ready' && again
    })
    // What told of the deletion is read for half a minute: it must not end this one.
    await back.settled()
    await back.close()
  })

  test('calls no webhook until it is restored, and misses no event', async (t) => {
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
    // Whoever finds this webhook has looked at all of them after the deletion.
    await hook(other, 'other')
    await other.client.groups.create({ guid: 'one', name: 'One' })
    await until('the round after', () => calls('other').length === 1)
    const text = `insert into outbox (app_no, type, key, payload)
      select app_no, type, 'two', payload from events where app_no = $1 and type = 'group.created'`
    await app.cell.db.query({ name: '', text, values: [app.no] })
    await other.client.groups.create({ guid: 'two', name: 'Two' })
    await until('later events', () => calls('other').length === 2)
    assert.equal(calls('own').length, 1)
    await rui.client.apps.restore(app.id)
    await until('the second call', () => calls('own').length === 2)
  })
})

suite('after the grace', () => {
  test('no row is left in any table, and other apps have theirs', async () => {
    const { app, rui } = await owned()
    const other = await server.newApp()
    await fillApp(app)
    await other.client.users.create({ uid: 'amira', name: 'Amira' })
    const others = await rowsOf(other)
    const filled = await tablesOf(app)
    assert.ok(filled.length > 25, `only ${filled.join(', ')} had rows`)

    await rui.client.apps.delete(app.id)
    await keep(app)
    assert.deepEqual((await tablesOf(app)).length, filled.length, 'nothing goes before its time')
    await change(app, `purge_at = now() - interval '1 second'`)
    const late = await rui.call('POST', `/apps/${app.id}/restore`)
    assert.equal(late.body.error.code, 'ERR_APP_NOT_ARCHIVED')
    await keep(app)

    assert.deepEqual(await tablesOf(app), [])
    assert.deepEqual(await rowsOf(other), others)
    const { db } = server.deps.directory
    for (const table of ['apps', 'collaborators', 'invitations']) {
      const text = `select from ${table} where app_no = $1`
      assert.equal((await db.query({ name: '', text, values: [app.no] })).rows.length, 0)
    }
    assert.equal((await rui.call('GET', `/apps/${app.id}`)).body.error.code, 'ERR_APP_NOT_FOUND')
    const { data } = await rui.client.auditEntries.list({ action: 'deleteApp' })
    assert.equal(data[0]?.appId, app.id, 'the audit outlives it')
  })

  test('every table that holds rows of apps finds them by the app', async () => {
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
    // Both are emptied all the time.
    assert.deepEqual(
      rows.map(({ relname }) => relname),
      ['outbox', 'revocations'],
    )
  })
})

suite('what a crash leaves', () => {
  test('the cell follows the directory, either way', async () => {
    const { app, rui } = await owned()
    await change(
      app,
      `state = 'archived', archived_at = now(), purge_at = now() + interval '1 day'`,
    )
    await keep(app)
    assert.equal((await app.call('GET', '/v3/users')).status, 404)
    await change(app, `state = 'active', archived_at = null, purge_at = null`)
    await keep(app)
    await refresh()
    assert.equal((await app.call('GET', '/v3/users')).status, 200)
    assert.equal((await rui.client.apps.get(app.id)).state, 'active')
  })

  test('an app that never came into service goes after an hour', async () => {
    const { app } = await owned()
    await change(app, `state = 'creating'`)
    await keep(app)
    assert.notDeepEqual(await tablesOf(app), [])
    await change(app, `created_at = now() - interval '61 minutes'`)
    await keep(app)
    assert.deepEqual(await tablesOf(app), [])
  })
})
