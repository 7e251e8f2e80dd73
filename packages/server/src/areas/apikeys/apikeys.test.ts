import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { newOperator } from '../../../test/operators.ts'
import { refuseOwnKey } from './policy.ts'

const server = useServer()

const create = (app: TestApp, body: unknown, options = {}) =>
  app.call('POST', '/v3/apikeys', { body, ...options })

suite('createApiKey', () => {
  test('returns the record', async () => {
    const app = await server.newApp()
    const before = Math.floor(Date.now() / 1000)
    const { status, body } = await create(app, { name: 'Billing worker', scope: 'authOnly' })

    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body.data).sort(), ['apiKey', 'createdAt', 'name', 'scope'])
    assert.match(body.data.apiKey, /^[0-9a-f]{40}$/)
    assert.equal(body.data.name, 'Billing worker')
    assert.equal(body.data.scope, 'authOnly')
    assert.ok(body.data.createdAt >= before && body.data.createdAt <= before + 60)
    assert.deepEqual(await app.eventTypes(), ['app.created', 'apikey.created'])
  })

  test('creates a fullAccess key that can create keys at once', async () => {
    const app = await server.newApp()
    const { body } = await create(app, { name: 'Second', scope: 'fullAccess' })
    const again = await create(
      app,
      { name: 'Third', scope: 'authOnly' },
      { apiKey: body.data.apiKey },
    )
    assert.equal(again.status, 200)
  })

  const names: [string, string, boolean][] = [
    ['100 letters', 'a'.repeat(100), true],
    ['101 letters', 'a'.repeat(101), false],
    ['50 emojis', '😀'.repeat(50), true],
    ['51 emojis', '😀'.repeat(51), false],
    ['50 families', '👨‍👩‍👧‍👦'.repeat(50), true],
    ['51 families', '👨‍👩‍👧‍👦'.repeat(51), false],
    ['50 flags', '🇪🇺'.repeat(50), true],
    ['51 flags', '🇪🇺'.repeat(51), false],
    ['98 letters and an emoji', `${'ä'.repeat(98)}😀`, true],
    ['99 letters and an emoji', `${'ä'.repeat(99)}😀`, false],
    ['100 letters beyond the BMP', '𠮷'.repeat(100), true],
    ['101 letters beyond the BMP', '𠮷'.repeat(101), false],
    ['100 letters between spaces', `  ${'a'.repeat(100)}  `, true],
    ['an empty name', '', false],
    ['only spaces', ' \u00a0\t', false],
    ['Arabic', 'مفتاح الفوترة', true],
    ['Chinese', '计费密钥', true],
    ['Thai', 'กุญแจการเรียกเก็บเงิน', true],
    ['Hindi', 'बिलिंग कुंजी', true],
    ['markup', `<script>alert("x")</script> '; drop table api_keys; --`, true],
    ['U+0000', 'a\u0000b', false],
    ['half of a surrogate pair', 'a\ud83d', false],
  ]
  for (const [what, name, accepted] of names) {
    test(`${accepted ? 'accepts' : 'refuses'} as its name: ${what}`, async () => {
      const app = await server.newApp()
      const { apiKeys } = app.client
      if (!accepted) {
        const request = apiKeys.create({ name, scope: 'authOnly' })
        const { details } = await refused(request, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(details ?? {}), ['name'])
        return
      }
      const created = await apiKeys.create({ name, scope: 'authOnly' })
      assert.equal(created.name, name.trim())
      assert.deepEqual(await apiKeys.get(created.apiKey), created)
      assert.deepEqual((await apiKeys.list()).data[0], created)
    })
  }

  const faults: [string, unknown, string[]][] = [
    ['a missing name', { scope: 'authOnly' }, ['name']],
    ['a missing scope', { name: 'a' }, ['scope']],
    ['a missing name and scope', {}, ['name', 'scope']],
    ['an unknown scope', { name: 'a', scope: 'everything' }, ['scope']],
    ['a number as the name', { name: 123, scope: 'authOnly' }, ['name']],
    ['null as the name', { name: null, scope: 'authOnly' }, ['name']],
    ['an object as the name', { name: { toString: 'x' }, scope: 'authOnly' }, ['name']],
    ['an array as the scope', { name: 'a', scope: ['authOnly'] }, ['scope']],
    ['an array as the body', [], ['body']],
    ['null as the body', 'null', ['body']],
    ['a string as the body', '"text"', ['body']],
    ['invalid JSON', '{"name": ', ['body']],
    [
      'a prototype in the body',
      '{"__proto__": {"a": 1}, "name": "a", "scope": "authOnly"}',
      ['body'],
    ],
    ['no body', undefined, ['body']],
    ['a name of 200 levels', `{"name":${'['.repeat(200)}${']'.repeat(200)}}`, ['name']],
    ['a body of 200 levels', '['.repeat(200) + ']'.repeat(200), ['0']],
  ]
  for (const [what, given, fields] of faults) {
    test(`refuses ${what}`, async () => {
      const app = await server.newApp()
      const { details } = await refused(create(app, given), 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(details ?? {}).sort(), fields)
      assert.deepEqual(await app.eventTypes(), ['app.created'])
    })
  }

  test('accepts JSON with or without a charset, and refuses any other Content-Type', async () => {
    const app = await server.newApp()
    const text = JSON.stringify({ name: 'a', scope: 'authOnly' })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const request = create(app, text, { headers: { 'content-type': type } })
      assert.ok((await refused(request, 'ERR_BAD_REQUEST')).details?.['Content-Type'])
    }
    const type = 'application/json; charset=utf-8'
    assert.equal((await create(app, text, { headers: { 'content-type': type } })).status, 200)
  })

  test('refuses a body over the size limit', async () => {
    const app = await server.newApp()
    const body = { name: 'a', scope: 'authOnly', more: 'x'.repeat(11_000) }
    await refused(create(app, body), 'ERR_PAYLOAD_TOO_LARGE')
  })

  test('ignores unknown fields', async () => {
    const app = await server.newApp()
    const { status, body } = await create(app, {
      name: 'a',
      scope: 'authOnly',
      apiKey: 'mine',
      x: 1,
    })
    assert.equal(status, 200)
    assert.notEqual(body.data.apiKey, 'mine')
    assert.equal('x' in body.data, false)
  })

  test('refuses an authOnly key', async () => {
    const app = await server.newApp()
    const { apiKeys } = app.clientWith(app.authKey)
    await refused(apiKeys.create({ name: 'a', scope: 'authOnly' }), 'AUTH_ERR_NO_ACCESS')
  })

  test('creates exactly 25 keys when 30 requests arrive at once', async () => {
    const app = await server.newApp()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => create(app, { name: `Key ${n}`, scope: 'authOnly' })),
    )
    const failed = answers.filter(({ status }) => status !== 200)
    assert.equal(failed.length, 7)
    for (const { status, body } of failed) {
      assert.equal(status, 403)
      assert.equal(body.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
    }
    const { data, meta } = await app.client.apiKeys.list()
    assert.equal(meta.pagination.total, 25)
    assert.equal(new Set(data.map((key: { apiKey: string }) => key.apiKey)).size, 25)
    assert.equal((await app.eventTypes()).length, 1 + 23)
  })
})

suite('listApiKeys', () => {
  test('shows the two keys of a new app, newest first', async () => {
    const app = await server.newApp()
    const { data, meta } = await app.client.apiKeys.list()
    assert.deepEqual(
      data.map(({ apiKey, scope }: { apiKey: string; scope: string }) => [apiKey, scope]),
      [
        [app.authKey, 'authOnly'],
        [app.apiKey, 'fullAccess'],
      ],
    )
    assert.deepEqual(meta.pagination, {
      total: 2,
      count: 2,
      per_page: 100,
      current_page: 1,
      total_pages: 1,
    })
  })

  test('filters by scope and name, and pages', async () => {
    const app = await server.newApp()
    for (const name of ['Ärger 100%', 'ärger_2', 'Other'])
      await create(app, { name, scope: 'authOnly' })
    const names = async (query: string) =>
      (await app.call('GET', `/v3/apikeys?${query}`)).body.data.map(
        (key: { name: string }) => key.name,
      )

    assert.deepEqual(await names('scope=fullAccess'), ['REST key'])
    assert.deepEqual(await names('searchKey=%C3%84RGER'), ['ärger_2', 'Ärger 100%'])
    assert.deepEqual(await names('searchKey=%25'), ['Ärger 100%'])
    assert.deepEqual(await names('searchKey=_'), ['ärger_2'])
    assert.deepEqual(await names('searchKey=nothing'), [])
    assert.deepEqual(await names('perPage=2&page=2'), ['Ärger 100%', 'Auth key'])
    assert.deepEqual(await names('perPage=2&page=9'), [])
  })

  for (const query of [
    'perPage=0',
    'perPage=1001',
    'page=0',
    'page=x',
    'perPage=1e2',
    'perPage=',
    'scope=x',
    'page=1&page=2',
    'searchKey=%00',
  ]) {
    test(`refuses ${query}`, async () => {
      const request = (await server.newApp()).call('GET', `/v3/apikeys?${query}`)
      const { details } = await refused(request, 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(details ?? {}), [query.split('=')[0]])
    })
  }
})

suite('updateApiKey', () => {
  test('changes the name and scope, and keeps the key', async () => {
    const app = await server.newApp()
    const { apiKey, createdAt } = (await create(app, { name: 'Old', scope: 'authOnly' })).body.data
    const path = `/v3/apikeys/${apiKey}`

    const renamed = await app.call('PUT', path, { body: { name: ' New ' } })
    assert.deepEqual(renamed.body.data, { apiKey, name: 'New', scope: 'authOnly', createdAt })
    assert.equal((await app.call('GET', '/v3/apikeys', { apiKey })).status, 403)
    await app.call('PUT', path, { body: { scope: 'fullAccess' } })
    assert.equal((await app.call('GET', '/v3/apikeys', { apiKey })).status, 200)
    await app.call('PUT', path, { body: { scope: 'authOnly' } })
    assert.equal((await app.call('GET', '/v3/apikeys', { apiKey })).status, 403)
    assert.equal((await app.call('PUT', path, { body: {} })).status, 200)
    assert.equal((await app.call('PUT', path, { body: { name: '' } })).status, 400)
    assert.deepEqual((await app.eventTypes()).slice(-3), [
      'apikey.updated',
      'apikey.updated',
      'apikey.updated',
    ])
  })

  test('refuses the key that makes the request, as deleteApiKey does', async () => {
    const { client, apiKey } = await server.newApp()
    await refused(client.apiKeys.update(apiKey, { name: 'x' }), 'ERR_APIKEY_NO_SELF_ACTION')
    await refused(client.apiKeys.delete(apiKey), 'ERR_APIKEY_NO_SELF_ACTION')
  })
})

suite('deleteApiKey', () => {
  test('revokes the key at once, everywhere', async () => {
    const app = await server.newApp()
    const { apiKey } = (await create(app, { name: 'Gone', scope: 'fullAccess' })).body.data
    assert.equal((await app.call('GET', '/v3/apikeys', { apiKey })).status, 200)

    const { apiKeys } = app.client
    const removed = await apiKeys.delete(apiKey)
    assert.deepEqual(removed, { success: true, message: 'API key deleted.' })
    await refused(app.clientWith(apiKey).apiKeys.list(), 'AUTH_ERR_APIKEY_NOT_FOUND')
    await refused(apiKeys.get(apiKey), 'ERR_APIKEY_NOT_FOUND')
    await refused(apiKeys.delete(apiKey), 'ERR_APIKEY_NOT_FOUND')
    assert.equal((await app.eventTypes()).at(-1), 'apikey.deleted')
  })

  test('succeeds for at least one of two keys that remove each other at once', async () => {
    const app = await server.newApp()
    const { apiKey } = (await create(app, { name: 'Rival', scope: 'fullAccess' })).body.data
    const answers = await Promise.all([
      app.call('DELETE', `/v3/apikeys/${apiKey}`),
      app.call('DELETE', `/v3/apikeys/${app.apiKey}`, { apiKey }),
    ])
    assert.ok(answers.some(({ status }) => status === 200))
  })
})

suite('which API keys a key may change', () => {
  const [own, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  for (const [what, key, code] of [
    ['itself', Buffer.from(own), 'ERR_APIKEY_NO_SELF_ACTION'],
    ['another key', other, undefined],
    ['a key whose hash only begins like its own', own.subarray(0, 31), undefined],
  ] as const) {
    test(`${what}: ${code ?? 'allowed'}`, () => {
      assert.equal(refuseOwnKey({ credential: own }, key)?.code, code)
    })
  }
})

suite('an API key in the database', () => {
  test("can't be replaced by another secret to have it shown", async () => {
    const app = await server.newApp()
    const operator = await newOperator(server)
    await operator.client.totp.start({ password: operator.password })
    const { db } = server.deps.directory
    const [operatorRow] = await rows<{ totp_pending_sealed: Buffer }>(
      db,
      `select totp_pending_sealed from operators where operator_no = ${operator.no}`,
    )
    const totp = operatorRow?.totp_pending_sealed
    assert.ok(totp)
    await rows(app.cell.db, `update api_keys set key_sealed = $1 where app_no = ${app.no}`, [totp])
    const { status, body } = await app.call('GET', '/v3/apikeys')
    assert.equal(status, 500)
    assert.deepEqual(Object.keys(body), ['error'])
  })

  test("can't be replaced by another key of its app to have that one shown", async () => {
    const app = await server.newApp()
    const { apiKey } = await app.client.apiKeys.create({ name: 'Other', scope: 'authOnly' })
    const hash = server.deps.secrets.hash(apiKey)
    await rows(
      app.cell.db,
      `update api_keys set key_sealed = (
         select key_sealed from api_keys where app_no = $1 and scope = 'fullAccess')
       where app_no = $1 and key_hash = $2`,
      [app.no, hash],
    )
    const { status, body } = await app.call('GET', `/v3/apikeys/${apiKey}`)
    assert.deepEqual([status, Object.keys(body)], [500, ['error']])
    assert.ok(!JSON.stringify(body).includes(app.apiKey))
    assert.equal((await app.call('GET', `/v3/apikeys/${app.apiKey}`)).status, 200)
  })
})
