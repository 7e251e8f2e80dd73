import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { taken, useReceiver } from '../../../test/receiver.ts'
import { until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'
import { Presence } from './presence.ts'
import { endGateways, renewGateway } from './queries.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
const receiver = useReceiver()

const LONG_MS = 600_000

/** A gateway's presence. It beats when the test says so, and counts as dead when it no longer does. */
const newGateway = (graceMs = LONG_MS) =>
  new Presence(server.deps, { graceMs, expirySeconds: LONG_MS / 1_000 })

/** Lets the gateways that a user is connected to expire. */
const expire = (app: TestApp, uid: string) =>
  rows(
    app.cell.db,
    `update gateways set expires_at = now() where gateway = any (array(
       select unnest(gateways) from presence where app_no = ${app.no} and uid = '${uid}'))`,
  )

const device = { platform: 'web', userAgent: 'test', connectedAt: 1_700_000_000_123 }
const statusOf = async (app: TestApp, uid: string) => (await app.client.users.get(uid)).status

/** The changes of status that the app's events report, in order. */
async function changes(app: TestApp) {
  const events = await app.events()
  return events
    .filter(({ type }) => type === 'user.connection.changed')
    .map(({ payload }) => `${payload.user.uid} ${payload.status}`)
}

const untilOffline = (app: TestApp, uid: string) =>
  until(`${uid} is offline`, async () => (await statusOf(app, uid)) === 'offline')

suite('presence', () => {
  test('begins with the first device and ends with the last', async () => {
    const app = await server.newApp()
    await app.users('ann')
    const gateway = newGateway(0)
    const leave = [gateway.connect(app, 'ann', device), gateway.connect(app, 'ann', device)]
    assert.equal(await statusOf(app, 'ann'), 'offline')
    await gateway.beat()
    assert.equal(await statusOf(app, 'ann'), 'available')
    assert.equal((await app.client.users.get('ann')).lastActiveAt, undefined)

    leave[0]?.()
    await gateway.beat()
    assert.equal(await statusOf(app, 'ann'), 'available')
    leave[1]?.()
    await gateway.beat()
    const { status, lastActiveAt = 0 } = await app.client.users.get('ann')
    assert.equal(status, 'offline')
    assert.ok(Math.abs(Date.now() / 1_000 - lastActiveAt) < 3_600)
    assert.deepEqual(await changes(app), ['ann online', 'ann offline'])
    await gateway.close()
  })

  test('appears in every record of the user', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob', 'cat')
    const gateway = newGateway()
    gateway.connect(app, 'bob', device)
    await gateway.beat()
    await app.client.friends.add('ann', { accepted: ['bob', 'cat'] })
    await app.client.groups.create({ guid: 'g', name: 'G', type: 'public' })
    await app.client.groupMembers.add('g', { participants: ['bob', 'cat'] })
    const { data: sent } = await app.as('bob').sendText('ann')
    const statuses = ({ data }: { data: { uid: string; status: string }[] }) =>
      data.map(({ uid, status }) => `${uid} ${status}`)
    assert.deepEqual(statuses(await app.client.users.list()), [
      ...['ann offline', 'bob available', 'cat offline'],
    ])
    assert.deepEqual(statuses(await app.client.friends.list('ann')), [
      'bob available',
      'cat offline',
    ])
    assert.deepEqual(statuses(await app.client.groupMembers.list('g')), [
      ...['bob available', 'cat offline'],
    ])
    // biome-ignore lint/suspicious/noExplicitAny: entities have many shapes
    const entities = sent.entities as any
    assert.equal(entities.sender.entity.status, 'available')
    assert.equal(entities.receiver.entity.status, 'offline')
    const { data } = await app.as('ann').conversations.list()
    const [other] = data.map(({ conversationWith }) => conversationWith)
    assert.equal(other && 'status' in other && other.status, 'available')
    await gateway.close()
  })

  test('sends one event per change, whichever gateways the user is connected to', async () => {
    const app = await server.newApp()
    await app.users('ann')
    const [one, two] = [newGateway(0), newGateway(0)]
    const leaveOne = one.connect(app, 'ann', device)
    const leaveTwo = two.connect(app, 'ann', device)
    await Promise.all([one.beat(), two.beat()])
    // Repeating it after a lost answer changes nothing.
    one.connect(app, 'ann', device)()
    await one.beat()
    leaveOne()
    await one.beat()
    assert.equal(await statusOf(app, 'ann'), 'available')
    assert.deepEqual(await changes(app), ['ann online'])
    leaveTwo()
    await Promise.all([one.beat(), two.beat()])
    assert.deepEqual(await changes(app), ['ann online', 'ann offline'])
    await Promise.all([one.close(), two.close()])
  })

  test('alternates between online and offline, even in races', async () => {
    const uids = Array.from({ length: 40 }, (_, n) => `user-${n}`)
    const app = await server.newApp()
    await app.users(...uids)
    const gateways = [newGateway(0), newGateway(0), newGateway(0)]
    for (let round = 0; round < 15; round++) {
      const leaving = gateways.flatMap((gateway) =>
        uids.filter(() => Math.random() < 0.5).map((uid) => gateway.connect(app, uid, device)),
      )
      await Promise.all(gateways.map((gateway) => gateway.beat()))
      for (const leave of leaving) leave()
      await Promise.all(gateways.map((gateway) => gateway.beat()))
    }
    await Promise.all(gateways.map((gateway) => gateway.close()))
    const last = new Map<string, string>()
    for (const change of await changes(app)) {
      const [uid = '', status = ''] = change.split(' ')
      assert.equal(status, last.get(uid) === 'online' ? 'offline' : 'online', change)
      last.set(uid, status)
    }
    assert.ok(last.size > 0)
    assert.deepEqual([...new Set(last.values())], ['offline'])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('stays online when the user comes back within the grace period', async () => {
    const app = await server.newApp()
    await app.users('ann')
    const gateway = newGateway(LONG_MS)
    gateway.connect(app, 'ann', device)()
    await gateway.beat()
    gateway.connect(app, 'ann', device)
    await gateway.beat()
    assert.deepEqual(await changes(app), ['ann online'])
    await gateway.close()
  })

  test('ends with a gateway that stops renewing its entry, unless the user is at another one', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob')
    const [dead, other] = [newGateway(), newGateway()]
    dead.connect(app, 'ann', device)
    dead.connect(app, 'bob', device)
    other.connect(app, 'bob', device)
    await Promise.all([other.beat(), dead.beat()])
    await expire(app, 'ann')
    await untilOffline(app, 'ann')
    assert.equal(await statusOf(app, 'bob'), 'available')
    assert.deepEqual((await changes(app)).toSorted(), ['ann offline', 'ann online', 'bob online'])
    await other.close()
  })

  test('returns with a gateway that was declared dead', async () => {
    const app = await server.newApp()
    await app.users('ann')
    const gateway = newGateway()
    gateway.connect(app, 'ann', device)
    await gateway.beat()
    await expire(app, 'ann')
    await untilOffline(app, 'ann')
    await gateway.beat()
    assert.equal(await statusOf(app, 'ann'), 'available')
    assert.deepEqual(await changes(app), ['ann online', 'ann offline', 'ann online'])
    await gateway.close()
  })

  test('ends after the grace period when its gateway stops', async () => {
    const app = await server.newApp()
    await app.users('ann')
    const gateway = newGateway(10)
    gateway.connect(app, 'ann', device)
    await gateway.beat()
    await gateway.close()
    await untilOffline(app, 'ann')
    assert.deepEqual(await changes(app), ['ann online', 'ann offline'])
    await until('the gateway is removed', async () => {
      const left = await rows(app.cell.db, 'select from gateways where ended')
      return left.length === 0
    })
  })

  test('refuses updates from a gateway that was declared dead', async () => {
    const { cell } = await server.newApp()
    const gateway = '11111111-2222-3333-4444-555555555555'
    await rows(cell.db, `insert into gateways values ('${gateway}', now(), now())`)
    await endGateways.run(cell.db, {})
    assert.equal(await renewGateway.maybeOne(cell.db, { gateway, seconds: 9 }), undefined)
    await assert.rejects(
      rows(cell.db, `select connect_users('${gateway}', '[]')`),
      /gateway .* has ended/,
    )
  })

  test('ignores users who were removed', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob', 'cat')
    const gateway = newGateway(0)
    const leaving = ['ann', 'bob', 'nobody'].map((uid) => gateway.connect(app, uid, device))
    await app.client.users.delete('ann', { permanent: true })
    await gateway.beat()
    await app.client.users.delete('bob', { permanent: true })
    for (const leave of leaving) leave()
    await gateway.beat()
    assert.deepEqual(await changes(app), ['bob online'])

    // A new user with the same uid is another user.
    await app.client.users.create({ uid: 'bob', name: 'Bob' })
    gateway.connect(app, 'bob', device)
    await gateway.beat()
    assert.equal(await statusOf(app, 'bob'), 'available')
    await gateway.close()
  })

  test('calls webhooks with the trigger user_connection_status_changed', async () => {
    const app = await server.newApp()
    await app.users('ann')
    const webhookURL = `${receiver.url}/presence`
    await app.client.webhooks.create({ id: 'a', name: 'A', webhookURL })
    await app.client.webhooks.addTriggers('a', { triggerIds: ['user_connection_status_changed'] })
    const gateway = newGateway(0)
    gateway.connect(app, 'ann', device)()
    await gateway.beat()
    const calls = await until('both calls', () => {
      const received = taken(receiver, '/presence')
      return received.length === 2 && received.map(({ json }) => json.data)
    })
    for (const [n, [status, action, shown]] of [
      ['online', 'connected', 'available'],
      ['offline', 'disconnected', 'offline'],
    ].entries()) {
      const { timestamp, user, ...rest } = calls[n]
      assert.ok(Number.isInteger(timestamp) && timestamp > 1_700_000_000_000)
      assert.equal(user.uid, 'ann')
      assert.equal(user.status, shown)
      const currentConnection = { action, ...device }
      assert.deepEqual(rest, { status, currentConnection, userPresenceChanged: true })
    }
    await gateway.close()
  })
})
