import assert from 'node:assert/strict'
import { createECDH, randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()

const signIn = async (app: TestApp, uid: string) =>
  (await app.client.authTokens.create(uid, { force: true })).authToken

/** Sends as a device does. */
const device =
  (app: TestApp, authtoken: string) => (method: string, path: string, body?: unknown) =>
    app.call(method, `/v3/notifications/push/v1/tokens${path}`, {
      ...{ apiKey: null, headers: { authtoken } },
      ...(body !== undefined && { body }),
    })

const fcm = (fcmToken: string) => ({ platform: 'fcm_android' as const, fcmToken })

const tokensOf = async (app: TestApp, authToken: string, all = false) =>
  (await app.client.pushTokens.list({ authToken, all })).pushTokens.map(
    ({ uid, pushToken }) => `${uid} ${pushToken}`,
  )

const storedIn = async (app: TestApp) =>
  (await rows(app.cell.db, 'select uid from push_tokens where app_no = $1', [app.no])).length

/** The keys of a browser. */
function browserKeys() {
  const key = createECDH('prime256v1')
  key.generateKeys()
  const auth = randomBytes(16).toString('base64url')
  return { p256dh: key.getPublicKey().toString('base64url'), auth }
}

suite('registerPushToken', () => {
  test('binds a device to a session, by its server or by itself', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const [phone, tablet] = [await signIn(app, 'amira'), await signIn(app, 'amira')]
    await app.client.pushTokens.register({ ...fcm('f-1'), authToken: phone })
    const voip = { platform: 'apns_ios_voip', voipToken: 'ab12' }
    assert.equal((await device(app, tablet)('POST', '', voip)).status, 200)
    const { pushTokens } = await app.client.pushTokens.list({ authToken: tablet, all: true })
    assert.deepEqual(
      pushTokens.map(({ createdAt, updatedAt, ...one }) => {
        assert.ok(!Number.isNaN(Date.parse(createdAt)) && createdAt === updatedAt)
        return one
      }),
      [
        {
          ...{ uid: 'amira', authToken: tablet, platform: 'apns_ios_voip' },
          ...{ pushToken: 'ab12', pushTokenType: 'voip' },
        },
        {
          ...{ uid: 'amira', authToken: phone, platform: 'fcm_android' },
          ...{ pushToken: 'f-1', pushTokenType: 'chat' },
        },
      ],
    )
    // A device doesn't learn the auth token of another one.
    const { body } = await device(app, tablet)('GET', '?all=true')
    assert.deepEqual(
      body.data.pushTokens.map((one: { authToken: string }) => one.authToken),
      [tablet, `****${phone.slice(-4)}`],
    )
    assert.deepEqual(await tokensOf(app, phone), ['amira f-1'])
  })

  test('stores tokens encrypted', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await app.client.pushTokens.register({
      ...fcm('plain-7'),
      authToken: await signIn(app, 'amira'),
    })
    const [row] = await rows(app.cell.db, 'select p::text from push_tokens p where app_no = $1', [
      app.no,
    ])
    assert.ok(!JSON.stringify(row).includes(Buffer.from('plain-7').toString('hex')))
  })

  test('moves a known device to its new user, and can be repeated', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const [amira, ben] = [await signIn(app, 'amira'), await signIn(app, 'ben')]
    const register = (authToken: string) =>
      app.client.pushTokens.register({ ...fcm('shared'), authToken })
    await register(amira)
    await register(amira)
    assert.deepEqual(await tokensOf(app, amira), ['amira shared'])
    await register(ben)
    assert.deepEqual([await tokensOf(app, amira), await tokensOf(app, ben)], [[], ['ben shared']])
    // In another app it is another device.
    const other = await server.newApp()
    await other.users('amira')
    const there = await signIn(other, 'amira')
    await other.client.pushTokens.register({ ...fcm('shared'), authToken: there })
    assert.deepEqual(await tokensOf(app, ben), ['ben shared'])
  })

  test('ends with the auth token, however that ends', async () => {
    const app = await server.newApp()
    const ways: [string, (uid: string, token: string) => Promise<unknown>][] = [
      ['revoked', (uid, token) => app.client.authTokens.delete(uid, token)],
      ['flushed', (uid) => app.client.authTokens.flush(uid)],
      ['deactivated', (uid) => app.client.users.deactivate({ uidsToDeactivate: [uid] })],
      ['deleted', (uid) => app.client.users.delete(uid, { permanent: true })],
    ]
    for (const [uid, end] of ways) {
      await app.users(uid)
      const authToken = await signIn(app, uid)
      await app.client.pushTokens.register({ ...fcm(`of-${uid}`), authToken })
      assert.equal(await storedIn(app), 1, uid)
      await end(uid, authToken)
      assert.equal(await storedIn(app), 0, uid)
      await refused(
        app.client.pushTokens.register({ ...fcm('late'), authToken }),
        'ERR_AUTH_TOKEN_NOT_FOUND',
      )
    }
  })

  test('meets the end of its session: never a token without one', async () => {
    const app = await server.newApp()
    await app.users('amira')
    for (let round = 0; round < 5; round++) {
      const authToken = await signIn(app, 'amira')
      const register = { body: { ...fcm(`f-${round}`), authToken } }
      const [answer] = await Promise.all([
        app.call('POST', '/v3/notifications/push/v1/tokens', register),
        app.client.authTokens.delete('amira', authToken),
      ])
      assert.ok([200, 404].includes(answer.status), JSON.stringify(answer.body))
      assert.equal(await storedIn(app), 0)
    }
  })

  test('keeps the newest 100 of a user', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const authToken = await signIn(app, 'amira')
    for (let n = 0; n < 101; n++)
      await app.client.pushTokens.register({ ...fcm(`f-${n}`), authToken })
    const tokens = await tokensOf(app, authToken)
    assert.equal(tokens.length, 100)
    assert.ok(tokens.includes('amira f-100') && !tokens.includes('amira f-0'))
  })

  test('needs the token of its platform, a known provider and a time zone that exists', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const authToken = await signIn(app, 'amira')
    const { pushTokens } = app.client
    const ios = { authToken, platform: 'apns_ios_device' as const }
    await refused(pushTokens.register({ ...ios, voipToken: 'x' }), 'ERR_BAD_REQUEST')
    await refused(pushTokens.register({ ...ios, deviceToken: 'a b' }), 'ERR_BAD_REQUEST')
    const long = 'x'.repeat(4_097)
    await refused(pushTokens.register({ ...ios, deviceToken: long }), 'ERR_BAD_REQUEST')
    await refused(pushTokens.register(fcm('x')), 'ERR_BAD_REQUEST')
    const unknown = pushTokens.register({ ...fcm('x'), authToken, providerId: 'none' })
    await refused(unknown, 'ERR_PROVIDER_NOT_FOUND')
    const zone = pushTokens.register({ ...fcm('x'), authToken, timezone: 'Mars/Base' })
    await refused(zone, 'ERR_BAD_REQUEST')
    await pushTokens.register({ ...fcm('x'), authToken, timezone: 'Asia/Tokyo' })
    const { timezone } = await app.client.notificationPreferences.getTimezone({ uid: 'amira' })
    assert.equal(timezone, 'Asia/Tokyo')
  })

  test('takes the subscription of a browser, at a public address only', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const authToken = await signIn(app, 'amira')
    const subscribe = (endpoint: string, keys = browserKeys()) =>
      app.client.pushTokens.register({
        ...{ authToken, platform: 'web_push' },
        subscription: { endpoint, keys },
      })
    const endpoint = 'https://8.8.8.8/push/abc?x=1'
    await subscribe(endpoint)
    assert.deepEqual(await tokensOf(app, authToken), [`amira ${endpoint}`])
    for (const bad of [
      'http://8.8.8.8/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://10.0.0.1',
      'x',
    ])
      await refused(subscribe(bad), 'ERR_BAD_REQUEST')
    const keys = browserKeys()
    await refused(subscribe(endpoint, { ...keys, auth: 'abc' }), 'ERR_BAD_REQUEST')
    await refused(subscribe(endpoint, { ...keys, p256dh: keys.auth }), 'ERR_BAD_REQUEST')
    await app.client.pushTokens.unregister(endpoint, { authToken })
    assert.equal(await storedIn(app), 0)
  })
})

suite('unregisterSessionPushTokens', () => {
  test("removes those of the session, or all of the user's", async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const [phone, tablet] = [await signIn(app, 'amira'), await signIn(app, 'amira')]
    const ben = await signIn(app, 'ben')
    const tokens: [string, string][] = [
      [phone, 'a'],
      [phone, 'b'],
      [tablet, 'c'],
      [ben, 'd'],
    ]
    for (const [authToken, token] of tokens)
      await app.client.pushTokens.register({ ...fcm(token), authToken })
    const { body } = await device(app, phone)('DELETE', '')
    assert.equal(body.data.pushTokens.length, 2)
    assert.deepEqual(await tokensOf(app, phone, true), ['amira c'])
    const gone = await app.client.pushTokens.unregisterSession({ authToken: phone }, { all: true })
    assert.deepEqual(
      gone.pushTokens.map(({ pushToken }) => pushToken),
      ['c'],
    )
    assert.deepEqual(await tokensOf(app, ben), ['ben d'])
  })
})

suite('unregisterPushToken', () => {
  test("finds the user's own, never another's", async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const [amira, ben] = [await signIn(app, 'amira'), await signIn(app, 'ben')]
    await app.client.pushTokens.register({ ...fcm('mine/1?'), authToken: amira })
    await refused(
      app.client.pushTokens.unregister('mine/1?', { authToken: ben }),
      'ERR_TOKEN_NOT_FOUND',
    )
    await refused(
      device(app, ben)('DELETE', `/${encodeURIComponent('mine/1?')}`),
      'ERR_TOKEN_NOT_FOUND',
    )
    await app.client.pushTokens.unregister('mine/1?', { authToken: amira })
    assert.equal(await storedIn(app), 0)
  })
})

suite('getWebPushKey', () => {
  test('returns the default key, and a subscription stays with the key it was made with', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { pushProviders, pushTokens } = app.client
    const authToken = await signIn(app, 'amira')
    const getKey = () =>
      app.call('GET', '/v3/notifications/push/v1/web_push/key', {
        ...{ apiKey: null, headers: { authtoken: authToken } },
      })
    await refused(getKey(), 'ERR_PROVIDER_NOT_FOUND')
    for (const providerId of ['old', 'new'])
      await pushProviders.createWeb({ providerId, subject: 'mailto:push@example.org' })
    const [{ publicKey } = assert.fail()] = (await pushProviders.listWeb()).pushProviders.filter(
      ({ isDefault }) => isDefault,
    )
    assert.deepEqual((await getKey()).body.data, { providerId: 'old', publicKey })
    const register = (name: string, providerId?: string) =>
      pushTokens.register({
        ...{ authToken, platform: 'web_push' },
        subscription: { endpoint: `https://8.8.8.8/${name}`, keys: browserKeys() },
        ...(providerId !== undefined && { providerId }),
      })
    await register('before')
    await pushProviders.setDefaultWeb('new')
    assert.equal((await getKey()).body.data.providerId, 'new')
    await register('after')
    await register('late', 'old')
    await refused(register('none', 'unknown'), 'ERR_PROVIDER_NOT_FOUND')
    const { pushTokens: shown } = await pushTokens.list({ authToken })
    assert.deepEqual(
      shown.map(({ pushToken, providerId }) => [pushToken.split('/').at(-1), providerId]),
      [
        ['late', 'old'],
        ['after', 'new'],
        ['before', 'old'],
      ],
    )
  })
})

suite('long parameters in paths', () => {
  test('are for push tokens only', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const authToken = await signIn(app, 'amira')
    const endpoint = `https://8.8.8.8/${'x'.repeat(4_000)}`
    const subscription = { endpoint, keys: browserKeys() }
    await app.client.pushTokens.register({ authToken, platform: 'web_push', subscription })
    await app.client.pushTokens.unregister(endpoint, { authToken })
    assert.equal(await storedIn(app), 0)
    const { devMessage, message } = await refused(
      app.call('GET', `/v3/users/${'x'.repeat(1_001)}`),
      'ERR_BAD_REQUEST',
    )
    assert.match(String(devMessage ?? message), /URL is not valid/)
  })
})
