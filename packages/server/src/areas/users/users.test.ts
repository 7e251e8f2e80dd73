import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/harness.ts'

const server = useServer()

const create = (app: TestApp, body: object) => app.call('POST', '/v3/users', { body })
const get = (app: TestApp, uid: string, options = {}) =>
  app.call('GET', `/v3/users/${uid}`, options)
const list = async (app: TestApp, query = '') => (await app.call('GET', `/v3/users?${query}`)).body
const uids = async (app: TestApp, query = '') =>
  (await list(app, query)).data.map((user: { uid: string }) => user.uid)

async function fill(app: TestApp, users: Record<string, object>) {
  for (const [uid, fields] of Object.entries(users)) {
    assert.equal((await create(app, { uid, name: uid, ...fields })).status, 200)
  }
}

suite('createUser', () => {
  test('answers with the record; the uid is lowered, the name trimmed', async () => {
    const app = await server.newApp()
    const { status, body } = await create(app, {
      uid: 'Amira-7',
      name: ' Amira ',
      link: 'https://people.example/amira',
      avatar: 'https://img.example/a.png',
      metadata: { team: 'ops' },
      tags: ['staff'],
    })
    assert.equal(status, 200)
    const { createdAt, ...rest } = body.data
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
    assert.deepEqual((await get(app, 'AMIRA-7')).body.data, body.data)
    assert.equal((await app.announced()).at(-1), 'user.created')
  })

  test('with a token, which is none of the event’s business', async () => {
    const app = await server.newApp()
    const { body } = await create(app, { uid: 'ben', name: 'Ben', withAuthToken: true })
    assert.match(body.data.authToken, /^ben_\d{10}[0-9a-f]{40}$/)
    const seen = await get(app, 'ben', {
      apiKey: null,
      headers: { authtoken: body.data.authToken },
    })
    assert.equal(seen.status, 200)
  })

  test('one uid created 50 times at once: one winner', async () => {
    const app = await server.newApp()
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => create(app, { uid: 'one', name: 'One' })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    for (const { status, body } of answers) {
      if (status !== 200) assert.equal(body.error.code, 'ERR_UID_ALREADY_EXISTS')
    }
    assert.equal((await list(app)).meta.pagination.total, 1)
  })

  const faults: [string, object, string][] = [
    ['a space in the uid', { uid: 'a b', name: 'x' }, 'uid'],
    ['an empty uid', { uid: '', name: 'x' }, 'uid'],
    ['a uid of 101 characters', { uid: 'a'.repeat(101), name: 'x' }, 'uid'],
    ['no name', { uid: 'a' }, 'name'],
    ['a name of 101 characters', { uid: 'a', name: 'x'.repeat(101) }, 'name'],
    ['an avatar that is no URL', { uid: 'a', name: 'x', avatar: 'javascript:alert(1)' }, 'avatar'],
    ['metadata over 5 KB', { uid: 'a', name: 'x', metadata: { m: 'x'.repeat(5_200) } }, 'metadata'],
    [
      '26 tags',
      { uid: 'a', name: 'x', tags: Array.from({ length: 26 }, (_, n) => `t${n}`) },
      'tags',
    ],
    ['a tag twice', { uid: 'a', name: 'x', tags: ['t', 't'] }, 'tags'],
  ]
  for (const [what, body, field] of faults) {
    test(`${what} is refused`, async () => {
      const answer = await create(await server.newApp(), body)
      assert.equal(answer.status, 400)
      assert.deepEqual(Object.keys(answer.body.error.details), [field])
    })
  }

  test('an unknown role and the uid of the system are refused', async () => {
    const app = await server.newApp()
    const role = await create(app, { uid: 'a', name: 'x', role: 'nobody' })
    assert.equal(role.body.error.code, 'ERR_ROLE_NOT_FOUND')
    const system = await create(app, { uid: 'app_system', name: 'x' })
    assert.equal(system.body.error.code, 'ERR_UID_ALREADY_EXISTS')
  })
})

suite('updateUser', () => {
  test('changes what is given, clears what is unset or null, keeps the rest', async () => {
    const app = await server.newApp()
    const [avatar, link] = ['https://a.example/1', 'https://b.example/2']
    await create(app, {
      uid: 'a',
      name: 'A',
      avatar,
      link,
      statusMessage: 'hi',
      metadata: { m: 1 },
    })
    const put = (body: object) => app.call('PUT', '/v3/users/a', { body })

    const { body } = await put({ name: 'B', unset: ['avatar'], metadata: null })
    assert.equal(body.data.name, 'B')
    assert.equal(body.data.link, link)
    assert.equal(body.data.statusMessage, 'hi')
    assert.equal('avatar' in body.data || 'metadata' in body.data, false)
    assert.ok(body.data.updatedAt >= body.data.createdAt)
    assert.equal((await put({ link, unset: ['link'] })).status, 400)
    const before = await app.announced()
    assert.deepEqual((await put({})).body.data, body.data)
    assert.deepEqual(await app.announced(), before)
    assert.equal((await app.call('PUT', '/v3/users/nobody', { body: {} })).status, 404)
  })

  test('while it is removed: one of both wins, nothing hangs', async () => {
    const app = await server.newApp()
    await create(app, { uid: 'a', name: 'A' })
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, n) =>
        app.call('PUT', '/v3/users/a', { body: { name: `N${n}` } }),
      ),
      app.call('DELETE', '/v3/users/a', { body: { permanent: true } }),
    ])
    for (const { status } of answers) assert.ok(status === 200 || status === 404)
    assert.equal((await get(app, 'a')).status, 404)
    assert.equal((await list(app)).meta.pagination.total, 0)
  })
})

suite('deactivation and removal', () => {
  test('a deactivated user is unknown, its tokens are void, and it can come back', async () => {
    const app = await server.newApp()
    const { authToken } = (await create(app, { uid: 'a', name: 'A', withAuthToken: true })).body
      .data
    await create(app, { uid: 'b', name: 'B' })
    const off = await app.call('DELETE', '/v3/users', {
      body: { uidsToDeactivate: ['A', 'ghost'] },
    })
    assert.deepEqual(off.body.data, { deactivatedUids: ['a'] })
    assert.equal((await get(app, 'a')).body.error.code, 'ERR_UID_NOT_FOUND')
    const refused = await get(app, 'b', { apiKey: null, headers: { authtoken: authToken } })
    assert.equal(refused.body.error.code, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    assert.equal((await create(app, { uid: 'a', name: 'A' })).status, 409)
    assert.equal((await get(app, 'b', { headers: { onbehalfof: 'a' } })).status, 404)

    assert.deepEqual(await uids(app), ['b'])
    assert.deepEqual(await uids(app, 'onlyDeactivated=true'), ['a'])
    assert.deepEqual(await uids(app, 'withDeactivated=true'), ['a', 'b'])
    assert.equal((await list(app, 'withDeactivated=true')).meta.pagination.total, 2)

    const on = await app.call('PUT', '/v3/users', { body: { uidsToActivate: ['a', 'b', 'ghost'] } })
    assert.deepEqual(on.body.data, { nonDeactivatedUids: ['a', 'b'] })
    assert.equal((await get(app, 'a')).status, 200)
    const void_ = await get(app, 'b', { apiKey: null, headers: { authtoken: authToken } })
    assert.equal(void_.status, 401)
    const types = (await app.announced()).slice(-2)
    assert.deepEqual(types, ['user.deactivated', 'user.reactivated'])
  })

  test('DELETE without a body deactivates, with permanent the uid is free again', async () => {
    const app = await server.newApp()
    await create(app, { uid: 'a', name: 'A' })
    assert.equal((await app.call('DELETE', '/v3/users/a')).status, 200)
    assert.equal((await app.call('DELETE', '/v3/users/a')).status, 404)
    const gone = await app.call('DELETE', '/v3/users/a', { body: { permanent: true } })
    assert.deepEqual(gone.body.data, { success: true, message: 'User a removed.' })
    assert.equal((await create(app, { uid: 'a', name: 'Another' })).status, 200)
    assert.equal((await list(app, 'withDeactivated=true')).meta.pagination.total, 1)
  })
})

suite('getUser on behalf of another', () => {
  test('shows the conversation, and nothing that is private', async () => {
    const app = await server.newApp()
    await fill(app, { zoe: { metadata: { '@private': { email: 'z@x' }, open: 1 } }, adam: {} })
    const seen = await get(app, 'zoe', { headers: { onbehalfof: 'ADAM' } })
    assert.deepEqual(seen.body.data.metadata, { open: 1 })
    assert.equal(seen.body.data.conversationId, 'adam_user_zoe')
    assert.deepEqual([seen.body.data.blockedByMe, seen.body.data.hasBlockedMe], [false, false])
    const own = await get(app, 'zoe', { headers: { onbehalfof: 'zoe' } })
    assert.deepEqual(own.body.data.metadata, { '@private': { email: 'z@x' }, open: 1 })
    const unknown = await get(app, 'zoe', { headers: { onbehalfof: 'ghost' } })
    assert.equal(unknown.body.error.code, 'ERR_UID_NOT_FOUND')
  })
})

suite('listUsers', () => {
  test('sorts by name in every script, then uid', async () => {
    const app = await server.newApp()
    const names = ['zoe', 'Ädam', 'adam', 'Bea', '日本', '😀', 'Ångström', 'Ωmega', 'éva', 'Eva']
    await fill(app, Object.fromEntries(names.map((name, n) => [`u${n}`, { name }])))
    const sorted = (await list(app)).data.map((user: { name: string }) => user.name)
    assert.deepEqual(sorted, [
      ...['Ädam', 'adam', 'Ångström', 'Bea', 'éva', 'Eva', 'zoe', 'Ωmega', '日本', '😀'],
    ])
    const reversed = (await list(app, 'sortBy=name&sortOrder=desc')).data
    assert.deepEqual(
      reversed.map((user: { name: string }) => user.name),
      sorted.toReversed(),
    )
  })

  test('searches in names and at the beginning of uids; wildcards are letters', async () => {
    const app = await server.newApp()
    await fill(app, {
      u1: { name: 'Jürgen 100%' },
      u2: { name: 'jurgen_x' },
      u3: { name: '山田太郎' },
      u4: { name: 'back\\slash' },
      'jur-9': { name: 'Other' },
    })
    const found = async (key: string, more = '') =>
      (await uids(app, `searchKey=${encodeURIComponent(key)}${more}`)).sort()
    assert.deepEqual(await found('JURG'), ['u1', 'u2'])
    assert.deepEqual(await found('jür'), ['u1', 'u2'])
    assert.deepEqual(await found('jur'), ['jur-9', 'u1', 'u2'])
    assert.deepEqual(await found('jur', '&searchIn=uid'), ['jur-9'])
    assert.deepEqual(await found('jur', '&searchIn=name'), ['u1', 'u2'])
    assert.deepEqual(await found('田太'), ['u3'])
    assert.deepEqual(await found('郎'), ['u3'])
    assert.deepEqual(await found('%'), ['u1'])
    assert.deepEqual(await found('_'), ['u2'])
    assert.deepEqual(await found('\\'), ['u4'])
    assert.deepEqual(await found('q'), [])
  })

  test('filters by role, tags, time, ids and status, alone and together', async () => {
    const app = await server.newApp()
    await app.call('POST', '/v3/roles', { body: { role: 'coach', name: 'Coach' } })
    await fill(app, {
      a: { role: 'coach', tags: ['x', 'y'] },
      b: { tags: ['y'] },
      c: { role: 'coach' },
      d: {},
    })
    assert.deepEqual(await uids(app, 'role=coach'), ['a', 'c'])
    assert.deepEqual(await uids(app, 'roles=coach,default'), ['a', 'b', 'c', 'd'])
    assert.deepEqual(await uids(app, 'tags=x,y'), ['a', 'b'])
    assert.deepEqual(await uids(app, 'tags=y&role=coach'), ['a'])
    assert.deepEqual(await uids(app, 'uids=a,D,ghost'), ['a', 'd'])
    assert.deepEqual(await uids(app, 'status=offline'), ['a', 'b', 'c', 'd'])
    assert.deepEqual(await uids(app, 'status=available'), [])
    const now = Math.floor(Date.now() / 1000)
    assert.deepEqual(await uids(app, `createdAt[from]=${now - 60}&createdAt[to]=${now + 60}`), [
      'a',
      'b',
      'c',
      'd',
    ])
    assert.deepEqual(await uids(app, `createdAt[to]=${now - 60}`), [])
    await app.call('PUT', '/v3/users/d', { body: { name: 'd2' } })
    assert.deepEqual(await uids(app, `updatedAt[from]=${now - 60}`), ['d'])
    const tagged = (await list(app, 'uids=a&withTags=true')).data[0]
    assert.deepEqual(tagged.tags, ['x', 'y'])
    assert.equal('tags' in (await list(app, 'uids=a')).data[0], false)
    assert.deepEqual((await list(app, 'count=true&role=coach')).data, { count: 2 })
    assert.equal((await list(app, 'role=coach')).meta.pagination.total, 2)
  })

  test('pages: in sequence, by jump, by cursor; each user exactly once', async () => {
    const app = await server.newApp()
    await fill(
      app,
      Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`u${n}`, { name: `N${n % 3}` }])),
    )
    const all = await uids(app)
    for (const filter of ['', '&searchKey=n']) {
      const pages = []
      for (const page of [1, 2, 3, 4])
        pages.push(...(await uids(app, `perPage=3&page=${page}${filter}`)))
      assert.deepEqual(pages, all)
      assert.deepEqual(await uids(app, `perPage=2&page=4${filter}`), all.slice(6, 8))
      assert.deepEqual(await uids(app, `perPage=2&page=9${filter}`), [])
      const crawled = []
      let cursor: string | undefined = ''
      while (cursor !== undefined) {
        const more: string = cursor && `&cursor=${cursor}`
        const page = await list(app, `perPage=4${filter}${more}`)
        crawled.push(...page.data.map((user: { uid: string }) => user.uid))
        cursor = page.meta.cursor?.next
      }
      assert.deepEqual(crawled, all)
    }
    const { pagination } = (await list(app, 'perPage=3&page=2')).meta
    assert.deepEqual(pagination, {
      total: 11,
      count: 3,
      per_page: 3,
      current_page: 2,
      total_pages: 4,
    })
  })

  test('a cursor of another app is none', async () => {
    const [one, two] = [await server.newApp(), await server.newApp()]
    await fill(one, { a: {}, b: {} })
    const { cursor } = (await list(one, 'perPage=1')).meta
    for (const wrong of [cursor.next, 'nonsense']) {
      const { status } = await two.call('GET', `/v3/users?cursor=${wrong}`)
      assert.equal(status, 400)
    }
  })
})
