import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, beforeEach, suite, test } from 'node:test'
import { type FcmServer, fcmError, startFcm } from '../../../test/push/fcm-server.ts'
import { openPush } from '../../../test/push/push.ts'
import type { FcmCredentials } from './fcm.ts'
import type { Notification } from './notification.ts'
import type { Push } from './push.ts'

const MINUTE = 60_000
const device = 'cGwtoken:APA91bH-x_y'

let fcm: FcmServer
let credentials: FcmCredentials
let push: Push
let clock = 0
const now = () => Date.now() + clock

before(async () => {
  fcm = await startFcm()
  fcm.now = now
  credentials = { provider: 'fcm', ...fcm.account }
})

const success = { status: 200, body: '{}' }
let grant: FcmServer['grant']

beforeEach(() => {
  push?.close()
  clock = 0
  fcm.received.length = 0
  fcm.granted.length = 0
  grant ??= fcm.grant
  fcm.grant = grant
  fcm.respond = () => success
  push = openPush({ fcmUrl: fcm.url, googleTokenUrl: fcm.url }, { now })
})

after(() => {
  push.close()
  fcm.http.close()
})

const alert = (more: Partial<Notification> = {}): Notification => ({
  payload: { notification: { title: 'Ada', body: 'Hello' }, data: { tag: '7' } },
  ...{ priority: 'high', kind: 'alert', expiresAt: now() + 24 * 60 * MINUTE },
  ...more,
})

const send = (more: Partial<Notification> = {}, change: Partial<FcmCredentials> = {}) =>
  push.push({ ...credentials, ...change }, device, alert(more))

suite('pushes to Google', () => {
  test('arrive with the fields of each platform', async () => {
    const expiresAt = now() + 45_000
    const payload = {
      ...alert().payload,
      android: { notification: { channel_id: 'chat' } },
      apns: { payload: { aps: { badge: 3 } } },
    }
    const outcome = await send({ payload, expiresAt, collapseId: 'message 7' })
    assert.deepEqual(outcome, { outcome: 'delivered' })
    const [{ token, data, notification, android, apns, webpush }] = fcm.received
    assert.deepEqual([token, data], [device, { tag: '7' }])
    assert.deepEqual(notification, { title: 'Ada', body: 'Hello' })
    const { ttl, ...others } = android
    assert.ok(/^\d+s$/.test(ttl) && Number.parseInt(ttl, 10) <= 45)
    assert.deepEqual(others, {
      ...{ priority: 'HIGH', collapse_key: 'message 7' },
      notification: { channel_id: 'chat', tag: 'message 7' },
    })
    assert.deepEqual(apns.payload, { aps: { badge: 3 } })
    assert.equal(apns.headers['apns-priority'], '10')
    assert.equal(apns.headers['apns-expiration'], String(Math.ceil(expiresAt / 1000)))
    assert.equal(webpush.headers.Urgency, 'high')
    assert.equal(apns.headers['apns-collapse-id'], webpush.headers.Topic)
  })

  test('of the background are not urgent, and live no longer than Google allows', async () => {
    const expiresAt = now() + 90 * 24 * 60 * MINUTE
    assert.equal((await send({ kind: 'background', expiresAt })).outcome, 'delivered')
    const [{ android, apns }] = fcm.received
    assert.deepEqual(android, { ttl: '2419200s', priority: 'NORMAL' })
    assert.equal(apns.headers['apns-priority'], '5')
  })

  test('share one token until shortly before it expires', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => send()))
    assert.ok(outcomes.every(({ outcome }) => outcome === 'delivered'))
    clock = 54 * MINUTE
    await send()
    assert.equal(fcm.granted.length, 1)
    clock = 55 * MINUTE
    await Promise.all([send(), send()])
    assert.equal(fcm.granted.length, 2)
    assert.equal(fcm.received.length, 23)
  })

  test('get a new token if Google rejects the old one, but not a new one', async () => {
    await send()
    const unauthenticated = fcmError(401, 'UNAUTHENTICATED')
    fcm.respond = () => unauthenticated
    assert.deepEqual(await send(), { outcome: 'refused', reason: 'UNAUTHENTICATED' })
    clock = 2 * MINUTE
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'UNAUTHENTICATED' })
    fcm.respond = () => success
    assert.equal((await send()).outcome, 'delivered')
    assert.equal(fcm.granted.length, 2)
  })

  test('have outcomes that say whether to delete the token, to wait or to give up', async () => {
    const cases: [ReturnType<typeof fcmError>, object][] = [
      [
        fcmError(404, 'NOT_FOUND', { errorCode: 'UNREGISTERED' }),
        { outcome: 'gone', reason: 'UNREGISTERED' },
      ],
      [fcmError(404, 'NOT_FOUND'), { outcome: 'refused', reason: 'NOT_FOUND' }],
      [
        fcmError(400, 'INVALID_ARGUMENT', {
          errorCode: 'INVALID_ARGUMENT',
          field: 'message.token',
        }),
        { outcome: 'gone', reason: 'INVALID_ARGUMENT' },
      ],
      [
        fcmError(400, 'INVALID_ARGUMENT', { errorCode: 'INVALID_ARGUMENT', field: 'message.data' }),
        { outcome: 'refused', reason: 'INVALID_ARGUMENT' },
      ],
      [
        fcmError(403, 'PERMISSION_DENIED', { errorCode: 'SENDER_ID_MISMATCH' }),
        { outcome: 'refused', reason: 'SENDER_ID_MISMATCH' },
      ],
      [
        fcmError(401, 'UNAUTHENTICATED', { errorCode: 'THIRD_PARTY_AUTH_ERROR' }),
        { outcome: 'refused', reason: 'THIRD_PARTY_AUTH_ERROR' },
      ],
      [
        fcmError(429, 'RESOURCE_EXHAUSTED', { errorCode: 'QUOTA_EXCEEDED' }),
        { outcome: 'retry', reason: 'QUOTA_EXCEEDED', afterMs: 60_000 },
      ],
      [
        fcmError(500, 'INTERNAL', { errorCode: 'INTERNAL' }),
        { outcome: 'retry', reason: 'INTERNAL' },
      ],
      [
        fcmError(503, 'UNAVAILABLE', { errorCode: 'UNAVAILABLE' }),
        { outcome: 'retry', reason: 'UNAVAILABLE' },
      ],
      [
        { status: 503, headers: { 'retry-after': '12' } },
        { outcome: 'retry', reason: 'status 503', afterMs: 12_000 },
      ],
      [
        { status: 502, body: '[1]' },
        { outcome: 'retry', reason: 'status 502' },
      ],
    ]
    for (const [reply, outcome] of cases) {
      fcm.respond = () => reply
      assert.deepEqual(await send(), outcome)
      // Not the access token's fault, however old it is.
      clock += 2 * MINUTE
    }
  })

  test('to a token that Google does not know as one delete it', async () => {
    const outcome = await push.push(credentials, 'x', alert())
    assert.deepEqual(outcome, { outcome: 'gone', reason: 'INVALID_ARGUMENT' })
  })

  test('with wrong credentials are refused, and Google is not asked each time', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const foreign = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const refusal = 'Google refused the service account: invalid_grant'
    const wrong: [Partial<FcmCredentials>, string][] = [
      [{ privateKey: foreign }, refusal],
      [{ privateKey: 'no key' }, 'the private key is not an RSA key'],
      [{ clientEmail: 'other@example.org' }, refusal],
      [{ privateKeyId: 'key-2' }, refusal],
      [{ projectId: 'other' }, 'PERMISSION_DENIED'],
      [{ projectId: '../x' }, 'PERMISSION_DENIED'],
    ]
    await send()
    for (const [change, reason] of wrong) {
      fcm.asked = 0
      assert.deepEqual(await send({}, change), { outcome: 'refused', reason })
      assert.deepEqual(await send({}, change), { outcome: 'refused', reason })
      assert.ok(fcm.asked <= 1)
    }
    assert.equal(fcm.received.length, 1)
  })

  test('wait if there is no token at the moment', async () => {
    fcm.grant = () => ({ status: 503, body: '{}', headers: { 'retry-after': '3' } })
    assert.deepEqual(await send(), {
      ...{ outcome: 'retry', reason: 'Google refused the service account: status 503' },
      afterMs: 3_000,
    })
    fcm.grant = () => 'break'
    assert.equal((await send()).outcome, 'retry')
    fcm.grant = grant
    assert.equal((await send()).outcome, 'delivered')
  })

  test('are shortened to 4 KB where they may be', async () => {
    const payload = { data: { title: 'Ada', text: '👍'.repeat(2_000) } }
    assert.deepEqual(await send({ payload }), { outcome: 'refused', reason: 'PayloadTooLarge' })
    assert.equal((await send({ payload, trim: [['data', 'text']] })).outcome, 'delivered')
    assert.match(fcm.received[0].data.text, /^(👍){900,}…$/u)
  })
})
