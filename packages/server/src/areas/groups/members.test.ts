import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { CreateGroupBody } from '@loquat/sdk'
import { type Caller, refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

/** An app with users, and a group g that they may join. */
async function newGroup(uids: string[], group: Partial<CreateGroupBody> = {}): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) {
    const metadata = { '@private': { email: `${uid}@mail.example` }, shown: true }
    await app.client.users.create({ uid, name: uid, metadata })
  }
  await app.client.groups.create({ guid: 'g', name: 'G', ...group })
  return app
}

const add = (by: Caller, body: object, options = {}) =>
  by.call('POST', '/v3/groups/g/members', { body, ...options })
const list = async (app: TestApp, query = '') =>
  (await app.call('GET', `/v3/groups/g/members?${query}`)).body
const uidsOf = ({ data }: { data: { uid: string }[] }) => data.map(({ uid }) => uid)

const memberEvents = async (app: TestApp) =>
  (await app.events()).filter(({ type }) => type.startsWith('group.member.'))

suite('addMembers', () => {
  test('returns a message for each uid, which its event carries too', async () => {
    const app = await newGroup(['ben', 'cleo'])
    const { data } = (await add(app, { admins: ['ben'], participants: ['cleo'] })).body
    const message = data.admins.ben.data
    assert.equal(message.conversationId, 'group_g')
    assert.deepEqual(
      [message.sender, message.receiverType, message.receiver],
      ['app_system', 'group', 'g'],
    )
    const { action, entities } = message.data
    assert.equal(action, 'added')
    assert.deepEqual(
      [entities.by.entityType, entities.on.entityType, entities.for.entityType],
      ['user', 'user', 'group'],
    )
    const { createdAt, ...system } = entities.by.entity
    assert.ok(createdAt > 0)
    assert.deepEqual(system, { uid: 'app_system', name: 'System', role: 'default' })
    assert.deepEqual(entities.on.entity.metadata, { shown: true })
    assert.deepEqual([entities.for.entity.guid, entities.for.entity.membersCount], ['g', 1])

    const events = await memberEvents(app)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['group.member.added', 'group.member.added'],
    )
    const { payload } = events[0] ?? {}
    assert.deepEqual(payload.message, message)
    assert.deepEqual(payload.group, entities.for.entity)
    assert.deepEqual(payload.members, { ben: entities.on.entity })
    assert.deepEqual(payload.by, entities.by.entity)
    assert.ok(Number(message.id) < Number(data.participants.cleo.data.id))
  })

  test("returns an error for each uid that can't be added, and changes nothing for it", async () => {
    const app = await newGroup(['amira', 'ben', 'mallory'], { owner: 'amira' })
    await add(app, { participants: ['ben'], usersToBan: ['mallory'] })
    const { data } = (
      await add(app, {
        admins: ['ben', 'mallory', 'ghost', 'app_system'],
        usersToBan: ['amira', 'mallory'],
      })
    ).body
    const codes = Object.fromEntries(
      Object.entries<{ error: { code: string } }>(data.admins).map(([uid, { error }]) => [
        uid,
        error.code,
      ]),
    )
    assert.deepEqual(codes, {
      ben: 'ERR_ALREADY_JOINED',
      mallory: 'ERR_BANNED_GROUPMEMBER',
      ghost: 'ERR_UID_NOT_FOUND',
      app_system: 'ERR_UID_NOT_FOUND',
    })
    assert.deepEqual(Object.keys(data.usersToBan), ['amira'])
    assert.equal(data.usersToBan.amira.error.code, 'ERR_GROUP_NO_CLEARANCE')
    const twice = (await add(app, { usersToBan: ['mallory'] })).body.data
    assert.equal(twice.usersToBan.mallory.error.code, 'ERR_ALREADY_BANNED')
    assert.equal((await list(app)).meta.pagination.total, 2)
  })

  test('lets moderators ban users, but nobody ban themselves', async () => {
    const app = await newGroup(['mod', 'ben'])
    await add(app, { moderators: ['mod'], participants: ['ben'] })
    const { data } = (await add(app.as('mod'), { usersToBan: ['ben', 'mod'] })).body
    assert.deepEqual(data.usersToBan.ben, { success: true })
    assert.equal(data.usersToBan.mod.error.code, 'ERR_GROUP_NO_SELF_ACTION')
  })

  test('refuses no uid, and more than 25', async () => {
    const app = await newGroup([])
    await refused(add(app, {}), 'ERR_BAD_REQUEST')
    await refused(add(app, { admins: [] }), 'ERR_BAD_REQUEST')
    const many = (prefix: string) => Array.from({ length: 13 }, (_, n) => `${prefix}${n}`)
    const answer = add(app, { admins: many('a'), usersToBan: many('b') })
    await refused(answer, 'ERR_BAD_REQUEST')
    // A uid in two lists counts once.
    const twice = await add(app, { admins: many('a'), usersToBan: many('a') })
    assert.deepEqual([twice.status, twice.body.data.usersToBan], [200, {}])
    await refused(app.client.groupMembers.add('h', { admins: ['a'] }), 'ERR_GUID_NOT_FOUND')
  })

  test("keeps to the group's limit of members and each user's limit of groups", async () => {
    const app = await newGroup(['a', 'b', 'c'])
    await storeSettings(server.deps, app, {
      'limits.membersPerGroup': 2,
      'limits.groupsPerUser': 1,
    })
    await app.as('a').groups.create({ guid: 'h', name: 'H' })
    const { participants } = (await add(app, { participants: ['a', 'b', 'c'] })).body.data
    assert.equal(participants.a.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
    assert.deepEqual([participants.b.success, participants.c.success], [true, true])
    const joined = app.as('a').call('POST', '/v3/groups/g/join')
    await refused(joined, 'ERR_NO_VACANCY')
  })

  test('adds users once when it is retried with the same Idempotency-Key', async () => {
    const app = await newGroup(['ben'])
    const headers = { 'idempotency-key': 'once' }
    const [one, two] = [
      await add(app, { participants: ['ben'] }, { headers }),
      await add(app, { participants: ['ben'] }, { headers }),
    ]
    assert.deepEqual(two.body, one.body)
    assert.equal((await memberEvents(app)).length, 1)
  })
})

suite('leaveGroup', () => {
  test('names the same user as `by` and `on` in message and event, as joinGroup does', async () => {
    const app = await newGroup(['amira'])
    const { data } = (await app.as('amira').call('POST', '/v3/groups/g/join')).body
    assert.deepEqual([data.scope, data.hasJoined, data.membersCount], ['participant', true, 1])
    const left = await app.as('amira').call('POST', '/v3/groups/g/leave')
    assert.equal(left.body.data.success, true)
    const events = await memberEvents(app)
    assert.deepEqual(
      events.map(({ type, payload }) => [
        type,
        payload.message.data.action,
        payload.group.membersCount,
      ]),
      [
        ['group.member.joined', 'joined', 1],
        ['group.member.left', 'left', 0],
      ],
    )
    for (const { payload } of events) {
      const { by, on } = payload.message.data.entities
      assert.equal(payload.message.sender, 'amira')
      assert.deepEqual(by, on)
      assert.equal('by' in payload, false)
    }
  })
})

suite('joinGroup', () => {
  test('refuses private groups, and password groups without the right password', async () => {
    const app = await newGroup(['amira'], { type: 'private' })
    const join = (guid: string, body?: object) =>
      app.as('amira').call('POST', `/v3/groups/${guid}/join`, { ...(body && { body }) })
    await refused(join('g'), 'ERR_GROUP_JOIN_NOT_ALLOWED')
    await refused(join('nobody'), 'ERR_GUID_NOT_FOUND')
    const locked = { guid: 'p', name: 'P', type: 'password', password: 'sesame' } as const
    await app.client.groups.create(locked)
    await refused(join('p'), 'ERR_EMPTY_GROUP_PASS')
    await refused(join('p', { password: '' }), 'ERR_EMPTY_GROUP_PASS')
    await refused(join('p', { password: 'Sesame' }), 'ERR_WRONG_GROUP_PASS')
    assert.equal((await join('p', { password: 'sesame' })).status, 200)
  })

  test('lets each user try ten passwords a minute, unless they are a member', async () => {
    const app = await newGroup(['amira', 'ben'], { type: 'password', password: 'sesame' })
    const join = (uid: string, password: string) =>
      app.as(uid).call('POST', '/v3/groups/g/join', { body: { password } })
    // Sent at once, the tries fall into two minutes at most.
    const tries = (uid: string) =>
      Promise.all(Array.from({ length: 30 }, (_, n) => join(uid, `guess ${n}`)))
    const answers = await tries('amira')
    const limited = answers.filter(({ status }) => status === 429)
    const wrong = answers.filter(({ body }) => body.error.code === 'ERR_WRONG_GROUP_PASS')
    assert.equal(limited.length + wrong.length, 30)
    // There are fewer if Redis is so slow that a try counts twice.
    assert.ok(wrong.length > 0 && wrong.length <= 20, `${wrong.length} tries`)
    assert.equal(limited[0]?.body.error.code, 'ERR_TOO_MANY_REQUESTS')
    assert.ok(Number(limited[0]?.headers.get('retry-after')) > 0)
    assert.equal((await join('ben', 'sesame')).status, 200)
    const codes = (await tries('ben')).map(({ body }) => body.error.code)
    assert.deepEqual(new Set(codes), new Set(['ERR_ALREADY_JOINED']))
  })

  test('leaves new members one unread message at most: the one about them', async () => {
    const app = await newGroup(['amira', 'ben'])
    await add(app, { participants: ['amira'] })
    await app.as('ben').groups.join('g')
    const text = `select i.uid, h.counted - i.read_counted - i.own_since as unread
      from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
      where i.app_no = $1 order by uid`
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.deepEqual(rows, [
      { uid: 'amira', unread: 2 },
      { uid: 'ben', unread: 0 },
    ])
  })

  test("doesn't touch the conversation if updateOnGroupActions is off", async () => {
    const app = await newGroup(['amira'])
    await storeSettings(server.deps, app, { 'core.conversations.updateOnGroupActions': false })
    await add(app, { participants: ['amira'] })
    const text = 'select stored, shown_id, counted from conversations where app_no = $1'
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.deepEqual(rows, [{ stored: 1, shown_id: 0, counted: 0 }])
  })
})

suite('changeMemberScope', () => {
  test('reports the old and the new scope in message and event', async () => {
    const app = await newGroup(['ben'])
    await add(app, { participants: ['ben'] })
    const change = (body: object) => app.call('PUT', '/v3/groups/g/members/ben', { body })
    const { data } = (await change({ scope: 'moderator' })).body
    const { joinedAt, ...rest } = data
    assert.ok(joinedAt > 0)
    assert.deepEqual(rest, { guid: 'g', uid: 'ben', scope: 'moderator' })
    const { type, payload } = (await memberEvents(app)).at(-1) ?? {}
    assert.equal(type, 'group.member.scope.changed')
    assert.deepEqual(payload.message.data.extras, {
      scope: { old: 'participant', new: 'moderator' },
    })
    const { scope, oldScope } = payload.members.ben
    assert.deepEqual([scope, oldScope], ['moderator', 'participant'])
    assert.equal((await change({})).body.data.scope, 'participant')
    await refused(change({ scope: 'participant' }), 'ERR_SAME_SCOPE')
    await refused(change({ scope: 'owner' }), 'ERR_BAD_REQUEST')
  })
})

suite('kickMember', () => {
  test('refuses users who are unknown or outside, and removes deactivated members', async () => {
    const app = await newGroup(['ben', 'amira'])
    await add(app, { participants: ['ben'] })
    const kick = (uid: string) => app.call('DELETE', `/v3/groups/g/members/${uid}`)
    await refused(kick('nobody'), 'ERR_UID_NOT_FOUND')
    await refused(kick('amira'), 'ERR_NOT_A_MEMBER')
    await app.client.users.delete('ben')
    assert.equal((await list(app)).data[0].uid, 'ben')
    assert.equal((await kick('ben')).body.data.message, 'ben was removed from g.')
    assert.equal((await memberEvents(app)).at(-1)?.type, 'group.member.kicked')
    assert.equal((await list(app)).meta.pagination.total, 0)
  })

  test('tells a user without clearance the reason and what to do', async () => {
    const app = await newGroup(['own', 'admin', 'other'], { owner: 'own' })
    await add(app, { admins: ['admin', 'other'] })
    const why = async (method: string, path: string, by: string, body?: object) => {
      const request = app.as(by).call(method, `/v3/groups/g${path}`, { ...(body && { body }) })
      return (await refused(request, 'ERR_GROUP_NO_CLEARANCE')).devMessage ?? ''
    }
    assert.match(await why('POST', '/leave', 'own'), /can't leave.*PUT \/groups\/\{guid\}\/owner/)
    assert.match(await why('DELETE', '/members/own', 'admin'), /owns the group/)
    assert.match(await why('PUT', '/members/own', 'admin', { scope: 'admin' }), /owns the group/)
    assert.match(await why('DELETE', '/members/other', 'admin'), /isn't lower/)
    assert.match(await why('PUT', '/owner', 'admin', { owner: 'other' }), /Only the owner/)
  })
})

const ban = (by: Caller, uid: string) => by.call('POST', `/v3/groups/g/bannedusers/${uid}`)
const unban = (by: Caller, uid: string) => by.call('DELETE', `/v3/groups/g/bannedusers/${uid}`)
const banned = async (app: TestApp, query = '') =>
  (await app.call('GET', `/v3/groups/g/bannedusers?${query}`)).body

suite('banUser', () => {
  test("keeps the user's scope and lists the latest ban first", async () => {
    const app = await newGroup(['ben', 'cleo', 'gone'])
    await add(app, { moderators: ['ben'] })
    assert.equal((await ban(app, 'ben')).body.data.message, 'ben is banned from g.')
    await ban(app, 'cleo')
    const { data, meta } = await banned(app)
    assert.equal(meta.pagination.total, 2)
    assert.deepEqual(uidsOf({ data }), ['cleo', 'ben'])
    assert.deepEqual([data[1].scope, data[1].isBanned], ['moderator', true])
    assert.ok(data[1].bannedAt >= data[1].joinedAt)
    assert.equal('scope' in data[0] || 'joinedAt' in data[0], false)
    assert.deepEqual(data[1].metadata, { shown: true })
    assert.deepEqual(uidsOf(await banned(app, 'searchKey=BE')), ['ben'])
    assert.deepEqual(uidsOf(await banned(app, 'searchKey=%CC%81')), [])
    assert.equal((await list(app)).meta.pagination.total, 0)

    assert.equal((await unban(app, 'ben')).body.data.message, 'ben is no longer banned from g.')
    await refused(unban(app, 'ben'), 'ERR_NOT_A_BANNED_USER')
    await refused(unban(app, 'nobody'), 'ERR_UID_NOT_FOUND')
    await refused(ban(app, 'nobody'), 'ERR_UID_NOT_FOUND')
    await app.client.users.delete('gone')
    await refused(ban(app, 'gone'), 'ERR_UID_NOT_FOUND')
    const { usersToBan } = (await add(app, { usersToBan: ['gone'] })).body.data
    assert.equal(usersToBan.gone.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal((await list(app)).meta.pagination.total, 0)
    await app.as('ben').groups.join('g')
    assert.deepEqual(
      (await memberEvents(app)).map(({ type }) => type.slice('group.member.'.length)),
      ['added', 'banned', 'banned', 'unbanned', 'joined'],
    )
  })
})

suite('unbanUser', () => {
  test('needs the clearance to ban the user', async () => {
    const app = await newGroup(['mod', 'other', 'admin'])
    await add(app, { admins: ['admin'], moderators: ['mod', 'other'] })
    await ban(app, 'other')
    await refused(unban(app.as('mod'), 'other'), 'ERR_GROUP_NO_CLEARANCE')
    assert.equal((await unban(app.as('admin'), 'other')).status, 200)
  })
})

suite('listBannedUsers', () => {
  test('pages by number and by cursor', async () => {
    const app = await newGroup(['a', 'b', 'c', 'd', 'e'])
    for (const uid of ['a', 'b', 'c', 'd', 'e']) await ban(app, uid)
    const pages = [1, 2, 3].map(async (page) => uidsOf(await banned(app, `perPage=2&page=${page}`)))
    assert.deepEqual(await Promise.all(pages), [['e', 'd'], ['c', 'b'], ['a']])
    const { cursor } = (await banned(app, 'perPage=2')).meta
    const next = await banned(app, `perPage=2&cursor=${cursor.next}`)
    assert.deepEqual(uidsOf(next), ['c', 'b'])
  })
})

suite('listMembers', () => {
  test('neither lists nor counts removed users, even before they are swept', async () => {
    const app = await newGroup(['a', 'b', 'c'])
    await add(app, { participants: ['a', 'b', 'c'] })
    await rows(app.cell.db, `update users set removed_at = now() where app_no = $1 and uid = 'b'`, [
      app.no,
    ])
    const { data, meta } = await list(app)
    assert.deepEqual([uidsOf({ data }), meta.pagination.total], [['a', 'c'], 2])
  })

  test('sorts by the time of joining, filters by scope, and pages by number and by cursor', async () => {
    const uids = ['e', 'a', 'd', 'b', 'c']
    const app = await newGroup(uids)
    for (const [n, uid] of uids.entries())
      await add(app, { [n % 2 ? 'admins' : 'participants']: [uid] })
    const { data, meta } = await list(app)
    assert.deepEqual(uidsOf({ data }), uids)
    assert.equal(meta.pagination.total, 5)
    assert.deepEqual([data[0].scope, data[1].scope], ['participant', 'admin'])
    assert.deepEqual(data[0].metadata, { shown: true })
    assert.deepEqual(uidsOf(await list(app, 'scopes=admin,moderator')), ['a', 'b'])
    assert.equal((await list(app, 'scopes=admin')).meta.pagination.total, 2)
    assert.deepEqual(uidsOf(await list(app, 'status=available')), [])
    assert.deepEqual(uidsOf(await list(app, 'status=offline&perPage=2&page=3')), ['c'])
    assert.deepEqual(uidsOf(await list(app, 'perPage=2&page=4')), [])

    const first = await list(app, 'perPage=2')
    const second = await list(app, `perPage=2&cursor=${first.meta.cursor.next}`)
    assert.deepEqual(uidsOf(second), ['d', 'b'])
    assert.deepEqual(uidsOf(await list(app, 'perPage=2&page=2')), ['d', 'b'])
    assert.equal((await app.call('GET', '/v3/groups/g/members?cursor=x')).status, 400)
    assert.equal((await app.call('GET', '/v3/groups/h/members')).status, 404)
  })

  test('names the conversation of each member with the app or the acting user', async () => {
    const app = await newGroup(['amira', 'ben', 'cleo'], {
      members: { participants: ['amira', 'ben'] },
    })
    const ids = async (by: Caller) =>
      (await by.call('GET', '/v3/groups/g/members')).body.data.map(
        ({ conversationId }: { conversationId?: string }) => conversationId,
      )
    assert.deepEqual(await ids(app), ['amira_user_app_system', 'app_system_user_ben'])
    const sent = await app.sendText('ben')
    assert.equal(sent.conversationId, 'app_system_user_ben')
    assert.deepEqual(await ids(app.as('ben')), ['amira_user_ben', undefined])
    await app.client.blockedUsers.block('ben', { blockedUids: ['amira'] })
    const { data } = await app.as('ben').groupMembers.list('g')
    assert.equal(data[0]?.blockedByMe, true)
    await refused(app.as('cleo').groupMembers.list('g'), 'ERR_GROUP_NOT_JOINED')
  })
})
