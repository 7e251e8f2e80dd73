import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { CreateAuthTokenBody } from '@loquat/sdk'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

const issue = async (app: TestApp, uid: string, body?: CreateAuthTokenBody) =>
  (await app.client.authTokens.create(uid, body)).authToken
const works = async (app: TestApp, uid: string, authtoken: string) =>
  (await app.call('GET', `/v3/users/${uid}`, { apiKey: null, headers: { authtoken } })).status ===
  200

suite('createAuthToken', () => {
  test('issues a token that an authOnly key can read', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { authTokens } = app.clientWith(app.authKey)
    const token = await authTokens.create('amira')
    assert.match(token.authToken, /^amira_\d{10}[0-9a-f]{40}$/)
    assert.deepEqual(await authTokens.get('amira', token.authToken), token)
    assert.equal((await authTokens.list('amira')).meta.pagination.total, 1)
  })

  test('returns the newest token without a device again, unless forced', async () => {
    const app = await server.newApp()
    await app.users('a')
    const first = await issue(app, 'a')
    assert.equal(await issue(app, 'a', { force: false }), first)
    const second = await issue(app, 'a', { force: true })
    assert.notEqual(second, first)
    assert.equal(await issue(app, 'a'), second)
    await app.client.authTokens.update('a', second, { platform: 'ios' })
    assert.equal(await issue(app, 'a'), first)
  })

  test('keeps only the newest tokens of a user valid', async () => {
    const app = await server.newApp()
    await app.users('a')
    await storeSettings(server.deps, app, { 'limits.authTokensPerUser': 3 })
    const tokens = []
    for (let n = 0; n < 5; n++) tokens.push(await issue(app, 'a', { force: true }))
    const valid = []
    for (const token of tokens) valid.push(await works(app, 'a', token))
    assert.deepEqual(valid, [false, false, true, true, true])
  })
})

suite('updateAuthToken', () => {
  test('stores the device of a token once', async () => {
    const app = await server.newApp()
    await app.users('a')
    const token = await issue(app, 'a')
    const use = { platform: 'ios', userAgent: 'Phone', appInfo: { v: 2 } }
    const { authTokens } = app.client
    const stored = await authTokens.update('a', token, use)
    assert.deepEqual(stored, { ...stored, ...use, authToken: token })
    const moved = authTokens.update('a', token, { platform: 'web' })
    await refused(moved, 'ERR_AUTHTOKEN_UNAVAILABLE')
  })
})

suite('deleteAuthToken', () => {
  test('revokes the token, with an authOnly key too', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const token = await issue(app, 'amira')
    assert.equal(await works(app, 'amira', token), true)
    await app.clientWith(app.authKey).authTokens.delete('amira', token)
    assert.equal(await works(app, 'amira', token), false)
  })
})

suite('flushAuthTokens', () => {
  test('revokes every earlier token while others are being issued', async () => {
    const app = await server.newApp()
    await app.users('a')
    const { authTokens } = app.client
    const before = [await issue(app, 'a', { force: true }), await issue(app, 'a', { force: true })]
    const [, ...issued] = await Promise.all([
      authTokens.flush('a'),
      ...Array.from({ length: 8 }, () => issue(app, 'a', { force: true })),
    ])
    for (const token of before) assert.equal(await works(app, 'a', token), false)
    const { data } = await authTokens.list('a')
    const listed = new Set(data.map(({ authToken }) => authToken))
    for (const token of issued) assert.equal(listed.has(token), await works(app, 'a', token))
    assert.equal((await authTokens.flush('a')).message, 'All auth tokens of a revoked.')
    assert.equal((await authTokens.list('a')).meta.pagination.total, 0)
  })
})

suite('getAuthToken', () => {
  test("has an error each for another user's token, an unknown token and an unknown user", async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const token = await issue(app, 'a')
    const get = (uid: string, value: string) => app.client.authTokens.get(uid, value)
    await refused(get('b', token), 'ERR_AUTHTOKEN_NOT_ACCESSIBLE')
    await refused(get('a', 'a_nothing'), 'ERR_AUTH_TOKEN_NOT_FOUND')
    await refused(get('ghost', token), 'ERR_UID_NOT_FOUND')
  })
})
