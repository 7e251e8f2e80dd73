/** How soon a gateway process ends connections whose users may no longer have them. */
import assert from 'node:assert/strict'
import { suite } from 'node:test'
import { Device, newApp, tokenOf } from './device.ts'
import { useServer } from './harness.ts'
import { startServing } from './loquat.ts'
import { timedTest } from './timed-test.ts'

const REVOKED_MS = 1_000

const server = useServer({ roles: ['api', 'worker'] })

suite('a connection at another process', () => {
  timedTest('ends within a second of the answer that its user may no longer', async (t) => {
    const gateway = await startServing('gateway', server.env)
    t.after(() => gateway.end('SIGKILL'))
    const app = await newApp(server, ['amira', 'ben', 'cleo'])
    const token = await tokenOf(app, 'amira')
    const ways: Record<string, [string, () => Promise<unknown>]> = {
      'token revoked': [token, () => app.call('DELETE', `/v3/users/amira/auth_tokens/${token}`)],
      'user deactivated': [
        await tokenOf(app, 'ben'),
        () => app.call('DELETE', '/v3/users', { body: { uidsToDeactivate: ['ben'] } }),
      ],
      'user removed': [
        await tokenOf(app, 'cleo'),
        () => app.call('DELETE', '/v3/users/cleo', { body: { permanent: true } }),
      ],
    }
    for (const [what, [authToken, end]] of Object.entries(ways)) {
      const device = await Device.connect(gateway.gatewayPort, app, authToken)
      await device.got('session.ready')
      await end()
      const answered = performance.now()
      const { code } = await device.closed
      const took = performance.now() - answered
      t.diagnostic(`${what}: ${Math.round(took)} ms`)
      assert.equal(code, 4401)
      assert.ok(took < REVOKED_MS, `${what}: closed after ${Math.round(took)} ms`)
    }
  })
})
