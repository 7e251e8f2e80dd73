import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { type Service, serve } from '../src/serve.ts'
import { cloneDatabase, dropDatabase, insertCell, testEnv } from './databases.ts'
import { newApp, type TestApp } from './kit.ts'
import { lockApp } from './locks.ts'
import { LONG } from './long.ts'
import { startServing } from './loquat.ts'
import { makeDatabase, type PrivateEngine, startPrivate } from './private-engines.ts'
import { assertWithin, timedTest } from './timed-test.ts'
import { timeUntil, until } from './until.ts'

/** Even on a slow machine a working database answers within this time. */
const TIMEOUT_MS = LONG ? 4_000 : 10_000
/** The service gives up on a hanging database after this time, and at once on one that is down. */
const HANGING_MS = 6_000
const DOWN_MS = 2_000
const NEW_KEY = { name: 'Worker', scope: 'authOnly' }

interface Timed {
  status: number
  code: string | undefined
  took: number
}

async function timed(
  app: TestApp,
  method = 'GET',
  path = '/v3/apikeys',
  body?: unknown,
): Promise<Timed> {
  const started = performance.now()
  const answer = await app.call(method, path, { body })
  const took = performance.now() - started
  return { status: answer.status, code: answer.body.error?.code, took }
}

function assertUnavailable({ status, code, took }: Timed, within: number) {
  assert.equal(status, 503)
  assert.equal(code, 'ERR_MISSION_FAILED')
  assertWithin(within, took)
}

const works = async (app: TestApp) => (await app.call('GET', '/v3/apikeys')).status === 200

suite('the service during an outage', { concurrency: false }, () => {
  let nats: PrivateEngine
  let redis: PrivateEngine
  let directory: PrivateEngine
  let cluster: PrivateEngine
  let service: Service
  let env: Record<string, string>
  let steadyUrl: string
  /** On a cell that is never stopped. */
  let steady: TestApp
  /** On the cell that the tests stop. */
  let fragile: TestApp

  before(async () => {
    ;[nats, redis, directory, cluster] = await Promise.all([
      startPrivate('nats'),
      startPrivate('redis'),
      startPrivate('postgres'),
      startPrivate('postgres'),
    ])
    const directoryUrl = await makeDatabase(directory, 'directory')
    steadyUrl = await cloneDatabase('cell')
    await insertCell(directoryUrl, 'us-1', steadyUrl)
    await insertCell(directoryUrl, 'us-2', await makeDatabase(cluster, 'cell'))
    const engines = { LOQUAT_NATS_URL: nats.url, LOQUAT_REDIS_URL: redis.url }
    const timeout = { LOQUAT_DB_TIMEOUT_MS: String(TIMEOUT_MS) }
    env = testEnv(directoryUrl, ['us-1'], { ...engines, ...timeout })
    service = await serve(readConfig(env), ['api'])
    // New apps go to the cell with the fewest apps.
    steady = await newApp(service)
    fragile = await newApp(service)
    assert.deepEqual([steady.cell.id, fragile.cell.id], ['us-1', 'us-2'])
  })
  after(async () => {
    await service?.drain()
    for (const engine of [nats, redis, directory, cluster]) await engine?.remove()
    if (steadyUrl) await dropDatabase(steadyUrl)
  })
  afterEach(async () => {
    for (const app of [steady, fragile]) await until('both apps work', () => works(app))
  })

  test('answers requests while NATS is stopped', async () => {
    await nats.stop()
    assert.equal((await timed(steady)).status, 200)
    assert.equal((await timed(steady, 'POST', '/v3/apikeys', NEW_KEY)).status, 200)
    await nats.start()
    assert.equal((await timed(steady, 'POST', '/v3/apikeys', NEW_KEY)).status, 200)
  })

  timedTest('answers requests while Redis is stopped or hangs', async () => {
    await redis.stop()
    for (let n = 0; n < 5; n++) assert.equal((await timed(steady)).status, 200)
    await redis.start()
    assert.equal((await timed(steady)).status, 200)
    redis.freeze()
    try {
      const answers = await Promise.all(Array.from({ length: 20 }, () => timed(steady)))
      for (const { status, took } of answers) {
        assert.equal(status, 200)
        assertWithin(1_500, took)
      }
    } finally {
      redis.thaw()
    }
  })

  timedTest(
    'fails at once for the apps of a stopped cell only, and recovers by itself',
    async () => {
      assert.ok(await works(fragile))
      await cluster.stop()
      for (let n = 0; n < 3; n++) {
        assertUnavailable(await timed(fragile), DOWN_MS)
        assertUnavailable(await timed(fragile, 'POST', '/v3/apikeys', NEW_KEY), DOWN_MS)
        assert.equal((await timed(steady)).status, 200)
      }
      await cluster.start()
      await until('it works again', () => works(fragile))
    },
  )

  test('answers every write while a cell stops, and keeps running', async (t) => {
    // In a process of its own: the test runner would survive an error that ends the service.
    const other = await startServing('api', env)
    t.after(() => other.end('SIGKILL'))
    const held = await lockApp(fragile)
    const writes = Array.from({ length: 5 }, () =>
      fragile.call('POST', '/v3/apikeys', { body: NEW_KEY, port: other.apiPort }),
    )
    await until('all wait', async () => (await held.waiting()) === 5)
    await cluster.stop()
    await held.close()
    const statuses = (await Promise.all(writes)).map(({ status }) => status)
    await cluster.start()
    // The lock ends with the session that holds it, so a write may still be stored before its own session ends. Nobody
    // knows the outcome of a 503, but what was answered with 200 is there.
    const stored = statuses.filter((status) => status === 200).length
    assert.equal(stored + statuses.filter((status) => status === 503).length, 5, `${statuses}`)
    const total = async () => {
      const { body } = await fragile.call('GET', '/v3/apikeys', { port: other.apiPort })
      return body.meta?.pagination.total
    }
    await until('it works again', async () => (await total()) >= 2 + stored)
    assert.ok(other.running)
  })

  timedTest(
    'fails in bounded time for the apps of a hanging cell, without affecting others',
    async () => {
      assert.ok(await works(fragile))
      cluster.freeze()
      try {
        const hanging = [
          timed(fragile),
          timed(fragile, 'POST', '/v3/apikeys', NEW_KEY),
          ...Array.from({ length: 30 }, () => timed(fragile)),
        ]
        assert.equal((await timed(steady)).status, 200)
        for (const answer of await Promise.all(hanging)) assertUnavailable(answer, HANGING_MS)
      } finally {
        cluster.thaw()
      }
      await until('it works again', () => works(fragile))
      // Abandoned connections are never reused, so every answer belongs to its request.
      for (let n = 0; n < 30; n++) assert.ok(await works(fragile))
    },
  )

  timedTest('trusts no cached key while it cannot read the revocations', async () => {
    // The rate limit refuses it after the key was accepted and before any further query.
    const acceptance = async () => (await timed(fragile, 'GET', '/v3/apikeys?page=0')).status
    assert.equal(await acceptance(), 400)
    cluster.freeze()
    try {
      if (LONG) assert.equal(await acceptance(), 400, 'the cache serves at first')
      const took = await timeUntil(
        'the cache is not trusted',
        async () => (await acceptance()) === 503,
      )
      assertWithin(2_000 + HANGING_MS, took)
      assert.equal(await acceptance(), 503)
    } finally {
      cluster.thaw()
    }
    await until('it is trusted again', async () => (await acceptance()) === 400)
  })

  timedTest(
    'serves known apps and returns 503 for unknown ones while the directory is stopped or hangs',
    async () => {
      const stranger = async (appid: string) => {
        const started = performance.now()
        const { status, body } = await steady.call('GET', '/v3/apikeys', { headers: { appid } })
        return { status, code: body.error.code, took: performance.now() - started }
      }
      assert.equal((await stranger('0000000000000001')).status, 404)
      await directory.stop()
      assertUnavailable(await stranger('0000000000000002'), DOWN_MS)
      await service.deps.directory.refresh()
      for (const app of [steady, fragile]) assert.equal((await timed(app)).status, 200)
      await directory.start()
      await until(
        'it is asked again',
        async () => (await stranger('0000000000000003')).status === 404,
      )
      directory.freeze()
      try {
        assertUnavailable(await stranger('0000000000000004'), HANGING_MS)
        for (const app of [steady, fragile]) assert.equal((await timed(app)).status, 200)
      } finally {
        directory.thaw()
      }
      await until(
        'it is asked again',
        async () => (await stranger('0000000000000005')).status === 404,
      )
    },
  )
})
