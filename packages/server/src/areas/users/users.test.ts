import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { CreateUserBody, ListUsersQuery } from '@loquat/sdk'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()

const create = (app: TestApp, body: object) => app.call('POST', '/v3/users', { body })
const getSignedIn = (app: TestApp, uid: string, authtoken: string) =>
  app.call('GET', `/v3/users/${uid}`, { apiKey: null, headers: { authtoken } })
const uids = async (app: TestApp, query: ListUsersQuery = {}) =>
  (await app.client.users.list(query)).data.map(({ uid }) => uid)
const total = async (app: TestApp, query: ListUsersQuery = {}) =>
  (await app.client.users.list(query)).meta.pagination.total

async function fill(app: TestApp, users: Record<string, Partial<CreateUserBody>>) {
  for (const [uid, fields] of Object.entries(users)) {
    await app.client.users.create({ uid, name: uid, ...fields })
  }
}

suite('createUser', () => {
  test('returns the record, with the uid in lower case and the name trimmed', async () => {
    const app = await server.newApp()
    const user = await app.client.users.create({
      uid: 'Amira-7',
      name: ' Amira ',
      link: 'https://people.example/amira',
      avatar: 'https://img.example/a.png',
      metadata: { team: 'ops' },
      tags: ['staff'],
    })
    const { createdAt, ...rest } = user
    assert.ok(Math.abs(createdAt - Date.now() / 1000) < 60)
    assert.deepEqual(rest, {
      uid: 'amira-7',
      name: 'Amira',
      role: 'default',
      status: 'offline',
      link: 'https://people.example/amira',
      avatar: 'https://img.example/a.png',
      metadata: { team: 'ops' },
      tags: ['staff'],
    })
    assert.deepEqual(await app.client.users.get('AMIRA-7'), user)
    assert.equal((await app.eventTypes()).at(-1), 'user.created')
  })

  test('returns a token on request, which no event contains', async () => {
    const app = await server.newApp()
    const ben = { uid: 'ben', name: 'Ben', withAuthToken: true }
    const { authToken = '' } = await app.client.users.create(ben)
    assert.match(authToken, /^ben_\d{10}[0-9a-f]{40}$/)
    assert.equal((await getSignedIn(app, 'ben', authToken)).status, 200)
    assert.ok(!JSON.stringify(await app.events()).includes(authToken))
  })

  test('creates one user when 50 requests name the same uid at once', async () => {
    const app = await server.newApp()
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => create(app, { uid: 'one', name: 'One' })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    for (const { status, body } of answers) {
      if (status !== 200) assert.equal(body.error.code, 'ERR_UID_ALREADY_EXISTS')
    }
    assert.equal(await total(app), 1)
  })

  const faults: [string, object, string][] = [
    ['a space in the uid', { uid: 'a b', name: 'x' }, 'uid'],
    ['an empty uid', { uid: '', name: 'x' }, 'uid'],
    ['a uid of 101 characters', { uid: 'a'.repeat(101), name: 'x' }, 'uid'],
    ['no name', { uid: 'a' }, 'name'],
    ['a name of 101 characters', { uid: 'a', name: 'x'.repeat(101) }, 'name'],
    [
      "an avatar that isn't a URL",
      { uid: 'a', name: 'x', avatar: 'javascript:alert(1)' },
      'avatar',
    ],
    ['metadata over 5 KB', { uid: 'a', name: 'x', metadata: { m: 'x'.repeat(5_200) } }, 'metadata'],
    [
      '26 tags',
      { uid: 'a', name: 'x', tags: Array.from({ length: 26 }, (_, n) => `t${n}`) },
      'tags',
    ],
    ['a tag twice', { uid: 'a', name: 'x', tags: ['t', 't'] }, 'tags'],
  ]
  for (const [what, body, field] of faults) {
    test(`refuses ${what}`, async () => {
      const { details } = await refused(create(await server.newApp(), body), 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(details ?? {}), [field])
    })
  }

  test("refuses an unknown role and the system's uid", async () => {
    const { users } = (await server.newApp()).client
    const role = users.create({ uid: 'a', name: 'x', role: 'nobody' })
    await refused(role, 'ERR_ROLE_NOT_FOUND')
    const system = users.create({ uid: 'app_system', name: 'x' })
    await refused(system, 'ERR_UID_ALREADY_EXISTS')
  })
})

suite('updateUser', () => {
  test('changes the fields that are sent, clears those unset or null, and keeps the rest', async () => {
    const app = await server.newApp()
    const { users } = app.client
    const [avatar, link] = ['https://a.example/1', 'https://b.example/2']
    await fill(app, { a: { avatar, link, statusMessage: 'hi', metadata: { m: 1 } } })

    const changed = await users.update('a', { name: 'B', unset: ['avatar'], metadata: null })
    assert.equal(changed.name, 'B')
    assert.equal(changed.link, link)
    assert.equal(changed.statusMessage, 'hi')
    assert.equal('avatar' in changed || 'metadata' in changed, false)
    assert.ok((changed.updatedAt ?? 0) >= changed.createdAt)
    await assert.rejects(users.update('a', { link, unset: ['link'] }), { status: 400 })
    const before = await app.eventTypes()
    assert.deepEqual(await users.update('a', {}), changed)
    assert.deepEqual(await app.eventTypes(), before)
    await assert.rejects(users.update('nobody', {}), { status: 404 })
  })

  test('succeeds or returns 404 while the user is being removed', async () => {
    const app = await server.newApp()
    await fill(app, { a: {} })
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, n) =>
        app.call('PUT', '/v3/users/a', { body: { name: `N${n}` } }),
      ),
      app.call('DELETE', '/v3/users/a', { body: { permanent: true } }),
    ])
    for (const { status } of answers) assert.ok(status === 200 || status === 404)
    await assert.rejects(app.client.users.get('a'), { status: 404 })
    assert.equal(await total(app), 0)
  })
})

suite('deactivateUsers', () => {
  test('hides the users and revokes their tokens until they are reactivated', async () => {
    const app = await server.newApp()
    const { client } = app
    const a = { uid: 'a', name: 'A' }
    const { authToken = '' } = await client.users.create({ ...a, withAuthToken: true })
    await fill(app, { b: {} })
    const off = await client.users.deactivate({ uidsToDeactivate: ['A', 'ghost'] })
    assert.deepEqual(off, { deactivatedUids: ['a'] })
    await refused(client.users.get('a'), 'ERR_UID_NOT_FOUND')
    await refused(getSignedIn(app, 'b', authToken), 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    await assert.rejects(client.users.create(a), { status: 409 })
    await assert.rejects(client.onBehalfOf('a').users.get('b'), { status: 404 })

    assert.deepEqual(await uids(app), ['b'])
    assert.deepEqual(await uids(app, { onlyDeactivated: true }), ['a'])
    assert.deepEqual(await uids(app, { withDeactivated: true }), ['a', 'b'])
    assert.equal(await total(app, { withDeactivated: true }), 2)

    const on = await client.users.reactivate({ uidsToActivate: ['a', 'b', 'ghost'] })
    assert.deepEqual(on, { nonDeactivatedUids: ['a', 'b'] })
    assert.equal((await client.users.get('a')).uid, 'a')
    assert.equal((await getSignedIn(app, 'b', authToken)).status, 401)
    const types = (await app.eventTypes()).slice(-2)
    assert.deepEqual(types, ['user.deactivated', 'user.reactivated'])
  })
})

suite('deleteUser', () => {
  test('deactivates the user; with `permanent`, it removes the user and frees the uid', async () => {
    const app = await server.newApp()
    const { users } = app.client
    await fill(app, { a: {} })
    assert.equal((await users.delete('a')).success, true)
    await assert.rejects(users.delete('a'), { status: 404 })
    const gone = await users.delete('a', { permanent: true })
    assert.deepEqual(gone, { success: true, message: 'User a deleted.' })
    await users.create({ uid: 'a', name: 'Another' })
    assert.equal(await total(app, { withDeactivated: true }), 1)
  })

  test('makes sends to few groups wait at a time', async () => {
    const app = await server.newApp()
    await fill(app, { a: {}, b: {} })
    const guids = Array.from({ length: 8 }, (_, n) => `g${n}`)
    for (const guid of guids)
      await app.client.groups.create({
        guid,
        name: guid,
        owner: 'b',
        members: { participants: ['a'] },
      })
    const sweep = `select sweep_user($1, 'a', 100) as gone`
    assert.deepEqual(await rows(app.cell.db, sweep, [app.no]), [{ gone: false }])
    const left = `select with_id from inbox where app_no = $1 and uid = 'a'`
    assert.equal((await rows(app.cell.db, left, [app.no])).length, 3)
  })
})

suite('getUser', () => {
  test('shows other users the conversation id and no private metadata', async () => {
    const app = await server.newApp()
    await fill(app, { zoe: { metadata: { '@private': { email: 'z@x' }, open: 1 } }, adam: {} })
    const seenBy = (uid: string) => app.client.onBehalfOf(uid).users.get('zoe')
    const seen = await seenBy('ADAM')
    assert.deepEqual(seen.metadata, { open: 1 })
    assert.equal(seen.conversationId, 'adam_user_zoe')
    assert.deepEqual([seen.blockedByMe, seen.hasBlockedMe], [false, false])
    const own = await seenBy('zoe')
    assert.deepEqual(own.metadata, { '@private': { email: 'z@x' }, open: 1 })
    await refused(seenBy('ghost'), 'ERR_UID_NOT_FOUND')
  })
})

suite('listUsers', () => {
  test('sorts by name in every script, then uid', async () => {
    const app = await server.newApp()
    const names = ['zoe', 'Ädam', 'adam', 'Bea', '日本', '😀', 'Ångström', 'Ωmega', 'éva', 'Eva']
    await fill(app, Object.fromEntries(names.map((name, n) => [`u${n}`, { name }])))
    const listed = async (query: ListUsersQuery = {}) =>
      (await app.client.users.list(query)).data.map(({ name }) => name)
    const sorted = await listed()
    assert.deepEqual(sorted, [
      ...['Ädam', 'adam', 'Ångström', 'Bea', 'éva', 'Eva', 'zoe', 'Ωmega', '日本', '😀'],
    ])
    assert.deepEqual(await listed({ sortBy: 'name', sortOrder: 'desc' }), sorted.toReversed())
  })

  test('shows each user exactly as getUser does, to the app and to every user', async () => {
    const app = await server.newApp()
    await app.client.roles.create({ role: 'guest', name: 'Guest' })
    await app.client.roles.create({ role: 'gone', name: 'Gone' })
    const everything = { avatar: 'https://a.example/"b"', link: 'https://c.example', role: 'guest' }
    await fill(app, {
      plain: { name: 'Plain "quoted" \\ 😀' },
      full: { name: 'Full', ...everything, statusMessage: 'At\nlunch', tags: ['vip'] },
      secret: { name: 'Secret', metadata: { '@private': { age: 9 }, shown: '"{}"' } },
      alone: { name: 'Alone', metadata: { '@private': 1 } },
      moved: { name: 'Moved', role: 'gone' },
      apart: { name: 'Apart' },
    })
    await app.client.users.update('full', { name: 'Full again' })
    await app.client.roles.delete('gone')
    await app.as('plain').blockedUsers.block('plain', { blockedUids: ['apart'] })
    for (const viewer of [undefined, 'plain', 'secret', 'apart']) {
      const client = viewer ? app.as(viewer) : app.client
      const { data } = await client.users.list({ withTags: true })
      assert.ok(data.length > 4)
      for (const user of data) assert.deepEqual(user, await client.users.get(user.uid))
    }
  })

  test('searches names and the beginnings of uids, and takes wildcards literally', async () => {
    const app = await server.newApp()
    await fill(app, {
      u1: { name: 'Jürgen 100%' },
      u2: { name: 'jurgen_x' },
      u3: { name: '山田太郎' },
      u4: { name: 'back\\slash' },
      'jur-9': { name: 'Other' },
    })
    const found = async (searchKey: string, more: ListUsersQuery = {}) =>
      (await uids(app, { searchKey, ...more })).sort()
    assert.deepEqual(await found('JURG'), ['u1', 'u2'])
    assert.deepEqual(await found('jür'), ['u1', 'u2'])
    assert.deepEqual(await found('jur'), ['jur-9', 'u1', 'u2'])
    assert.deepEqual(await found('jur', { searchIn: ['uid'] }), ['jur-9'])
    assert.deepEqual(await found('jur', { searchIn: ['name'] }), ['u1', 'u2'])
    assert.deepEqual(await found('田太'), ['u3'])
    assert.deepEqual(await found('郎'), ['u3'])
    assert.deepEqual(await found('%'), ['u1'])
    assert.deepEqual(await found('_'), ['u2'])
    assert.deepEqual(await found('\\'), ['u4'])
    assert.deepEqual(await found('q'), [])
    assert.deepEqual(await found('\u0301'), [])
    assert.equal((await app.client.users.count({ searchKey: '\u0301' })).count, 0)
  })

  test('filters by role, tags, time, ids and status, alone and together', async () => {
    const app = await server.newApp()
    const { users } = app.client
    await app.client.roles.create({ role: 'coach', name: 'Coach' })
    await fill(app, {
      a: { role: 'coach', tags: ['x', 'y'] },
      b: { tags: ['y'] },
      c: { role: 'coach' },
      d: {},
    })
    const everyone = ['a', 'b', 'c', 'd']
    assert.deepEqual(await uids(app, { role: 'coach' }), ['a', 'c'])
    assert.deepEqual(await uids(app, { roles: ['coach', 'default'] }), everyone)
    assert.deepEqual(await uids(app, { tags: ['x', 'y'] }), ['a', 'b'])
    assert.deepEqual(await uids(app, { tags: ['y'], role: 'coach' }), ['a'])
    assert.deepEqual(await uids(app, { uids: ['a', 'D', 'ghost'] }), ['a', 'd'])
    assert.deepEqual(await uids(app, { status: ['offline'] }), everyone)
    assert.deepEqual(await uids(app, { status: ['available'] }), [])
    const now = Math.floor(Date.now() / 1000)
    const thisMinute = { 'createdAt[from]': now - 60, 'createdAt[to]': now + 60 }
    assert.deepEqual(await uids(app, thisMinute), everyone)
    assert.deepEqual(await uids(app, { 'createdAt[to]': now - 60 }), [])
    const far = 999_999_999_999_999
    assert.deepEqual(await uids(app, { 'createdAt[from]': far }), [])
    assert.deepEqual(await uids(app, { 'createdAt[to]': far }), everyone)
    await users.update('d', { name: 'd2' })
    assert.deepEqual(await uids(app, { 'updatedAt[from]': now - 60 }), ['d'])
    const [tagged] = (await users.list({ uids: ['a'], withTags: true })).data
    assert.deepEqual(tagged?.tags, ['x', 'y'])
    const [untagged = { tags: [] }] = (await users.list({ uids: ['a'] })).data
    assert.equal('tags' in untagged, false)
    assert.deepEqual(await users.count({ role: 'coach' }), { count: 2 })
    assert.equal(await total(app, { role: 'coach' }), 2)
  })

  test('returns each user exactly once by page, by jump and by cursor', async () => {
    const app = await server.newApp()
    await fill(
      app,
      Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`u${n}`, { name: `N${n % 3}` }])),
    )
    const all = await uids(app)
    for (const filter of [{}, { searchKey: 'n' }]) {
      const pages = []
      for (const page of [1, 2, 3, 4])
        pages.push(...(await uids(app, { perPage: 3, page, ...filter })))
      assert.deepEqual(pages, all)
      assert.deepEqual(await uids(app, { perPage: 2, page: 4, ...filter }), all.slice(6, 8))
      assert.deepEqual(await uids(app, { perPage: 2, page: 9, ...filter }), [])
      const crawled = []
      for await (const { uid } of app.client.users.all({ perPage: 4, ...filter })) crawled.push(uid)
      assert.deepEqual(crawled, all)
    }
    const { pagination } = (await app.client.users.list({ perPage: 3, page: 2 })).meta
    assert.deepEqual(pagination, {
      total: 11,
      count: 3,
      per_page: 3,
      current_page: 2,
      total_pages: 4,
    })
  })

  test("refuses another app's cursor", async () => {
    const [one, two] = [await server.newApp(), await server.newApp()]
    await fill(one, { a: {}, b: {} })
    const { cursor } = (await one.client.users.list({ perPage: 1 })).meta
    assert.ok(cursor)
    for (const wrong of [cursor.next, 'nonsense']) {
      await assert.rejects(two.client.users.list({ cursor: wrong }), { status: 400 })
    }
  })
})

suite('reactivateUsers', () => {
  test('brings users back, except unknown ones', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const { users } = app.client
    await users.deactivate({ uidsToDeactivate: ['a'] })
    await refused(users.get('a'), 'ERR_UID_NOT_FOUND')
    const { nonDeactivatedUids } = await users.reactivate({ uidsToActivate: ['a', 'b', 'ghost'] })
    assert.deepEqual(nonDeactivatedUids, ['a', 'b'])
    assert.equal((await users.get('a')).deactivatedAt, undefined)
  })
})
