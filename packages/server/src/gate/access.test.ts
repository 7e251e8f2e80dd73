import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { after, before, suite, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type Answer, call, refused, type TestApp, useServer } from '../../test/kit.ts'
import { buildApi } from '../api.ts'
import { readConfig } from '../config.ts'
import { type Service, serve } from '../serve.ts'

const server = useServer({ cells: ['us-1', 'eu-1'] })

/** fetch sets the header Host by itself; this sends any. */
async function callHost(
  host: string,
  headers: Record<string, string>,
  port = server.service.apiPort,
) {
  const sent = request({ port, path: '/v3/apikeys', headers: { host, ...headers } })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) }
}

function assertRefused(
  { status, body }: Pick<Answer, 'status' | 'body'>,
  expected: number,
  code: string,
) {
  assert.equal(status, expected)
  assert.equal(body.error.code, code)
  assert.ok(body.error.message)
}

suite('header apikey', () => {
  for (const name of ['apikey', 'apiKey', 'APIKEY', 'ApiKey']) {
    test(`is accepted as ${name}`, async () => {
      const { id, apiKey } = await server.newApp()
      const { status } = await callHost('localhost', { appid: id, [name]: apiKey })
      assert.equal(status, 200)
    })
  }

  test('is required: a missing or blank one returns 401 AUTH_ERR_EMPTY_APIKEY', async () => {
    const app = await server.newApp()
    for (const apiKey of [null, '', '   ']) {
      assertRefused(await app.call('GET', '/v3/apikeys', { apiKey }), 401, 'AUTH_ERR_EMPTY_APIKEY')
    }
  })

  test("must be known: an unknown, removed or another app's key returns 401 AUTH_ERR_APIKEY_NOT_FOUND", async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const body = { name: 'Short-lived', scope: 'fullAccess' } as const
    const removed = (await app.client.apiKeys.create(body)).apiKey
    await app.client.apiKeys.delete(removed)
    // Known and cached in this process, but another app's.
    await other.client.apiKeys.list()
    const values = ['0'.repeat(40), 'x', 'ключ', app.apiKey.toUpperCase(), other.apiKey, removed]
    for (const value of values) {
      const apiKey = Buffer.from(value).toString('latin1')
      const answer = await app.call('GET', '/v3/apikeys', { apiKey })
      assertRefused(answer, 401, 'AUTH_ERR_APIKEY_NOT_FOUND')
    }
  })

  test('is never repeated in an error', async () => {
    const app = await server.newApp()
    const apiKey = 'f'.repeat(40)
    const { body } = await app.call('GET', '/v3/apikeys', { apiKey })
    assert.equal(JSON.stringify(body).includes(apiKey), false)
  })
})

suite('header onBehalfOf', () => {
  test('must be a uid: anything else returns 400 before any lookup', async () => {
    const app = await server.newApp()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    const body = { receiver: 'amira', receiverType: 'user', data: { text: 'Hello' } }
    // Longer than an index entry may be, and incompressible.
    const noise = randomBytes(2_250).toString('base64url')
    for (const onbehalfof of [noise, 'a'.repeat(101), 'a b', 'a.b', '"amira"', '\u00e9', 'a, b']) {
      for (const answer of [
        await app.as(onbehalfof).call('POST', '/v3/messages', { body }),
        await app.as(onbehalfof).call('GET', '/v3/conversations'),
      ]) {
        assertRefused(answer, 400, 'ERR_BAD_REQUEST')
        assert.match(answer.body.error.details.onBehalfOf[0], /must be a uid/)
      }
    }
    const sent = await app.as(' AMIRA ').call('GET', '/v3/conversations')
    assert.equal(sent.status, 200)
  })

  test('must not be blank, so that a request never acts as the app by mistake', async () => {
    const app = await server.newApp()
    const request = app.as(' ').call('GET', '/v3/conversations')
    const { details } = await refused(request, 'ERR_BAD_REQUEST')
    assert.deepEqual(Object.keys(details ?? {}), ['onBehalfOf'])
  })
})

suite('a body', () => {
  test("with a key such as __proto__ gets a different error than a body that isn't JSON", async () => {
    const app = await server.newApp()
    const faultOf = async (body: string) =>
      (await app.call('POST', '/v3/users', { body })).body.error.details.body[0]
    assert.match(await faultOf('{"uid":"a"'), /not valid JSON/)
    const poisoned = '{"uid":"a","name":"A","metadata":{"__proto__":{"a":1}}}'
    assert.match(await faultOf(poisoned), /__proto__/)
    assert.match(await faultOf('{"constructor":{"prototype":{}}}'), /constructor/)
  })
})

suite('the app of a request', () => {
  test('is found by host name, in any case, with and without port', async () => {
    const { id, apiKey: apikey } = await server.newApp()
    const host = `${id}.api-us.localhost`
    const ofCalls = `${id}.call-us.localhost`
    const ports = [`${host}:3000`, `${host.toUpperCase()}:80`]
    for (const name of [host, host.toUpperCase(), ...ports, ofCalls]) {
      assert.equal((await callHost(name, { apikey })).status, 200, name)
    }
  })

  test('is found by header on the bare host, in any case', async () => {
    const { id, apiKey: apikey } = await server.newApp()
    for (const [header, value] of Object.entries({
      appId: id,
      APPID: id.toUpperCase(),
      appid: ` ${id} `,
    })) {
      assert.equal((await callHost('localhost:3000', { apikey, [header]: value })).status, 200)
    }
  })

  test('is the one of the host name if the header names another', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const { body } = await callHost(`${app.id}.api-us.localhost`, {
      apikey: app.apiKey,
      appid: other.id,
    })
    assert.equal(body.data[1].apiKey, app.apiKey)
  })

  test('is required: without one the request returns 400 AUTH_ERR_EMPTY_APPID', async () => {
    const { id, apiKey: apikey } = await server.newApp()
    const hosts = [
      'localhost',
      'api-us.localhost',
      `${id}.localhost`,
      `${id}.api-us.elsewhere`,
      `${id}.api-us.notlocalhost`,
    ]
    for (const host of hosts)
      assertRefused(await callHost(host, { apikey }), 400, 'AUTH_ERR_EMPTY_APPID')
    assertRefused(await callHost('localhost', { apikey, appid: ' ' }), 400, 'AUTH_ERR_EMPTY_APPID')
  })

  test('must be known: any other returns 404 AUTH_ERR_INVALID_APPID', async () => {
    const { apiKey: apikey } = await server.newApp()
    for (const appid of ['0123456789abcdef', '__proto__', `'; --`, 'x'.repeat(5000)]) {
      const answer = await callHost('localhost', { apikey, appid })
      assertRefused(answer, 404, 'AUTH_ERR_INVALID_APPID')
      assert.equal('devMessage' in answer.body.error, false)
      assert.ok(answer.body.error.message.length < 200)
    }
  })

  test("in another region than the host name's returns 404 that names the right region", async () => {
    const { id, apiKey: apikey } = await server.newApp('eu')
    assert.equal((await callHost(`${id}.api-eu.localhost`, { apikey })).status, 200)
    for (const region of ['us', 'in', 'nowhere']) {
      const answer = await callHost(`${id}.api-${region}.localhost`, { apikey })
      assertRefused(answer, 404, 'AUTH_ERR_INVALID_APPID')
      assert.match(answer.body.error.devMessage, /region eu\b/)
    }
  })
})

suite('a process that serves only the region us', () => {
  let us: Service
  before(async () => {
    us = await serve(readConfig({ ...server.env, LOQUAT_REGIONS: 'us' }), ['api'])
  })
  after(() => us.drain())

  test('names the region of an app in eu', async () => {
    const { id, apiKey: apikey } = await server.newApp('eu')
    for (const host of [`${id}.api-us.localhost`, `${id}.api-eu.localhost`, 'localhost']) {
      const answer = await callHost(host, { apikey, appid: id }, us.apiPort)
      assertRefused(answer, 404, 'AUTH_ERR_INVALID_APPID')
      assert.match(answer.body.error.devMessage, /region eu\b/)
    }
    const { apiKey, call: callUs } = await server.newApp('us')
    assert.equal(
      (await callUs('GET', '/v3/apikeys', { apiKey, port: us.apiPort ?? 0 })).status,
      200,
    )
  })
})

suite('a request that matches no operation', () => {
  const cases: [string, string, number, string][] = [
    ['GET', '/', 404, 'ERR_INVALID_API_VERSION'],
    ['GET', '/v2/apikeys', 404, 'ERR_INVALID_API_VERSION'],
    ['POST', '/v33/apikeys', 404, 'ERR_INVALID_API_VERSION'],
    ['GET', '/apikeys', 404, 'ERR_INVALID_API_VERSION'],
    ['GET', '/v3', 404, 'ERR_API_NOT_FOUND'],
    ['GET', '/v3?x=1', 404, 'ERR_API_NOT_FOUND'],
    ['GET', '/v3/nothing', 404, 'ERR_API_NOT_FOUND'],
    ['PATCH', '/v3/apikeys', 404, 'ERR_API_NOT_FOUND'],
    ['PROPFIND', '/v3/apikeys', 404, 'ERR_API_NOT_FOUND'],
    ['OPTIONS', '/v3/apikeys', 404, 'ERR_API_NOT_FOUND'],
    ['GET', '/v3/apikeys/%', 400, 'ERR_BAD_REQUEST'],
  ]
  for (const [method, path, status, code] of cases) {
    test(`returns ${status} ${code} for ${method} ${path}`, async () => {
      const answer = await call(server.service.apiPort ?? 0, method, path, { headers: {} })
      assertRefused(answer, status, code)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
      assert.ok(answer.headers.get('x-request-id'))
    })
  }

  test('returns an error of the usual shape even if it is not HTTP', async () => {
    const socket = connect(server.service.apiPort ?? 0, '127.0.0.1')
    socket.end('hello\r\n\r\n')
    let text = ''
    for await (const chunk of socket) text += chunk
    assert.match(text, /^HTTP\/1\.1 400 /)
    assert.equal(JSON.parse(text.split('\r\n\r\n')[1] ?? '').error.code, 'ERR_BAD_REQUEST')
  })
})

suite('x-request-id', () => {
  const idFor = async (given?: string) => {
    const headers = given === undefined ? {} : { 'x-request-id': given }
    const answer = await call(server.service.apiPort ?? 0, 'GET', '/v3/nothing', { headers })
    return answer.headers.get('x-request-id') ?? ''
  }

  test('is kept if it is harmless', async () => {
    for (const id of ['a', 'Req_1.2-3', 'x'.repeat(128)]) assert.equal(await idFor(id), id)
  })

  test('is generated otherwise, a new one each time', async () => {
    const made = []
    for (const id of [undefined, '', 'x'.repeat(129), 'a b', '{"a":1}', 'é'])
      made.push(await idFor(id))
    for (const id of made) assert.match(id, /^[0-9a-f-]{36}$/)
    assert.equal(new Set(made).size, made.length)
  })
})

suite('a deprecated operation', () => {
  let api: FastifyInstance
  let app: TestApp
  before(async () => {
    const config = {
      scope: 'fullAccess',
      users: false,
      onBehalfOf: 'ignored',
      rate: 'standard',
      deprecated: { since: '2026-02-03', successors: ['/v3/apikeys'] },
    } as const
    const response = { 200: Type.Object({}) }
    const schema = { operationId: 'oldThing', tags: ['users'], summary: 'Old', response }
    const old = () => async (scope: FastifyInstance) => {
      scope.get('/old', { config, schema }, async () => ({}))
    }
    api = await buildApi(server.deps, { more: [old] })
    await api.listen({ port: 0 })
    app = await server.newApp()
  })
  after(() => api.close())

  const get = async (path: string, apiKey?: string) => {
    const { port } = api.server.address() as AddressInfo
    return fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { appid: app.id, apikey: apiKey ?? app.apiKey },
    })
  }

  test('announces it in three headers, whatever the status', async () => {
    for (const [answer, status] of [
      [await get('/v3/old'), 200],
      [await get('/v3/old', 'unknown'), 401],
    ] as const) {
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('deprecation'), `@${Date.UTC(2026, 1, 3) / 1000}`)
      assert.equal(answer.headers.get('sunset'), 'Wed, 03 Feb 2027 00:00:00 GMT')
      assert.equal(answer.headers.get('link'), '</v3/apikeys>; rel="successor-version"')
    }
    assert.equal((await get('/v3/apikeys')).headers.get('deprecation'), null)
  })

  test('names its replacement in the OpenAPI document', () => {
    const { paths = {} } = JSON.parse(JSON.stringify(api.swagger())) as {
      paths?: Record<string, Record<string, object>>
    }
    const old = paths['/v3/old']?.get as { deprecated?: boolean; description?: string }
    assert.equal(old.deprecated, true)
    assert.match(old.description ?? '', /2026-02-03.*2027-02-03.*\/v3\/apikeys/)
    const current = paths['/v3/apikeys']?.get as { deprecated?: boolean }
    assert.ok(!current.deprecated)
  })
})
