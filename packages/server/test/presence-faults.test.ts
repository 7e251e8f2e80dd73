/** Gateways that stop or die, and a service without Redis. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { verify } from '../src/verify/verify.ts'
import { Device, tokenOf } from './device.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { startServing } from './loquat.ts'
import { until } from './until.ts'

const server = useServer({ roles: ['api', 'worker'] })
/** Nothing listens there, because presence needs no Redis. */
const NOWHERE = { LOQUAT_REDIS_URL: 'redis://127.0.0.1:9' }

const connect = async (gateway: { gatewayPort: number }, app: TestApp, uid: string) =>
  Device.connect(gateway.gatewayPort, app, await tokenOf(app, uid))

const statusOf = async (app: TestApp, uid: string) => (await app.client.users.get(uid)).status

const untilStatus = (app: TestApp, uid: string, status: string) =>
  until(`${uid} is ${status}`, async () => (await statusOf(app, uid)) === status)

/** A user's changes of status in the log. */
async function changesOf(app: TestApp, uid: string) {
  const found = await rows<{ status: string }>(
    app.cell.db,
    `select payload->>'status' as status from events
     where app_no = ${app.no} and type = 'user.connection.changed' and key = 'user:${uid}'
     order by position`,
  )
  return found.map(({ status }) => status)
}

suite('presence with two gateways', () => {
  test('becomes right again after kill -9 and after an orderly stop', async () => {
    const app = await server.newApp()
    await app.users('here', 'both', 'back', 'left')
    const env = { ...server.env, ...NOWHERE }
    const [dying, living] = await Promise.all([
      startServing('gateway', env),
      startServing('gateway', env),
    ])
    for (const uid of ['here', 'both', 'back']) await connect(dying, app, uid)
    const both = await connect(living, app, 'both')
    const left = await connect(living, app, 'left')
    for (const uid of ['here', 'both', 'back', 'left']) await untilStatus(app, uid, 'available')

    await dying.end('SIGKILL')
    const back = await connect(living, app, 'back')
    await left.close()
    await untilStatus(app, 'here', 'offline')
    await untilStatus(app, 'left', 'offline')
    for (const uid of ['both', 'back']) {
      assert.equal(await statusOf(app, uid), 'available')
      assert.deepEqual(await changesOf(app, uid), ['online'])
    }

    const drained = living.end('SIGTERM')
    await Promise.all([both.closed, back.closed])
    await drained
    for (const uid of ['both', 'back']) await untilStatus(app, uid, 'offline')
    await until('all is in the log', async () => (await changesOf(app, 'both')).length > 1)
    for (const uid of ['here', 'both', 'back', 'left']) {
      assert.deepEqual(await changesOf(app, uid), ['online', 'offline'])
    }
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
