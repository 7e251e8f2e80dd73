import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { CreateAuthTokenBody } from '@loquat/sdk'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

async function appWithUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.client.users.create({ uid, name: uid })
  return app
}

const issue = async (app: TestApp, uid: string, body?: CreateAuthTokenBody) =>
  (await app.client.authTokens.create(uid, body)).authToken
const works = async (app: TestApp, uid: string, authtoken: string) =>
  (await app.call('GET', `/v3/users/${uid}`, { apiKey: null, headers: { authtoken } })).status ===
  200

suite('auth tokens', () => {
  test('an authOnly key issues, reads and revokes them', async () => {
    const app = await appWithUsers('amira')
    const { authTokens } = app.clientWith(app.authKey)
    const token = await authTokens.create('amira')
    assert.match(token.authToken, /^amira_\d{10}[0-9a-f]{40}$/)
    assert.deepEqual(await authTokens.get('amira', token.authToken), token)
    assert.equal((await authTokens.list('amira')).meta.pagination.total, 1)
    assert.equal((await authTokens.delete('amira', token.authToken)).success, true)
    assert.equal(await works(app, 'amira', token.authToken), false)
  })

  test('the newest on no device is given again, unless forced', async () => {
    const app = await appWithUsers('a')
    const first = await issue(app, 'a')
    assert.equal(await issue(app, 'a', { force: false }), first)
    const second = await issue(app, 'a', { force: true })
    assert.notEqual(second, first)
    assert.equal(await issue(app, 'a'), second)
    const use = { platform: 'ios', userAgent: 'Phone', appInfo: { v: 2 } }
    const { authTokens } = app.client
    const stored = await authTokens.update('a', second, use)
    assert.deepEqual(stored, { ...stored, ...use, authToken: second })
    assert.equal(await issue(app, 'a'), first)
    const moved = authTokens.update('a', second, { platform: 'web' })
    await assert.rejects(moved, { code: 'ERR_AUTHTOKEN_UNAVAILABLE' })
  })

  test('only the newest stay valid', async () => {
    const app = await appWithUsers('a')
    await storeSettings(server.deps, app, { 'limits.authTokensPerUser': 3 })
    const tokens = []
    for (let n = 0; n < 5; n++) tokens.push(await issue(app, 'a', { force: true }))
    const valid = []
    for (const token of tokens) valid.push(await works(app, 'a', token))
    assert.deepEqual(valid, [false, false, true, true, true])
  })

  test('a flush while others are issued: none of before survives, the list tells the truth', async () => {
    const app = await appWithUsers('a')
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

  test('a token of another user, an unknown one and an unknown user have their own errors', async () => {
    const app = await appWithUsers('a', 'b')
    const token = await issue(app, 'a')
    const get = (uid: string, value: string) => app.client.authTokens.get(uid, value)
    await assert.rejects(get('b', token), { code: 'ERR_AUTHTOKEN_NOT_ACCESSIBLE' })
    await assert.rejects(get('a', 'a_nothing'), { code: 'ERR_AUTH_TOKEN_NOT_FOUND' })
    await assert.rejects(get('ghost', token), { code: 'ERR_UID_NOT_FOUND' })
  })
})
