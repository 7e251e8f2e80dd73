import { generateKeyPairSync } from 'node:crypto'
import type { TestApp } from '../kit.ts'
import {
  HOOK_URL,
  newId,
  type Resource,
  type Resources,
  type Sample,
  type Samples,
  sendText,
  user,
} from './shared.ts'

/** No name server knows it, so nothing is called. */
const NOWHERE = 'https://push.invalid/test'

/** Keys that open nothing. */
const pem = { type: 'pkcs8', format: 'pem' } as const

const RSA_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem)

const EC_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem)

/** A query that names a user. */
const ofUser = async (app: TestApp): Promise<Sample> => ({
  query: { uid: await user.make(app, {}) },
})

/** The auth token of a new user. */
async function newSession(app: TestApp): Promise<string> {
  const path = `/v3/users/${await user.make(app, {})}/auth_tokens`
  return (await app.call('POST', path, { body: {} })).body.data.authToken
}

const CUSTOM_PROVIDER = {
  isEnabled: true,
  webhookURL: HOOK_URL,
  useBasicAuth: true,
  basicAuthUsername: 'ana',
  basicAuthPassword: 'long-secret-1',
}

const TWILIO = {
  twilioAccountSID: 'AC1',
  twilioAuthToken: 'long-secret-2',
  twilioSenderPhoneNumber: '+33100000001',
}

const SMTP = {
  ...{ smtpHost: 'smtp.example.org', smtpPort: 587, smtpSecurity: 'starttls' },
  ...{ smtpUsername: 'chat', smtpPassword: 'mail-password-1' },
  ...{ senderName: 'Chat', senderEmail: 'chat@example.org', allowEmailReplies: false },
}

const SENDGRID = {
  sendGridApiKey: 'long-secret-3',
  sendGridTemplateID: 'd-1',
  sendGridUnsubscribeGroupID: '7',
  senderName: 'Loquat',
  senderEmail: 'chat@example.org',
  allowEmailReplies: false,
}

const fcmProvider = (providerId: string) => ({
  providerId,
  serviceAccountFilename: 'account.json',
  serviceAccountCreds: {
    project_id: 'chat-1',
    client_email: 'push@chat-1.example.org',
    private_key: RSA_KEY,
    private_key_id: 'k1',
  },
  notificationInPayload: { ios: { chat: true, call: false }, android: {} },
})

const apnsProvider = (providerId: string) => ({
  ...{ providerId, keyId: 'K1', teamId: 'T1', bundleId: 'org.example.chat' },
  ...{ p8KeyFilename: 'key.p8', p8Key: EC_KEY, productionMode: true },
})

const webPushProvider = (providerId: string) => ({
  ...{ providerId, subject: 'mailto:push@example.org' },
})

/** Stores a provider at its path, and returns the sample. */
const stored =
  (path: string, body: object, sample: Sample = {}) =>
  async (app: TestApp): Promise<Sample> => {
    await app.call('POST', `/v3/notifications/${path}`, { body })
    return sample
  }

export const resources: Resources = {
  suppressionId: {
    async make(app) {
      const body = { channel: 'email', address: `${newId()}@example.org` }
      return (await app.call('POST', '/v3/notifications/v1/suppressions', { body })).body.data.id
    },
    unknown: () => '4',
  },
  providerId: {
    async make(app) {
      const id = newId()
      for (const providerId of ['main', id]) {
        const path = '/v3/notifications/push/v1/providers'
        await app.call('POST', `${path}/fcm`, { body: fcmProvider(providerId) })
        await app.call('POST', `${path}/apns`, { body: apnsProvider(providerId) })
        await app.call('POST', `${path}/web_push`, { body: webPushProvider(providerId) })
      }
      return id
    },
    unknown: newId,
  },
  /** The value tells its session. */
  pushToken: {
    async make(app) {
      const authToken = await newSession(app)
      const fcmToken = `of-${authToken}`
      const body = { authToken, platform: 'fcm_web', fcmToken }
      await app.call('POST', '/v3/notifications/push/v1/tokens', { body })
      return fcmToken
    },
    unknown: newId,
  },
}

export const samples: Samples = {
  updateNotificationSettings: () => ({
    body: {
      preferences: {
        group: { messagesSetting: 3, reactionsOverride: false },
        mute: { schedulePreferenceSetting: { sunday: { from: 900, to: 1730, dnd: true } } },
        push: { customJson: { theme: 'dark' } },
      },
      sound: { chat: 'ping.aiff' },
      templates: { usePrivacyTemplate: 1, textMessageTemplateDefault: { body: 'New' } },
    },
  }),
  listNotificationLogs: () => ({
    query: {
      ...{ messageId: '1', from: '1', to: '2', trigger: 'after_message', channel: 'push' },
      ...{ uid: 'ana', receiverType: 'group', reason: 'MUTE_PREFERENCE', success: 'false' },
      ...{ affix: 'prepend', logId: '01a1e868-d6a5-733f-a008-7fd45740fac4' },
    },
  }),
  explainNotification: async (app) => {
    const uid = await user.make(app, {})
    return { query: { uid, messageId: await sendText(app, await user.make(app, {}), 'user', uid) } }
  },
  updateNotificationLogSettings: () => ({ body: { enabled: true } }),
  getNotificationPreferences: ofUser,
  updateNotificationPreferences: async (app) => ({
    ...(await ofUser(app)),
    body: {
      groupPreferences: { groupMessages: 3 },
      oneOnOnePreferences: { oneOnOneReactions: 1 },
      mutePreferences: { dnd: 2, hold: true, schedule: { monday: { from: 800, to: 1800 } } },
      usePrivacyTemplate: true,
    },
  }),
  resetNotificationPreferences: ofUser,
  listMutedConversations: ofUser,
  muteConversations: async (app) => ({
    ...(await ofUser(app)),
    body: { conversations: [{ id: newId(), type: 'group', until: 4_102_444_800_000 }] },
  }),
  unmuteConversations: async (app) => ({
    ...(await ofUser(app)),
    body: { conversations: [{ id: newId(), type: 'oneOnOne' }] },
  }),
  getNotificationPreferencesTimezone: ofUser,
  updateNotificationPreferencesTimezone: async (app) => ({
    ...(await ofUser(app)),
    body: { timezone: 'Europe/Paris' },
  }),
  updateContactDetails: () => ({ body: { email: 'a@example.org', phno: '+33100000000' } }),
  registerPushToken: async (app) => ({
    body: {
      authToken: await newSession(app),
      platform: 'fcm_android',
      fcmToken: `f-${newId()}`,
      timezone: 'Europe/Paris',
    },
  }),
  listPushTokens: async (app) => ({ query: { authToken: await newSession(app), all: 'true' } }),
  unregisterSessionPushTokens: async (app) => ({
    query: { all: 'true' },
    body: { authToken: await newSession(app) },
  }),
  unregisterPushToken: (_app, { pushToken = '' }) => ({
    body: { authToken: pushToken.slice('of-'.length) },
  }),
  createFcmProvider: () => ({ body: fcmProvider(newId()) }),
  updateFcmProvider: async (app) => ({
    body: fcmProvider(await (resources.providerId as Resource).make(app, {})),
  }),
  createApnsProvider: () => ({ body: apnsProvider(newId()) }),
  updateApnsProvider: async (app) => ({
    body: apnsProvider(await (resources.providerId as Resource).make(app, {})),
  }),
  createWebPushProvider: () => ({ body: webPushProvider(newId()) }),
  updateWebPushProvider: async (app) => ({
    body: webPushProvider(await (resources.providerId as Resource).make(app, {})),
  }),
  testFcmProvider: async (app) => ({ body: { uid: await user.make(app, {}), title: 'Hi' } }),
  testApnsProvider: async (app) => ({ body: { uid: await user.make(app, {}), body: 'Hi' } }),
  testWebPushProvider: async (app) => ({ body: { uid: await user.make(app, {}) } }),
  testCustomPushProvider: async (app) => ({
    ...(await stored('push/v1/providers/custom', { ...CUSTOM_PROVIDER, webhookURL: NOWHERE })(app)),
    body: { uid: await user.make(app, {}) },
  }),
  getWebPushKey: stored('push/v1/providers/web_push', webPushProvider('web')),
  getCustomPushProvider: stored('push/v1/providers/custom', CUSTOM_PROVIDER),
  createCustomPushProvider: () => ({ body: CUSTOM_PROVIDER }),
  updateCustomPushProvider: stored('push/v1/providers/custom', CUSTOM_PROVIDER, {
    body: { isEnabled: false },
  }),
  deleteCustomPushProvider: stored('push/v1/providers/custom', CUSTOM_PROVIDER),
  getTwilioProvider: stored('sms/v1/providers/twilio', TWILIO),
  createTwilioProvider: () => ({ body: TWILIO }),
  updateTwilioProvider: stored('sms/v1/providers/twilio', TWILIO, { body: { isEnabled: false } }),
  deleteTwilioProvider: stored('sms/v1/providers/twilio', TWILIO),
  getCustomSmsProvider: stored('sms/v1/providers/custom', {
    ...CUSTOM_PROVIDER,
    useStoredPhNo: true,
  }),
  createCustomSmsProvider: () => ({ body: { ...CUSTOM_PROVIDER, useStoredPhNo: true } }),
  updateCustomSmsProvider: stored(
    'sms/v1/providers/custom',
    { ...CUSTOM_PROVIDER, useStoredPhNo: true },
    { body: { useStoredPhNo: false } },
  ),
  deleteCustomSmsProvider: stored('sms/v1/providers/custom', {
    ...CUSTOM_PROVIDER,
    useStoredPhNo: true,
  }),
  getSendgridProvider: stored('email/v1/providers/sendgrid', SENDGRID),
  createSendgridProvider: () => ({ body: SENDGRID }),
  updateSendgridProvider: stored('email/v1/providers/sendgrid', SENDGRID, {
    body: { senderName: 'Chat' },
  }),
  deleteSendgridProvider: stored('email/v1/providers/sendgrid', SENDGRID),
  testEmailProvider: async (app) => {
    await stored('email/v1/providers/custom', { ...CUSTOM_PROVIDER, useStoredEmailID: false })(app)
    return { body: { uid: await user.make(app, {}) } }
  },
  testSmsProvider: async (app) => {
    await stored('sms/v1/providers/custom', { ...CUSTOM_PROVIDER, useStoredPhNo: false })(app)
    return { body: { uid: await user.make(app, {}) } }
  },
  previewNotificationSettings: () => ({ body: { emailDesign: { language: 'de' } } }),
  createSuppression: () => ({ body: { channel: 'email', address: `${newId()}@example.org` } }),
  listSuppressions: () => ({ query: { address: 'a@example.org', limit: '10' } }),
  getSmtpProvider: stored('email/v1/providers/smtp', SMTP),
  createSmtpProvider: () => ({ body: SMTP }),
  updateSmtpProvider: stored('email/v1/providers/smtp', SMTP, { body: { smtpPort: 2525 } }),
  deleteSmtpProvider: stored('email/v1/providers/smtp', SMTP),
  getCustomEmailProvider: stored('email/v1/providers/custom', {
    ...CUSTOM_PROVIDER,
    useStoredEmailID: true,
  }),
  createCustomEmailProvider: () => ({ body: { ...CUSTOM_PROVIDER, useStoredEmailID: true } }),
  updateCustomEmailProvider: stored(
    'email/v1/providers/custom',
    { ...CUSTOM_PROVIDER, useStoredEmailID: true },
    { body: { useStoredEmailID: false } },
  ),
  deleteCustomEmailProvider: stored('email/v1/providers/custom', {
    ...CUSTOM_PROVIDER,
    useStoredEmailID: true,
  }),
}
