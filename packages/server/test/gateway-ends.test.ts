/** How a gateway process closes connections: soon after their users lose access, and one after another when it stops. */
import assert from 'node:assert/strict'
import { suite } from 'node:test'
import { addBulkUsers, ReconnectingDevice } from './bulk-users.ts'
import { Device, tokenOf } from './device.ts'
import { useServer } from './kit.ts'
import { LONG } from './long.ts'
import { startServing } from './loquat.ts'
import { assertWithin, timedTest } from './timed-test.ts'
import { until } from './until.ts'

const REVOKED_MS = 1_000
const DEVICES = 500
/** Half of it is for closing connections. */
const DRAIN_SECONDS = 8

const server = useServer({ roles: ['api', 'worker'] })

suite('a connection at another process', () => {
  timedTest('closes within a second after its user loses access', async (t) => {
    const gateway = await startServing('gateway', server.env)
    t.after(() => gateway.end('SIGKILL'))
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
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
      await device.waitFor('session.ready')
      await end()
      const answered = performance.now()
      const { code } = await device.closed
      const took = performance.now() - answered
      t.diagnostic(`${what}: ${Math.round(took)} ms`)
      assert.equal(code, 4401)
      assertWithin(REVOKED_MS, took, what)
    }
  })
})

suite(`${DEVICES} connections of a process that stops`, () => {
  timedTest('move to another process one after another and miss nothing', async (t) => {
    const env = { ...server.env, LOQUAT_DRAIN_SECONDS: String(DRAIN_SECONDS) }
    const [old, next] = await Promise.all([
      startServing('gateway', env),
      startServing('gateway', server.env),
    ])
    t.after(() => Promise.all([old.end('SIGKILL'), next.end('SIGKILL')]))
    const app = await server.newApp()
    const people = await addBulkUsers(server.deps, app, DEVICES)
    let port = old.gatewayPort
    const devices = people.map((person) => new ReconnectingDevice(app.id, person, () => port))
    t.after(() => {
      for (const device of devices) device.end()
    })
    await until('all are connected', () => devices.every(({ open }) => open))

    port = next.gatewayPort
    const stopped = old.end('SIGTERM')
    for (let n = 0; n < DEVICES; n += 10) {
      const body = { receiver: `u${n}`, receiverType: 'user', type: 'text', data: { text: 'Hi' } }
      const headers = { onBehalfOf: `u${n + 1}` }
      const { status } = await app.call('POST', '/v3/messages', { headers, body })
      assert.equal(status, 200)
    }
    const { code } = await stopped
    assert.equal(code, 0)
    await until('all are connected again', () => devices.every(({ open }) => open))
    await until('all have received it', () =>
      devices.every(({ received }, n) => received >= (n % 10 < 2 ? 1 : 0)),
    )

    for (const [n, { ends, received, reloads }] of devices.entries()) {
      // On a slow machine, the next handshake can time out. The device then tries again.
      const codes = ends.map((end) => end.code).slice(0, LONG ? ends.length : 1)
      assert.deepEqual([codes, reloads], [[4503], 0], `u${n}`)
      assert.equal(received, n % 10 < 2 ? 1 : 0, `u${n}`)
    }
    const times = devices.flatMap(({ ends }) => ends.map(({ at }) => at)).sort((a, b) => a - b)
    const tookMs = (times.at(-1) ?? 0) - (times[0] ?? 0)
    const busiest = Math.max(
      ...times.map((at) => times.filter((t) => t >= at && t < at + 500).length),
    )
    t.diagnostic(`ended within ${Math.round(tookMs)} ms, at most ${busiest} in half a second`)
    // On a slow machine, frames that were sent one after the other arrive at once.
    if (!LONG) return
    assert.ok(tookMs > (DRAIN_SECONDS / 2) * 750, `all ended within ${Math.round(tookMs)} ms`)
    assert.ok(busiest < DEVICES / 4, `${busiest} ended in half a second`)
  })
})
