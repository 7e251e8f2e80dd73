import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, mock, suite, test } from 'node:test'
import { Device, tokenOf } from '../../test/device.ts'
import { call, useServer } from '../../test/kit.ts'
import { storeSettings } from '../areas/settings/actions.ts'
import { closeCodeOf } from '../gateway/session.ts'

const server = useServer({ roles: ['api', 'gateway'] })
const port = () => server.service.gatewayPort ?? 0

// The clock is stopped in the middle of a minute, because a new minute starts a new count.
const now = Math.floor(Date.now() / 60_000) * 60_000 + 30_000
before(() => mock.timers.enable({ apis: ['Date'], now }))
after(() => mock.timers.reset())

const unknownToken = () => randomBytes(20).toString('hex')

suite('unknown auth tokens of WebSockets', () => {
  test('count with those of the REST API, and known ones are accepted beyond the limit', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await storeSettings(server.deps, app, { 'rate.failed': 4 })
    const known = await tokenOf(app, 'amira')
    await (await Device.connect(port(), app, known)).close()
    for (let n = 0; n < 2; n++) {
      const headers = { authtoken: unknownToken() }
      const { status } = await app.call('GET', '/v3/conversations', { apiKey: null, headers })
      assert.equal(status, 401)
    }
    const codes = []
    for (let n = 0; n < 4; n++) {
      const device = await Device.connect(port(), app, unknownToken())
      codes.push([device.frames[0]?.body.code, (await device.closed).code])
    }
    const unknown = ['AUTH_ERR_AUTH_TOKEN_NOT_FOUND', closeCodeOf.unauthorized]
    const tooMany = ['ERR_TOO_MANY_REQUESTS', closeCodeOf.tooMany]
    assert.deepEqual(codes, [unknown, unknown, tooMany, tooMany])
    const device = await Device.connect(port(), app, known)
    assert.equal(device.frames[0]?.type, 'session.ready')
    await device.close()
  })
})

suite('unknown app ids', () => {
  test('have a limit for each address, by REST and WebSocket, which known apps do not share', async () => {
    const app = await server.newApp()
    // Other processes have counted these.
    const key = `rate:apps:failed:127.0.0.1:${Math.floor(now / 60_000)}`
    await server.deps.cache.add(key, 598, 120)
    const unknownApp = () => randomBytes(8).toString('hex')
    const open = async (appId: string) => (await new Device(port(), `?appId=${appId}`).closed).code
    const ask = async (appId: string) => {
      const headers = { appid: appId, apikey: app.apiKey }
      return call(server.service.apiPort ?? 0, 'GET', '/v3/apikeys', { headers })
    }
    assert.equal((await ask(unknownApp())).status, 404)
    assert.equal(await open(unknownApp()), closeCodeOf.noApp)
    assert.equal(await open(unknownApp()), closeCodeOf.tooMany)
    await ask(unknownApp())
    const asked = performance.now()
    const { status, headers } = await ask(unknownApp())
    assert.deepEqual([status, headers.get('retry-after')], [429, '30'])
    assert.ok(performance.now() - asked >= 490, 'the refusal came at once')
    assert.equal((await app.call('GET', '/v3/apikeys')).status, 200)
    const picture = async (appId: string) => {
      const path = `/pictures/${appId}/${'0'.repeat(32)}`
      return (await fetch(`http://127.0.0.1:${server.service.apiPort}${path}`)).status
    }
    // This route learns of the count when it counts its first.
    const answers = [await picture(unknownApp()), await picture(unknownApp())]
    assert.deepEqual([...answers, await picture(app.id)], [404, 429, 404])
  })
})
