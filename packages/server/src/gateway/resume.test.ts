import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { audienceOf, type EventType, realtimeLimits, topicsOf } from '@loquat/protocol'
import type { WebSocket } from 'ws'
import { queryAt } from '../../test/databases.ts'
import { Device, send, tokenOf } from '../../test/device.ts'
import { type TestApp, useServer } from '../../test/kit.ts'
import { until } from '../../test/until.ts'
import { readConfig } from '../config.ts'
import { Credentials } from '../gate/credentials.ts'
import { type Service, serve } from '../serve.ts'
import { Hubs } from './hubs.ts'
import { Session } from './session.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const sql = (app: TestApp, text: string, values: unknown[]) =>
  app.cell.db.query<Record<string, unknown>>({ name: '', text, values })

/** Waits until all events have positions. */
const sequenced = (app: TestApp) =>
  until('all events have positions', async () => {
    const { rows } = await sql(app, 'select from outbox where app_no = $1', [app.no])
    return rows.length === 0
  })

const started: Service[] = []
// Otherwise a failed test would keep the process alive.
after(async () => {
  for (const service of started) await service.drain()
})

/** The gateway that devices reconnect to: one that has run all the time, or a new one that has to read the log. */
const sources = {
  'from the ring': async (_app: TestApp): Promise<Service> => server.service,
  'from the log': async (app: TestApp): Promise<Service> => {
    await sequenced(app)
    // A new process keeps events that are less than two minutes old.
    const age = (table: string, time: string) =>
      `update ${table} set ${time} = ${time} - interval '1 hour' where app_no = $1`
    await queryAt(app.cell.url, age('users', 'added_at'), [app.no])
    await queryAt(app.cell.url, age('event_bodies', 'at'), [app.no])
    const service = await serve(readConfig(server.env), ['gateway'])
    started.push(service)
    return service
  },
}

for (const [source, startGateway] of Object.entries(sources)) {
  suite(`resuming ${source}`, () => {
    async function resume(app: TestApp, uid: string, position: number) {
      const service = await startGateway(app)
      const token = await tokenOf(app, uid)
      const device = await Device.connect(service.gatewayPort ?? 0, app, token, { position })
      return device
    }

    /** Connects a user, disconnects, and returns the position. */
    async function visit(app: TestApp, uid: string): Promise<number> {
      const port = server.service.gatewayPort ?? 0
      const device = await Device.connect(port, app, await tokenOf(app, uid))
      const { position } = device
      await device.close()
      return position
    }

    test('sends missed events once and in order, then live ones', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben', 'cleo')
      const position = await visit(app, 'ben')
      await send(app, 'amira', 'ben', '1')
      await send(app, 'amira', 'cleo', 'not for ben')
      await send(app, 'ben', 'amira', '2')
      await send(app, 'ben', 'ben', '3')
      const device = await resume(app, 'ben', position)
      await send(app, 'amira', 'ben', '4')
      await until('all messages arrive', () => device.texts().length === 4)
      assert.deepEqual(device.texts(), ['1', '2', '3', '4'])
      assert.equal((await device.waitFor('session.ready')).body.resumed, true)
      await device.close()
    })

    test('sends events of groups from while the user was a member', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben', 'cleo')
      const guids = ['team', 'old', 'new', 'closed']
      for (const guid of guids) {
        await app.client.groups.create({ guid, name: guid, type: 'public', owner: 'amira' })
      }
      await app.client.groups.create({ guid: 'hidden', name: 'hidden', type: 'private' })
      const members = (guid: string) => `/v3/groups/${guid}/members`
      const body = { participants: ['ben'] }
      for (const guid of ['team', 'old']) await app.call('POST', members(guid), { body })
      const position = await visit(app, 'ben')
      const say = async (text: string) => {
        for (const guid of guids) await send(app, 'amira', guid, `${guid} ${text}`, 'group')
      }
      await say('before')
      await app.call('DELETE', '/v3/groups/old/members/ben')
      await app.call('POST', members('new'), { body })
      // Ben is not a member of these two.
      await app.call('POST', '/v3/groups/closed/bannedusers/ben')
      await app.call('POST', '/v3/groups/hidden/bannedusers/ben')
      await app.call('POST', '/v3/groups/team/bannedusers/ben')
      await say('while away')
      await app.call('DELETE', '/v3/groups/team/bannedusers/ben')
      await app.call('POST', members('team'), { body })
      await app.call('POST', '/v3/groups/new/bannedusers/ben')
      await say('after')
      const device = await resume(app, 'ben', position)
      await until('all messages arrive', () => device.texts().includes('team after'))
      const expected = ['team before', 'old before', 'new while away', 'team after']
      assert.deepEqual(device.texts(), expected)
      assert.deepEqual(
        device.events().filter((type) => type.startsWith('group.member')),
        [
          'group.member.kicked',
          'group.member.added',
          'group.member.banned',
          'group.member.banned',
          'group.member.added',
          'group.member.banned',
        ],
      )
      await device.close()
    })

    test('sends the last events of groups that were deleted meanwhile', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben', 'cleo')
      const newGroup = (guid: string, participants: string[]) =>
        app.client.groups.create({
          ...{ guid, name: guid, type: 'private', owner: 'amira' },
          members: { participants },
        })
      for (const guid of ['shared', 'left', 'again']) await newGroup(guid, ['ben'])
      await newGroup('foreign', ['cleo'])
      const position = await visit(app, 'ben')
      const guids = ['shared', 'left', 'again', 'foreign']
      for (const guid of guids) await send(app, 'amira', guid, `${guid} before`, 'group')
      await app.call('DELETE', '/v3/groups/left/members/ben')
      for (const guid of guids) await send(app, 'amira', guid, `${guid} later`, 'group')
      for (const guid of guids) await app.call('DELETE', `/v3/groups/${guid}`)
      // New groups with the same guids, without ben at first.
      for (const guid of ['again', 'foreign']) await newGroup(guid, ['cleo'])
      await send(app, 'amira', 'again', 'of another group', 'group')
      await app.call('POST', '/v3/groups/again/members', { body: { participants: ['ben'] } })
      await send(app, 'amira', 'again', 'as a member', 'group')
      await app.call('DELETE', '/v3/groups/foreign')
      const device = await resume(app, 'ben', position)
      await until('all messages arrive', () => device.texts().includes('as a member'))
      assert.deepEqual(device.texts(), [
        ...['shared before', 'left before', 'again before', 'shared later', 'again later'],
        'as a member',
      ])
      const deleted = device.frames.filter(({ type }) => type === 'group.deleted')
      assert.deepEqual(
        deleted.map(({ body }) => body.group.guid),
        ['shared', 'again'],
      )
      await device.close()
    })

    for (const [what, count, size] of [
      ['events', 1_001, 1],
      ['bytes', 450, 10_000],
    ] as const) {
      test(`after too many ${what} the client is asked to reload`, async () => {
        const app = await server.newApp()
        await app.users('amira', 'ben')
        const position = await visit(app, 'ben')
        await sql(
          app,
          `insert into event_bodies (app_no, type, key, payload, to_first)
           select $1, 'message.saved', 'user:ben',
             json_build_object('uid', 'ben', 'messageId', repeat('1', ${size})), 'user:ben'
           from generate_series(1, ${count})`,
          [app.no],
        )
        await sequenced(app)
        const device = await resume(app, 'ben', position)
        const { body } = await device.waitFor('session.reload')
        await send(app, 'amira', 'ben', 'next')
        const next = await device.waitFor('message.sent')
        assert.ok((next.position ?? 0) > body.position)
        await device.settled()
        assert.deepEqual(device.events(), ['message.sent'])
        await device.close()
      })
    }

    test('sends nothing from before the user was created, for it was for another user', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben')
      const position = await visit(app, 'ben')
      await send(app, 'amira', 'ben', 'for the first ben')
      await app.client.users.delete('ben', { permanent: true })
      await app.users('ben')
      await send(app, 'amira', 'ben', 'for the second ben')
      const device = await resume(app, 'ben', position)
      await device.waitFor('session.reload')
      await device.settled()
      assert.deepEqual(device.texts(), [])
      await device.close()
    })

    test('sends nothing from before the user was imported, however old the user is', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben')
      const position = await visit(app, 'ben')
      await send(app, 'amira', 'ben', 'for the first ben')
      await app.client.users.delete('ben', { permanent: true })
      const ben = { uid: 'ben', name: 'Ben', createdAt: 1_600_000_000 }
      const { body } = await app.call('POST', '/v3/data_import/users', { body: { users: { ben } } })
      assert.equal(body.data.ben.success, true)
      const device = await resume(app, 'ben', position)
      await device.waitFor('session.reload')
      await device.settled()
      assert.deepEqual(device.texts(), [])
      await send(app, 'amira', 'ben', 'for the second ben')
      await device.waitFor('message.sent')
      assert.deepEqual(device.texts(), ['for the second ben'])
      await device.close()
    })

    test('sends an imported member nothing of a deleted group that had the same guid', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben')
      const team = { guid: 'team', name: 'Team', type: 'public' as const }
      await app.client.groups.create({ ...team, owner: 'amira' })
      const position = await visit(app, 'ben')
      await send(app, 'amira', 'team', 'for the first team', 'group')
      await app.client.groups.delete('team')
      const bring = async (kind: string, key: string, item: object) => {
        const body = { [kind]: { [key]: item } }
        const answer = await app.call('POST', `/v3/data_import/${kind}`, { body })
        assert.equal(answer.body.data[key].success, true, JSON.stringify(answer.body))
      }
      await bring('groups', 'team', { ...team, owner: 'amira', createdAt: 1_600_000_000 })
      const member = { memberId: 'team_member_ben', guid: 'team', uid: 'ben' }
      await bring('members', member.memberId, member)
      await send(app, 'amira', 'team', 'for the second team', 'group')
      await sequenced(app)
      const device = await resume(app, 'ben', position)
      await device.waitFor('message.sent')
      await device.settled()
      assert.deepEqual(device.texts(), ['for the second team'])
      await device.close()
    })

    test('leaves out an event of a type that only a newer version knows', async () => {
      const app = await server.newApp()
      await app.users('amira', 'ben')
      const port = server.service.gatewayPort ?? 0
      const connected = await Device.connect(port, app, await tokenOf(app, 'ben'))
      const { position } = connected
      await sql(
        app,
        `insert into event_bodies (app_no, type, key, payload, to_first)
         values ($1, 'later.event', 'user:ben', '{"message": 1}', 'user:ben')`,
        [app.no],
      )
      await send(app, 'amira', 'ben', 'next')
      await connected.waitFor('message.sent')
      const device = await resume(app, 'ben', position)
      await device.waitFor('message.sent')
      for (const one of [connected, device]) {
        assert.ok(!one.events().includes('later.event'))
        await one.close()
      }
    })

    test('after a position that the log does not hold, the client is asked to reload', async () => {
      const app = await server.newApp()
      await app.users('ben')
      for (const position of [1_000_000, 0]) {
        await sequenced(app)
        await sql(app, 'delete from event_positions where app_no = $1 and position < 3', [app.no])
        const device = await resume(app, 'ben', position)
        if (source === 'from the log' || position > 0) await device.waitFor('session.reload')
        await device.close()
      }
    })
  })
}

test('devices that read slowly take only a share of the memory from other apps', async (t) => {
  const [app, other] = [await server.newApp(), await server.newApp()]
  for (const one of [app, other]) await one.users('ben')
  const hubs = new Hubs({ ...server.deps, credentials: new Credentials(server.deps) })
  t.after(() => hubs.close())
  const answers: string[] = []
  const ws = {
    bufferedAmount: realtimeLimits.queueBytes,
    // Nobody reads the events, so nothing calls back.
    send: (frame: string, _options: object, sent?: unknown) => sent || answers.push(frame),
  }
  /** Resumes with a new session, and returns the type of the answer. */
  async function answerTo(one: TestApp, position: number): Promise<string> {
    const session = new Session(ws as unknown as WebSocket, one)
    const hub = hubs.get(one)
    await hub.add(session, 'ben')
    await hub.start(session, position)
    return JSON.parse(answers.pop() ?? '').type
  }
  /** Lets ben miss events of ten thousand bytes each, and returns the position before them. */
  async function miss(one: TestApp, count: number): Promise<number> {
    await sequenced(one)
    const { rows } = await sql(one, 'select position from positions where app_no = $1', [one.no])
    await sql(
      one,
      `insert into event_bodies (app_no, type, key, payload, to_first)
       select $1, 'message.saved', 'user:ben',
         json_build_object('uid', 'ben', 'messageId', repeat('1', 10000)), 'user:ben'
       from generate_series(1, ${count})`,
      [one.no],
    )
    await sequenced(one)
    return Number(rows[0]?.position)
  }
  const before = await miss(app, 400)
  for (let n = 0; n < 16; n++) assert.equal(await answerTo(app, before), 'session.ready')
  assert.equal(await answerTo(app, before), 'session.reload')
  assert.equal(await answerTo(other, await miss(other, 1)), 'session.ready')
})

test('the log stores each event under its topics', async () => {
  const app = await server.newApp()
  await app.users('amira', 'ben')
  await app.client.groups.create({ guid: 'team', name: 'Team', type: 'public', owner: 'amira' })
  const sent = await send(app, 'amira', 'ben', 'hi')
  await send(app, 'amira', 'amira', 'note')
  const { id } = sent.body.data
  const headers = { onbehalfof: 'ben' }
  await app.call('POST', `/v3/messages/${id}/reactions/${encodeURIComponent('👍')}`, { headers })
  const group = await send(app, 'amira', 'team', 'hi', 'group')
  const own = { onbehalfof: 'amira' }
  await app.call('POST', `/v3/messages/${group.body.data.id}/reactions/x`, { headers: own })
  const body = { receiver: 'ben', receiverType: 'user', category: 'message', type: 'text' }
  await app.call('POST', '/v3/messages', { body: { ...body, data: { text: 'from the app' } } })
  await sequenced(app)
  const text = 'select type, payload, to_first, to_second from events where app_no = $1'
  const { rows } = await sql(app, text, [app.no])
  assert.ok(rows.length > 8)
  for (const { type, payload, to_first, to_second } of rows) {
    const topics = topicsOf(audienceOf(type as EventType, payload))
    const stored = [to_first, to_second].filter(Boolean)
    assert.deepEqual(stored.sort(), topics.sort(), String(type))
  }
})
