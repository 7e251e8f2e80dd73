/** What somebody can do who can publish on NATS, but doesn't know the secret. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { Device, send, tokenOf } from '../../test/device.ts'
import { type TestApp, useServer } from '../../test/kit.ts'
import { until } from '../../test/until.ts'
import { readConfig } from '../config.ts'
import { serve } from '../serve.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
let intruder: NatsConnection
let app: TestApp

const subject = (kind: string) => `${server.env.LOQUAT_PREFIX}.${kind}.${app.no}`
const connectBen = async (options = {}) =>
  Device.connect(server.service.gatewayPort ?? 0, app, await tokenOf(app, 'ben'), options)

/** Records what the processes publish about this app. */
function record(kind: string): Uint8Array[] {
  const recorded: Uint8Array[] = []
  intruder.subscribe(subject(kind), { callback: (_, { data }) => void recorded.push(data) })
  return recorded
}

suite('a device', () => {
  before(async () => {
    const { username, password, host } = new URL(server.env.LOQUAT_NATS_URL ?? '')
    intruder = await connect({ servers: host, user: username, pass: password })
    app = await server.newApp()
    await app.users('amira', 'ben')
  })
  after(() => intruder.close())

  test('receives no forged event, and every event of the log', async () => {
    const device = await connectBen()
    await app.waitFor('user.connection.changed')
    const events = record('app')
    await intruder.flush()
    await send(app, 'amira', 'ben', 'first')
    const { position = 0, body } = await device.waitFor('message.sent')

    const text = await until('the event was recorded', () =>
      events
        .map((data) => Buffer.from(data).toString('latin1'))
        .find((each) => /"first"/.test(each)),
    )
    const changed = text.replace('"first"', '"forge"').replace(`:${position},`, `:${position + 1},`)
    assert.match(changed, /"forge"/)
    intruder.publish(subject('app'), Buffer.from(changed, 'latin1'))
    const payload = { ...body, message: { ...body.message, data: { text: 'forged' } } }
    const forged = { position: position + 1, type: 'message.sent', key: 'x', at: 0, payload }
    intruder.publish(subject('app'), JSON.stringify(forged))
    await intruder.flush()
    await send(app, 'amira', 'ben', 'second')
    await device.waitFor('message.sent', (frame) => frame.body.message.data.text === 'second')
    assert.deepEqual(device.texts(), ['first', 'second'])
    await device.close()
  })

  test('is not disconnected by a forged or repeated takeover', async () => {
    const takeovers = record('takeover')
    await intruder.flush()
    const device = await connectBen({ resource: 'phone' })
    const forged = { uid: 'ben', resource: 'phone', at: Date.now() + 60_000 }
    intruder.publish(subject('takeover'), JSON.stringify(forged))
    for (const recorded of takeovers) intruder.publish(subject('takeover'), recorded)
    await intruder.flush()
    await send(app, 'amira', 'ben', 'third')
    await device.waitFor('message.sent', (frame) => frame.body.message.data.text === 'third')
    await device.settled()
    assert.equal(device.closeCode, undefined)
    await device.close()
  })

  test('receives a transient message once, however often it is repeated', async (t) => {
    const elsewhere = await serve(readConfig(server.env), ['gateway'])
    t.after(() => elsewhere.drain())
    const token = await tokenOf(app, 'amira')
    const sender = await Device.connect(elsewhere.gatewayPort ?? 0, app, token)
    const device = await connectBen()
    const ephemeral = record('ephemeral')
    await intruder.flush()
    sender.send('message.transient', { receiver: 'ben', receiverType: 'user', data: { wave: 1 } })
    await device.waitFor('message.transient')
    for (const recorded of ephemeral) intruder.publish(subject('ephemeral'), recorded)
    await intruder.flush()
    await send(app, 'amira', 'ben', 'fourth')
    await device.waitFor('message.sent', (frame) => frame.body.message.data.text === 'fourth')
    assert.equal(device.frames.filter(({ type }) => type === 'message.transient').length, 1)
    await Promise.all([device.close(), sender.close()])
  })
})
