import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { toGroup } from '../../core/group-record.ts'
import { storeSettings } from '../settings/actions.ts'
import { findGroup } from './queries.ts'

const server = useServer()

const as = (uid: string) => ({ headers: { onbehalfof: uid } })
const create = (app: TestApp, body: object, by?: string) =>
  app.call('POST', '/v3/groups', { body, ...(by && as(by)) })
const get = (app: TestApp, guid: string, by?: string) =>
  app.call('GET', `/v3/groups/${guid}`, by ? as(by) : {})
const put = (app: TestApp, guid: string, body: object, by?: string) =>
  app.call('PUT', `/v3/groups/${guid}`, { body, ...(by && as(by)) })

async function withUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  return app
}

interface Event {
  type: string
  key: string
  // biome-ignore lint/suspicious/noExplicitAny: payloads of many shapes
  payload: any
}

async function eventsOf({ cell, no }: TestApp): Promise<Event[]> {
  const text = 'select type, key, payload from outbox where app_no = $1 order by id'
  return (await cell.db.query<Event & Record<string, unknown>>({ name: '', text, values: [no] }))
    .rows
}

const groupEvents = async (app: TestApp) =>
  (await eventsOf(app)).filter(({ type }) => type.startsWith('group.'))

suite('createGroup', () => {
  test('by the app: it owns the group and is no member', async () => {
    const app = await withUsers()
    const { status, body } = await create(app, {
      guid: 'Book-Club',
      name: ' Book club ',
      icon: 'https://img.example/b.png',
      description: 'monthly reads',
      metadata: { city: 'Graz' },
      tags: ['reading'],
    })
    assert.equal(status, 200)
    const { createdAt, ...rest } = body.data
    assert.ok(Math.abs(createdAt - Date.now() / 1000) < 60)
    assert.deepEqual(rest, {
      guid: 'book-club',
      name: 'Book club',
      type: 'public',
      icon: 'https://img.example/b.png',
      description: 'monthly reads',
      metadata: { city: 'Graz' },
      tags: ['reading'],
      owner: 'app_system',
      membersCount: 0,
      conversationId: 'group_book-club',
    })
    assert.deepEqual((await get(app, 'BOOK-club')).body.data, body.data)
  })

  test('by a user: the creator owns it and is its first admin; no message tells so', async () => {
    const app = await withUsers('amira')
    const { data } = (await create(app, { guid: 'g', name: 'G' }, 'amira')).body
    assert.equal(data.owner, 'amira')
    assert.equal(data.membersCount, 1)
    assert.deepEqual([data.scope, data.hasJoined], ['admin', true])
    assert.ok(data.joinedAt >= data.createdAt)
    const [event, ...more] = await groupEvents(app)
    assert.deepEqual(more, [])
    assert.equal(event?.type, 'group.created')
    assert.match(event?.key ?? '', /^conversation:\d+$/)
    assert.deepEqual(event?.payload.group, data)
    assert.deepEqual(Object.keys(event?.payload.members), ['amira'])
  })

  test('for another owner: both are admins', async () => {
    const app = await withUsers('amira', 'ben')
    const { data } = (await create(app, { guid: 'g', name: 'G', owner: 'BEN' }, 'amira')).body
    assert.deepEqual([data.owner, data.scope, data.membersCount], ['ben', 'admin', 2])
    assert.equal((await get(app, 'g', 'ben')).body.data.scope, 'admin')
    const unknown = await create(app, { guid: 'h', name: 'H', owner: 'nobody' })
    assert.equal(unknown.body.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal((await get(app, 'h')).status, 404)
  })

  test('with members: each is told for itself, the first list counts', async () => {
    const app = await withUsers('amira', 'ben', 'cleo', 'mallory')
    const members = {
      admins: ['ben'],
      participants: ['cleo', 'ben', 'ghost', 'amira'],
      usersToBan: ['mallory', 'cleo'],
    }
    const { data } = (await create(app, { guid: 'g', name: 'G', members }, 'amira')).body
    assert.equal(data.membersCount, 3)
    assert.deepEqual(Object.keys(data.members.admins), ['ben'])
    assert.deepEqual(Object.keys(data.members.participants), ['cleo', 'ghost', 'amira'])
    assert.equal(data.members.participants.ghost.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal(data.members.participants.amira.error.code, 'ERR_ALREADY_JOINED')
    assert.deepEqual(data.members.usersToBan, { mallory: { success: true } })
    const message = data.members.admins.ben.data
    assert.equal(message.sender, 'amira')
    assert.deepEqual([message.category, message.type], ['action', 'groupMember'])
    assert.deepEqual(
      (await groupEvents(app)).map(({ type }) => type),
      ['group.created', 'group.member.added', 'group.member.added', 'group.member.banned'],
    )
  })

  test('a group of the type password needs one, and never shows it', async () => {
    const app = await withUsers('amira')
    for (const password of [undefined, '']) {
      const { body } = await create(app, { guid: 'g', name: 'G', type: 'password', password })
      assert.equal(body.error.code, 'ERR_EMPTY_GROUP_PASS')
    }
    const group = { guid: 'g', name: 'G', type: 'password', password: 'open sesame' }
    const made = await create(app, group)
    assert.equal(made.status, 200)
    const all = JSON.stringify([made.body, (await get(app, 'g')).body, await eventsOf(app)])
    assert.doesNotMatch(all, /sesame|argon2/)
    const text = 'select password_hash from groups where app_no = $1'
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.match(String(rows[0]?.password_hash), /^\$argon2id\$/)
  })

  test('the creator counts against the ceiling of groups per user', async () => {
    const app = await withUsers('amira')
    await storeSettings(server.deps, app, { 'limits.groupsPerUser': 1 })
    const groups = ['a', 'b'].map((guid) => () => create(app, { guid, name: guid }, 'amira'))
    assert.equal((await groups[0]?.())?.status, 200)
    assert.equal((await groups[1]?.())?.body.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
    assert.equal((await get(app, 'b')).status, 404)
  })

  const faults: [string, object, string][] = [
    ['a guid with a space', { guid: 'a b', name: 'x' }, 'guid'],
    ['no name', { guid: 'a' }, 'name'],
    ['an unknown type', { guid: 'a', name: 'x', type: 'protected' }, 'type'],
    [
      'a password of 101 characters',
      { guid: 'a', name: 'x', password: 'p'.repeat(101) },
      'password',
    ],
    ['a description of 256', { guid: 'a', name: 'x', description: 'd'.repeat(256) }, 'description'],
    ['an icon that is no URL', { guid: 'a', name: 'x', icon: 'b.png' }, 'icon'],
    [
      '26 members in two lists',
      {
        guid: 'a',
        name: 'x',
        members: {
          admins: Array.from({ length: 13 }, (_, n) => `a${n}`),
          participants: Array.from({ length: 13 }, (_, n) => `p${n}`),
        },
      },
      'body',
    ],
  ]
  for (const [what, body, field] of faults) {
    test(`${what} is refused`, async () => {
      const answer = await create(await server.newApp(), body)
      assert.equal(answer.status, 400)
      assert.deepEqual(Object.keys(answer.body.error.details), [field])
    })
  }
})

suite('updateGroup', () => {
  test('changes what is given, clears what is unset or null, keeps the rest', async () => {
    const app = await withUsers('amira')
    const icon = 'https://img.example/b.png'
    await create(app, { guid: 'g', name: 'G', icon, description: 'd', metadata: { a: 1 } }, 'amira')
    const { data } = (
      await put(app, 'g', { name: 'H', unset: ['icon'], metadata: null, tags: ['t'] }, 'amira')
    ).body
    assert.deepEqual([data.name, data.description, data.tags], ['H', 'd', ['t']])
    assert.equal('icon' in data || 'metadata' in data, false)
    assert.deepEqual([data.updatedBy, data.scope], ['amira', 'admin'])
    assert.ok(data.updatedAt >= data.createdAt)
    assert.equal((await put(app, 'g', { icon, unset: ['icon'] })).status, 400)

    const event = (await groupEvents(app)).at(-1)
    assert.equal(event?.type, 'group.updated')
    const { scope, joinedAt, hasJoined, ...group } = data
    assert.deepEqual(event?.payload, { group })
    const before = await app.eventTypes()
    assert.equal((await put(app, 'g', {})).status, 200)
    assert.deepEqual(await app.eventTypes(), before)
    assert.equal((await put(app, 'nobody', {})).body.error.code, 'ERR_GUID_NOT_FOUND')
  })

  test('a password comes with the type, and goes with it', async () => {
    const app = await withUsers('amira')
    await create(app, { guid: 'g', name: 'G' })
    const join = (password: string) =>
      app.call('POST', '/v3/groups/g/join', { ...as('amira'), body: { password } })
    const codeOf = async (body: object) => (await put(app, 'g', body)).body.error?.code
    assert.equal(await codeOf({ type: 'password' }), 'ERR_EMPTY_GROUP_PASS')
    assert.equal(await codeOf({ type: 'password', password: '' }), 'ERR_EMPTY_GROUP_PASS')
    assert.equal(await codeOf({ type: 'password', password: 'one' }), undefined)
    assert.equal(await codeOf({ type: 'password' }), undefined)
    assert.equal(await codeOf({ password: 'two' }), undefined)
    assert.equal((await join('one')).body.error.code, 'ERR_WRONG_GROUP_PASS')
    assert.equal((await join('two')).status, 200)
    assert.equal(await codeOf({ type: 'public' }), undefined)
    assert.equal(await codeOf({ type: 'password' }), 'ERR_EMPTY_GROUP_PASS')
  })

  test('the app gives it to another owner, a user does not do so by the way', async () => {
    const app = await withUsers('amira', 'ben', 'cleo')
    await create(app, { guid: 'g', name: 'G', members: { participants: ['cleo'] } }, 'amira')
    assert.equal((await put(app, 'g', { owner: 'ben' }, 'amira')).body.data.owner, 'amira')
    const { data } = (await put(app, 'g', { owner: 'ben' })).body
    assert.deepEqual([data.owner, data.membersCount], ['ben', 3])
    assert.equal((await get(app, 'g', 'ben')).body.data.scope, 'admin')
    assert.equal((await put(app, 'g', { owner: 'cleo' })).body.data.owner, 'cleo')
    assert.equal((await get(app, 'g', 'cleo')).body.data.scope, 'admin')
    assert.equal((await get(app, 'g', 'amira')).body.data.scope, 'admin')
    assert.equal((await put(app, 'g', { owner: 'app_system' })).body.data.owner, 'app_system')

    const events = (await groupEvents(app)).slice(2)
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        ...['group.member.added', 'group.owner.transferred'],
        ...['group.member.scope.changed', 'group.owner.transferred', 'group.owner.transferred'],
      ],
    )
    assert.deepEqual(
      events.flatMap(({ payload }) => payload.oldOwner ?? []),
      ['amira', 'ben', 'cleo'],
    )
    assert.equal((await put(app, 'g', { owner: 'nobody' })).body.error.code, 'ERR_UID_NOT_FOUND')
    await app.call('POST', '/v3/groups/g/bannedusers/ben')
    const banned = await put(app, 'g', { owner: 'ben' })
    assert.equal(banned.body.error.code, 'ERR_BANNED_GROUPMEMBER')
  })
})

suite('transferGroup', () => {
  test('the new owner is an admin, the old one stays one', async () => {
    const app = await withUsers('amira', 'ben')
    await create(app, { guid: 'g', name: 'G', members: { participants: ['ben'] } }, 'amira')
    const body = { owner: 'ben' }
    const answer = await app.call('PUT', '/v3/groups/g/owner', { body, ...as('amira') })
    assert.deepEqual([answer.body.data.owner, answer.body.data.scope], ['ben', 'admin'])
    assert.equal((await get(app, 'g', 'ben')).body.data.scope, 'admin')
    const event = (await groupEvents(app)).at(-1)
    assert.equal(event?.type, 'group.owner.transferred')
    assert.deepEqual([event?.payload.group.owner, event?.payload.oldOwner], ['ben', 'amira'])
    const system = { body: { owner: 'app_system' }, ...as('ben') }
    const refused = await app.call('PUT', '/v3/groups/g/owner', system)
    assert.equal(refused.body.error.code, 'ERR_UID_NOT_FOUND')
  })
})

test('the guid of a removed group stays taken until all of it is swept', async () => {
  const app = await withUsers()
  await create(app, { guid: 'g', name: 'G' })
  const text = `insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
    select $1, 'm' || n, 'group', 'g', no, 'participant', now()
    from conversations, generate_series(1, 1500) n where app_no = $1`
  await app.cell.db.query({ name: '', text, values: [app.no] })
  assert.equal((await app.call('DELETE', '/v3/groups/g')).status, 200)
  assert.equal((await get(app, 'g')).status, 404)
  // No worker runs here.
  const { body } = await create(app, { guid: 'g', name: 'G' })
  assert.equal(body.error.code, 'ERR_GUID_ALREADY_EXISTS')
})

test('the record is the same wherever it is made', async () => {
  const app = await withUsers('amira')
  const rich = { icon: 'https://i.example/x', description: 'd', metadata: { a: null, b: [{}] } }
  await create(app, { guid: 'poor', name: 'G' })
  await create(app, { guid: 'rich', name: 'G', ...rich, tags: ['t'] }, 'amira')
  await put(app, 'rich', { name: 'Renamed' }, 'amira')
  for (const guid of ['poor', 'rich']) {
    const text = 'select group_record(g) as record from groups g where app_no = $1 and guid = $2'
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no, guid] })
    const row = await findGroup.one(app.cell.db, { appNo: app.no, guid })
    assert.deepEqual(rows[0]?.record, toGroup(row))
  }
})
