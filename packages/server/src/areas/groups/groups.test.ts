import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Caller, refused, type TestApp, useServer } from '../../../test/kit.ts'
import { toGroup } from '../../core/group-record.ts'
import { storeSettings } from '../settings/actions.ts'
import { findGroup } from './queries.ts'

const server = useServer()

const create = (by: Caller, body: object) => by.call('POST', '/v3/groups', { body })
const get = (by: Caller, guid: string) => by.call('GET', `/v3/groups/${guid}`)
const put = (by: Caller, guid: string, body: object) =>
  by.call('PUT', `/v3/groups/${guid}`, { body })

const groupEvents = async (app: TestApp) =>
  (await app.events()).filter(({ type }) => type.startsWith('group.'))

suite('createGroup', () => {
  test('makes the app the owner but not a member of a group that it creates', async () => {
    const app = await server.newApp()
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

  test('makes a user the owner and first admin of a group that they create, without a message', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const { data } = (await create(amira, { guid: 'g', name: 'G' })).body
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
    assert.deepEqual(event?.payload.by, event?.payload.members.amira)
  })

  test('makes both the creator and another owner admins', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const { data } = (await create(amira, { guid: 'g', name: 'G', owner: 'BEN' })).body
    assert.deepEqual([data.owner, data.scope, data.membersCount], ['ben', 'admin', 2])
    assert.equal((await get(ben, 'g')).body.data.scope, 'admin')
    await refused(create(app, { guid: 'h', name: 'H', owner: 'nobody' }), 'ERR_UID_NOT_FOUND')
    assert.equal((await get(app, 'h')).status, 404)
  })

  test('returns an outcome for each member; the first list with a uid decides', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira', 'ben', 'cleo', 'mallory')
    const members = {
      admins: ['ben'],
      participants: ['cleo', 'ben', 'ghost', 'amira'],
      usersToBan: ['mallory', 'cleo'],
    }
    const { data } = (await create(amira, { guid: 'g', name: 'G', members })).body
    assert.equal(data.membersCount, 3)
    assert.deepEqual(Object.keys(data.members.admins), ['ben'])
    assert.deepEqual(Object.keys(data.members.participants), ['cleo', 'ghost', 'amira'])
    assert.equal(data.members.participants.ghost.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal(data.members.participants.amira.error.code, 'ERR_ALREADY_JOINED')
    assert.deepEqual(data.members.usersToBan, { mallory: { success: true } })
    const message = data.members.admins.ben.data
    assert.equal(message.sender, 'amira')
    assert.deepEqual([message.category, message.type], ['action', 'groupMember'])
    const events = await groupEvents(app)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['group.created', 'group.member.added', 'group.member.added', 'group.member.banned'],
    )
    const [created, added] = events.map(({ payload }) => payload)
    assert.deepEqual(Object.keys(created.members).sort(), ['amira', 'ben', 'cleo'])
    assert.deepEqual(created.members.ben, added.members.ben)
    assert.equal(created.by.uid, 'amira')
  })

  test('requires a password for the type password and never shows it', async () => {
    const app = await server.newApp()
    await app.users('amira')
    for (const password of [undefined, '']) {
      await refused(
        create(app, { guid: 'g', name: 'G', type: 'password', password }),
        'ERR_EMPTY_GROUP_PASS',
      )
    }
    const group = { guid: 'g', name: 'G', type: 'password', password: 'open sesame' }
    const made = await create(app, group)
    assert.equal(made.status, 200)
    const all = JSON.stringify([made.body, (await get(app, 'g')).body, await app.events()])
    assert.doesNotMatch(all, /sesame|argon2/)
    const text = 'select password_hash from groups where app_no = $1'
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.match(String(rows[0]?.password_hash), /^\$argon2id\$/)
  })

  test("counts towards the creator's limit of groups", async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    await storeSettings(server.deps, app, { 'limits.groupsPerUser': 1 })
    await amira.groups.create({ guid: 'a', name: 'a' })
    await refused(amira.groups.create({ guid: 'b', name: 'b' }), 'ERR_PLAN_QUOTA_RESTRICTION')
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
    [
      'a description of 256 characters',
      { guid: 'a', name: 'x', description: 'd'.repeat(256) },
      'description',
    ],
    ["an icon that isn't a URL", { guid: 'a', name: 'x', icon: 'b.png' }, 'icon'],
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
    test(`refuses ${what}`, async () => {
      const { details } = await refused(create(await server.newApp(), body), 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(details ?? {}), [field])
    })
  }
})

suite('updateGroup', () => {
  test('changes the fields that are sent, clears those unset or null, and keeps the rest', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const icon = 'https://img.example/b.png'
    await create(amira, { guid: 'g', name: 'G', icon, description: 'd', metadata: { a: 1 } })
    const { data } = (
      await put(amira, 'g', { name: 'H', unset: ['icon'], metadata: null, tags: ['t'] })
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
    assert.equal((await put(app, 'g', {})).body.data.updatedBy, 'amira')
    assert.deepEqual(await app.eventTypes(), before)
    assert.equal((await put(app, 'g', { name: 'I' })).body.data.updatedBy, 'app_system')
    assert.equal((await groupEvents(app)).at(-1)?.payload.group.updatedBy, 'app_system')
    await refused(put(app, 'nobody', {}), 'ERR_GUID_NOT_FOUND')
  })

  test('keeps a password for as long as the group has the type password', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const { groups } = app.client
    await groups.create({ guid: 'g', name: 'G' })
    const join = (password: string) => amira.groups.join('g', { password })
    await refused(groups.update('g', { type: 'password' }), 'ERR_EMPTY_GROUP_PASS')
    await refused(groups.update('g', { type: 'password', password: '' }), 'ERR_EMPTY_GROUP_PASS')
    await groups.update('g', { type: 'password', password: 'one' })
    await groups.update('g', { type: 'password' })
    await groups.update('g', { password: 'two' })
    await refused(join('one'), 'ERR_WRONG_GROUP_PASS')
    await join('two')
    await groups.update('g', { type: 'public' })
    await refused(groups.update('g', { type: 'password' }), 'ERR_EMPTY_GROUP_PASS')
  })

  test('lets the app change the owner, but not a user', async () => {
    const app = await server.newApp()
    const [amira, ben, cleo] = await app.users('amira', 'ben', 'cleo')
    await create(amira, { guid: 'g', name: 'G', members: { participants: ['cleo'] } })
    assert.equal((await put(amira, 'g', { owner: 'ben' })).body.data.owner, 'amira')
    const { data } = (await put(app, 'g', { owner: 'ben' })).body
    assert.deepEqual([data.owner, data.membersCount], ['ben', 3])
    assert.equal(data.updatedBy, 'app_system')
    assert.equal((await get(ben, 'g')).body.data.scope, 'admin')
    assert.equal((await put(app, 'g', { owner: 'cleo' })).body.data.owner, 'cleo')
    assert.equal((await get(cleo, 'g')).body.data.scope, 'admin')
    assert.equal((await get(amira, 'g')).body.data.scope, 'admin')
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
    await refused(put(app, 'g', { owner: 'nobody' }), 'ERR_UID_NOT_FOUND')
    await app.client.bannedUsers.ban('g', 'ben')
    await refused(put(app, 'g', { owner: 'ben' }), 'ERR_BANNED_GROUPMEMBER')
  })
})

suite('transferGroup', () => {
  test('makes the new owner an admin and keeps the old owner as one', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    await create(amira, { guid: 'g', name: 'G', members: { participants: ['ben'] } })
    const group = await amira.groups.transfer('g', { owner: 'ben' })
    assert.deepEqual([group.owner, group.scope], ['ben', 'admin'])
    assert.equal((await get(ben, 'g')).body.data.scope, 'admin')
    const event = (await groupEvents(app)).at(-1)
    assert.equal(event?.type, 'group.owner.transferred')
    assert.deepEqual([event?.payload.group.owner, event?.payload.oldOwner], ['ben', 'amira'])
    await refused(ben.groups.transfer('g', { owner: 'app_system' }), 'ERR_UID_NOT_FOUND')
  })
})

test('the guid of a removed group stays taken until the whole group is swept', async () => {
  const app = await server.newApp()
  await create(app, { guid: 'g', name: 'G' })
  const text = `insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
    select $1, 'm' || n, 'group', 'g', no, 'participant', now()
    from conversations, generate_series(1, 1500) n where app_no = $1`
  await app.cell.db.query({ name: '', text, values: [app.no] })
  await app.client.groups.delete('g')
  assert.equal((await get(app, 'g')).status, 404)
  // No worker runs here.
  await refused(create(app, { guid: 'g', name: 'G' }), 'ERR_GUID_ALREADY_EXISTS')
})

test('the SQL function and TypeScript build the same group record', async () => {
  const app = await server.newApp()
  const [amira] = await app.users('amira')
  const rich = { icon: 'https://i.example/x', description: 'd', metadata: { a: null, b: [{}] } }
  await create(app, { guid: 'poor', name: 'G' })
  await create(amira, { guid: 'rich', name: 'G', ...rich, tags: ['t'] })
  await put(amira, 'rich', { name: 'Renamed' })
  for (const guid of ['poor', 'rich']) {
    const text = 'select group_record(g) as record from groups g where app_no = $1 and guid = $2'
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no, guid] })
    const row = await findGroup.one(app.cell.db, { appNo: app.no, guid })
    assert.deepEqual(rows[0]?.record, toGroup(row))
  }
})
