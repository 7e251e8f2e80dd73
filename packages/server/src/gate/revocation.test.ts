import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryAt } from '../../test/databases.ts'
import { Device } from '../../test/device.ts'
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

const statusOfToken = async (app: TestApp, authtoken: string, port?: number) => {
  const options = { apiKey: null, headers: { authtoken }, ...(port !== undefined && { port }) }
  return (await app.call('GET', '/v3/users/ben', options)).status
}

suite('the process that revokes a token', () => {
  test('has read it only once', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const text = 'delete from auth_tokens where app_no = $1'
    // A process doesn't keep what it read while another test's credential was being revoked.
    await until('a token without a row is still accepted', async () => {
      const { authToken } = await app.client.authTokens.create('amira')
      assert.equal(await statusOfToken(app, authToken), 200)
      await app.cell.db.query({ name: '', text, values: [app.no] })
      return (await statusOfToken(app, authToken)) === 200
    })
  })

  test('refuses it from then on, even if it is being used at the same time', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    for (let round = 0; round < 10; round++) {
      const { authToken } = await app.client.authTokens.create('amira')
      const uses = Array.from({ length: 5 }, () => statusOfToken(app, authToken))
      await app.client.authTokens.delete('amira', authToken)
      assert.equal(await statusOfToken(app, authToken), 401)
      await Promise.all(uses)
      assert.equal(await statusOfToken(app, authToken), 401)
    }
  })
})

for (const [how, changes] of ways) {
  suite(`another process, ${how}`, () => {
    let other: Serving
    before(async () => {
      other = await startServing('api,gateway', { ...server.env, ...(await changes()) })
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

    timedTest('follows a rule within a second, also under load', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben')
      const { authToken } = await app.client.authTokens.create('amira')
      const options = { apiKey: null, headers: { authtoken: authToken } }
      const body = { receiver: 'ben', receiverType: 'user', data: { text: 'Hello' } }
      const statusAt = async (port?: number) => {
        const at = port === undefined ? {} : { port }
        return (await app.call('POST', '/v3/messages', { body, ...options, ...at })).status
      }
      let done = false
      const load = [undefined, other.apiPort].map(async (port) => {
        while (!done) await statusAt(port)
      })
      for (const value of ['deny', 'allow', 'deny']) {
        const expected = value === 'deny' ? 403 : 200
        await app.client.permissions.updateRole('default', { permissions: { sendMessage: value } })
        // The process of the change knows it at once.
        assert.equal(await statusAt(), expected)
        const took = await timeUntil('followed', async () => {
          return (await statusAt(other.apiPort)) === expected
        })
        assertWithin(PROMISED_MS, took)
        assert.equal(await statusAt(other.apiPort), expected)
      }
      done = true
      await Promise.all(load)
    })

    timedTest('lets devices follow a rule within a second, also under load', async () => {
      const app = await server.newApp()
      const [amira, ben] = await app.users('amira', 'ben')
      const { authToken } = await app.client.authTokens.create('amira')
      const device = await Device.connect(other.gatewayPort, app, authToken)
      const reloads = () => device.frames.filter(({ type }) => type === 'session.reload').length
      let done = false
      const load = [amira, ben].map(async (user) => {
        while (!done) await user.sendText('ben')
      })
      for (const types of [['image'], ['text'], ['image']]) {
        const before = reloads()
        const permissions = { 'listMessages.allowedMessageTypes': types }
        await app.client.permissions.updateRole('default', { permissions })
        assertWithin(PROMISED_MS, await timeUntil('told', async () => reloads() > before))
      }
      done = true
      await Promise.all([...load, device.close()])
    })

    timedTest('refuses a revoked token within a second', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben')
      const ends: [what: string, end: () => Promise<unknown>][] = [
        ['the flush', () => app.client.authTokens.flush('amira')],
        ['the deactivation', () => app.client.users.deactivate({ uidsToDeactivate: ['amira'] })],
      ]
      for (const [what, end] of ends) {
        const { authToken } = await app.client.authTokens.create('amira')
        assert.equal(await statusOfToken(app, authToken, other.apiPort), 200)
        await end()
        const took = await timeUntil(
          what,
          async () => (await statusOfToken(app, authToken, other.apiPort)) === 401,
        )
        assertWithin(PROMISED_MS, took)
        assert.equal(await statusOfToken(app, authToken, other.apiPort), 401)
      }
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
    await queryAt(app.cell.url, `update revocations set at = at - interval '1 minute'`)
    await sleep(21_000) // the time itself is what is tested
    other.signal('SIGCONT')
    await until('it has read the log again', async () => (await status()) === 401)
    assert.equal(await status(), 401)
  })
})
