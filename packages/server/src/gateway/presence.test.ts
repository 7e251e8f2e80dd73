import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import pg from 'pg'
import type { WebSocket } from 'ws'
import { queryAt } from '../../test/databases.ts'
import { Device, tokenOf } from '../../test/device.ts'
import { type TestApp, useServer } from '../../test/kit.ts'
import { until } from '../../test/until.ts'
import { Presence } from '../areas/presence/presence.ts'
import { Credentials } from '../gate/credentials.ts'
import { Hubs } from './hubs.ts'
import { PresenceReporter } from './presence-reporter.ts'
import { Session } from './session.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

/** Connects a device and subscribes it to presence. */
async function watch(app: TestApp, uid: string, body: object): Promise<Device> {
  const token = await tokenOf(app, uid)
  const device = await Device.connect(server.service.gatewayPort ?? 0, app, token)
  await subscribe(device, body)
  return device
}

async function subscribe(device: Device, body: object) {
  const id = `watch-${device.frames.length}`
  device.send('presence.subscribe', body, id)
  await device.waitFor('session.ok', (frame) => frame.id === id)
}

/** Lets users come online and go offline at another gateway. */
async function comeAndGo(app: TestApp, ...uids: string[]) {
  const elsewhere = new Presence(server.deps, { graceMs: 0 })
  const leaving = uids.map((uid) => elsewhere.connect(app, uid, { connectedAt: Date.now() }))
  await elsewhere.beat()
  for (const leave of leaving) leave()
  await elsewhere.beat()
  await elsewhere.close()
}

/** The users in the `presence.changed` frames of a device, each once. */
const changed = (device: Device) => {
  const frames = device.frames.filter(({ type }) => type === 'presence.changed')
  const uids = frames.flatMap(({ body }) => body.users.map(({ uid }: { uid: string }) => uid))
  return [...new Set(uids)].sort()
}

/** Waits for a change of the user `last`, whom all devices watch; it follows all changes before it. */
async function untilLast(app: TestApp, devices: Device[]) {
  await comeAndGo(app, 'last')
  await until('all devices got the last change', () =>
    devices.every((device) => changed(device).includes('last')),
  )
}

suite('presence.subscribe', () => {
  test('covers all users, some roles, friends or nobody', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob', 'cat', 'dan')
    await app.client.roles.create({ role: 'crew', name: 'Crew' })
    for (const uid of ['last', 'sailor'])
      await app.client.users.create({ uid, name: uid, role: 'crew' })
    await app.client.friends.add('cat', { accepted: ['bob', 'last'] })
    const all = await watch(app, 'ann', { users: 'all' })
    const roles = await watch(app, 'bob', { users: 'roles', roles: ['Crew', 'pilots'] })
    const friends = await watch(app, 'cat', { users: 'friends' })
    const none = await watch(app, 'dan', { users: 'none' })
    const never = await watch(app, 'dan', { users: 'all' })
    await subscribe(never, { users: 'none' })
    const before = changed(never)

    await comeAndGo(app, 'sailor', 'dan', 'bob')
    await untilLast(app, [all, roles, friends])
    assert.ok(changed(all).includes('dan') && changed(all).includes('sailor'))
    assert.deepEqual(changed(roles), ['last', 'sailor'])
    assert.deepEqual(
      changed(friends).filter((uid) => uid !== 'bob'),
      ['last'],
    )
    await Promise.all([none.settled(), never.settled()])
    assert.deepEqual([changed(none), changed(never)], [[], before])
    const { body } = await all.waitFor('presence.changed', (frame) =>
      frame.body.users.some(({ status }: { status: string }) => status === 'offline'),
    )
    const gone = body.users.find(({ status }: { status: string }) => status === 'offline')
    assert.ok(Number.isInteger(gone.lastActiveAt))
    for (const device of [all, roles, friends, none, never]) await device.close()
  })

  test('follows friendships and respects the role', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob', 'cat', 'last')
    const settings = { listUsers: 'friendsOnly' } as const
    await app.client.roles.create({ role: 'child', name: 'Child', settings })
    await app.client.users.create({ uid: 'kid', name: 'Kid', role: 'child' })
    await app.client.friends.add('ann', { accepted: ['cat', 'last'] })
    await app.client.friends.add('kid', { accepted: ['last'] })
    const ann = await watch(app, 'ann', { users: 'friends' })
    const kid = await watch(app, 'kid', { users: 'all' })
    await app.client.friends.add('bob', { accepted: ['ann'] })
    await app.client.friends.delete('cat', { friends: ['ann'] })
    await comeAndGo(app, 'bob', 'cat')
    await untilLast(app, [ann, kid])
    assert.deepEqual(changed(ann), ['bob', 'last'])
    assert.deepEqual(changed(kid), ['last'])
    for (const device of [ann, kid]) await device.close()
  })

  test('shows nothing across a block in either direction, nor of other apps', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob', 'cat', 'dan', 'last')
    const other = await server.newApp()
    await other.users('stranger')
    await app.client.blockedUsers.block('ann', { blockedUids: ['bob'] })
    await app.client.friends.add('ann', { accepted: ['bob', 'cat', 'last'] })
    const all = await watch(app, 'ann', { users: 'all' })
    const friends = await watch(app, 'ann', { users: 'friends' })
    await app.client.blockedUsers.block('cat', { blockedUids: ['ann'] })
    await comeAndGo(app, 'bob', 'cat', 'dan')
    await comeAndGo(other, 'stranger')
    await untilLast(app, [all, friends])
    assert.deepEqual(
      changed(all).filter((uid) => uid !== 'ann'),
      ['dan', 'last'],
    )
    assert.deepEqual(changed(friends), ['last'])
    for (const device of [all, friends]) await device.close()
  })

  test('that is under way when the role loses the permission has no effect', async (t) => {
    const app = await server.newApp()
    await app.users('bob')
    await app.client.roles.create({ role: 'guest', name: 'Guest' })
    await app.client.users.create({ uid: 'ann', name: 'Ann', role: 'guest' })
    const hubs = new Hubs({ ...server.deps, credentials: new Credentials(server.deps) })
    t.after(() => hubs.close())
    const hub = hubs.get(app)
    const shown: string[] = []
    const ws = { bufferedAmount: 0, send: (frame: Buffer) => shown.push(String(frame)) }
    const session = new Session(ws as unknown as WebSocket, app)
    await hub.add(session, 'ann')
    const blocker = new pg.Client(app.cell.url)
    await blocker.connect()
    t.after(() => blocker.end())
    await blocker.query('begin; lock table friends in access exclusive mode')
    const subscribed = hub.subscribeToPresence(session, { users: 'all' })
    // It may be refused before the answer to the rollback arrives.
    const refused = assert.rejects(subscribed, { code: 'ERR_PERMISSION_DENIED' })
    await app.client.permissions.updateRole('guest', { permissions: { listUsers: 'deny' } })
    await until('the hub knows the new rules', () => hub.userOf(session)?.policy)
    await blocker.query('rollback')
    await refused
    hub.presenceSubscribers.record({
      ...{ kind: 'status', uid: 'bob', role: 'default' },
      shown: { uid: 'bob', status: 'online' },
    })
    hub.presenceSubscribers.flush()
    assert.deepEqual(shown, [])
  })

  test('that cannot be renewed under new rules ends the connection', async () => {
    const app = await server.newApp()
    await app.client.roles.create({ role: 'guest', name: 'Guest' })
    await app.client.users.create({ uid: 'ann', name: 'Ann', role: 'guest' })
    const device = await watch(app, 'ann', { users: 'all' })
    await queryAt(app.cell.url, 'alter table friends rename to hidden_friends')
    try {
      const permissions = { 'listUsers.allowedRoles': ['default'] }
      await app.client.permissions.updateRole('guest', { permissions })
      assert.equal((await device.closed).code, 4500)
    } finally {
      await queryAt(app.cell.url, 'alter table hidden_friends rename to friends')
    }
  })

  test('rejects invalid bodies', async () => {
    const app = await server.newApp()
    await app.users('ann')
    const device = await watch(app, 'ann', { users: 'none' })
    const noRoles = [
      { users: 'roles', roles: 'crew' },
      { users: 'roles', roles: [] },
    ]
    for (const body of [{}, { users: 'everyone' }, { users: 'roles' }, ...noRoles]) {
      const id = JSON.stringify(body)
      device.send('presence.subscribe', body, id)
      const { body: failure } = await device.waitFor('session.error', (frame) => frame.id === id)
      assert.equal(failure.code, 'ERR_BAD_REQUEST')
    }
    await device.close()
  })
})

test('a change names the device that connected first or disconnected last', async () => {
  const app = await server.newApp()
  await app.users('ann')
  const presence = new Presence(server.deps, { graceMs: 0 })
  const hubs = new Hubs(
    { ...server.deps, credentials: new Credentials(server.deps) },
    new PresenceReporter(presence),
  )
  const hub = hubs.get(app)
  const [phone, tablet] = ['phone', 'tablet'].map(
    // No frame is sent to them.
    (userAgent) => new Session({} as WebSocket, app, { userAgent }),
  )
  assert.ok(phone && tablet)
  for (const session of [phone, tablet]) await hub.add(session, 'ann')
  await presence.beat()
  hub.remove(phone)
  await presence.beat()
  hub.remove(tablet)
  await presence.beat()
  await presence.close()
  hubs.close()
  const changes = await until('both changes have positions', async () => {
    const { data } = await app.client.events.list({ types: ['user.connection.changed'] })
    return data.length === 2 && data
  })
  assert.deepEqual(
    changes.map(({ payload }) => [
      (payload as { status: string }).status,
      (payload as { connection: { userAgent: string } }).connection.userAgent,
    ]),
    [
      ['online', 'phone'],
      ['offline', 'tablet'],
    ],
  )
})

test('a change tells about the device what its headers and its first frame say', async () => {
  const app = await server.newApp()
  await app.users('ann')
  const headers = {
    'user-agent': `Phone\u00853 ${'x'.repeat(300)}`,
    origin: 'https://chat.example.org',
    'x-forwarded-for': '203.0.113.9',
  }
  const device = new Device(server.service.gatewayPort ?? 0, `?appId=${app.id}`, headers)
  await device.opened()
  device.send('auth', {
    authToken: await tokenOf(app, 'ann'),
    resource: 'phone-1',
    platform: 'ios\u0007',
    appInfo: { version: '2.1', apiVersion: 'v3', clientIp: '1.1.1.1', more: 'ignored' },
  })
  const { payload } = await app.waitFor('user.connection.changed')
  const { connectedAt, userAgent, ...connection } = payload.connection
  assert.ok(Math.abs(connectedAt - Date.now()) < 60_000)
  assert.equal(userAgent, `Phone 3 ${'x'.repeat(247)}`)
  assert.deepEqual(connection, {
    platform: 'ios ',
    device: 'phone-1',
    // No proxy is trusted, so the header that the device itself can send doesn't count.
    appInfo: {
      ...{ version: '2.1', apiVersion: 'v3' },
      ...{ origin: 'https://chat.example.org', clientIp: '127.0.0.1' },
    },
  })
  await device.close()

  const rude = new Device(server.service.gatewayPort ?? 0, `?appId=${app.id}`)
  await rude.opened()
  rude.send('auth', { authToken: await tokenOf(app, 'ann'), platform: 'x'.repeat(51) })
  assert.equal((await rude.closed).code, 4400)
})
