import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type TestApp, useServer } from '../../test/kit.ts'
import { loquat, type Serving, startServing } from '../../test/loquat.ts'
import { assertWithin, timedTest } from '../../test/timed-test.ts'
import { timeUntil, until } from '../../test/until.ts'
import { freePort } from '../engines/process.ts'

const server = useServer()

/** The promise is a second, even without NATS. */
const PROMISED_MS = 1_000

const noNats = async () => ({ LOQUAT_NATS_URL: `nats://127.0.0.1:${await freePort()}` })
const ways: [string, () => Promise<Record<string, string>>][] = [
  ['with NATS', async () => ({})],
  ['without NATS', noNats],
]

async function newKey(app: TestApp): Promise<string> {
  const body = { name: 'Revoked soon', scope: 'fullAccess' } as const
  return (await app.client.apiKeys.create(body)).apiKey
}

for (const [how, changes] of ways) {
  suite(`another process, ${how}`, () => {
    let other: Serving
    before(async () => {
      other = await startServing('api', { ...server.env, ...(await changes()) })
    })
    after(() => other.end('SIGKILL'))

    const status = async (app: TestApp, apiKey: string) =>
      (await app.call('GET', '/v3/apikeys', { apiKey, port: other.apiPort })).status

    timedTest('refuses a removed key within a second', async () => {
      const app = await server.newApp()
      for (let round = 0; round < 3; round++) {
        const apiKey = await newKey(app)
        assert.equal(await status(app, apiKey), 200)
        await app.client.apiKeys.delete(apiKey)
        const took = await timeUntil('refused', async () => (await status(app, apiKey)) === 401)
        assertWithin(PROMISED_MS, took)
        assert.equal(await status(app, apiKey), 401)
      }
    })

    timedTest('follows a reduced scope within a second', async () => {
      const app = await server.newApp()
      const apiKey = await newKey(app)
      assert.equal(await status(app, apiKey), 200)
      await app.client.apiKeys.update(apiKey, { scope: 'authOnly' })
      const took = await timeUntil('refused', async () => (await status(app, apiKey)) === 403)
      assertWithin(PROMISED_MS, took)
    })

    test('keeps accepting keys that did not change', async () => {
      const app = await server.newApp()
      const [kept, removed] = [await newKey(app), await newKey(app)]
      assert.equal(await status(app, kept), 200)
      await app.client.apiKeys.delete(removed)
      assert.equal(await status(app, kept), 200)
    })

    timedTest('follows a limit that the command sets within a second', async () => {
      const app = await server.newApp()
      const limit = async () => {
        const { headers } = await app.call('GET', '/v3/apikeys', { port: other.apiPort })
        return headers.get('x-rate-limit')
      }
      assert.equal(await limit(), '20000')
      const set = await loquat(['apps', 'set', app.id, 'rate.standard=321'], server.env)
      assert.equal(set.code, 0, set.stderr)
      const took = await timeUntil('the limit holds', async () => (await limit()) === '321')
      assertWithin(PROMISED_MS, took)
    })
  })
}

suite('a process that was stopped for a long time', () => {
  test('discards its cache even if the log of revocations was cleaned up', async (t) => {
    const other = await startServing('api', server.env)
    t.after(() => other.end('SIGKILL'))
    const app = await server.newApp()
    const apiKey = await newKey(app)
    const status = async () =>
      (await app.call('GET', '/v3/apikeys', { apiKey, port: other.apiPort })).status
    assert.equal(await status(), 200)

    other.signal('SIGSTOP')
    await app.client.apiKeys.delete(apiKey)
    const text = `update revocations set at = at - interval '1 minute'`
    await app.cell.db.query({ name: '', text, values: [] })
    await sleep(21_000) // the time itself is what is tested
    other.signal('SIGCONT')
    await until('it has read the log again', async () => (await status()) === 401)
    assert.equal(await status(), 401)
  })
})
