/** Push notifications of a device: registration, Web Push with a browser's push manager, and renewed tokens. */
import assert from 'node:assert/strict'
import { createECDH, randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { until } from '../../server/test/until.ts'
import { LoquatClient, type PushRegistration, type PushSubscription } from '../src/client/index.ts'

const server = useServer()
const SUBJECT = 'mailto:push@example.org'

interface World {
  app: TestApp
  client: LoquatClient
  /** All push tokens of the user, with their providers. */
  registered(): Promise<(string | undefined)[][]>
  revoke(): Promise<unknown>
}

async function newWorld(t: TestContext): Promise<World> {
  const app = await server.newApp()
  await app.users('amira')
  const { authTokens, pushTokens } = app.client
  const newToken = async () => (await authTokens.create('amira', { force: true })).authToken
  const client = new LoquatClient({
    ...{ appId: app.id, uid: 'amira', authToken: await newToken(), renewToken: newToken },
    baseUrl: `http://127.0.0.1:${server.service.apiPort}`,
  })
  t.after(() => client.stop())
  const registered = async () => {
    const authToken = await newToken()
    const { pushTokens: all } = await pushTokens.list({ authToken, all: true })
    return all.map(({ pushToken, providerId }) => [pushToken, providerId])
  }
  return { app, client, registered, revoke: () => authTokens.flush('amira') }
}

/** Does what a browser's push manager does: one subscription at a time, which belongs to a key. */
function newBrowser() {
  const made: string[] = []
  let current: PushSubscription | null = null
  const registration: PushRegistration = {
    pushManager: {
      getSubscription: async () => current,
      async subscribe({ userVisibleOnly, applicationServerKey }) {
        assert.equal(userVisibleOnly, true)
        assert.equal(current, null, 'a browser refuses a second subscription with another key')
        const pair = createECDH('prime256v1')
        const keys = {
          p256dh: pair.generateKeys('base64url'),
          auth: randomBytes(16).toString('base64url'),
        }
        const endpoint = `https://8.8.8.8/send/${made.length}?${randomBytes(6).toString('hex')}`
        made.push(endpoint)
        const key = Uint8Array.from(Buffer.from(applicationServerKey, 'base64url')).buffer
        current = {
          endpoint,
          options: { applicationServerKey: key },
          toJSON: () => ({ endpoint, keys }),
          async unsubscribe() {
            current = null
            return true
          },
        }
        return current
      },
    },
  }
  return { registration, made }
}

suite('push notifications', () => {
  test('are registered with the time zone of the device, and move to a renewed token', async (t) => {
    const { app, client, registered, revoke } = await newWorld(t)
    await client.registerPush({ platform: 'fcm_android', fcmToken: 'of-amira' })
    assert.deepEqual(await registered(), [['of-amira', undefined]])
    const { timezone } = await app.client.notificationPreferences.getTimezone({ uid: 'amira' })
    assert.equal(timezone, Intl.DateTimeFormat().resolvedOptions().timeZone)
    await revoke()
    assert.deepEqual(await registered(), [])
    await client.api.users.get('amira')
    await until('the device is registered again', async () => (await registered()).length === 1)
    await client.unregisterPush()
    assert.deepEqual(await registered(), [])
  })

  test('reach browsers, which subscribe again if the app has a new key', async (t) => {
    const { app, client, registered } = await newWorld(t)
    const { pushProviders } = app.client
    const { registration, made } = newBrowser()
    await pushProviders.createWeb({ providerId: 'old', subject: SUBJECT })
    await client.subscribeToPush(registration)
    await client.subscribeToPush(registration)
    assert.deepEqual(await registered(), [[made[0], 'old']])
    await pushProviders.createWeb({ providerId: 'new', subject: SUBJECT })
    await pushProviders.setDefaultWeb('new')
    await client.subscribeToPush(registration)
    assert.deepEqual(await registered(), [[made[1], 'new']])
    assert.equal(made.length, 2)
    await client.unsubscribeFromPush(registration)
    assert.deepEqual(await registered(), [])
    assert.equal(await registration.pushManager.getSubscription(), null)
  })

  test('let users choose what they hear of', async (t) => {
    const { client } = await newWorld(t)
    const { notificationPreferences: preferences, mutedConversations: muted } = client.api
    const own = { uid: client.uid }
    await preferences.update({ mutePreferences: { dnd: 2 } }, own)
    assert.equal((await preferences.get(own)).preferences.mute.dndPreferenceSetting, 2)
    const until = Date.now() + 3_600_000
    await muted.mute({ conversations: [{ id: 'team', type: 'group', until }] }, own)
    assert.equal((await muted.list(own)).mutedConversations.length, 1)
    await assert.rejects(preferences.get({ uid: 'ben' }))
  })
})
