import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/harness.ts'
import { setSettings } from '../settings/actions.ts'

const server = useServer()

async function appWithUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  return app
}

const path = (uid: string, token = '') => `/v3/users/${uid}/auth_tokens${token && `/${token}`}`
const issue = async (app: TestApp, uid: string, body?: object): Promise<string> =>
  (await app.call('POST', path(uid), { body })).body.data.authToken
const works = async (app: TestApp, uid: string, authtoken: string) =>
  (await app.call('GET', `/v3/users/${uid}`, { apiKey: null, headers: { authtoken } })).status ===
  200

suite('auth tokens', () => {
  test('an authOnly key issues, reads and revokes them', async () => {
    const app = await appWithUsers('amira')
    const options = { apiKey: app.authKey }
    const { body } = await app.call('POST', path('amira'), options)
    assert.match(body.data.authToken, /^amira_\d{10}[0-9a-f]{40}$/)
    const token = body.data.authToken
    assert.deepEqual((await app.call('GET', path('amira', token), options)).body.data, body.data)
    assert.equal((await app.call('GET', path('amira'), options)).body.meta.pagination.total, 1)
    assert.equal((await app.call('DELETE', path('amira', token), options)).status, 200)
    assert.equal(await works(app, 'amira', token), false)
  })

  test('the newest on no device is given again, unless forced', async () => {
    const app = await appWithUsers('a')
    const first = await issue(app, 'a')
    assert.equal(await issue(app, 'a', { force: false }), first)
    const second = await issue(app, 'a', { force: true })
    assert.notEqual(second, first)
    assert.equal(await issue(app, 'a'), second)
    const use = { platform: 'ios', userAgent: 'Phone', appInfo: { v: 2 } }
    const stored = await app.call('PUT', path('a', second), { body: use })
    assert.deepEqual(stored.body.data, { ...stored.body.data, ...use, authToken: second })
    assert.equal(await issue(app, 'a'), first)
    const moved = await app.call('PUT', path('a', second), { body: { platform: 'web' } })
    assert.equal(moved.body.error.code, 'ERR_AUTHTOKEN_UNAVAILABLE')
  })

  test('only the newest stay valid', async () => {
    const app = await appWithUsers('a')
    await setSettings(server.deps, app, { 'limits.authTokensPerUser': 3 })
    const tokens = []
    for (let n = 0; n < 5; n++) tokens.push(await issue(app, 'a', { force: true }))
    const valid = []
    for (const token of tokens) valid.push(await works(app, 'a', token))
    assert.deepEqual(valid, [false, false, true, true, true])
  })

  test('a flush while others are issued: none of before survives, the list tells the truth', async () => {
    const app = await appWithUsers('a')
    const before = [await issue(app, 'a', { force: true }), await issue(app, 'a', { force: true })]
    const [, ...issued] = await Promise.all([
      app.call('DELETE', path('a')),
      ...Array.from({ length: 8 }, () => issue(app, 'a', { force: true })),
    ])
    for (const token of before) assert.equal(await works(app, 'a', token), false)
    const { body } = await app.call('GET', path('a'))
    const listed = new Set(body.data.map((token: { authToken: string }) => token.authToken))
    for (const token of issued)
      assert.equal(listed.has(token), await works(app, 'a', token as string))
    assert.equal(
      (await app.call('DELETE', path('a'))).body.data.message,
      'All tokens of a revoked.',
    )
    assert.equal((await app.call('GET', path('a'))).body.meta.pagination.total, 0)
  })

  test('a token of another user, an unknown one and an unknown user have their own errors', async () => {
    const app = await appWithUsers('a', 'b')
    const token = await issue(app, 'a')
    const code = async (uid: string, value: string) =>
      (await app.call('GET', path(uid, value))).body.error.code
    assert.equal(await code('b', token), 'ERR_AUTHTOKEN_NOT_ACCESSIBLE')
    assert.equal(await code('a', 'a_nothing'), 'ERR_AUTH_TOKEN_NOT_FOUND')
    assert.equal(await code('ghost', token), 'ERR_UID_NOT_FOUND')
  })
})
