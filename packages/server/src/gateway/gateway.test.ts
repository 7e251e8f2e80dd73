import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Device, tokenOf } from '../../test/device.ts'
import { type TestApp, useServer } from '../../test/harness.ts'
import { until } from '../../test/until.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const port = () => server.service.gatewayPort ?? 0

async function newUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.client.users.create({ uid, name: uid })
  return app
}

const connect = async (app: TestApp, uid: string, position?: number) =>
  Device.connect(port(), app, await tokenOf(app, uid), position === undefined ? {} : { position })

const send = (app: TestApp, from: string, to: string, text: string, receiverType = 'user') =>
  app.call('POST', '/v3/messages', {
    body: { receiver: to, receiverType, category: 'message', type: 'text', data: { text } },
    headers: { onbehalfof: from },
  })

suite('a connection', () => {
  test('tells who it is, and is told where the log stands', async () => {
    const app = await newUsers('amira')
    const device = await connect(app, 'amira')
    const ready = await device.got('session.ready')
    assert.equal(ready.body.uid, 'amira')
    assert.equal(ready.body.resumed, false)
    await device.settled()
    await device.close()
  })

  test('finds its app by the host name', async () => {
    const app = await newUsers('amira')
    const host = `${app.id}.realtime-us.localhost`
    const device = new Device(port(), '', { host })
    await device.opened()
    device.send('auth', { authToken: await tokenOf(app, 'amira') })
    await device.got('session.ready')
    await device.close()
    const elsewhere = new Device(port(), '', { host: `${app.id}.realtime-eu.localhost` })
    assert.equal((await elsewhere.closed).code, 4404)
  })

  test('without a token that is valid is closed', async () => {
    const app = await newUsers('amira')
    const other = await newUsers('amira')
    for (const token of ['amira_1', await tokenOf(other, 'amira')]) {
      const device = await Device.connect(port(), app, token)
      assert.deepEqual(device.frames[0]?.body.code, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      assert.equal((await device.closed).code, 4401)
    }
    const unknown = new Device(port(), '?appId=0123456789abcdef')
    assert.equal((await unknown.closed).code, 4404)
    const silent = new Device(port(), `?appId=${app.id}`)
    assert.equal((await silent.closed).code, 4408)
  })

  test('ends when its token is revoked, its user deactivated or removed', async () => {
    const app = await newUsers('amira', 'ben', 'cleo')
    const token = await tokenOf(app, 'amira')
    const [one, kept, ben, cleo] = await Promise.all([
      Device.connect(port(), app, token),
      connect(app, 'amira'),
      connect(app, 'ben'),
      connect(app, 'cleo'),
    ])
    await app.call('DELETE', `/v3/users/amira/auth_tokens/${token}`)
    assert.equal((await one.closed).code, 4401)
    await app.call('DELETE', '/v3/users', { body: { uidsToDeactivate: ['ben'] } })
    assert.equal((await ben.closed).code, 4401)
    await app.call('DELETE', '/v3/users/cleo', { body: { permanent: true } })
    assert.equal((await cleo.closed).code, 4401)
    await kept.settled()
    await kept.close()
  })

  test('of the same device replaces the one before', async () => {
    const app = await newUsers('amira')
    const token = await tokenOf(app, 'amira')
    const first = await Device.connect(port(), app, token, { resource: 'phone' })
    const tablet = await Device.connect(port(), app, token, { resource: 'tablet' })
    const second = await Device.connect(port(), app, token, { resource: 'phone' })
    assert.equal((await first.closed).code, 4409)
    await Promise.all([tablet.settled(), second.settled()])
    await Promise.all([tablet.close(), second.close()])
  })
})

suite('a message', () => {
  test('between two reaches all devices of both, and nobody else', async () => {
    const app = await newUsers('amira', 'ben', 'cleo')
    const uids = ['amira', 'amira', 'ben', 'cleo']
    const devices = await Promise.all(uids.map((uid) => connect(app, uid)))
    const [amira, tablet, ben, cleo] = devices as [Device, Device, Device, Device]
    await send(app, 'amira', 'ben', 'hi')
    for (const device of [amira, tablet, ben]) {
      const { body, position } = await device.got('message.sent')
      assert.equal(body.message.data.text, 'hi')
      assert.ok(position)
    }
    await cleo.settled()
    assert.deepEqual(cleo.texts(), [])
    for (const device of devices) await device.close()
  })

  test('to a group reaches its members, from when they come until they go', async () => {
    const app = await newUsers('amira', 'ben', 'cleo')
    await app.client.groups.create({ guid: 'team', name: 'Team', type: 'public', owner: 'amira' })
    const [amira, ben, cleo] = await Promise.all(
      ['amira', 'ben', 'cleo'].map((uid) => connect(app, uid)),
    )
    assert.ok(amira && ben && cleo)
    await send(app, 'amira', 'team', 'one', 'group')
    await app.call('POST', '/v3/groups/team/members', { body: { participants: ['ben'] } })
    await send(app, 'amira', 'team', 'two', 'group')
    await app.call('DELETE', '/v3/groups/team/members/ben')
    await send(app, 'amira', 'team', 'three', 'group')
    await amira.got('message.sent', ({ body }) => body.message.data.text === 'three')
    await ben.settled()
    await cleo.settled()
    assert.deepEqual(amira.texts(), ['one', 'two', 'three'])
    assert.deepEqual(ben.events(), ['group.member.added', 'message.sent', 'group.member.kicked'])
    assert.deepEqual(cleo.texts(), [])
    for (const device of [amira, ben, cleo]) await device.close()
  })
})

suite('resuming', () => {
  test('brings what was missed, once and in order, then goes on', async () => {
    const app = await newUsers('amira', 'ben')
    const first = await connect(app, 'ben')
    await send(app, 'amira', 'ben', '0')
    await first.got('message.sent')
    const { position } = first
    await first.close()
    for (const text of ['1', '2', '3']) await send(app, 'amira', 'ben', text)
    const again = await connect(app, 'ben', position)
    await send(app, 'amira', 'ben', '4')
    await until('all are there', () => again.texts().length === 4)
    assert.deepEqual(again.texts(), ['1', '2', '3', '4'])
    assert.equal((await again.got('session.ready')).body.resumed, true)
    await again.close()
  })

  test('tells of a group that was left meanwhile up to the leave', async () => {
    const app = await newUsers('amira', 'ben')
    await app.client.groups.create({ guid: 'team', name: 'Team', type: 'public', owner: 'amira' })
    await app.call('POST', '/v3/groups/team/members', { body: { participants: ['ben'] } })
    const first = await connect(app, 'ben')
    const { position } = first
    await first.close()
    await send(app, 'amira', 'team', 'before', 'group')
    await app.call('DELETE', '/v3/groups/team/members/ben')
    await send(app, 'amira', 'team', 'after', 'group')
    await app.call('POST', '/v3/groups/team/members', { body: { participants: ['ben'] } })
    await send(app, 'amira', 'team', 'back', 'group')
    const again = await connect(app, 'ben', position)
    await until('all are there', () => again.texts().includes('back'))
    assert.deepEqual(again.texts(), ['before', 'back'])
    await again.close()
  })
})
