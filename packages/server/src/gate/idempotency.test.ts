import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, suite, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { admin } from '../../test/databases.ts'
import { refused, type TestApp, useServer } from '../../test/kit.ts'
import { lockApp } from '../../test/locks.ts'
import { until } from '../../test/until.ts'
import { buildApi } from '../api.ts'
import { write } from './write.ts'

const server = useServer()

const NEW_KEY = { name: 'Worker', scope: 'fullAccess' } as const

const create = (app: TestApp, key: string, options: { body?: unknown; apiKey?: string } = {}) =>
  app.call('POST', '/v3/apikeys', {
    body: NEW_KEY,
    ...options,
    headers: { 'Idempotency-Key': key },
  })

const countKeys = async (app: TestApp): Promise<number> =>
  (await app.client.apiKeys.list()).meta.pagination.total

/** Runs SQL on the app's cell. */
const onCell = (app: TestApp, sql: string, values: unknown[] = []) =>
  admin(sql, values, new URL(app.cell.url).pathname.slice(1))

suite('Idempotency-Key', () => {
  test('returns the first answer to a retry, which has no second effect', async () => {
    const app = await server.newApp()
    const first = await create(app, 'one')
    const second = await create(app, 'one')
    assert.equal(first.status, 200)
    assert.deepEqual(second.body, first.body)
    assert.equal(second.status, 200)
    assert.equal(await countKeys(app), 3)
    assert.equal((await app.eventTypes()).length, 2)
  })

  for (const many of [2, 20]) {
    test(`makes ${many} simultaneous requests take effect once, with the same answer`, async () => {
      const app = await server.newApp()
      const all = await Promise.all(Array.from({ length: many }, () => create(app, 'same')))
      for (const { status, body } of all) {
        assert.equal(status, 200)
        assert.deepEqual(body, all[0]?.body)
      }
      assert.equal(await countKeys(app), 3)
    })
  }

  test('returns the lost answer to a retry after the connection broke', async (t) => {
    const app = await server.newApp()
    const held = await lockApp(app)
    t.after(() => held.close())
    const sent = request({
      port: server.service.apiPort,
      method: 'POST',
      path: '/v3/apikeys',
      headers: {
        appid: app.id,
        apikey: app.apiKey,
        'content-type': 'application/json',
        'idempotency-key': 'lost',
      },
    })
    sent.on('error', () => {})
    sent.end(JSON.stringify(NEW_KEY))
    await until('the request runs', async () => (await held.waiting()) === 1)
    sent.destroy()
    await held.release()
    await until('the key exists', async () => (await countKeys(app)) === 3)

    const again = await create(app, 'lost')
    assert.equal(again.status, 200)
    assert.equal(await countKeys(app), 3)
    const { body: list } = await app.call('GET', '/v3/apikeys')
    assert.deepEqual(again.body.data, list.data[0])
  })

  test('returns 422 with another body, path or method', async () => {
    const app = await server.newApp()
    const { apiKey } = (await create(app, 'used')).body.data
    const headers = { 'Idempotency-Key': 'used' }
    for (const [method, path, body] of [
      ['POST', '/v3/apikeys', { ...NEW_KEY, name: 'Another' }],
      ['POST', '/v3/apikeys?x=1', NEW_KEY],
      ['PUT', `/v3/apikeys/${apiKey}`, NEW_KEY],
      ['DELETE', `/v3/apikeys/${apiKey}`, undefined],
    ] as const) {
      await refused(app.call(method, path, { body, headers }), 'ERR_IDEMPOTENCY_KEY_REUSED')
    }
    assert.equal(await countKeys(app), 3)
  })

  test('belongs to one app', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const mine = await create(app, 'shared')
    const theirs = await create(other, 'shared', { body: { ...NEW_KEY, name: 'Theirs' } })
    assert.equal(theirs.status, 200)
    assert.notEqual(theirs.body.data.apiKey, mine.body.data.apiKey)
  })

  test('belongs to one credential', async () => {
    const app = await server.newApp()
    const { apiKey } = await app.client.apiKeys.create(NEW_KEY)
    const first = await create(app, 'shared')
    const second = await create(app, 'shared', { apiKey, body: { ...NEW_KEY, name: 'Other' } })
    assert.equal(second.status, 200)
    assert.notEqual(second.body.data.apiKey, first.body.data.apiKey)
  })

  test('returns the first answer to the retry of a removal too', async () => {
    const app = await server.newApp()
    const { apiKey } = (await create(app, 'make')).body.data
    const remove = () =>
      app.call('DELETE', `/v3/apikeys/${apiKey}`, { headers: { 'idempotency-key': 'remove' } })
    const first = await remove()
    assert.equal(first.status, 200)
    assert.deepEqual((await remove()).body, first.body)
  })

  test('is ignored by GET', async () => {
    const app = await server.newApp()
    const headers = { 'Idempotency-Key': 'reading' }
    for (const total of [2, 3]) {
      const { status, body } = await app.call('GET', '/v3/apikeys', { headers })
      assert.equal(status, 200)
      assert.equal(body.meta.pagination.total, total)
      await create(app, 'reading')
    }
    const empty = { headers: { 'Idempotency-Key': '' } }
    assert.equal((await app.call('GET', '/v3/apikeys', empty)).status, 200)
  })

  for (const [what, key] of [
    ['an empty value', ''],
    ['256 characters', 'k'.repeat(256)],
  ] as const) {
    test(`refuses ${what}`, async () => {
      const app = await server.newApp()
      const { details } = await refused(create(app, key), 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(details ?? {}), ['Idempotency-Key'])
      assert.equal(await countKeys(app), 2)
    })
  }

  test('accepts 255 characters', async () => {
    const app = await server.newApp()
    assert.equal((await create(app, 'k'.repeat(255))).status, 200)
    assert.equal((await create(app, 'k'.repeat(255))).status, 200)
    assert.equal(await countKeys(app), 3)
  })

  test('stores no failures, so the next attempt runs', async () => {
    const app = await server.newApp()
    assert.equal((await create(app, 'retry', { body: { name: '', scope: 'x' } })).status, 400)
    assert.equal((await create(app, 'retry', { apiKey: app.authKey })).status, 403)
    for (let n = 0; n < 23; n++) await create(app, randomUUID())
    assert.equal((await create(app, 'retry')).status, 403)
    const { data } = await app.client.apiKeys.list({ perPage: 1 })
    await app.client.apiKeys.delete(data[0]?.apiKey ?? '')
    assert.equal((await create(app, 'retry')).status, 200)
  })

  test('expires after 24 hours', async () => {
    const app = await server.newApp()
    const first = await create(app, 'yesterday')
    const age = (interval: string) =>
      onCell(
        app,
        `update idempotency set created_at = now() - interval '${interval}' where app_no = $1`,
        [app.no],
      )
    await age('23 hours 59 minutes')
    assert.deepEqual((await create(app, 'yesterday')).body, first.body)
    await age('24 hours 1 second')
    const other = { body: { ...NEW_KEY, name: 'Another' } }
    const renewed = await create(app, 'yesterday', other)
    assert.equal(renewed.status, 200)
    assert.notEqual(renewed.body.data.apiKey, first.body.data.apiKey)
    assert.deepEqual((await create(app, 'yesterday', other)).body, renewed.body)
    assert.equal(await countKeys(app), 4)
  })

  test('seals the stored answers', async () => {
    const app = await server.newApp()
    const { apiKey } = (await create(app, 'sealed')).body.data
    const { rows: tables } = await onCell(
      app,
      `select table_name as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE'`,
    )
    assert.ok(tables.some(({ name }) => name === 'idempotency'))
    for (const { name } of tables) {
      const { rows } = await onCell(app, `select * from ${name}`)
      const text = Buffer.concat(rows.flatMap((row) => Object.values(row).map(toBytes)))
      assert.equal(text.includes(apiKey), false, name)
      assert.equal(text.includes(Buffer.from(apiKey, 'hex')), false, name)
    }
  })
})

const toBytes = (value: unknown) =>
  Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value) ?? '')

suite('Idempotency-Key on behalf of users', () => {
  let api: FastifyInstance
  let runs = 0
  before(async () => {
    const config = {
      scope: 'fullAccess',
      users: false,
      onBehalfOf: 'optional',
      rate: 'standard',
      feature: { none: 'It exists in this test alone.' },
    } as const
    const response = { 200: Type.Object({ uid: Type.String(), run: Type.Integer() }) }
    const schema = { operationId: 'touch', summary: 'Touch', response }
    const touch = () => async (scope: FastifyInstance) => {
      scope.post('/touch', { config, schema }, ({ actor }) =>
        write(server.deps, actor, async () => ({ uid: actor.uid ?? '', run: ++runs })),
      )
    }
    api = await buildApi(server.deps, { more: [touch] })
    await api.listen({ port: 0 })
  })
  after(() => api.close())

  test('belongs to one user', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob')
    const { port } = api.server.address() as AddressInfo
    const touch = async (onBehalfOf?: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}/v3/touch`, {
        method: 'POST',
        headers: {
          appid: app.id,
          apikey: app.apiKey,
          'idempotency-key': 'same',
          ...(onBehalfOf && { onBehalfOf }),
        },
      })
      assert.equal(answer.status, 200)
      return answer.json()
    }
    const answers = [await touch(), await touch('ann'), await touch('bob')]
    assert.deepEqual(answers, [
      { uid: '', run: 1 },
      { uid: 'ann', run: 2 },
      { uid: 'bob', run: 3 },
    ])
    assert.deepEqual([await touch(), await touch('ann'), await touch('bob')], answers)
  })
})
