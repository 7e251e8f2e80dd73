import assert from 'node:assert/strict'
import { createECDH } from 'node:crypto'
import { after, before, beforeEach, suite, test } from 'node:test'
import { startNameServer } from '../../../test/name-server.ts'
import {
  type Browser,
  decrypted,
  newBrowser,
  type PushService,
  startPushService,
} from '../../../test/push/browser.ts'
import { openPush } from '../../../test/push/push.ts'
import { until } from '../../../test/until.ts'
import { Targets } from '../net/targets.ts'
import { encrypted, PLAINTEXT_BYTES } from './encrypt.ts'
import type { Notification } from './notification.ts'
import type { Push } from './push.ts'
import type { WebPushCredentials } from './web-push.ts'

const HOUR = 3_600_000
let service: PushService
let other: PushService
let credentials: WebPushCredentials
let browser: Browser
let push: Push
let clock = 0
const now = () => Date.now() + clock

const keyPair = () => {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys().toString('base64url')
  // A number with leading zeros would be shorter.
  const privateKey = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()]).subarray(-32)
  return { publicKey, privateKey: privateKey.toString('base64url') }
}

before(async () => {
  credentials = { provider: 'web_push', ...keyPair(), subject: 'mailto:push@example.org' }
  service = await startPushService(credentials.publicKey)
  other = await startPushService(credentials.publicKey)
})

beforeEach(() => {
  push?.close()
  clock = 0
  for (const one of [service, other]) {
    one.received.length = 0
    one.now = now
    one.respond = () => ({ status: 201 })
  }
  browser = newBrowser()
  push = openPush({}, { now })
})

after(() => {
  push.close()
  service.close()
  other.close()
})

/** What `JSON.stringify(subscription)` gives in a browser. */
const subscription = (endpoint: string, { key, auth }: Browser = browser) =>
  JSON.stringify({
    endpoint,
    expirationTime: null,
    keys: { p256dh: key.getPublicKey('base64url'), auth: auth.toString('base64url') },
  })

const alert = (more: Partial<Notification> = {}): Notification => ({
  payload: { title: 'Ada', body: 'Hello 👋' },
  ...{ priority: 'high', kind: 'alert', expiresAt: now() + 24 * HOUR },
  ...more,
})

const send = (more: Partial<Notification> = {}, to = `${service.url}/send/abc?x=1`) =>
  push.push(credentials, subscription(to), alert(more))

suite('pushes to browsers', () => {
  test('are encrypted as in the example of RFC 8291', () => {
    const key = createECDH('prime256v1')
    key.setPrivateKey('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url')
    const receiver = { key, auth: Buffer.from('BTBZMqHH6r4Tts7J_aSIgg', 'base64url') }
    const example = Buffer.from(
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
      'base64url',
    )
    const text = 'When I grow up, I want to be a watermelon'
    assert.equal(decrypted(example, receiver), text)
    const keys = { p256dh: key.getPublicKey(), auth: receiver.auth }
    const [first, second] = [encrypted(text, keys), encrypted(text, keys)]
    assert.equal(decrypted(first, receiver), text)
    assert.equal(first.length, example.length)
    // Neither the salt nor the key is used twice.
    assert.notDeepEqual(first.subarray(0, 16), second.subarray(0, 16))
    assert.notDeepEqual(first.subarray(21, 86), second.subarray(21, 86))
  })

  test('arrive, and only the browser can read them', async () => {
    const outcome = await send({ collapseId: 'message-7', expiresAt: now() + 45_000 })
    assert.deepEqual(outcome, { outcome: 'delivered' })
    const [{ path, headers, body } = {} as never] = service.received
    assert.equal(path, '/send/abc?x=1')
    assert.deepEqual([headers.topic, headers.urgency], ['message-7', 'high'])
    assert.ok(Number(headers.ttl) <= 45)
    assert.deepEqual(JSON.parse(decrypted(body, browser)), alert().payload)
    assert.throws(() => decrypted(body, newBrowser()))
  })

  test('have a topic of at most 32 characters, the same for the same id', async () => {
    for (const collapseId of ['a/b', 'a/b', 'x'.repeat(33)]) {
      assert.equal((await send({ collapseId, kind: 'background' })).outcome, 'delivered')
    }
    const [first, again, long] = service.received.map(({ headers }) => headers.topic)
    assert.equal(first, again)
    assert.notEqual(first, long)
    assert.equal(service.received[0]?.headers.urgency, 'normal')
  })

  test('use a token for each push service, for six hours', async () => {
    await send()
    await send({}, `${other.url}/y`)
    clock = 5.9 * HOUR
    await send({ expiresAt: now() + HOUR })
    clock = 6 * HOUR
    assert.equal((await send({ expiresAt: now() + HOUR })).outcome, 'delivered')
    const tokens = service.received.map(({ token }) => token)
    assert.equal(tokens[0], tokens[1])
    assert.notEqual(tokens[1], tokens[2])
    assert.notEqual(other.received[0]?.token, tokens[0])
  })

  test('have outcomes that say whether to delete the subscription, to wait or to give up', async () => {
    const expected: Record<number, string> = {
      ...{ 200: 'delivered', 201: 'delivered', 202: 'delivered', 302: 'refused', 400: 'refused' },
      ...{ 401: 'refused', 403: 'refused', 404: 'gone', 410: 'gone', 413: 'refused' },
      ...{ 429: 'retry', 500: 'retry', 502: 'retry', 503: 'retry' },
    }
    for (const [status, outcome] of Object.entries(expected)) {
      service.respond = () => ({ status: Number(status), headers: { location: other.url } })
      assert.equal((await send()).outcome, outcome, status)
    }
    assert.equal(other.received.length, 0)
    const later = new Date(now() + 90_000).toUTCString()
    for (const header of ['90', later]) {
      service.respond = () => ({ status: 429, headers: { 'retry-after': header } })
      const outcome = await send()
      assert.ok(outcome.outcome === 'retry' && outcome.afterMs !== undefined)
      assert.ok(outcome.afterMs <= 90_000 && outcome.afterMs >= 0)
    }
    service.respond = () => ({ status: 429, headers: { 'retry-after': 'soon' } })
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'status 429' })
  })

  test('to a subscription that is none delete it', async () => {
    const wrong = [
      ...['', 'x', 'null', '{}', '{"endpoint":"https://a.example/","keys":{}}'],
      subscription('no url'),
      subscription(service.url).replace(/"auth":"[^"]+"/, '"auth":"AAAA"'),
      subscription(service.url).replace(/"p256dh":"[^"]+"/, `"p256dh":"${'B'.repeat(87)}"`),
    ]
    for (const device of wrong) {
      assert.equal((await push.push(credentials, device, alert())).outcome, 'gone', device)
    }
    assert.equal(service.received.length, 0)
  })

  test('with a key that is none, or that the page did not use, are refused', async () => {
    const device = subscription(`${service.url}/x`)
    for (const change of [
      { publicKey: 'AAAA' },
      { privateKey: '' },
      { privateKey: '!' },
      keyPair(),
    ]) {
      const outcome = await push.push({ ...credentials, ...change }, device, alert())
      assert.equal(outcome.outcome, 'refused', JSON.stringify(change))
    }
    assert.equal(service.received.length, 0)
  })

  test('never reach a private address, whoever chose it', async () => {
    const nameServers = [await startNameServer(() => ['127.0.0.1'])]
    const targets = new Targets({ privateTargets: false, nameServers })
    const guarded = openPush({}, { targets })
    for (const endpoint of [`${service.url}/x`, 'https://inside.example/x', 'http://1.1.1.1/x']) {
      const outcome = await guarded.push(credentials, subscription(endpoint), alert())
      assert.equal(outcome.outcome, 'gone', endpoint)
    }
    guarded.close()
    assert.equal(service.received.length, 0)
  })

  test('fit, shortened where they may be', async () => {
    const payload = { title: 'Ada', body: 'é'.repeat(4_000) }
    assert.deepEqual(await send({ payload }), { outcome: 'refused', reason: 'PayloadTooLarge' })
    assert.equal((await send({ payload, trim: [['body']] })).outcome, 'delivered')
    const [{ body } = {} as never] = service.received
    const text = decrypted(body, browser)
    assert.ok(body.length <= 4_096 && Buffer.byteLength(text) > PLAINTEXT_BYTES - 4)
    assert.match(JSON.parse(text).body, /^é+…$/)
  })

  test('to a push service that hangs delay no other one and no other credential', async () => {
    service.respond = () => null
    let settled = 0
    const hanging = Array.from({ length: 300 }, () => send().then(() => settled++))
    await until('all its calls are under way', () => service.received.length === 64)
    assert.equal((await send({}, `${other.url}/x`)).outcome, 'delivered')
    assert.equal(settled, 0)
    assert.equal(service.received.length, 64)
    service.close()
    await Promise.all(hanging)
  })
})
