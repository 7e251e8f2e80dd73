import { generateKeyPairSync } from 'node:crypto'
import { withReceiver } from './receiver.ts'
import type { Story } from './story.ts'

const PEM = { type: 'pkcs8', format: 'pem' } as const

/** Of what the app notifies its users, and what one of them prefers. */
export async function manageNotifications(story: Story): Promise<void> {
  await story.show('updateNotificationSettings', {
    body: {
      preferences: {
        group: { messagesSetting: 3, memberJoinedOverride: false },
        bypassPreferencesForMentions: true,
      },
      templates: {
        textMessageTemplateDefault: {
          titleGroup: 'Ward: {{message.data.entities.receiver.entity.name}}',
        },
      },
    },
  })
  await story.show('updateNotificationSettings', {
    title: 'The hours of a day end before they begin',
    body: {
      preferences: { mute: { schedulePreferenceSetting: { monday: { from: 2200, to: 600 } } } },
    },
    status: 400,
  })
  await story.show('getNotificationSettings')
  await story.show('previewNotificationSettings', {
    body: { emailDesign: { appName: 'Ward chat', accentColor: '#0b5fa5' } },
  })
  await managePreferences(story)
  await story.show('updateNotificationLogSettings', { body: { enabled: true } })
  await story.show('getNotificationLogSettings')
  await story.show('listNotificationLogs', {
    query: { uid: 'amira', notificationTriggered: false },
  })
  const { id: messageId } = await story.run('sendMessage', {
    as: 'amira',
    body: { receiver: 'ben', receiverType: 'user', data: { text: 'Are you there?' } },
  })
  await story.show('explainNotification', { query: { uid: 'ben', messageId } })
  await story.show('resetNotificationSettings')
}

async function managePreferences(story: Story): Promise<void> {
  const query = { uid: 'amira' }
  await story.show('updateNotificationPreferencesTimezone', {
    query,
    body: { timezone: 'Europe/Vienna' },
  })
  await story.show('getNotificationPreferencesTimezone', { query })
  await story.show('updateNotificationPreferences', {
    query,
    body: {
      groupPreferences: { groupMessages: 2 },
      mutePreferences: {
        hold: true,
        schedule: { saturday: { dnd: true }, sunday: { from: 1000, to: 2000 } },
      },
    },
  })
  await story.show('getNotificationPreferences', { query })
  await story.show('resetNotificationPreferences', { query })
  await story.show('muteConversations', {
    query,
    body: { conversations: [{ id: 'ward-3', type: 'group', until: 1893456000000 }] },
  })
  await story.show('listMutedConversations', { query })
  await story.show('unmuteConversations', {
    query,
    body: { conversations: [{ id: 'ward-3', type: 'group' }] },
  })
  await story.show('updateContactDetails', {
    as: 'amira',
    body: { email: 'amira@example.org', phno: '+43100000000' },
  })
  await story.show('getContactDetails', { as: 'amira' })
  await story.show('deleteContactDetails', { as: 'amira' })
}

/** Devices that receive push, and the services that send it. */
export async function manageProviders(story: Story): Promise<void> {
  const keys = {
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(PEM).toString(),
    ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(PEM).toString(),
  }
  const fcm = {
    providerId: 'fcm-1',
    serviceAccountFilename: 'ward-chat.json',
    serviceAccountCreds: {
      project_id: 'ward-chat',
      client_email: 'push@ward-chat.example.org',
      private_key: keys.rsa,
      private_key_id: '7d2f',
    },
    notificationInPayload: { ios: { chat: true, call: false } },
  }
  await story.show('createFcmProvider', { body: fcm })
  await story.show('updateFcmProvider', { body: { ...fcm, serviceAccountFilename: 'new.json' } })
  await story.show('listFcmProviders')
  await story.show('setDefaultFcmProvider', { ids: { providerId: 'fcm-1' } })
  const apns = {
    ...{ providerId: 'apns-1', keyId: 'K2DEF4', teamId: 'T9AB3C', bundleId: 'org.example.ward' },
    ...{ p8KeyFilename: 'AuthKey.p8', p8Key: keys.ec, productionMode: false },
  }
  await story.show('createApnsProvider', { body: apns })
  await story.show('updateApnsProvider', { body: { ...apns, productionMode: true } })
  await story.show('listApnsProviders')
  await story.show('setDefaultApnsProvider', { ids: { providerId: 'apns-1' } })
  const webPush = { providerId: 'web-1', subject: 'mailto:push@example.org' }
  await story.show('createWebPushProvider', { body: webPush })
  await story.show('updateWebPushProvider', {
    body: { ...webPush, subject: 'https://ward-chat.example.org/contact' },
  })
  await story.show('listWebPushProviders')
  await story.show('setDefaultWebPushProvider', { ids: { providerId: 'web-1' } })
  await manageDevices(story)
  for (const [name, providerId] of [
    ['Fcm', 'fcm-1'],
    ['Apns', 'apns-1'],
    ['WebPush', 'web-1'],
  ] as const) {
    await story.show(`test${name}Provider`, { ids: { providerId }, body: { uid: 'ben' } })
  }
  await story.show('deleteWebPushProvider', { ids: { providerId: 'web-1' } })
  await story.show('deleteFcmProvider', { ids: { providerId: 'fcm-1' } })
  await story.show('deleteApnsProvider', { ids: { providerId: 'apns-1' } })
  await withReceiver(story, (url) => manageOthers(story, url))
}

async function manageDevices(story: Story): Promise<void> {
  const { authToken } = await story.run('createAuthToken', {
    ids: { uid: 'amira' },
    body: { force: true },
  })
  await story.show('registerPushToken', {
    body: { authToken, platform: 'fcm_android', fcmToken: 'dGhlLXRva2Vu', providerId: 'fcm-1' },
  })
  await story.show('getWebPushKey', { as: 'amira' })
  await story.show('registerPushToken', {
    title: 'Register a browser',
    body: {
      authToken,
      platform: 'web_push',
      providerId: 'web-1',
      subscription: {
        endpoint: 'https://push.example.org/send/7c1a',
        keys: {
          p256dh:
            'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        },
      },
      timezone: 'Europe/Vienna',
    },
  })
  await story.show('listPushTokens', { query: { authToken, all: true } })
  await story.show('unregisterPushToken', {
    ids: { pushToken: 'dGhlLXRva2Vu' },
    body: { authToken },
  })
  await story.show('unregisterSessionPushTokens', { body: { authToken } })
}

/** Addresses that get nothing more. */
export async function manageSuppressed(story: Story): Promise<void> {
  const body = { channel: 'email', address: 'old.address@example.org' }
  const { id } = (await story.show('createSuppression', { body })) as { id: string }
  await story.show('listSuppressions')
  await story.show('deleteSuppression', { ids: { suppressionId: id } })
}

/** Custom providers, SMS and email. */
async function manageOthers(story: Story, url: string): Promise<void> {
  const custom = {
    ...{ isEnabled: true, webhookURL: `${url}/notify`, useBasicAuth: true },
    ...{ basicAuthUsername: 'loquat', basicAuthPassword: 'correct-horse-battery' },
  }
  const twilio = {
    ...{ twilioAccountSID: 'AC0f1e2d', twilioAuthToken: '9b8c7d6e5f4a' },
    twilioSenderPhoneNumber: '+43100000001',
  }
  const sendgrid = {
    ...{ sendGridApiKey: 'SG.1a2b3c4d5e6f', sendGridTemplateID: 'd-77' },
    ...{ sendGridUnsubscribeGroupID: '12', senderName: 'Ward chat' },
    ...{ senderEmail: 'chat@example.org', allowEmailReplies: false },
  }
  const smtp = {
    ...{ smtpHost: 'smtp.example.org', smtpPort: 465, smtpSecurity: 'tls' },
    ...{ smtpUsername: 'ward-chat', smtpPassword: 'correct-horse-battery' },
    ...{ senderName: 'Ward chat', senderEmail: 'chat@example.org', allowEmailReplies: false },
  }
  const all: [name: string, body: object, changes: object][] = [
    ['CustomPush', custom, { isEnabled: false }],
    ['Twilio', twilio, { isEnabled: false }],
    ['CustomSms', { ...custom, useStoredPhNo: false }, { useStoredPhNo: true }],
    ['Sendgrid', sendgrid, { senderName: 'Ward 3' }],
    ['Smtp', smtp, { smtpPort: 587, smtpSecurity: 'starttls' }],
    ['CustomEmail', { ...custom, useStoredEmailID: false }, { useStoredEmailID: true }],
  ]
  const tests: Record<string, string> = {
    ...{ CustomPush: 'testCustomPushProvider', CustomSms: 'testSmsProvider' },
    CustomEmail: 'testEmailProvider',
  }
  for (const [name, body, changes] of all) {
    await story.show(`create${name}Provider`, { body })
    const test = tests[name]
    if (test) await story.show(test, { body: { uid: 'ben' } })
    await story.show(`update${name}Provider`, { body: changes })
    await story.show(`get${name}Provider`)
    await story.show(`delete${name}Provider`)
  }
}
