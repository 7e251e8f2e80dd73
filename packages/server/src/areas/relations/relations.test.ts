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

const befriend = (app: TestApp, uid: string, ...accepted: string[]) =>
  app.call('POST', `/v3/users/${uid}/friends`, { body: { accepted } })
const part = (app: TestApp, uid: string, ...friends: string[]) =>
  app.call('DELETE', `/v3/users/${uid}/friends`, { body: { friends } })
const block = (app: TestApp, uid: string, ...blockedUids: string[]) =>
  app.call('POST', `/v3/users/${uid}/blockedusers`, { body: { blockedUids } })
const unblock = (app: TestApp, uid: string, ...blockedUids: string[]) =>
  app.call('DELETE', `/v3/users/${uid}/blockedusers`, { body: { blockedUids } })
const listed = async (app: TestApp, uid: string, what: string): Promise<string[]> =>
  (await app.call('GET', `/v3/users/${uid}/${what}`)).body.data.map(
    (user: { uid: string }) => user.uid,
  )

suite('friends', () => {
  test('are added both ways, with an outcome for each id', async () => {
    const app = await appWithUsers('amira', 'ben', 'cleo')
    await befriend(app, 'amira', 'cleo')
    const { body } = await befriend(app, 'amira', 'ben', 'Cleo', 'amira', 'ghost')
    const codes = Object.entries(body.data.accepted as Record<string, { error?: { code: string } }>)
    assert.deepEqual(
      codes.map(([uid, { error }]) => [uid, error?.code]),
      [
        ['ben', undefined],
        ['cleo', 'ERR_ALREADY_FRIEND'],
        ['amira', 'ERR_CANNOT_FORM_SELF_RELATION'],
        ['ghost', 'ERR_UID_NOT_FOUND'],
      ],
    )
    assert.deepEqual(await listed(app, 'amira', 'friends'), ['ben', 'cleo'])
    assert.deepEqual(await listed(app, 'ben', 'friends'), ['amira'])
    assert.deepEqual(await listed(app, 'amira', 'friends?searchKey=LE'), ['cleo'])
    assert.equal((await app.announced()).at(-1), 'user.friends.added')
  })

  test('are removed both ways; strangers are skipped, unless there are only strangers', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    await befriend(app, 'a', 'b')
    assert.equal((await part(app, 'b', 'a', 'c')).body.data.message, 'Relations removed.')
    assert.deepEqual(await listed(app, 'a', 'friends'), [])
    assert.equal((await part(app, 'a', 'b')).body.error.code, 'ERR_NOT_A_FRIEND')
    assert.equal((await befriend(app, 'ghost', 'a')).body.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal((await befriend(app, 'a')).status, 400)
  })

  test('have a ceiling for both sides', async () => {
    const app = await appWithUsers('a', 'b', 'c', 'd')
    await setSettings(server.deps, app, { 'limits.friendsPerUser': 2 })
    const codes = async (uid: string, ...others: string[]) =>
      Object.values(
        (await befriend(app, uid, ...others)).body.data.accepted as Record<
          string,
          { error?: { code: string } }
        >,
      ).map(({ error }) => error?.code)
    const full = 'ERR_PLAN_QUOTA_RESTRICTION'
    assert.deepEqual(await codes('a', 'b', 'c', 'd'), [undefined, undefined, full])
    assert.deepEqual(await codes('d', 'a', 'b'), [full, undefined])
  })

  test('added and removed from both sides at once: both sides agree, nobody sees a deadlock', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const [one = '', two = '', three = ''] = n % 2 ? ['a', 'b', 'c'] : ['c', 'b', 'a']
        return n % 3 === 2 ? part(app, one, two, three) : befriend(app, one, two, three)
      }),
    )
    for (const { status } of answers) assert.ok(status === 200 || status === 404)
    for (const one of ['a', 'b', 'c']) {
      for (const other of await listed(app, one, 'friends')) {
        assert.ok((await listed(app, other, 'friends')).includes(one), `${one} and ${other}`)
      }
    }
  })

  test('a friend that is deactivated is hidden, one that is removed is gone', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    await befriend(app, 'a', 'b', 'c')
    await app.call('DELETE', '/v3/users/b')
    assert.deepEqual(await listed(app, 'a', 'friends'), ['c'])
    await app.call('PUT', '/v3/users', { body: { uidsToActivate: ['b'] } })
    await app.call('DELETE', '/v3/users/c', { body: { permanent: true } })
    assert.deepEqual(await listed(app, 'a', 'friends'), ['b'])
    await app.call('POST', '/v3/users', { body: { uid: 'c', name: 'Another' } })
    assert.deepEqual(await listed(app, 'c', 'friends'), [])
  })
})

suite('blocked users', () => {
  test('show in both directions, and in the records', async () => {
    const app = await appWithUsers('amira', 'mallory', 'zoe')
    const { body } = await block(app, 'amira', 'mallory', 'amira', 'ghost')
    assert.deepEqual(body.data.mallory, { success: true, message: 'amira now blocks mallory.' })
    assert.equal(body.data.amira.error.code, 'ERR_CANNOT_BLOCK_SELF')
    assert.equal(body.data.ghost.error.code, 'ERR_UID_NOT_FOUND')
    await block(app, 'zoe', 'amira')

    assert.deepEqual(await listed(app, 'amira', 'blockedusers'), ['mallory'])
    assert.deepEqual(await listed(app, 'amira', 'blockedusers?direction=hasBlockedMe'), ['zoe'])
    assert.deepEqual(await listed(app, 'amira', 'blockedusers?direction=both'), ['mallory', 'zoe'])
    const seen = await app.call('GET', '/v3/users/mallory', { headers: { onbehalfof: 'amira' } })
    const { blockedByMe, blockedByMeAt, hasBlockedMe, blockedAt } = seen.body.data
    assert.deepEqual([blockedByMe, hasBlockedMe], [true, false])
    assert.ok(blockedByMeAt > 0 && blockedAt === blockedByMeAt)
    const other = await app.call('GET', '/v3/users/amira', { headers: { onbehalfof: 'mallory' } })
    assert.deepEqual([other.body.data.blockedByMe, other.body.data.hasBlockedMe], [false, true])
  })

  test('blocking twice and releasing a stranger change nothing, and announce nothing', async () => {
    const app = await appWithUsers('a', 'b')
    await block(app, 'a', 'b')
    const before = await app.announced()
    assert.equal((await block(app, 'a', 'b')).body.data.b.success, true)
    assert.deepEqual(await app.announced(), before)
    assert.equal((await unblock(app, 'a', 'b')).body.data.b.success, true)
    assert.equal((await unblock(app, 'a', 'b')).body.data.b.success, true)
    assert.deepEqual((await app.announced()).slice(before.length), ['user.unblocked'])
    assert.deepEqual(await listed(app, 'a', 'blockedusers?direction=both'), [])
  })

  test('blocked and released both ways at once: no deadlock, one row at most', async () => {
    const app = await appWithUsers('a', 'b')
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const [one, two] = n % 2 ? (['a', 'b'] as const) : (['b', 'a'] as const)
        return n % 3 === 2 ? unblock(app, one, two) : block(app, one, two)
      }),
    )
    for (const { status } of answers) assert.equal(status, 200)
    assert.ok((await listed(app, 'a', 'blockedusers')).length <= 1)
  })
})
