import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { after, before, mock, suite, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type Answer, type TestApp, useServer } from '../../test/kit.ts'
import { buildApi } from '../api.ts'
import { storeSettings } from '../areas/settings/actions.ts'

const server = useServer()

// The clock is stopped in the middle of a minute, because a new minute starts a new count.
const now = Math.floor(Date.now() / 60_000) * 60_000 + 30_000
before(() => mock.timers.enable({ apis: ['Date'], now }))
after(() => mock.timers.reset())

const list = (app: TestApp) => app.call('GET', '/v3/apikeys')

async function newLimitedApp(changes: Parameters<typeof storeSettings>[2]): Promise<TestApp> {
  const app = await server.newApp()
  await storeSettings(server.deps, app, changes)
  return app
}

function assertCounted({ headers }: Pick<Answer, 'headers'>, limit: number, left: number) {
  assert.equal(headers.get('x-rate-limit'), String(limit))
  assert.equal(headers.get('x-rate-limit-remaining'), String(left))
  assert.equal(headers.get('ratelimit-policy'), `"standard";q=${limit};w=60`)
  assert.equal(headers.get('ratelimit'), `"standard";r=${left};t=30`)
}

suite('rate limits', () => {
  test('appear with the remaining requests in every answer to a valid key', async () => {
    const app = await newLimitedApp({ 'rate.standard': 10 })
    assertCounted(await list(app), 10, 9)
    assertCounted(await app.call('GET', '/v3/apikeys?page=0'), 10, 8)
    assertCounted(await app.call('GET', '/v3/apikeys/unknown'), 10, 7)
    assertCounted(await app.call('POST', '/v3/apikeys', { body: '{' }), 10, 6)
    const body = { name: 'x', scope: 'authOnly', more: 'x'.repeat(20_000) }
    assertCounted(await app.call('POST', '/v3/apikeys', { body }), 10, 5)
    assertCounted(await app.call('GET', '/v3/apikeys', { apiKey: app.authKey }), 10, 4)
    const unknown = await app.call('GET', '/v3/apikeys', { apiKey: 'unknown' })
    assert.equal(unknown.headers.get('x-rate-limit'), null)
    assertCounted(await list(app), 10, 3)
  })

  test('return 429 with the time to retry, and leave other apps alone', async () => {
    const app = await newLimitedApp({ 'rate.standard': 5 })
    const other = await server.newApp()
    const answers = await Promise.all(Array.from({ length: 12 }, () => list(app)))
    assert.equal(answers.filter(({ status }) => status === 200).length, 5)
    const limited = answers.find(({ status }) => status === 429)
    assert.ok(limited)
    assert.equal(limited.body.error.code, 'ERR_TOO_MANY_REQUESTS')
    assertCounted(limited, 5, 0)
    assert.equal(limited.headers.get('retry-after'), '30')
    assert.equal(limited.headers.get('x-rate-limit-reset'), String(now / 1000 + 30))
    assert.equal(answers.find(({ status }) => status === 200)?.headers.get('retry-after'), null)
    assert.equal((await list(other)).status, 200)
    assert.equal((await list(app)).status, 429)
  })

  test('stop requests before they have any effect', async () => {
    const app = await newLimitedApp({ 'rate.standard': 1 })
    await list(app)
    const body = { name: 'x', scope: 'authOnly' }
    assert.equal((await app.call('POST', '/v3/apikeys', { body })).status, 429)
    assert.equal((await app.eventTypes()).includes('apikey.created'), false)
  })

  test('change at once in the process that changes them', async () => {
    const app = await newLimitedApp({ 'rate.standard': 1 })
    await list(app)
    assert.equal((await list(app)).status, 429)
    await storeSettings(server.deps, app, { 'rate.standard': 3 })
    assertCounted(await list(app), 3, 1)
    await storeSettings(server.deps, app, { 'rate.standard': undefined })
    assertCounted(await list(app), 20_000, 20_000 - 3)
  })
})

suite('unknown credentials', () => {
  const randomKey = () => randomBytes(20).toString('hex')
  const tryKey = (app: TestApp, apiKey = randomKey()) => app.call('GET', '/v3/apikeys', { apiKey })
  const tryToken = (app: TestApp, authtoken: string) =>
    app.call('GET', '/v3/conversations', { apiKey: null, headers: { authtoken } })

  test('have a rate limit that known ones do not share', async () => {
    const app = await newLimitedApp({ 'rate.failed': 4 })
    const other = await server.newApp()
    const { authToken } = await app.client.users.create({
      ...{ uid: 'amira', name: 'Amira', withAuthToken: true },
    })
    assert.ok(authToken)
    assert.equal((await tryToken(app, authToken)).status, 200)
    const statuses = []
    for (let n = 0; n < 3; n++) {
      statuses.push((await tryKey(app)).status, (await tryToken(app, randomKey())).status)
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429])
    const { body, headers } = await tryKey(app)
    assert.equal(body.error.code, 'ERR_TOO_MANY_REQUESTS')
    assert.match(body.error.devMessage, /address/)
    assert.equal(headers.get('retry-after'), '30')
    assert.equal(headers.get('ratelimit-policy'), '"failed";q=4;w=60')

    assert.equal((await tryToken(app, authToken)).status, 200)
    assert.equal((await list(app)).status, 200)
    assert.equal((await tryKey(other)).status, 401)
  })

  test("don't count against the app's limit", async () => {
    const app = await newLimitedApp({ 'rate.failed': 2, 'rate.standard': 10 })
    assertCounted(await list(app), 10, 9)
    for (let n = 0; n < 5; n++) await tryKey(app)
    assertCounted(await list(app), 10, 8)
  })
})

suite('rate classes of operations', () => {
  let api: FastifyInstance
  before(async () => {
    const config = {
      scope: 'fullAccess',
      users: false,
      onBehalfOf: 'ignored',
      rate: 'core',
    } as const
    const schema = { operationId: 'core', summary: 'Core', response: { 200: Type.Object({}) } }
    const core = () => async (scope: FastifyInstance) => {
      scope.get('/core', { config, schema }, async () => ({}))
    }
    api = await buildApi(server.deps, { more: [core] })
    await api.listen({ port: 0 })
  })
  after(() => api.close())

  test('have separate counts', async () => {
    const app = await newLimitedApp({ 'rate.core': 2, 'rate.standard': 3 })
    const { port } = api.server.address() as AddressInfo
    const statuses = async (path: string) => {
      const headers = { appid: app.id, apikey: app.apiKey }
      const found = []
      for (let n = 0; n < 4; n++) {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
        await answer.arrayBuffer()
        found.push(answer.status)
      }
      return found
    }
    assert.deepEqual(await statuses('/v3/core'), [200, 200, 429, 429])
    assert.deepEqual(await statuses('/v3/apikeys'), [200, 200, 200, 429])
  })
})
