import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

const as = (uid: string) => ({ headers: { onbehalfof: uid } })
const codeOf = async (answer: Promise<{ body: { error?: { code: string } } }>) =>
  (await answer).body.error?.code

async function withGroup(uids: string[], group: object = {}): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) {
    const metadata = { '@private': { email: `${uid}@mail.example` }, shown: true }
    await app.call('POST', '/v3/users', { body: { uid, name: uid, metadata } })
  }
  const body = { guid: 'g', name: 'G', ...group }
  assert.equal((await app.call('POST', '/v3/groups', { body })).status, 200)
  return app
}

const add = (app: TestApp, body: object, options = {}) =>
  app.call('POST', '/v3/groups/g/members', { body, ...options })
const list = async (app: TestApp, query = '') =>
  (await app.call('GET', `/v3/groups/g/members?${query}`)).body
const uidsOf = ({ data }: { data: { uid: string }[] }) => data.map(({ uid }) => uid)

interface Row extends Record<string, unknown> {
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: payloads of many shapes
  payload: any
}

async function memberEvents({ cell, no }: TestApp): Promise<Row[]> {
  const text = `select type, payload from outbox
    where app_no = $1 and type like 'group.member.%' order by id`
  return (await cell.db.query<Row>({ name: '', text, values: [no] })).rows
}

suite('addMembers', () => {
  test('each id has its message, in the answer and in its event', async () => {
    const app = await withGroup(['ben', 'cleo'])
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
    assert.deepEqual(system, {
      uid: 'app_system',
      name: 'System',
      role: 'default',
      status: 'offline',
    })
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

  test('what cannot be is told for each id, and changes nothing', async () => {
    const app = await withGroup(['amira', 'ben', 'mallory'], { owner: 'amira' })
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

  test('bans alone are also a moderator’s to set; on oneself nobody’s', async () => {
    const app = await withGroup(['mod', 'ben'])
    await add(app, { moderators: ['mod'], participants: ['ben'] })
    const { data } = (await add(app, { usersToBan: ['ben', 'mod'] }, as('mod'))).body
    assert.deepEqual(data.usersToBan.ben, { success: true })
    assert.equal(data.usersToBan.mod.error.code, 'ERR_GROUP_NO_SELF_ACTION')
  })

  test('no id at all, or 26 of them: 400', async () => {
    const app = await withGroup([])
    assert.equal(await codeOf(add(app, {})), 'ERR_BAD_REQUEST')
    assert.equal(await codeOf(add(app, { admins: [] })), 'ERR_BAD_REQUEST')
    const many = (prefix: string) => Array.from({ length: 13 }, (_, n) => `${prefix}${n}`)
    const answer = add(app, { admins: many('a'), usersToBan: many('b') })
    assert.equal(await codeOf(answer), 'ERR_BAD_REQUEST')
    // One in two lists counts once.
    const twice = await add(app, { admins: many('a'), usersToBan: many('a') })
    assert.deepEqual([twice.status, twice.body.data.usersToBan], [200, {}])
    assert.equal(
      await codeOf(app.call('POST', '/v3/groups/h/members', { body: { admins: ['a'] } })),
      'ERR_GUID_NOT_FOUND',
    )
  })

  test('the ceilings of the group and of each user', async () => {
    const app = await withGroup(['a', 'b', 'c'])
    await storeSettings(server.deps, app, {
      'limits.membersPerGroup': 2,
      'limits.groupsPerUser': 1,
    })
    await app.call('POST', '/v3/groups', { body: { guid: 'h', name: 'H' }, ...as('a') })
    const { participants } = (await add(app, { participants: ['a', 'b', 'c'] })).body.data
    assert.equal(participants.a.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
    assert.deepEqual([participants.b.success, participants.c.success], [true, true])
    const joined = app.call('POST', '/v3/groups/g/join', as('a'))
    assert.equal(await codeOf(joined), 'ERR_NO_VACANCY')
  })

  test('a retry with the same Idempotency-Key adds nobody twice', async () => {
    const app = await withGroup(['ben'])
    const headers = { 'idempotency-key': 'once' }
    const [one, two] = [
      await add(app, { participants: ['ben'] }, { headers }),
      await add(app, { participants: ['ben'] }, { headers }),
    ]
    assert.deepEqual(two.body, one.body)
    assert.equal((await memberEvents(app)).length, 1)
  })
})

suite('joinGroup, leaveGroup', () => {
  test('by and on are the same user, in the message and in the event', async () => {
    const app = await withGroup(['amira'])
    const { data } = (await app.call('POST', '/v3/groups/g/join', as('amira'))).body
    assert.deepEqual([data.scope, data.hasJoined, data.membersCount], ['participant', true, 1])
    const left = await app.call('POST', '/v3/groups/g/leave', as('amira'))
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

  test('a private group is for those who are added, a password opens the others', async () => {
    const app = await withGroup(['amira'], { type: 'private' })
    const join = (guid: string, body?: object) =>
      app.call('POST', `/v3/groups/${guid}/join`, { ...as('amira'), ...(body && { body }) })
    assert.equal(await codeOf(join('g')), 'ERR_GROUP_JOIN_NOT_ALLOWED')
    assert.equal(await codeOf(join('nobody')), 'ERR_GUID_NOT_FOUND')
    const locked = { guid: 'p', name: 'P', type: 'password', password: 'sesame' }
    await app.call('POST', '/v3/groups', { body: locked })
    assert.equal(await codeOf(join('p')), 'ERR_EMPTY_GROUP_PASS')
    assert.equal(await codeOf(join('p', { password: '' })), 'ERR_EMPTY_GROUP_PASS')
    assert.equal(await codeOf(join('p', { password: 'Sesame' })), 'ERR_WRONG_GROUP_PASS')
    assert.equal((await join('p', { password: 'sesame' })).status, 200)
  })

  test('a password can be tried ten times a minute by each user, not by members', async () => {
    const app = await withGroup(['amira', 'ben'], { type: 'password', password: 'sesame' })
    const join = (uid: string, password: string) =>
      app.call('POST', '/v3/groups/g/join', { ...as(uid), body: { password } })
    // All at once: they fall into two minutes at most.
    const tries = (uid: string) =>
      Promise.all(Array.from({ length: 30 }, (_, n) => join(uid, `guess ${n}`)))
    const answers = await tries('amira')
    const refused = answers.filter(({ status }) => status === 429)
    const wrong = answers.filter(({ body }) => body.error.code === 'ERR_WRONG_GROUP_PASS')
    assert.equal(refused.length + wrong.length, 30)
    // Fewer where Redis is so slow that a try is counted twice.
    assert.ok(wrong.length > 0 && wrong.length <= 20, `${wrong.length} tries`)
    assert.equal(refused[0]?.body.error.code, 'ERR_TOO_MANY_REQUESTS')
    assert.ok(Number(refused[0]?.headers.get('retry-after')) > 0)
    assert.equal((await join('ben', 'sesame')).status, 200)
    const codes = (await tries('ben')).map(({ body }) => body.error.code)
    assert.deepEqual(new Set(codes), new Set(['ERR_ALREADY_JOINED']))
  })

  test('a new member has one message to read: the one that tells of it', async () => {
    const app = await withGroup(['amira', 'ben'])
    await add(app, { participants: ['amira'] })
    await app.call('POST', '/v3/groups/g/join', as('ben'))
    const text = `select i.uid, h.counted - i.read_counted - i.own_since as unread
      from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
      where i.app_no = $1 order by uid`
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.deepEqual(rows, [
      { uid: 'amira', unread: 2 },
      { uid: 'ben', unread: 0 },
    ])
  })

  test('without updateOnGroupActions nothing moves, and nothing is unread', async () => {
    const app = await withGroup(['amira'])
    await storeSettings(server.deps, app, { 'core.conversations.updateOnGroupActions': false })
    await add(app, { participants: ['amira'] })
    const text = 'select last_seq, shown_seq, counted from conversations where app_no = $1'
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.deepEqual(rows, [{ last_seq: 1, shown_seq: 0, counted: 0 }])
  })
})

suite('changeScope, kickMember', () => {
  test('the old and the new scope are told', async () => {
    const app = await withGroup(['ben'])
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
    assert.equal(await codeOf(change({ scope: 'participant' })), 'ERR_SAME_SCOPE')
    assert.equal(await codeOf(change({ scope: 'owner' })), 'ERR_BAD_REQUEST')
  })

  test('unknown users, and members that were deactivated', async () => {
    const app = await withGroup(['ben', 'amira'])
    await add(app, { participants: ['ben'] })
    const kick = (uid: string) => app.call('DELETE', `/v3/groups/g/members/${uid}`)
    assert.equal(await codeOf(kick('nobody')), 'ERR_UID_NOT_FOUND')
    assert.equal(await codeOf(kick('amira')), 'ERR_NOT_A_MEMBER')
    await app.call('DELETE', '/v3/users/ben')
    assert.equal((await list(app)).data[0].uid, 'ben')
    assert.equal((await kick('ben')).body.data.message, 'ben was removed from g.')
    assert.equal((await memberEvents(app)).at(-1)?.type, 'group.member.kicked')
    assert.equal((await list(app)).meta.pagination.total, 0)
  })

  test('who has no clearance is told why, and what to do', async () => {
    const app = await withGroup(['own', 'admin', 'other'], { owner: 'own' })
    await add(app, { admins: ['admin', 'other'] })
    const why = async (method: string, path: string, by: string, body?: object) => {
      const answer = await app.call(method, `/v3/groups/g${path}`, {
        ...as(by),
        ...(body && { body }),
      })
      assert.equal(answer.body.error.code, 'ERR_GROUP_NO_CLEARANCE')
      return answer.body.error.devMessage
    }
    assert.match(await why('POST', '/leave', 'own'), /can't leave.*PUT \/groups\/\{guid\}\/owner/)
    assert.match(await why('DELETE', '/members/own', 'admin'), /owns the group/)
    assert.match(await why('PUT', '/members/own', 'admin', { scope: 'admin' }), /owns the group/)
    assert.match(await why('DELETE', '/members/other', 'admin'), /isn't lower/)
    assert.match(await why('PUT', '/owner', 'admin', { owner: 'other' }), /Only the owner/)
  })
})

suite('bans', () => {
  const ban = (app: TestApp, uid: string, options = {}) =>
    app.call('POST', `/v3/groups/g/bannedusers/${uid}`, options)
  const unban = (app: TestApp, uid: string, options = {}) =>
    app.call('DELETE', `/v3/groups/g/bannedusers/${uid}`, options)
  const banned = async (app: TestApp, query = '') =>
    (await app.call('GET', `/v3/groups/g/bannedusers?${query}`)).body

  test('keep what the user was, the last first', async () => {
    const app = await withGroup(['ben', 'cleo', 'gone'])
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
    assert.equal(await codeOf(unban(app, 'ben')), 'ERR_NOT_A_BANNED_USER')
    assert.equal(await codeOf(unban(app, 'nobody')), 'ERR_UID_NOT_FOUND')
    assert.equal(await codeOf(ban(app, 'nobody')), 'ERR_UID_NOT_FOUND')
    await app.call('DELETE', '/v3/users/gone')
    assert.equal(await codeOf(ban(app, 'gone')), 'ERR_UID_NOT_FOUND')
    const { usersToBan } = (await add(app, { usersToBan: ['gone'] })).body.data
    assert.equal(usersToBan.gone.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal((await list(app)).meta.pagination.total, 0)
    assert.equal((await app.call('POST', '/v3/groups/g/join', as('ben'))).status, 200)
    assert.deepEqual(
      (await memberEvents(app)).map(({ type }) => type.slice('group.member.'.length)),
      ['added', 'banned', 'banned', 'unbanned', 'joined'],
    )
  })

  test('are lifted by those who could set them', async () => {
    const app = await withGroup(['mod', 'other', 'admin'])
    await add(app, { admins: ['admin'], moderators: ['mod', 'other'] })
    await ban(app, 'other')
    assert.equal(await codeOf(unban(app, 'other', as('mod'))), 'ERR_GROUP_NO_CLEARANCE')
    assert.equal((await unban(app, 'other', as('admin'))).status, 200)
  })

  test('are read page by page, by number and by cursor', async () => {
    const app = await withGroup(['a', 'b', 'c', 'd', 'e'])
    for (const uid of ['a', 'b', 'c', 'd', 'e']) await ban(app, uid)
    const pages = [1, 2, 3].map(async (page) => uidsOf(await banned(app, `perPage=2&page=${page}`)))
    assert.deepEqual(await Promise.all(pages), [['e', 'd'], ['c', 'b'], ['a']])
    const { cursor } = (await banned(app, 'perPage=2')).meta
    const next = await banned(app, `perPage=2&cursor=${cursor.next}`)
    assert.deepEqual(uidsOf(next), ['c', 'b'])
  })
})

suite('listMembers', () => {
  test('by the time they joined; by scope; page after page, jumps and cursors', async () => {
    const uids = ['e', 'a', 'd', 'b', 'c']
    const app = await withGroup(uids)
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
})
