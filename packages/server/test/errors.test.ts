/** Errors that belong to no area. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import { buildApi } from '../src/api.ts'
import { storeSettings } from '../src/areas/settings/actions.ts'
import type { Access } from '../src/gate/plugin.ts'
import { noteAnswer } from './conformity.ts'
import { call, refused, useServer } from './kit.ts'

const server = useServer()
const get = (path: string, headers: Record<string, string> = {}) =>
  call(server.service.apiPort ?? 0, 'GET', path, { headers })

suite('requests that reach no operation', () => {
  test('are refused without an app', async () => {
    const app = await server.newApp()
    await refused(get('/v3/apikeys', { apikey: app.apiKey }), 'AUTH_ERR_EMPTY_APPID')
  })

  test('are refused for an unknown app', async () => {
    const app = await server.newApp()
    await refused(
      get('/v3/apikeys', { appid: 'nobody', apikey: app.apiKey }),
      'AUTH_ERR_INVALID_APPID',
    )
  })

  test('are refused with an unknown version, path or method', async () => {
    const app = await server.newApp()
    await refused(app.call('GET', '/v2/apikeys'), 'ERR_INVALID_API_VERSION')
    await refused(app.call('GET', '/v3/nothing'), 'ERR_API_NOT_FOUND')
    await refused(app.call('PATCH', '/v3/apikeys'), 'ERR_API_NOT_FOUND')
  })

  test("are refused beyond the app's rate limit", async () => {
    const app = await server.newApp()
    await storeSettings(server.deps, app, { 'rate.standard': 1 })
    // Of three, two fall into one minute.
    const answers = [await app.call('GET', '/v3/apikeys'), await app.call('GET', '/v3/apikeys')]
    answers.push(await app.call('GET', '/v3/apikeys'))
    const limited = answers.find(({ status }) => status === 429)
    assert.equal(limited?.body.error.code, 'ERR_TOO_MANY_REQUESTS')
  })
})

test('an Idempotency-Key is refused for a second, different request', async () => {
  const app = await server.newApp()
  const headers = { 'idempotency-key': 'once' }
  const create = (name: string) =>
    app.call('POST', '/v3/apikeys', { body: { name, scope: 'authOnly' }, headers })
  assert.equal((await create('one')).status, 200)
  await refused(create('two'), 'ERR_IDEMPOTENCY_KEY_REUSED')
})

suite('faults of the server', () => {
  let api: FastifyInstance
  before(async () => {
    api = await buildApi(server.deps, { more: [() => faultyRoutes] })
  })
  after(() => api.close())

  const provoke = async (path: string) => {
    const { id: appid, apiKey: apikey } = await server.newApp()
    const answer = await api.inject({ url: path, headers: { appid, apikey } })
    noteAnswer('-', answer.statusCode, answer.json())
    return answer
  }

  test('return 500 without any detail of the bug', async () => {
    const answer = await provoke('/v3/bug')
    assert.equal(answer.statusCode, 500)
    assert.equal(answer.json().error.code, 'ERR_EXCEPTION')
    assert.doesNotMatch(answer.body, /secret/)
    assert.ok(answer.headers['x-request-id'])
  })

  test('return 503 if the database is too slow', async () => {
    const answer = await provoke('/v3/slow')
    assert.equal(answer.statusCode, 503)
    assert.equal(answer.json().error.code, 'ERR_MISSION_FAILED')
  })
})

const access: Access = { scope: 'fullAccess', users: false, onBehalfOf: 'ignored', rate: 'core' }

const faultyRoutes: FastifyPluginAsync = async (app) => {
  const schema = { response: { 200: Type.Object({}) } }
  app.get('/bug', { config: access, schema }, async () => {
    throw new Error('an internal secret')
  })
  app.get('/slow', { config: access, schema }, async ({ actor }) =>
    actor.app.cell.db.tx(async (tx) => {
      const run = (name: string, text: string) => tx.query({ name, text, values: [] })
      await run('test.timeout', 'set local statement_timeout = 20')
      await run('test.slow', 'select pg_sleep(10)')
      return {}
    }),
  )
}
