import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { recordLog } from '../../core/notifications/log.ts'

const server = useServer()

/** Registers a device of a user. */
async function register(app: TestApp, uid: string, fcmToken: string, providerId?: string) {
  const { authToken } = await app.client.authTokens.create(uid, { force: true })
  await app.client.pushTokens.register({
    ...{ authToken, platform: 'fcm_android', fcmToken },
    ...(providerId !== undefined && { providerId }),
  })
}

const addProvider = (app: TestApp) =>
  app.client.pushProviders.createCustom({
    ...{ isEnabled: true, webhookURL: 'https://8.8.8.8/push', useBasicAuth: false },
    ...{ basicAuthUsername: '', basicAuthPassword: '' },
  })

suite('explainNotification', () => {
  test('answers for each channel and device', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira', 'ben')
    const { notifications } = app.client
    const { id: messageId } = await amira.sendText('ben', 'Hello')
    const ways = async (uid: string) => (await notifications.explain({ uid, messageId })).ways
    assert.deepEqual(await ways('ben'), [
      { channel: 'push', notified: 'no', reason: 'NO_PUSH_TOKEN' },
      { channel: 'email', notified: 'no', reason: 'NO_PROVIDER' },
      { channel: 'sms', notified: 'no', reason: 'NO_PROVIDER' },
    ])
    await register(app, 'ben', 'a-long-token-of-ben-1234')
    await addProvider(app)
    await app.client.emailProviders.createSendgrid({
      ...{ sendGridApiKey: 'SG.key-1234', sendGridTemplateID: 't', senderName: 'Chat' },
      ...{ sendGridUnsubscribeGroupID: '7', senderEmail: 'chat@example.org' },
      allowEmailReplies: false,
    })
    const device = { platform: 'fcm_android', pushToken: '****ben-1234' }
    assert.deepEqual(await ways('ben'), [
      { channel: 'push', notified: 'no', reason: 'NO_PROVIDER', ...device },
      { channel: 'push', notified: 'yes', provider: 'custom' },
      { channel: 'email', notified: 'no', reason: 'MISSING_EMAIL' },
      { channel: 'sms', notified: 'no', reason: 'NO_PROVIDER' },
    ])
    await app.as('ben').contactDetails.update({ email: 'ben@example.org' })
    assert.deepEqual((await ways('ben'))[2], {
      ...{ channel: 'email', notified: 'yes', provider: 'sendgrid' },
    })
    assert.ok((await ways('amira')).every(({ reason }) => reason === 'OWN_ACTION'))
  })

  test('gives the reason at the time of the message, and what was logged', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben', 'cleo')
    await addProvider(app)
    const { notifications, notificationLogs, notificationPreferences } = app.client
    await notificationLogs.updateSettings({ enabled: true })
    const { id: messageId } = await amira.sendText('ben', 'Hello')
    await ben.conversations.markUserRead('amira')
    const explain = () => notifications.explain({ uid: 'ben', messageId })
    const [first] = (await explain()).ways
    assert.equal(first?.notified, 'yes')
    assert.equal((await explain()).read, true)
    assert.equal((await explain()).waiting, 0)
    await notificationPreferences.update({ mutePreferences: { dnd: 2 } }, { uid: 'ben' })
    assert.equal((await explain()).ways[0]?.reason, 'DND_PREFERENCE')
    await recordLog(app.cell.db, app.no, [
      {
        ...{ uid: 'ben', channel: 'push', trigger: 'after_message', messageId: Number(messageId) },
        ...{ sender: 'amira', receiver: 'ben', receiverType: 'user', provider: 'custom' },
        ...{ triggered: true, success: true },
        ...{ sentAt: new Date(), startedAt: new Date(), endedAt: new Date() },
      },
    ])
    const { log } = await explain()
    assert.deepEqual(
      log.map(({ success, provider }) => [success, provider]),
      [[true, 'custom']],
    )
    const stranger = await notifications.explain({ uid: 'cleo', messageId })
    assert.ok(stranger.ways.every(({ reason }) => reason === 'NO_ACCESS'))
  })

  test('refuses unknown users, unknown messages and messages of other apps', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const [amira] = await app.users('amira', 'ben')
    await other.users('ben')
    const { id: messageId } = await amira.sendText('ben', 'Hello')
    const { notifications } = app.client
    await refused(notifications.explain({ uid: 'nobody', messageId }), 'ERR_UID_NOT_FOUND')
    await refused(notifications.explain({ uid: 'ben', messageId: '1' }), 'ERR_MESSAGE_ID_NOT_FOUND')
    await refused(
      other.client.notifications.explain({ uid: 'ben', messageId }),
      'ERR_MESSAGE_ID_NOT_FOUND',
    )
  })
})
