import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import type { Reason } from '../../core/notifications/decide.ts'
import { decidePush, readReceivers } from '../../core/notifications/facts.ts'
import { occurrenceOf } from '../../core/notifications/occurrence.ts'
import { readNotifiedApp } from './notified-app.ts'

const server = useServer()

const addProvider = (app: TestApp, kind = 'fcm') =>
  rows(
    app.cell.db,
    `insert into notification_providers
       (app_no, channel, kind, provider_id, is_default, enabled, details, secret_sealed)
     values ($1, 'push', $2, 'main', true, true, '{}', '')`,
    [app.no, kind],
  )

let tokens = 0
async function addDevice(app: TestApp, uid: string, more: object = {}) {
  const { authToken } = await app.client.authTokens.create(uid, { force: true })
  const device = { platform: 'fcm_android' as const, fcmToken: `token-${++tokens}`, ...more }
  await app.client.pushTokens.register({ ...device, authToken })
}

/** What is decided about the newest event that somebody can be notified of. */
async function decisions(app: TestApp, ...uids: string[]): Promise<Record<string, unknown[]>> {
  const events = await app.events()
  const occurrences = events.map((event) => occurrenceOf({ ...event, at: new Date() } as never))
  const occurrence = occurrences.findLast((one) => one !== undefined)
  const notified = await readNotifiedApp(app.cell.db, app.no)
  assert.ok(occurrence && notified)
  const [receivers = []] = await readReceivers(app.cell.db, notified, [{ occurrence, uids }])
  return Object.fromEntries(
    receivers.map((receiver) => [
      receiver.uid,
      decidePush(notified, receiver).map(({ decision }) =>
        decision.notify === false ? decision.reason : decision.notify,
      ),
    ]),
  )
}

/** A group of amira and these users, each with a device. */
async function group(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  await addProvider(app)
  await app.users('amira', ...uids)
  const members = { participants: uids }
  await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
  for (const uid of uids) await addDevice(app, uid)
  return app
}

const no = (reason: Reason) => [reason]

suite('what is known about receivers', () => {
  test('decides about each member of a group', async () => {
    const app = await group('ben', 'cleo', 'dora', 'emil', 'fay', 'gus')
    await app.users('hal', 'ivo')
    await app.as('hal').groups.join('team')
    await app.client.blockedUsers.block('cleo', { blockedUids: ['amira'] })
    await app.client.blockedUsers.block('amira', { blockedUids: ['dora'] })
    await app.call('PUT', '/v3/notifications/v1/preferences/mute?uid=emil', {
      body: { conversations: [{ id: 'team', type: 'group', until: Date.now() + 600_000 }] },
    })
    await app.call('PATCH', '/v3/notifications/v1/preferences?uid=fay', {
      body: { groupPreferences: { groupMessages: 3 } },
    })
    await app.as('amira').sendText('team', 'Hello', { receiverType: 'group' })
    await app.as('gus').call('POST', '/v3/groups/team/conversation/read')
    const all = ['amira', 'ben', 'cleo', 'dora', 'emil', 'fay', 'gus', 'hal', 'ivo', 'nobody']
    assert.deepEqual(await decisions(app, ...all), {
      amira: no('OWN_ACTION'),
      ben: [true],
      cleo: no('BLOCKED_SENDER'),
      dora: no('BLOCKED_SENDER'),
      emil: no('MUTE_PREFERENCE'),
      fay: no('MESSAGES_PREFERENCE'),
      gus: no('ALREADY_READ'),
      hal: no('NO_PUSH_TOKEN'),
      ivo: no('NO_ACCESS'),
      nobody: no('NO_ACCESS'),
    })
  })

  test('knows reactions, replies, deletions and what a role may see', async () => {
    const app = await group('ben', 'cleo')
    const { id } = await app.as('ben').sendText('team', 'Hello', { receiverType: 'group' })
    await app.as('amira').call('POST', `/v3/messages/${id}/reactions/%F0%9F%91%8D`)
    assert.deepEqual(await decisions(app, 'amira', 'ben', 'cleo'), {
      amira: no('OWN_ACTION'),
      ben: [true],
      cleo: no('REACTIONS_PREFERENCE'),
    })
    await app.as('amira').sendText('team', 'Yes?', { receiverType: 'group', parentMessageId: id })
    assert.deepEqual(await decisions(app, 'ben'), { ben: [true] })
    await app.client.roles.create({ role: 'guest', name: 'Guest' })
    const permissions = { 'listMessages.allowedMessageTypes': ['image'] }
    await app.client.permissions.updateRole('guest', { permissions })
    await app.client.users.update('cleo', { role: 'guest' })
    const { id: last } = await app.as('amira').sendText('team', 'No', { receiverType: 'group' })
    assert.deepEqual(await decisions(app, 'ben', 'cleo'), { ben: [true], cleo: no('NO_ACCESS') })
    await rows(app.cell.db, 'delete from messages where app_no = $1 and id = $2', [app.no, last])
    assert.deepEqual(await decisions(app, 'ben'), { ben: no('NO_ACCESS') })
  })

  test('decides about each device, by its provider', async () => {
    const app = await group('ben')
    await addDevice(app, 'ben', { platform: 'apns_ios_device', deviceToken: 'ab12' })
    await addDevice(app, 'ben', { platform: 'apns_ios_voip', voipToken: 'ab13' })
    await app.as('amira').sendText('ben')
    const devices = async () => (await decisions(app, 'ben')).ben?.sort()
    assert.deepEqual(await devices(), ['NO_PROVIDER', true], 'nothing over the token for calls')
    await rows(app.cell.db, `update push_tokens set provider_id = 'x' where app_no = $1`, [app.no])
    assert.deepEqual(await devices(), ['INVALID_PUSH_PROVIDER_ID', 'INVALID_PUSH_PROVIDER_ID'])
    await addProvider(app, 'custom')
    assert.equal((await devices())?.at(-1), true, 'a server of the app knows its own devices')
  })
})
