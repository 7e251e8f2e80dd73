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

  test('of groups ring on for members until each has answered, rejected or let it ring', async () => {
    const app = await server.newApp()
    const [amira, ben, cleo, dan] = await app.users('amira', 'ben', 'cleo', 'dan', 'eve')
    const members = { participants: ['ben', 'cleo', 'dan', 'eve'] }
    await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
    await addFcm(app, servers)
    const tokens = new Map<string, string>()
    for (const uid of ['ben', 'cleo', 'dan', 'eve'])
      tokens.set(uid, (await android(app, uid)).token)
    const of = (uid: string) => ofGoogle(tokens.get(uid) ?? '')
    const { sessionId } = await amira.calls.start({
      ...{ receiver: 'team', receiverType: 'group', type: 'audio' },
    })
    await until('it rings', () => [...tokens.keys()].every((uid) => of(uid).length === 1))
    const close = (status: string) => ({ action: 'close', tag: sessionId, status })
    const closed = async (uid: string, status: string) => {
      const [, { data } = { data: {} }] = await until(`it stops for ${uid}`, () => {
        return of(uid).length > 1 && of(uid)
      })
      const { action, tag, callAction, conversationId } = data as Record<string, string>
      assert.deepEqual({ action, tag, status: callAction }, close(status))
      assert.equal(conversationId, 'group_team')
    }
    await ben.calls.join(sessionId, {})
    await closed('ben', 'ongoing')
    await cleo.calls.join(sessionId, {})
    await closed('cleo', 'ongoing')
    await dan.calls.reject(sessionId, {})
    await closed('dan', 'ongoing')
    assert.equal(of('eve').length, 1)
    const run = (text: string) => app.cell.db.query({ name: '', text, values: [app.no] })
    await run(
      `update calls set initiated_at = initiated_at - interval '46 seconds' where app_no = $1`,
    )
    await run(`update jobs set run_at = now() where app_no = $1 and name = 'calls.sweep'`)
    await closed('eve', 'ongoing')
    for (const uid of tokens.keys()) assert.equal(of(uid).length, 2)
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
