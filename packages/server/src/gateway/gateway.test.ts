import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { suite, test } from 'node:test'
import type { WebSocket } from 'ws'
import { Device, type Frame, send, tokenOf } from '../../test/device.ts'
import { type TestApp, useServer } from '../../test/kit.ts'
import { rows } from '../../test/log-writers.ts'
import { until } from '../../test/until.ts'
import { Credentials } from '../gate/credentials.ts'
import { Hubs } from './hubs.ts'
import { Session } from './session.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const port = () => server.service.gatewayPort ?? 0

const connect = async (app: TestApp, uid: string) =>
  Device.connect(port(), app, await tokenOf(app, uid))

suite('a connection', () => {
  test('authenticates and gets the last position of the log', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const device = await connect(app, 'amira')
    const ready = await device.waitFor('session.ready')
    assert.equal(ready.body.uid, 'amira')
    assert.equal(ready.body.resumed, false)
    await device.settled()
    await device.close()
  })

  test('finds its app by the host name', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const host = `${app.id}.realtime-us.localhost`
    const device = new Device(port(), '', { host })
    await device.opened()
    device.send('auth', { authToken: await tokenOf(app, 'amira') })
    await device.waitFor('session.ready')
    await device.close()
    const elsewhere = new Device(port(), '', { host: `${app.id}.realtime-eu.localhost` })
    assert.deepEqual(await elsewhere.closed, {
      code: 4404,
      reason: 'The app lives in the region us. Call its host name there.',
    })
  })

  test('an HTTP request that offers an upgrade to HTTP/2 is answered like any other', async () => {
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' }
    const asked = request({ port: port(), path: '/health/ready', headers }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    assert.equal(answer.statusCode, 200)
  })

  test('is refused if the request names two hosts', async () => {
    const app = await server.newApp()
    const hosts = [`${app.id}.realtime-us.localhost`, 'localhost'].flatMap((host) => ['host', host])
    const websocket = [
      'sec-websocket-version',
      '13',
      'sec-websocket-key',
      'AAAAAAAAAAAAAAAAAAAAAA==',
    ]
    const headers = [...hosts, 'connection', 'upgrade', 'upgrade', 'websocket', ...websocket]
    const asked = request({ port: port(), path: '/v3/realtime', headers }).end()
    const status = await new Promise((resolve) => {
      asked.on('response', (answer) => resolve(answer.resume().statusCode))
      asked.on('upgrade', (answer, socket) => {
        socket.destroy()
        resolve(answer.statusCode)
      })
    })
    assert.equal(status, 400)
  })

  test('without a valid token is closed', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const other = await server.newApp()
    await other.users('amira')
    for (const token of ['amira_1', await tokenOf(other, 'amira')]) {
      const device = await Device.connect(port(), app, token)
      assert.deepEqual(device.frames[0]?.body.code, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      assert.equal((await device.closed).code, 4401)
    }
    const unknown = new Device(port(), '?appId=0123456789abcdef')
    assert.equal((await unknown.closed).code, 4404)
    const silent = new Device(port(), `?appId=${app.id}`)
    assert.equal((await silent.closed).code, 4508)
  })

  test('is closed when its token is revoked or its user is deactivated or deleted', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
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

  test('counts against the limit of the app, however many connect at once', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const settings = `update apps set settings = '{"limits.connectionsPerApp": 2}' where app_no = $1`
    await rows(app.cell.db, settings, [app.no])
    const token = await tokenOf(app, 'amira')
    const devices = await Promise.all(
      Array.from({ length: 8 }, () => Device.connect(port(), app, token)),
    )
    const [first, ...others] = devices.filter(({ frames }) => frames[0]?.type === 'session.ready')
    assert.equal(others.length, 1)
    for (const device of devices.filter((one) => one !== first && !others.includes(one))) {
      assert.equal(device.frames[0]?.body.code, 'ERR_PLAN_QUOTA_RESTRICTION')
      assert.equal((await device.closed).code, 4529)
    }
    const elsewhere = await server.newApp()
    await elsewhere.users('amira')
    const foreign = await connect(elsewhere, 'amira')
    await foreign.waitFor('session.ready')
    await first?.close()
    const next = await until('a connection is free', async () => {
      const device = await connect(app, 'ben')
      return device.frames[0]?.type === 'session.ready' && device
    })
    for (const device of [...others, foreign, next]) await device.close()
  })

  test('replaces an earlier connection of the same device', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const token = await tokenOf(app, 'amira')
    const first = await Device.connect(port(), app, token, { resource: 'phone' })
    const tablet = await Device.connect(port(), app, token, { resource: 'tablet' })
    const second = await Device.connect(port(), app, token, { resource: 'phone' })
    assert.equal((await first.closed).code, 4409)
    await Promise.all([tablet.settled(), second.settled()])
    await Promise.all([tablet.close(), second.close()])
    const desk = { resource: 'desk' }
    const racing = await Promise.all(
      Array.from({ length: 5 }, () => Device.connect(port(), app, token, desk)),
    )
    await until(
      'only one is open',
      () => racing.filter((one) => one.closeCode === 4409).length === 4,
    )
    const [left] = racing.filter(({ closeCode }) => closeCode === undefined)
    await left?.settled()
    await left?.close()
  })
})

test('a device that connects to another process loses its connection here', async () => {
  const app = await server.newApp()
  await app.users('amira')
  const token = await tokenOf(app, 'amira')
  const phone = await Device.connect(port(), app, token, { resource: 'phone' })
  const tablet = await Device.connect(port(), app, token, { resource: 'tablet' })
  const hubs = new Hubs({ ...server.deps, credentials: new Credentials(server.deps) })
  const hub = hubs.get(app)
  // No frame is sent to it.
  const elsewhere = new Session({} as WebSocket, app)
  elsewhere.resource = 'phone'
  await hub.add(elsewhere, 'amira')
  await until('the older connection is closed', () => {
    hub.deviceTakeover.announce(elsewhere)
    return phone.closeCode === 4409
  })
  assert.equal(elsewhere.closed, false)
  await tablet.settled()
  await tablet.close()
  hub.remove(elsewhere)
  hubs.close()
})

test('a user inherits neither groups nor blocks nor rules from a deleted user with the same uid', async (t) => {
  const app = await server.newApp()
  await app.users('amira')
  await app.client.roles.create({ role: 'guest', name: 'Guest' })
  await app.client.users.create({ uid: 'ben', name: 'First', role: 'guest' })
  await app.client.permissions.updateRole('guest', { permissions: { listUsers: 'deny' } })
  const group = { guid: 'team', name: 'Team', type: 'public' as const, owner: 'amira' }
  await app.client.groups.create({ ...group, members: { participants: ['ben'] } })
  await app.client.blockedUsers.block('amira', { blockedUids: ['ben'] })
  const hubs = new Hubs({ ...server.deps, credentials: new Credentials(server.deps) })
  t.after(() => hubs.close())
  const hub = hubs.get(app)
  // No frame is sent to them: they stay until they are removed, like sockets that don't answer close frames.
  const [first, second, other] = ['ben', 'ben', 'amira'].map(
    () => new Session({} as WebSocket, app),
  )
  assert.ok(first && second && other)
  await hub.add(first, 'ben')
  await hub.add(other, 'amira')
  const [ben, amira] = [hub.userOf(first), hub.userOf(other)]
  assert.ok(ben && amira)
  const known = () => [
    ben.groups.size,
    ben.blocks.size,
    amira.blocks.size,
    ben.policy === undefined,
  ]
  assert.deepEqual(known(), [1, 1, 1, false])
  await app.client.users.delete('ben', { permanent: true })
  await app.users('ben')
  await hub.add(second, 'ben')
  await until('the hub knows of the new user', () => {
    hubs.tick()
    return ben.policy === undefined
  })
  assert.deepEqual(known(), [0, 0, 0, true])
  assert.equal(hub.groups.has('team'), true, 'amira is still a member')
})

suite('a message', () => {
  test('in a 1:1 conversation reaches all devices of both users, and nobody else', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    const uids = ['amira', 'amira', 'ben', 'cleo']
    const devices = await Promise.all(uids.map((uid) => connect(app, uid)))
    const [amira, tablet, ben, cleo] = devices as [Device, Device, Device, Device]
    await send(app, 'amira', 'ben', 'hi')
    for (const device of [amira, tablet, ben]) {
      const { body, position } = await device.waitFor('message.sent')
      assert.equal(body.message.data.text, 'hi')
      assert.ok(position)
    }
    await cleo.settled()
    assert.deepEqual(cleo.texts(), [])
    for (const device of devices) await device.close()
  })

  test('to a group reaches members from when they join until they leave', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
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
    await amira.waitFor('message.sent', ({ body }) => body.message.data.text === 'three')
    await ben.settled()
    await cleo.settled()
    assert.deepEqual(amira.texts(), ['one', 'two', 'three'])
    assert.deepEqual(ben.events(), ['group.member.added', 'message.sent', 'group.member.kicked'])
    assert.deepEqual(cleo.texts(), [])
    for (const device of [amira, ben, cleo]) await device.close()
  })
})

suite('events about other users', () => {
  test('friends do not learn of other friends', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    const [amira, ben] = await Promise.all(['amira', 'ben'].map((uid) => connect(app, uid)))
    assert.ok(amira && ben)
    await app.client.friends.add('amira', { accepted: ['ben', 'cleo'] })
    await app.client.friends.delete('amira', { friends: ['ben', 'cleo'] })
    for (const type of ['user.friends.added', 'user.friends.removed'] as const) {
      await amira.waitFor(type, ({ body }) => body.friends[0] === 'cleo')
      assert.deepEqual((await ben.waitFor(type)).body, { uid: 'amira', friends: ['ben'] })
    }
    await ben.settled()
    assert.ok(!JSON.stringify(ben.frames).includes('cleo'))
    for (const device of [amira, ben]) await device.close()
  })

  test('unpinning a message notifies the user who did it, but not a user who blocks them', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const { id } = (await send(app, 'amira', 'ben', 'hi')).body.data
    await app.call('POST', `/v3/messages/${id}/pin`, { headers: { onbehalfof: 'amira' } })
    await app.client.blockedUsers.block('amira', { blockedUids: ['ben'] })
    const [amira, ben] = await Promise.all(['amira', 'ben'].map((uid) => connect(app, uid)))
    assert.ok(amira && ben)
    await app.call('DELETE', `/v3/messages/${id}/pin`, { headers: { onbehalfof: 'ben' } })
    const { body } = await ben.waitFor('message.unpinned')
    assert.deepEqual([body.by, body.message.id], ['ben', id])
    await amira.settled()
    assert.ok(!amira.frames.some(({ type }) => type === 'message.unpinned'))
    for (const device of [amira, ben]) await device.close()
  })
})

suite('client frames', () => {
  test('typing reaches the others, ends on its own, and does not reach users who block the sender', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo', 'dana')
    const members = { participants: ['ben', 'cleo'] }
    const group = { guid: 'team', name: 'Team', type: 'public' as const, owner: 'amira' }
    await app.client.groups.create({ ...group, members })
    await app.call('POST', '/v3/users/cleo/blockedusers', { body: { blockedUids: ['amira'] } })
    const uids = ['amira', 'amira', 'ben', 'cleo', 'dana']
    const devices = await Promise.all(uids.map((uid) => connect(app, uid)))
    const [amira, tablet, ben, cleo, dana] = devices as [Device, Device, Device, Device, Device]

    const toGroup = { receiverType: 'group', receiver: 'team' }
    amira.send('typing.start', { ...toGroup, metadata: { mood: 'good' } })
    const { body } = await ben.waitFor('typing.start')
    assert.equal(body.sender.uid, 'amira')
    assert.deepEqual(body.metadata, { mood: 'good' })
    assert.deepEqual((await ben.waitFor('typing.end')).body.metadata, { mood: 'good' })
    amira.send('typing.start', { receiverType: 'user', receiver: 'dana' })
    await dana.waitFor('typing.start')
    await amira.close()
    await dana.waitFor('typing.end')

    for (const device of [tablet, cleo]) {
      await device.settled()
      assert.ok(!device.frames.some(({ type }) => type.startsWith('typing')))
    }
    dana.send('typing.start', toGroup, 'stranger')
    const refused = await dana.waitFor('session.error')
    assert.deepEqual([refused.id, refused.body.code], ['stranger', 'ERR_GROUP_NOT_JOINED'])
    for (const device of devices) await device.close()
  })

  test('typing to the same receiver reads the database once in a while', async (t) => {
    const app = await server.newApp()
    await app.client.roles.create({ role: 'guest', name: 'Guest' })
    await app.client.permissions.updateRole('guest', {
      permissions: { 'sendMessage.allowedReceiverRoles': ['default'] },
    })
    await app.users('ben')
    for (const uid of ['amira', 'cleo'])
      await app.client.users.create({ uid, name: uid, role: 'guest' })
    const [amira, ben] = await Promise.all(['amira', 'ben'].map((uid) => connect(app, uid)))
    assert.ok(amira && ben)
    const type = async (receiver: string, id: string) => {
      amira.send('typing.start', { receiverType: 'user', receiver }, id)
      await until('an answer', () => amira.frames.some((frame) => frame.id === id))
    }
    const statements = async () => {
      const address = `http://127.0.0.1:${server.service.internalPort}/metrics`
      const page = await (await fetch(address)).text()
      const counts = page.matchAll(
        /^loquat_db_statement_seconds_count\{.*"(gate.findUser|messages.checkMaySend)".* (\d+)$/gm,
      )
      return [...counts].reduce((sum, [, , count]) => sum + Number(count), 0)
    }
    const before = await statements()
    const now = performance.now()
    const clock = t.mock.method(performance, 'now', () => now)
    for (let n = 0; n < 10; n++) await type('ben', `ben-${n}`)
    await ben.waitFor('typing.start')
    clock.mock.restore()
    // Two, and two more for each event about these users that arrives meanwhile: the hub then reads their rules again.
    assert.ok((await statements()) - before < 10)
    await type('cleo', 'cleo')
    const { body } = await amira.waitFor('session.error', ({ id }) => id === 'cleo')
    assert.equal(body.code, 'ERR_PERMISSION_DENIED')
    for (const device of [amira, ben]) await device.close()
  })

  test('typing.end can carry its own metadata', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const [amira, ben] = await Promise.all(['amira', 'ben'].map((uid) => connect(app, uid)))
    assert.ok(amira && ben)
    const toBen = { receiverType: 'user', receiver: 'ben' }
    amira.send('typing.start', { ...toBen, metadata: { mood: 'good' } })
    amira.send('typing.end', { ...toBen, metadata: { mood: 'bad' } })
    assert.deepEqual((await ben.waitFor('typing.end')).body.metadata, { mood: 'bad' })
    for (const device of [amira, ben]) await device.close()
  })

  test('resources that a user may not see look as if they did not exist', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'stranger')
    const group = { name: 'Team', type: 'private' as const, owner: 'amira' }
    await app.client.groups.create({ ...group, guid: 'secret' })
    const { id: messageId } = (await send(app, 'amira', 'ben', 'hi')).body.data
    await send(app, 'amira', 'stranger', 'hello')
    const stranger = await connect(app, 'stranger')
    let nth = 0
    const refusal = async (type: string, body: object) => {
      const id = `r${++nth}`
      stranger.send(type, body, id)
      return (await stranger.waitFor('session.error', (frame) => frame.id === id)).body
    }
    for (const type of ['typing.start', 'message.transient', 'receipt.read']) {
      const to = (receiver: string) => ({ receiverType: 'group', receiver, data: {} })
      const hidden = await refusal(type, to('secret'))
      const unknown = await refusal(type, to('absent'))
      assert.equal(hidden.code, 'ERR_GUID_NOT_FOUND', type)
      const renamed = unknown.message.replaceAll('absent', 'secret')
      assert.deepEqual(hidden, { code: unknown.code, message: renamed })
    }
    const about = (id: string) => ({ receiverType: 'user', receiver: 'amira', messageId: id })
    const hidden = await refusal('receipt.read', about(messageId))
    const unknown = await refusal('receipt.read', about('999'))
    assert.equal(hidden.code, 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.equal(hidden.message, unknown.message.replaceAll('999', messageId))
    assert.equal(unknown.code, hidden.code)
    await stranger.close()
  })

  test('an id that cannot be echoed is rejected', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const amira = await connect(app, 'amira')
    for (const id of [7, 'x'.repeat(101), null]) {
      amira.frames.length = 0
      amira.ws.send(JSON.stringify({ type: 'ping', id }))
      const { body, ...frame } = await amira.waitFor('session.error')
      assert.deepEqual([body.code, frame], ['ERR_BAD_REQUEST', { type: 'session.error' }])
    }
    await amira.close()
  })

  test('a transient message reaches connected users, unless there is a block', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const [amira, ben] = await Promise.all(['amira', 'ben'].map((uid) => connect(app, uid)))
    assert.ok(amira && ben)
    const data = { live: 'reaction' }
    amira.send('message.transient', { receiverType: 'user', receiver: 'BEN', data })
    assert.deepEqual((await ben.waitFor('message.transient')).body.data, data)
    await app.call('POST', '/v3/users/ben/blockedusers', { body: { blockedUids: ['amira'] } })
    await ben.waitFor('user.blocked')
    ben.frames.length = 0
    amira.send('message.transient', { receiverType: 'user', receiver: 'ben', data }, 'b')
    await amira.waitFor('session.ok', ({ id }) => id === 'b')
    await ben.settled()
    assert.ok(!ben.frames.some(({ type }) => type === 'message.transient'))
    for (const device of [amira, ben]) await device.close()
  })

  test('transient data and typing metadata have at most 2 KB', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const amira = await connect(app, 'amira')
    const to = { receiverType: 'user', receiver: 'ben' }
    const large = { text: 'x'.repeat(2_048) }
    amira.send('message.transient', { ...to, data: large }, 'data')
    amira.send('typing.start', { ...to, metadata: large }, 'metadata')
    for (const id of ['data', 'metadata']) {
      const { body } = await amira.waitFor('session.error', (frame) => frame.id === id)
      assert.equal(body.code, 'ERR_BAD_REQUEST')
    }
    amira.send('message.transient', { ...to, data: { text: 'x'.repeat(2_000) } }, 'good')
    await amira.waitFor('session.ok', (frame) => frame.id === 'good')
    await amira.close()
  })

  test('a user who floods many connections is throttled until the second is over', async (t) => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const token = await tokenOf(app, 'ben')
    const amira = await connect(app, 'amira')
    const devices = await Promise.all(
      Array.from({ length: 20 }, () => Device.connect(port(), app, token)),
    )
    const [ben] = devices
    assert.ok(ben)
    const frozen = performance.now()
    const clock = t.mock.method(performance, 'now', () => frozen)
    const data = { text: 'x'.repeat(2_000) }
    for (let n = 0; n < 35; n++) {
      amira.send('message.transient', { receiverType: 'user', receiver: 'ben', data }, `n${n}`)
    }
    await amira.waitFor('session.ok', (frame) => frame.id === 'n34')
    assert.ok(amira.frames.some(({ type }) => type === 'session.throttled'))
    const count = () => ben.frames.filter(({ type }) => type === 'message.transient').length
    clock.mock.restore()
    await until('the second is over', () => performance.now() > frozen + 1_000)
    const last = { text: 'last' }
    amira.send('message.transient', { receiverType: 'user', receiver: 'ben', data: last })
    await ben.waitFor('message.transient', ({ body }) => body.data.text === 'last')
    assert.ok(count() > 10 && count() < 30, String(count()))
    for (const device of [amira, ...devices]) await device.close()
  })

  test('marks work as in REST, and both users receive them', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const [amira, ben] = await Promise.all(['amira', 'ben'].map((uid) => connect(app, uid)))
    assert.ok(amira && ben)
    await send(app, 'amira', 'ben', 'hi')
    const { body } = await ben.waitFor('message.sent')
    const { id: messageId } = body.message
    ben.send('receipt.read', { receiverType: 'user', receiver: 'amira', messageId }, 'r')
    await ben.waitFor('session.ok', ({ id }) => id === 'r')
    for (const device of [amira, ben]) {
      const receipt = await device.waitFor('conversation.read')
      assert.deepEqual([receipt.body.uid, receipt.body.messageId], ['ben', messageId])
    }
    ben.send('receipt.read', { receiverType: 'user', receiver: 'nobody' }, 'n')
    const refused = await ben.waitFor('session.error', ({ id }) => id === 'n')
    assert.equal(refused.body.code, 'ERR_UID_NOT_FOUND')
    for (const device of [amira, ben]) await device.close()
  })

  test('receipts in a group reach the senders of the messages that were read, in one frame', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo', 'dana')
    const members = { participants: ['ben', 'cleo', 'dana'] }
    const group = { guid: 'team', name: 'Team', type: 'public' as const, owner: 'amira' }
    await app.client.groups.create({ ...group, members })
    await app.call('POST', '/v3/users/dana/blockedusers', { body: { blockedUids: ['amira'] } })
    const uids = ['amira', 'ben', 'ben', 'cleo', 'dana']
    const devices = await Promise.all(uids.map((uid) => connect(app, uid)))
    const [amira, ben, tablet, cleo, dana] = devices as [Device, Device, Device, Device, Device]
    await send(app, 'amira', 'team', 'hi', 'group')
    for (const device of [ben, cleo, dana]) await device.waitFor('message.sent')
    for (const device of [ben, cleo, dana]) {
      device.send('receipt.read', { receiverType: 'group', receiver: 'team' }, 'r')
      await device.waitFor('session.ok', ({ id }) => id === 'r')
    }
    const readers = () =>
      amira.frames
        .filter(({ type }) => type === 'conversation.receipts')
        .flatMap(({ body }) => body.receipts.map((frame: Frame) => frame.body.uid))
    await until('both receipts arrive', () => readers().length >= 2)
    await tablet.waitFor('conversation.read', ({ body }) => body.uid === 'ben')
    await cleo.settled()
    assert.deepEqual(readers().sort(), ['ben', 'cleo'])
    assert.ok(!cleo.frames.some(({ body }) => body?.uid === 'ben' || body?.receipts))
    for (const device of devices) await device.close()
  })
})
