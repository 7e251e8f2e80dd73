import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ask } from '../../../test/agent-runs.ts'
import { admin, queryAt } from '../../../test/databases.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { holdLock } from '../../../test/locks.ts'
import { rows } from '../../../test/log-writers.ts'
import { resultsIn, useModelServer } from '../../../test/model-server.ts'
import { apnsError } from '../../../test/push/apns-server.ts'
import { decrypted, newBrowser, startPushService } from '../../../test/push/browser.ts'
import {
  addApns,
  addCustom,
  addFcm,
  android,
  closedOn,
  iPhone,
  shownOn,
  startPushServers,
  type TestDevice,
} from '../../../test/push/notified.ts'
import { useReceiver } from '../../../test/receiver.ts'
import { until } from '../../../test/until.ts'

const servers = await startPushServers()
const { apns, fcm } = servers
const receiver = useReceiver()
const models = useModelServer((call) =>
  resultsIn(call).length === 0 ? ['Let me see.', { tool: 'look', args: {} }] : ['Here it is.'],
)
const server = useServer({ roles: ['api', 'worker'], env: servers.env })

const UNAVAILABLE = { status: 503, body: '{"reason":"ServiceUnavailable"}' }

const shown = (device: TestDevice) => shownOn(servers, device)
const closed = (device: TestDevice) => closedOn(servers, device)

/** An app with both providers, and a group of these users. */
async function team(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  await app.users(...uids)
  const members = { participants: uids.slice(1) }
  await app.client.groups.create({ guid: 'team', name: 'Team', owner: uids[0], members })
  await addApns(app, servers)
  await addFcm(app, servers)
  return app
}

const say = async (app: TestApp, uid: string, text: string) =>
  (await app.as(uid).sendText('team', text, { receiverType: 'group' })).id

const prefer = async (app: TestApp, preferences: object) => {
  const answer = await app.call('PATCH', '/v3/notifications/v1/settings', { body: { preferences } })
  assert.equal(answer.status, 200)
}

/** Waits until nothing is left to do for an app. */
async function settled(app: TestApp): Promise<void> {
  await until('everything was sent', async () => {
    const [left] = await rows<{ open: boolean }>(
      app.cell.db,
      `select exists (select from notification_fanouts where app_no = $1)
         or exists (select from notification_deliveries where app_no = $1)
         or exists (select from notifier_progress g join positions p using (app_no)
           where app_no = $1 and p.position > g.position)
         or exists (select from outbox where app_no = $1) as open`,
      [app.no],
    )
    return left?.open === false
  })
}

/** Lets the waits of an app's deliveries pass. */
const pass = (app: TestApp, interval: string) =>
  rows(
    app.cell.db,
    `update notification_deliveries set due_at = due_at - $2::interval, expires_at = expires_at - $2::interval
     where app_no = $1`,
    [app.no, interval],
  )

suite('notifications', () => {
  test('reach the devices of all members but the sender', async () => {
    const app = await team('amira', 'ben', 'cleo', 'dora')
    await addCustom(app, `${receiver.url}/push`)
    const [senderAvatar, receiverAvatar] = [
      'https://example.org/a.png',
      'https://example.org/t.png',
    ]
    await app.client.users.update('amira', { avatar: senderAvatar })
    await app.client.groups.update('team', { icon: receiverAvatar })
    const [own, phone, tablet] = [
      await iPhone(app, 'amira'),
      await iPhone(app, 'ben'),
      await android(app, 'ben'),
    ]
    const blocking = await iPhone(app, 'cleo')
    await app.client.blockedUsers.block('cleo', { blockedUids: ['amira'] })
    const id = await say(app, 'amira', 'Hello')
    await settled(app)
    assert.deepEqual([own, phone, tablet, blocking].map(shown), [[], ['Hello'], ['Hello'], []])
    const push = apns.received.find(({ device }) => device === phone.token)
    assert.equal(push?.headers['apns-collapse-id'], id)
    const details = {
      ...{ tag: id, type: 'chat', sender: 'amira', senderName: 'amira', receiver: 'team' },
      ...{ receiverName: 'Team', receiverType: 'group', conversationId: 'group_team' },
      ...{ senderAvatar, receiverAvatar },
    }
    const { sentAt, ...payload } = push?.payload ?? {}
    assert.match(sentAt, /^\d{13}$/)
    assert.deepEqual(payload, {
      aps: {
        alert: { title: 'amira @ Team', body: 'Hello' },
        ...{ 'thread-id': 'group_team', sound: 'default' },
      },
      ...details,
    })
    const texts = { title: 'amira @ Team', body: 'Hello', sentAt }
    assert.deepEqual(fcm.received.find(({ token }) => token === tablet.token)?.data, {
      ...details,
      ...texts,
    })
    const calls = receiver.received.filter(({ path }) => path === '/push').map(({ json }) => json)
    assert.deepEqual(calls.map(({ data }) => data.to.uid).sort(), ['ben', 'dora'])
    assert.deepEqual(calls[0], {
      trigger: 'push-notification-payload-generated',
      data: { to: calls[0].data.to, notificationDetails: { ...details, ...texts } },
      ...{ appId: app.id, region: 'us', webhook: 'custom' },
    })
  })

  test('tell the user who asked an agent of its answer, and of nothing that it wrote before', async () => {
    const app = await team('amira', 'ben')
    const { url, key } = models
    await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
    const { uid: agent } = await app.client.agents.create({ name: 'Helper', providerId: 'house' })
    const [phone, other] = [await iPhone(app, 'amira'), await iPhone(app, 'ben')]
    const run = await ask({ app, amira: app.as('amira'), agent }, 'Where is it?')
    // What it wrote, the call of a tool, and the answer.
    assert.deepEqual([run.reason, run.steps.length], ['answered', 3])
    await settled(app)
    assert.deepEqual([shown(phone), shown(other)], [['Here it is.'], []])
  })

  test('reach browsers, which decrypt them', async () => {
    const app = await team('amira', 'ben')
    const path = '/v3/notifications/push/v1/providers/web_push'
    const body = { providerId: 'web', subject: 'mailto:push@example.org' }
    const { body: added } = await app.call('POST', path, { body })
    const service = await startPushService(added.data.pushProviders[0].publicKey)
    const browser = newBrowser()
    const keys = {
      p256dh: browser.key.getPublicKey('base64url'),
      auth: browser.auth.toString('base64url'),
    }
    const { authToken } = await app.client.authTokens.create('ben', { force: true })
    const subscription = { endpoint: `${service.url}/ben`, keys }
    await app.client.pushTokens.register({ platform: 'web_push', subscription, authToken })
    const id = await say(app, 'amira', 'Hello')
    await settled(app)
    await app.as('ben').call('POST', '/v3/groups/team/conversation/read')
    await settled(app)
    service.close()
    const [shown, closed] = service.received.map((push) =>
      JSON.parse(decrypted(push.body, browser)),
    )
    assert.deepEqual([shown.title, shown.body, shown.tag], ['amira @ Team', 'Hello', id])
    assert.deepEqual([closed.action, closed.tags], ['close', [id]])
    assert.equal(service.received[0]?.headers.topic, id)
  })

  test('reach the users that a message mentions first', async () => {
    const app = await team('amira', 'ben', 'cleo', 'zoe')
    const devices = [await iPhone(app, 'ben'), await iPhone(app, 'cleo'), await iPhone(app, 'zoe')]
    await say(app, 'amira', 'Hello <@uid:zoe>')
    await settled(app)
    const tokens = devices.map(({ token }) => token)
    const order = apns.received.map(({ device }) => device).filter((one) => tokens.includes(one))
    assert.deepEqual([order.length, order[0]], [3, tokens[2]])
  })

  test('are in order, one under way per device and conversation, and wait as asked', async () => {
    const app = await team('amira', 'ben')
    const phone = await iPhone(app, 'ben')
    let underWay = 0
    let busy = true
    const before = apns.respond
    apns.respond = async (push) => {
      if (push.device !== phone.token) return before(push)
      assert.equal(++underWay, 1)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      if (busy) return { ...UNAVAILABLE, headers: { 'retry-after': '600' } }
      return { status: 200 }
    }
    for (const text of ['one', 'two', 'three']) await say(app, 'amira', text)
    const waits = async () =>
      rows<{ tries: number; seconds: number }>(
        app.cell.db,
        `select tries, extract(epoch from due_at - now())::float as seconds
         from notification_deliveries where app_no = $1 order by id`,
        [app.no],
      )
    await until('it waits', async () => (await waits()).some(({ tries }) => tries === 1))
    await until('all were decided', async () => (await waits()).length === 3)
    for (const { seconds } of await waits()) assert.ok(seconds > 500, 'as long as Apple asked for')
    assert.deepEqual(
      (await waits()).map(({ tries }) => tries),
      [1, 0, 0],
    )
    busy = false
    await pass(app, '1 hour')
    await settled(app)
    const bodies = apns.received
      .filter(({ device }) => device === phone.token)
      .map(({ payload }) => payload.aps.alert.body)
    assert.deepEqual(bodies, ['one', 'one', 'two', 'three'])
    apns.respond = before
  })

  test('end with the session, a block, the message, or when it was read', async () => {
    const app = await team('amira', 'ben', 'cleo', 'dora', 'emil')
    const [ben, cleo, dora, emil] = [
      await iPhone(app, 'ben'),
      await iPhone(app, 'cleo'),
      await iPhone(app, 'dora'),
      await iPhone(app, 'emil'),
    ]
    const devices = [ben, cleo, dora, emil].map(({ token }) => token)
    const before = apns.respond
    apns.respond = (push) =>
      devices.includes(push.device)
        ? { ...UNAVAILABLE, headers: { 'retry-after': '600' } }
        : before(push)
    const gone = await say(app, 'amira', 'gone')
    await say(app, 'amira', 'kept')
    await until('all wait', async () => {
      const waiting = `select from notification_deliveries where app_no = $1
        and due_at > now() + interval '1 minute'`
      return (await rows(app.cell.db, waiting, [app.no])).length === 8
    })
    await app.call('DELETE', `/v3/users/ben/auth_tokens/${ben.authToken}`)
    await app.client.blockedUsers.block('cleo', { blockedUids: ['amira'] })
    await app.as('dora').call('POST', '/v3/groups/team/conversation/read')
    assert.equal((await app.as('amira').call('DELETE', `/v3/messages/${gone}`)).status, 200)
    const from = apns.received.length
    apns.respond = before
    await pass(app, '1 hour')
    await settled(app)
    const bodies = apns.received
      .slice(from)
      .filter(({ device }) => devices.includes(device))
      .map(({ device, payload }) => [device, payload.aps.alert?.body])
    assert.deepEqual(bodies, [[emil.token, 'kept']])
  })

  test('remove devices that do not exist any more', async () => {
    const app = await team('amira', 'ben')
    const [phone, tablet] = [await iPhone(app, 'ben'), await android(app, 'ben')]
    const before = apns.respond
    apns.respond = (push) =>
      push.device === phone.token
        ? apnsError(410, 'Unregistered', { timestamp: Date.now() + 60_000 })
        : before(push)
    await say(app, 'amira', 'Hello')
    await settled(app)
    apns.respond = before
    const left = await rows<{ platform: string }>(
      app.cell.db,
      'select platform from push_tokens where app_no = $1',
      [app.no],
    )
    assert.deepEqual(left, [{ platform: 'fcm_android' }])
    assert.deepEqual(shown(tablet), ['Hello'])
  })
})

suite('an app whose notifier failed', () => {
  test('starts over only after the decision under way, so nothing is decided twice', async () => {
    const [app, other] = [await team('amira', 'ben'), await team('amira', 'ben')]
    const [phone, waiting] = [await iPhone(app, 'ben'), await iPhone(other, 'ben')]
    const answer = Promise.withResolvers<void>()
    const before = apns.respond
    apns.respond = async (push) => {
      if (push.device === waiting.token)
        return { ...UNAVAILABLE, headers: { 'retry-after': '600' } }
      if (push.device === phone.token) await answer.promise
      return before(push)
    }
    const pushesTo = ({ token }: TestDevice) =>
      apns.received.filter(({ device }) => device === token)
    /** Waits until the notifier has looked for work. */
    const looked = async () => {
      const { length } = pushesTo(waiting)
      await until('it waits', async () => {
        const later = `select from notification_deliveries where app_no = $1 and due_at > now()`
        return (await rows(other.cell.db, later, [other.no])).length === 1
      })
      await rows(
        other.cell.db,
        'update notification_deliveries set due_at = now() where app_no = $1',
        [other.no],
      )
      await until('it is due', () => pushesTo(waiting).length > length)
    }
    await say(other, 'amira', 'Later')
    await looked()
    await say(app, 'amira', 'one')
    await until('Apple is called', () => pushesTo(phone).length === 1)
    const deciding = await holdLock(app, 'lock table notification_mutes', [])
    await say(app, 'amira', 'two')
    await until('it decides', async () => (await deciding.waiting()) >= 1)
    const storing = await holdLock(
      app,
      'select from notification_deliveries where app_no = $1 for update',
      [app.no],
    )
    answer.resolve()
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
      where datname = $1 and wait_event_type = 'Lock' and query like '%record_notified%'`
    const database = new URL(app.cell.url).pathname.slice(1)
    await until(
      'its dispatcher fails',
      async () => (await admin(cancel, [database])).rowCount === 1,
    )
    await storing.release()
    for (let round = 0; round < 3; round++) await looked()
    await deciding.release()
    await settled(app)
    const bodies = pushesTo(phone).map(({ payload }) => payload.aps.alert.body)
    assert.deepEqual(bodies, ['one', 'one', 'two'])
    apns.respond = before
    await Promise.all([storing.close(), deciding.close()])
  })
})

suite('the log of notifications', () => {
  test('says what providers answered, and why somebody was not notified', async () => {
    const app = await team('amira', 'ben', 'cleo', 'dora')
    const [ben, dora] = [await iPhone(app, 'ben'), await iPhone(app, 'dora')]
    await android(app, 'cleo')
    await app.client.blockedUsers.block('cleo', { blockedUids: ['amira'] })
    const before = apns.respond
    apns.respond = (push) =>
      push.device === dora.token ? apnsError(400, 'BadDeviceToken') : before(push)
    const logging = { body: { enabled: true } }
    await app.call('PUT', '/v3/notifications/v1/logs/settings', logging)
    const id = await say(app, 'amira', 'Hello')
    await settled(app)
    apns.respond = before
    const found = await rows(
      app.cell.db,
      `select uid, trigger, message_id::text as id, sender, receiver, provider, provider_id, push_token,
         triggered, reason, success from notification_logs where app_no = $1 order by uid`,
      [app.no],
    )
    const of = { trigger: 'after_message', id, sender: 'amira', receiver: 'team' }
    const apple = { ...of, provider: 'apns', provider_id: 'apple', triggered: true }
    assert.deepEqual(found, [
      {
        ...{ uid: 'ben', ...apple, push_token: `****${ben.token.slice(-8)}` },
        ...{ reason: null, success: true },
      },
      {
        ...{ uid: 'cleo', ...of, provider: 'fcm', provider_id: 'google', push_token: null },
        ...{ triggered: false, reason: 'BLOCKED_SENDER', success: null },
      },
      {
        ...{ uid: 'dora', ...apple, push_token: `****${dora.token.slice(-8)}` },
        ...{ reason: 'NOT_FOUND', success: false },
      },
    ])
  })
})

suite('a log that rejects its entries', () => {
  test("doesn't let anything be sent twice", async () => {
    const app = await team('amira', 'ben')
    const phone = await iPhone(app, 'ben')
    await app.call('PUT', '/v3/notifications/v1/logs/settings', { body: { enabled: true } })
    const { url } = app.cell
    const refusing = `add constraint refusing check (app_no <> ${app.no})`
    await queryAt(url, `alter table notification_logs ${refusing}`)
    await say(app, 'amira', 'Hello')
    await settled(app)
    await queryAt(url, 'alter table notification_logs drop constraint refusing')
    const pushes = apns.received.filter(({ device }) => device === phone.token)
    assert.equal(pushes.length, 1)
    const logged = await rows(app.cell.db, 'select from notification_logs where app_no = $1', [
      app.no,
    ])
    assert.equal(logged.length, 0)
  })
})

suite('what devices show', () => {
  test('changes with an edit, and goes with a deletion or when it was read', async () => {
    const app = await team('amira', 'ben')
    const [phone, tablet] = [await iPhone(app, 'ben'), await android(app, 'ben')]
    const [one, two, three] = [
      await say(app, 'amira', 'one'),
      await say(app, 'amira', 'two'),
      await say(app, 'amira', 'three'),
    ]
    await settled(app)
    const edit = { body: { data: { text: 'zwei' } } }
    assert.equal((await app.as('amira').call('PUT', `/v3/messages/${two}`, edit)).status, 200)
    assert.equal((await app.as('amira').call('DELETE', `/v3/messages/${one}`)).status, 200)
    await settled(app)
    assert.deepEqual(shown(phone), ['one', 'two', 'three', 'zwei'])
    const edited = apns.received.find(({ payload }) => payload.aps.alert?.body === 'zwei')
    assert.equal(edited?.headers['apns-collapse-id'], two, 'it replaces the first one')
    assert.equal(edited?.payload.aps.sound, undefined)
    assert.deepEqual([closed(phone), closed(tablet)], [[one], [one]])
    await app.as('ben').call('POST', '/v3/groups/team/conversation/read')
    await settled(app)
    for (const device of [phone, tablet]) assert.deepEqual(closed(device).sort(), [one, two, three])
    const from = apns.received.length
    await app.as('amira').call('DELETE', `/v3/messages/${three}`)
    await settled(app)
    const later = apns.received.slice(from).filter(({ device }) => device === phone.token)
    assert.deepEqual(later, [], 'nothing is shown any more')
  })

  test('has the exact number of unread messages, if the app wants a badge', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    await addApns(app, servers)
    await prefer(app, { push: { unreadMessageCountSetting: true } })
    const phone = await iPhone(app, 'ben')
    await app.as('amira').sendText('ben', 'one')
    await settled(app)
    await app.as('cleo').sendText('ben', 'two')
    await settled(app)
    await app.as('ben').call('POST', '/v3/users/amira/conversation/read')
    await settled(app)
    const badges = apns.received
      .filter(({ device }) => device === phone.token)
      .map(({ payload }) => [payload.aps.badge, payload.unreadMessageCount])
    assert.deepEqual(badges, [
      [1, 1],
      [2, 2],
      [1, 1],
    ])
  })

  test('after quiet hours, says how many messages came', async () => {
    const app = await team('amira', 'ben', 'cleo')
    const [ben, cleo] = [await iPhone(app, 'ben'), await iPhone(app, 'cleo')]
    const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
    const hours = (dnd: boolean) =>
      Object.fromEntries(days.map((day) => [day, { from: 0, to: 2359, dnd }]))
    const minute = new Date().getUTCMinutes()
    // Open in another half of the hour, so that the test doesn't depend on the time of day.
    const closedNow = Object.fromEntries(
      days.map((day) => {
        const clock = new Date().getUTCHours() * 100
        return [
          day,
          { from: clock + ((minute + 30) % 60), to: clock + ((minute + 30) % 60), dnd: false },
        ]
      }),
    )
    const schedule = (body: object) =>
      app.call('PATCH', '/v3/notifications/v1/preferences?uid=ben', {
        body: { mutePreferences: body },
      })
    assert.equal((await schedule({ hold: true, schedule: closedNow })).status, 200)
    const messages = [
      await say(app, 'amira', 'one'),
      await say(app, 'amira', 'two'),
      await say(app, 'amira', 'three'),
    ]
    await settled(app)
    assert.deepEqual([shown(ben), shown(cleo)], [[], ['one', 'two', 'three']])
    await app.as('amira').call('DELETE', `/v3/messages/${messages[0]}`)
    assert.equal((await schedule({ schedule: hours(false) })).status, 200)
    await rows(app.cell.db, `update notification_held set until = now() where app_no = $1`, [
      app.no,
    ])
    await until('it was told', () => shown(ben).length > 0)
    assert.deepEqual(shown(ben), ['You have 2 new messages'])
  })
})
