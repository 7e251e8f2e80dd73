import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, useServer } from '../../../test/kit.ts'
import { decrypted, newBrowser, startPushService } from '../../../test/push/browser.ts'
import {
  addApns,
  addCustom,
  addFcm,
  android,
  iPhone,
  shownOn,
  startPushServers,
} from '../../../test/push/notified.ts'
import { useReceiver } from '../../../test/receiver.ts'

const servers = await startPushServers()
const receiver = useReceiver()
const server = useServer({ env: servers.env })

suite('testFcmProvider, testApnsProvider', () => {
  test('send to the devices of a user, past all preferences, and tell the outcome', async () => {
    const app = await server.newApp()
    await app.users('ben')
    await addApns(app, servers)
    await addFcm(app, servers)
    const { pushProviders, notificationPreferences } = app.client
    assert.deepEqual(await pushProviders.testFcm('google', { uid: 'ben' }), { outcomes: [] })
    const [phone, tablet] = [await iPhone(app, 'ben'), await android(app, 'ben')]
    const { authToken } = phone
    const voip = { platform: 'apns_ios_voip' as const, voipToken: 'ab'.repeat(32), authToken }
    await app.client.pushTokens.register(voip)
    await notificationPreferences.update({ mutePreferences: { dnd: 2 } }, { uid: 'ben' })
    const { outcomes } = await pushProviders.testApns('apple', { uid: 'ben', body: 'Works' })
    const pushToken = `****${phone.token.slice(-8)}`
    assert.deepEqual(outcomes, [{ platform: 'apns_ios_device', pushToken, outcome: 'delivered' }])
    assert.deepEqual(shownOn(servers, phone), ['Works'])
    await pushProviders.testFcm('google', { uid: 'ben' })
    assert.deepEqual(shownOn(servers, tablet), ['Notifications reach this device.'])
    const lost = { providerId: 'unknown', uid: 'ben' }
    await refused(pushProviders.testFcm(lost.providerId, lost), 'ERR_PROVIDER_NOT_FOUND')
    await refused(pushProviders.testFcm('google', { uid: 'nobody' }), 'ERR_UID_NOT_FOUND')
  })

  test('show why a provider refuses', async () => {
    const app = await server.newApp()
    await app.users('ben')
    await addApns(app, servers, { keyId: 'UNKNOWN123' })
    await iPhone(app, 'ben')
    const { outcomes } = await app.client.pushProviders.testApns('apple', { uid: 'ben' })
    assert.equal(outcomes[0]?.outcome, 'refused')
    assert.match(outcomes[0]?.reason ?? '', /InvalidProviderToken/)
  })

  test('are limited per app', async () => {
    const app = await server.newApp()
    await app.users('ben')
    await addFcm(app, servers)
    const path = '/v3/notifications/push/v1/providers/fcm/test/google'
    const statuses: number[] = []
    // A new minute may begin meanwhile.
    for (let n = 0; n < 41; n++)
      statuses.push((await app.call('POST', path, { body: { uid: 'ben' } })).status)
    assert.ok(statuses.slice(0, 20).every((status) => status === 200))
    assert.ok(statuses.includes(429))
  })
})

suite('testWebPushProvider, testCustomPushProvider', () => {
  test('reach a browser, and a server of the app', async () => {
    const app = await server.newApp()
    await app.users('ben')
    const { pushProviders, pushTokens, authTokens } = app.client
    await pushProviders.createWeb({ providerId: 'web', subject: 'mailto:push@example.org' })
    const [{ publicKey } = assert.fail()] = (await pushProviders.listWeb()).pushProviders
    const service = await startPushService(publicKey)
    const browser = newBrowser()
    const keys = {
      p256dh: browser.key.getPublicKey('base64url'),
      auth: browser.auth.toString('base64url'),
    }
    const { authToken } = await authTokens.create('ben', { force: true })
    const subscription = { endpoint: `${service.url}/send/1`, keys }
    await pushTokens.register({ authToken, platform: 'web_push', subscription })
    const { outcomes } = await pushProviders.testWeb('web', { uid: 'ben', title: 'Hi' })
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      ['delivered'],
    )
    const [received] = service.received
    const shown = JSON.parse(decrypted(received?.body ?? Buffer.alloc(0), browser))
    assert.deepEqual([shown.title, shown.tag, shown.receiver], ['Hi', 'test', 'ben'])
    service.respond = () => ({ status: 410 })
    const gone = await pushProviders.testWeb('web', { uid: 'ben' })
    assert.deepEqual(
      gone.outcomes.map(({ outcome }) => outcome),
      ['gone'],
    )
    // Only a real notification removes it.
    assert.equal((await pushTokens.list({ authToken })).pushTokens.length, 1)
    service.close()

    await refused(pushProviders.testCustom({ uid: 'ben' }), 'ERR_PROVIDER_NOT_FOUND')
    await addCustom(app, receiver.url)
    const custom = await pushProviders.testCustom({ uid: 'ben' })
    assert.deepEqual(custom, { outcomes: [{ outcome: 'delivered' }] })
    const [call] = receiver.received
    assert.deepEqual(call?.json.data.to, { uid: 'ben' })
  })
})
