/** Calls ring on devices, and stop. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { addApns, addFcm, android, iPhone, startPushServers } from '../../../test/push/notified.ts'
import { until } from '../../../test/until.ts'

const servers = await startPushServers()
const { apns, fcm } = servers
const server = useServer({ roles: ['api', 'worker'], env: servers.env })

async function newPhone(app: TestApp, uid: string): Promise<string> {
  const { authToken } = await app.client.authTokens.create(uid, { force: true })
  const voipToken = randomBytes(32).toString('hex')
  await app.client.pushTokens.register({ platform: 'apns_ios_voip', voipToken, authToken })
  return voipToken
}

const ofApple = (token: string) => apns.received.filter(({ device }) => device === token)
const ofGoogle = (token: string) => fcm.received.filter((one) => one.token === token)

suite('calls', () => {
  test('ring on all devices of the called user, until one answers', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    await addApns(app, servers)
    await addFcm(app, servers)
    const [voip, plain, tablet, own] = [
      await newPhone(app, 'ben'),
      (await iPhone(app, 'ben')).token,
      (await android(app, 'ben')).token,
      (await android(app, 'amira')).token,
    ]
    const { sessionId } = await amira.calls.start({ receiver: 'ben', type: 'video' })
    const [ring] = await until('it rings', () => ofApple(voip).length > 0 && ofApple(voip))
    await until('it rings on the tablet', () => ofGoogle(tablet).length > 0)
    const { headers, payload } = ring ?? {}
    assert.equal(headers?.['apns-push-type'], 'voip')
    assert.equal(headers?.['apns-topic'], 'org.example.chat.voip')
    const left = Number(headers?.['apns-expiration']) - Date.now() / 1000
    assert.ok(left <= 46, `${left} seconds`)
    assert.deepEqual(
      [payload?.type, payload?.sessionId, payload?.callAction, payload?.callType, payload?.sender],
      ['call', sessionId, 'initiated', 'video', 'amira'],
    )
    assert.equal(ofGoogle(tablet)[0]?.data.tag, sessionId)
    await ben.calls.join(sessionId, { deviceId: 'phone' })
    await until('it stops', () => ofApple(voip).length > 1 && ofGoogle(tablet).length > 1)
    for (const close of [ofApple(voip)[1]?.payload, ofGoogle(tablet)[1]?.data]) {
      assert.deepEqual(
        [close?.action, close?.tag, close?.callAction],
        ['close', sessionId, 'ongoing'],
      )
    }
    assert.deepEqual([ofApple(plain), ofGoogle(own)], [[], []])
  })

  test('are taken back when the caller hangs up', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira', 'ben')
    await addFcm(app, servers)
    const tablet = (await android(app, 'ben')).token
    const { sessionId } = await amira.calls.start({ receiver: 'ben', type: 'audio' })
    await until('it rings', () => ofGoogle(tablet).length > 0)
    await amira.calls.cancel(sessionId)
    await until('it stops', () => ofGoogle(tablet).length > 1)
    assert.deepEqual(
      ofGoogle(tablet).map(({ data }) => [data.callAction, data.action]),
      [
        ['initiated', undefined],
        ['cancelled', 'close'],
      ],
    )
  })
})
