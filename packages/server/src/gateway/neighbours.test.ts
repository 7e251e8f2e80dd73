/** Two apps of one cell: work of one that waits in the database must not hold up the other. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Device, tokenOf } from '../../test/device.ts'
import { type TestApp, useServer } from '../../test/kit.ts'
import { type Held, holdLock, holdReads } from '../../test/locks.ts'
import { until } from '../../test/until.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const port = () => server.service.gatewayPort ?? 0
/** More than there are slots for sessions that authenticate, or connections for frames. */
const DEVICES = 25
/** An app alone gets three quarters of 14 slots. */
const AUTHENTICATED_AT_ONCE = 11
const CONNECTIONS = 20

/** Two users who have a conversation. */
async function newApp(): Promise<{ app: TestApp; token: string }> {
  const app = await server.newApp()
  const [amira] = await app.users('amira', 'ben')
  await amira.sendText('ben')
  return { app, token: await tokenOf(app, 'ben') }
}

async function release(held: Held, devices: Device[]): Promise<void> {
  await held.release()
  await held.close()
  await Promise.all(devices.map((device) => device.close()))
}

const receipt = { receiverType: 'user', receiver: 'amira' }

suite('while an app waits in the database', () => {
  test('for its tokens, devices of another app authenticate', async () => {
    const [loud, quiet] = [await newApp(), await newApp()]
    const held = await holdReads(loud.app, 'auth_tokens')
    const waiting = Array.from(
      { length: DEVICES },
      () => new Device(port(), `?appId=${loud.app.id}`),
    )
    for (const device of waiting) {
      await device.opened()
      device.send('auth', { authToken: loud.token })
    }
    await until('its slots are taken', async () => (await held.waiting()) >= AUTHENTICATED_AT_ONCE)
    const device = await Device.connect(port(), quiet.app, quiet.token)
    assert.equal(device.frames[0]?.type, 'session.ready')
    assert.ok(waiting.every(({ frames }) => frames.length === 0))
    await release(held, [device, ...waiting])
  })

  test('for its conversations, frames of another app are executed', async () => {
    const [loud, quiet] = [await newApp(), await newApp()]
    const connect = ({ app, token }: typeof loud) => Device.connect(port(), app, token)
    const device = await connect(quiet)
    const waiting = await Promise.all(Array.from({ length: DEVICES }, () => connect(loud)))
    const heads = 'select from conversations where app_no = $1 for update'
    const held = await holdLock(loud.app, heads, [loud.app.no])
    for (const each of waiting) each.send('receipt.read', receipt, 'r')
    const { lanes } = server.deps
    await until('they wait', async () => {
      return (await held.waiting()) + lanes.waiting(loud.app.cell.id) >= CONNECTIONS
    })
    device.send('receipt.read', receipt, 'r')
    await device.waitFor('session.ok', ({ id }) => id === 'r')
    assert.ok(waiting.every(({ frames }) => frames.every(({ id }) => id !== 'r')))
    await release(held, [device, ...waiting])
  })
})
