import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, beforeEach, suite, test } from 'node:test'
import { type ApnsServer, apnsError, startApns } from '../../../test/push/apns-server.ts'
import { openPush } from '../../../test/push/push.ts'
import type { ApnsCredentials } from './apns.ts'
import type { Notification } from './notification.ts'
import type { Push } from './push.ts'

const MINUTE = 60_000
const device = 'ab'.repeat(32)

let apns: ApnsServer
let credentials: ApnsCredentials
let push: Push
let clock = 0
const now = () => Date.now() + clock

before(async () => {
  apns = await startApns()
  apns.now = now
  const { teamId, keyId, p8Key } = apns
  credentials = {
    ...{ provider: 'apns', teamId, keyId, p8Key, production: true },
    bundleId: 'org.example.chat',
  }
})

beforeEach(() => {
  push?.close()
  clock = 0
  apns.received.length = 0
  apns.respond = () => ({ status: 200 })
  push = openPush({ apnsUrl: apns.url }, { now })
})

after(() => {
  push.close()
  apns.http.close()
})

const alert = (more: Partial<Notification> = {}): Notification => ({
  payload: { aps: { alert: { title: 'Ada', body: 'Hello' } } },
  ...{ priority: 'high', kind: 'alert', expiresAt: now() + 24 * 60 * MINUTE },
  ...more,
})

const send = (more: Partial<Notification> = {}) => push.push(credentials, device, alert(more))

suite('pushes to Apple', () => {
  test('arrive with what Apple asks for', async () => {
    const expiresAt = now() + 45_000
    const outcome = await send({ collapseId: 'message-7', expiresAt })
    assert.deepEqual(outcome, { outcome: 'delivered' })
    const [{ headers, payload, topic, type, device: to } = {} as never] = apns.received
    assert.deepEqual([to, topic, type], [device, 'org.example.chat', 'alert'])
    assert.equal(headers['apns-collapse-id'], 'message-7')
    assert.equal(headers['apns-priority'], '10')
    assert.equal(headers['apns-expiration'], String(Math.ceil(expiresAt / 1000)))
    assert.deepEqual(payload, alert().payload)
  })

  test('ring or stay in the background', async () => {
    assert.equal((await send({ kind: 'voip' })).outcome, 'delivered')
    assert.equal((await send({ kind: 'background' })).outcome, 'delivered')
    assert.deepEqual(
      apns.received.map(({ topic, type, headers }) => [topic, type, headers['apns-priority']]),
      [
        ['org.example.chat.voip', 'voip', '10'],
        ['org.example.chat', 'background', '5'],
      ],
    )
  })

  test('have a short collapse id, the same for the same long one', async () => {
    for (const collapseId of ['a'.repeat(200), 'a'.repeat(200), 'é'.repeat(60)]) {
      assert.equal((await send({ collapseId })).outcome, 'delivered')
    }
    const [first, again, other] = apns.received.map(({ headers }) => headers['apns-collapse-id'])
    assert.equal(first, again)
    assert.notEqual(first, other)
  })

  test('use one token for 50 minutes', async () => {
    for (const minutes of [0, 49, 50, 99, 101]) {
      clock = minutes * MINUTE
      assert.equal((await send()).outcome, 'delivered')
    }
    const tokens = apns.received.map(({ token }) => token)
    assert.equal(new Set(tokens).size, 3)
    assert.equal(tokens[0], tokens[1])
    assert.equal(tokens[2], tokens[3])
  })

  test('get a new token if Apple calls the old one expired, but not a young one', async () => {
    await send()
    apns.now = () => now() + 61 * MINUTE
    clock = 10 * MINUTE
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'ExpiredProviderToken' })
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'ExpiredProviderToken' })
    apns.now = now
    assert.equal((await send()).outcome, 'delivered')
    apns.now = () => now() + 61 * MINUTE
    clock = 30 * MINUTE
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'ExpiredProviderToken' })
    apns.now = now
    assert.equal((await send()).outcome, 'delivered')
    assert.equal(new Set(apns.received.map(({ token }) => token)).size, 2)
  })

  test('have outcomes that say whether to delete the token, to wait or to give up', async () => {
    const since = now() - MINUTE
    const cases: [status: number, reason: string, outcome: object, more?: object][] = [
      [410, 'Unregistered', { outcome: 'gone', since }, { timestamp: since }],
      [410, 'ExpiredToken', { outcome: 'gone' }],
      [400, 'BadDeviceToken', { outcome: 'gone' }],
      [400, 'DeviceTokenNotForTopic', { outcome: 'gone' }],
      [400, 'BadMessageId', { outcome: 'refused' }],
      [400, 'TopicDisallowed', { outcome: 'refused' }],
      [403, 'Forbidden', { outcome: 'refused' }],
      [403, 'BadCertificate', { outcome: 'refused' }],
      [404, 'BadPath', { outcome: 'refused' }],
      [405, 'MethodNotAllowed', { outcome: 'refused' }],
      [413, 'PayloadTooLarge', { outcome: 'refused' }],
      [429, 'TooManyRequests', { outcome: 'retry' }],
      [429, 'TooManyProviderTokenUpdates', { outcome: 'retry' }],
      [500, 'InternalServerError', { outcome: 'retry' }],
      [503, 'ServiceUnavailable', { outcome: 'retry' }],
      [503, 'Shutdown', { outcome: 'retry' }],
    ]
    for (const [status, reason, outcome, more] of cases) {
      apns.respond = () => apnsError(status, reason, more)
      assert.deepEqual(await send(), { reason, ...outcome })
    }
    apns.respond = () => ({ status: 502, body: '<html>' })
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'status 502' })
    apns.respond = () => ({ status: 503, headers: { 'retry-after': '7' } })
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'status 503', afterMs: 7_000 })
  })

  test('with wrong credentials are refused', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const foreign = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const wrong: [Partial<ApnsCredentials>, string][] = [
      [{ p8Key: foreign }, 'InvalidProviderToken'],
      [{ p8Key: 'no key' }, 'InvalidProviderToken'],
      [{ p8Key: String(rsa.export({ type: 'pkcs8', format: 'pem' })) }, 'InvalidProviderToken'],
      [{ keyId: 'OTHERKEY12' }, 'InvalidProviderToken'],
      [{ teamId: 'OTHERTEAM1' }, 'InvalidProviderToken'],
      [{ bundleId: 'org.example.other' }, 'TopicDisallowed'],
      [{ bundleId: 'org.example\r\nx: y' }, 'BadTopic'],
    ]
    await send()
    for (const [change, reason] of wrong) {
      const outcome = await push.push({ ...credentials, ...change }, device, alert())
      assert.deepEqual(outcome, { outcome: 'refused', reason }, JSON.stringify(change))
    }
    assert.equal(apns.received.length, 1)
  })

  test('to a token that is no path segment never leave', async () => {
    const { requests } = apns.http
    for (const bad of ['', '../../x', 'ab?x=1', 'zz'.repeat(32)]) {
      const outcome = await push.push(credentials, bad, alert())
      assert.deepEqual(outcome, { outcome: 'gone', reason: 'BadDeviceToken' })
    }
    assert.equal(apns.http.requests, requests)
    assert.deepEqual(await push.push(credentials, 'abcd', alert()), {
      ...{ outcome: 'gone', reason: 'BadDeviceToken' },
    })
  })

  test('that came too late are not sent', async () => {
    assert.deepEqual(await send({ expiresAt: now() }), { outcome: 'refused', reason: 'expired' })
    assert.equal(apns.received.length, 0)
  })

  test('are shortened to 4 KB where they may be', async () => {
    const body = 'é"'.repeat(4_000)
    const payload = { aps: { alert: { title: 'Ada', body } }, tag: '7' }
    const trim = [['aps', 'alert', 'body']]
    assert.deepEqual(await send({ payload }), { outcome: 'refused', reason: 'PayloadTooLarge' })
    assert.equal((await send({ payload, trim })).outcome, 'delivered')
    const [{ payload: arrived } = {} as never] = apns.received
    assert.match(arrived.aps.alert.body, /^(é"){900,}é?…$/)
    assert.equal(arrived.tag, '7')
  })

  test('of development builds go to another host', async () => {
    const outcome = await push.push({ ...credentials, production: false }, device, alert())
    assert.equal(outcome.outcome, 'retry')
    assert.equal(apns.received.length, 0)
  })
})
