/** Apps whose users are notified through servers on this machine. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import type { TestApp } from '../kit.ts'
import { type ApnsServer, startApns } from './apns-server.ts'
import { type FcmServer, startFcm } from './fcm-server.ts'

export interface PushServers {
  apns: ApnsServer
  fcm: FcmServer
  /** Lets a server send to them instead of Apple and Google. */
  env: Record<string, string>
}

/** Starts servers that end with the test file. */
export async function startPushServers(): Promise<PushServers> {
  const [apns, fcm] = await Promise.all([startApns(), startFcm()])
  after(() => {
    apns.http.close()
    fcm.http.close()
  })
  return {
    ...{ apns, fcm },
    env: {
      LOQUAT_APNS_URL: apns.url,
      LOQUAT_APNS_SANDBOX_URL: apns.url,
      LOQUAT_FCM_URL: fcm.url,
      LOQUAT_GOOGLE_TOKEN_URL: fcm.url,
      LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true',
    },
  }
}

async function post(app: TestApp, path: string, body: object): Promise<void> {
  const answer = await app.call('POST', `/v3/notifications/push/v1/${path}`, { body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

export const addApns = (app: TestApp, { apns }: PushServers, more: object = {}) =>
  post(app, 'providers/apns', {
    ...{ providerId: 'apple', keyId: apns.keyId, teamId: apns.teamId, p8Key: apns.p8Key },
    ...{ bundleId: 'org.example.chat', p8KeyFilename: 'key.p8', productionMode: true, ...more },
  })

export function addFcm(app: TestApp, { fcm }: PushServers, more: object = {}) {
  const { projectId, clientEmail, privateKey, privateKeyId } = fcm.account
  const serviceAccountCreds = {
    ...{ project_id: projectId, client_email: clientEmail },
    ...{ private_key: privateKey, private_key_id: privateKeyId },
  }
  return post(app, 'providers/fcm', { providerId: 'google', serviceAccountCreds, ...more })
}

export const addCustom = (app: TestApp, webhookURL: string) =>
  post(app, 'providers/custom', {
    ...{ isEnabled: true, webhookURL, useBasicAuth: false },
    ...{ basicAuthUsername: '', basicAuthPassword: '' },
  })

/** A device of a new session of a user. */
export interface TestDevice {
  uid: string
  token: string
  authToken: string
}

const newSession = async (app: TestApp, uid: string) =>
  (await app.client.authTokens.create(uid, { force: true })).authToken

export async function iPhone(app: TestApp, uid: string): Promise<TestDevice> {
  const authToken = await newSession(app, uid)
  const token = randomBytes(32).toString('hex')
  const platform = 'apns_ios_device' as const
  await app.client.pushTokens.register({ platform, deviceToken: token, authToken })
  return { uid, token, authToken }
}

export async function android(app: TestApp, uid: string): Promise<TestDevice> {
  const authToken = await newSession(app, uid)
  const token = randomBytes(20).toString('hex')
  await app.client.pushTokens.register({ platform: 'fcm_android', fcmToken: token, authToken })
  return { uid, token, authToken }
}

/** The bodies that a device was shown, in order. Repetitions count once. */
export function shownOn({ apns, fcm }: PushServers, { token }: TestDevice): string[] {
  const shown = new Map<string, string>()
  for (const { device, payload, headers } of apns.received) {
    if (device === token && payload.aps.alert)
      shown.set(`${headers['apns-collapse-id']} ${payload.aps.alert.body}`, payload.aps.alert.body)
  }
  for (const { token: device, data } of fcm.received) {
    if (device === token && data.body) shown.set(`${data.tag} ${data.body}`, data.body)
  }
  return [...shown.values()]
}

/** The tags that a device was told to close. */
export const closedOn = ({ apns, fcm }: PushServers, { token }: TestDevice): string[] => [
  ...apns.received
    .filter(({ device, payload }) => device === token && payload.action === 'close')
    .flatMap(({ payload }) => payload.tags),
  ...fcm.received
    .filter(({ token: device, data }) => device === token && data.action === 'close')
    .flatMap(({ data }) => JSON.parse(data.tags)),
]
