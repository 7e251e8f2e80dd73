import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'

const server = useServer()

const create = (app: TestApp, body: unknown, options = {}) =>
  app.call('POST', '/v3/apikeys', { body, ...options })

suite('createApiKey', () => {
  test('answers with the record of the spec', async () => {
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

  test('a new fullAccess key works at once, and can create keys', async () => {
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
    ['empty', '', false],
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
    test(`name: ${what} ${accepted ? 'passes and comes back' : 'is refused'}`, async () => {
      const app = await server.newApp()
      const { status, body } = await create(app, { name, scope: 'authOnly' })
      if (!accepted) {
        assert.equal(status, 400)
        assert.equal(body.error.code, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(body.error.details), ['name'])
        return
      }
      assert.equal(status, 200)
      const one = await app.call('GET', `/v3/apikeys/${body.data.apiKey}`)
      assert.deepEqual(one.body.data, body.data)
      assert.equal(one.body.data.name, name.trim())
      const list = await app.call('GET', '/v3/apikeys')
      assert.deepEqual(list.body.data[0], body.data)
    })
  }

  const faults: [string, unknown, string[]][] = [
    ['missing name', { scope: 'authOnly' }, ['name']],
    ['missing scope', { name: 'a' }, ['scope']],
    ['both missing', {}, ['name', 'scope']],
    ['unknown scope', { name: 'a', scope: 'everything' }, ['scope']],
    ['name a number', { name: 123, scope: 'authOnly' }, ['name']],
    ['name null', { name: null, scope: 'authOnly' }, ['name']],
    ['name an object', { name: { toString: 'x' }, scope: 'authOnly' }, ['name']],
    ['scope a list', { name: 'a', scope: ['authOnly'] }, ['scope']],
    ['body a list', [], ['body']],
    ['body null', 'null', ['body']],
    ['body a text', '"text"', ['body']],
    ['not JSON', '{"name": ', ['body']],
    [
      'prototype in the body',
      '{"__proto__": {"a": 1}, "name": "a", "scope": "authOnly"}',
      ['body'],
    ],
    ['no body', undefined, ['body']],
    ['200 levels', `{"name":${'['.repeat(200)}${']'.repeat(200)}}`, ['name']],
    ['200 levels of lists', '['.repeat(200) + ']'.repeat(200), ['0']],
  ]
  for (const [what, given, fields] of faults) {
    test(`${what}: 400 with details`, async () => {
      const app = await server.newApp()
      const { status, body } = await create(app, given)
      assert.equal(status, 400)
      assert.equal(body.error.code, 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(body.error.details).sort(), fields)
      assert.deepEqual(await app.eventTypes(), ['app.created'])
    })
  }

  test('another Content-Type is refused, with and without a charset ours is taken', async () => {
    const app = await server.newApp()
    const text = JSON.stringify({ name: 'a', scope: 'authOnly' })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const { status, body } = await create(app, text, { headers: { 'content-type': type } })
      assert.equal(status, 400)
      assert.equal(body.error.code, 'ERR_BAD_REQUEST')
      assert.ok(body.error.details['Content-Type'])
    }
    const type = 'application/json; charset=utf-8'
    assert.equal((await create(app, text, { headers: { 'content-type': type } })).status, 200)
  })

  test('a body over the limit is 413', async () => {
    const app = await server.newApp()
    const { status, body } = await create(app, {
      name: 'a',
      scope: 'authOnly',
      more: 'x'.repeat(11_000),
    })
    assert.equal(status, 413)
    assert.equal(body.error.code, 'ERR_PAYLOAD_TOO_LARGE')
  })

  test('unknown fields are ignored and not answered', async () => {
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

  test('an authOnly key may not', async () => {
    const app = await server.newApp()
    const { status, body } = await create(
      app,
      { name: 'a', scope: 'authOnly' },
      { apiKey: app.authKey },
    )
    assert.equal(status, 403)
    assert.equal(body.error.code, 'AUTH_ERR_NO_ACCESS')
  })

  test('30 at once on a fresh app end with exactly 25 keys', async () => {
    const app = await server.newApp()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => create(app, { name: `Key ${n}`, scope: 'authOnly' })),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    assert.equal(refused.length, 7)
    for (const { status, body } of refused) {
      assert.equal(status, 403)
      assert.equal(body.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
    }
    const { body } = await app.call('GET', '/v3/apikeys')
    assert.equal(body.meta.pagination.total, 25)
    assert.equal(new Set(body.data.map((key: { apiKey: string }) => key.apiKey)).size, 25)
    assert.equal((await app.eventTypes()).length, 1 + 23)
  })
})

suite('listApiKeys', () => {
  test('shows the two keys of a fresh app, newest first', async () => {
    const app = await server.newApp()
    const { body } = await app.call('GET', '/v3/apikeys')
    assert.deepEqual(
      body.data.map(({ apiKey, scope }: { apiKey: string; scope: string }) => [apiKey, scope]),
      [
        [app.authKey, 'authOnly'],
        [app.apiKey, 'fullAccess'],
      ],
    )
    assert.deepEqual(body.meta.pagination, {
      total: 2,
      count: 2,
      per_page: 100,
      current_page: 1,
      total_pages: 1,
    })
  })

  test('filters by scope and text, and pages', async () => {
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
    test(`${query} is refused`, async () => {
      const app = await server.newApp()
      const { status, body } = await app.call('GET', `/v3/apikeys?${query}`)
      assert.equal(status, 400)
      assert.deepEqual(Object.keys(body.error.details), [query.split('=')[0]])
    })
  }
})

suite('getApiKey, updateApiKeyRow, deleteApiKey', () => {
  test('change name and scope; the key value stays', async () => {
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

  test('a removed key is refused at once, everywhere', async () => {
    const app = await server.newApp()
    const { apiKey } = (await create(app, { name: 'Gone', scope: 'fullAccess' })).body.data
    assert.equal((await app.call('GET', '/v3/apikeys', { apiKey })).status, 200)

    const removed = await app.call('DELETE', `/v3/apikeys/${apiKey}`)
    assert.deepEqual(removed.body, { data: { success: true, message: 'API key deleted.' } })
    const refused = await app.call('GET', '/v3/apikeys', { apiKey })
    assert.equal(refused.status, 401)
    assert.equal(refused.body.error.code, 'AUTH_ERR_APIKEY_NOT_FOUND')
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await app.call(method, `/v3/apikeys/${apiKey}`)
      assert.equal(status, 404)
      assert.equal(body.error.code, 'ERR_APIKEY_NOT_FOUND')
    }
    assert.equal((await app.eventTypes()).at(-1), 'apikey.deleted')
  })

  test('a key can neither change nor remove itself', async () => {
    const app = await server.newApp()
    for (const [method, body] of [
      ['PUT', { name: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await app.call(method, `/v3/apikeys/${app.apiKey}`, { body })
      assert.equal(answer.status, 403)
      assert.equal(answer.body.error.code, 'ERR_APIKEY_NO_SELF_ACTION')
    }
  })

  test('two that remove each other at once: both can go, neither hangs', async () => {
    const app = await server.newApp()
    const { apiKey } = (await create(app, { name: 'Rival', scope: 'fullAccess' })).body.data
    const answers = await Promise.all([
      app.call('DELETE', `/v3/apikeys/${apiKey}`),
      app.call('DELETE', `/v3/apikeys/${app.apiKey}`, { apiKey }),
    ])
    assert.ok(answers.some(({ status }) => status === 200))
  })
})
