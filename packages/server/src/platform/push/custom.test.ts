import assert from 'node:assert/strict'
import { after, beforeEach, suite, test } from 'node:test'
import { openPush } from '../../../test/push/push.ts'
import { useReceiver } from '../../../test/receiver.ts'
import { Targets } from '../net/targets.ts'
import type { CustomCredentials } from './custom.ts'
import { PUSH_LIMITS } from './limits.ts'
import type { Notification } from './notification.ts'

const receiver = useReceiver()
const push = openPush({})
after(() => push.close())
beforeEach(() => {
  receiver.received.length = 0
  receiver.respond = () => 200
})

const notification = (): Notification => ({
  payload: {
    trigger: 'push-notification-payload-generated',
    data: { to: { uid: 'ada' }, notificationDetails: { title: 'Bo', body: 'Hello' } },
    ...{ appId: 'app', region: 'us', webhook: 'custom' },
  },
  ...{ priority: 'high', kind: 'alert', expiresAt: Date.now() + 86_400_000 },
})

const credentials = (): CustomCredentials => ({
  provider: 'custom',
  url: `${receiver.url}/push`,
  login: { username: 'ünal', password: 'p?>w' },
})

const send = () => push.push(credentials(), '', notification())

suite("pushes to an app's own server", () => {
  test('arrive with the envelope and the login', async () => {
    assert.deepEqual(await send(), { outcome: 'delivered' })
    const [{ json, headers, path } = {} as never] = receiver.received
    assert.deepEqual(json, notification().payload)
    assert.equal(path, '/push')
    assert.equal(headers['content-type'], 'application/json')
    const [, login = ''] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? []
    assert.equal(login, Buffer.from('ünal:p?>w').toString('base64'))
    assert.match(login, /[+/=]/)
  })

  test('need no login', async () => {
    const { provider, url } = credentials()
    assert.equal((await push.push({ provider, url }, '', notification())).outcome, 'delivered')
    assert.equal(receiver.received[0]?.headers.authorization, undefined)
  })

  test('are tried again if the server fails, and given up if it refuses', async () => {
    const expected: Record<number, string> = {
      ...{ 204: 'delivered', 302: 'refused', 400: 'refused', 401: 'refused', 410: 'refused' },
      ...{ 408: 'retry', 429: 'retry', 500: 'retry', 503: 'retry', 0: 'retry' },
    }
    for (const [status, outcome] of Object.entries(expected)) {
      receiver.respond = () => Number(status)
      assert.equal((await send()).outcome, outcome, status)
    }
    assert.ok(receiver.received.every(({ path }) => path === '/push'))
  })

  test('wait for two seconds', async () => {
    receiver.respond = () => null
    const hasty = openPush({}, { limits: PUSH_LIMITS })
    const outcome = await hasty.push(credentials(), '', notification())
    hasty.close()
    assert.deepEqual(outcome, { outcome: 'retry', reason: 'no response within 2 seconds' })
  })

  test('never reach a private address', async () => {
    const targets = new Targets({ privateTargets: false, nameServers: [] })
    const guarded = openPush({}, { targets })
    const outcome = await guarded.push(credentials(), '', notification())
    assert.deepEqual(outcome, {
      outcome: 'refused',
      reason: 'the URL must not be a private address',
    })
    guarded.close()
    assert.equal(receiver.received.length, 0)
  })
})
