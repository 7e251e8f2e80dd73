import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()
const AT = 1_650_000_000

/** Sends items to an operation and returns their outcomes. */
async function bring(app: TestApp, what: string, items: unknown, status = 200) {
  const answer = await app.call('POST', `/v3/data_import/${what}`, { body: { [what]: items } })
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  return answer.body.data ?? answer.body.error
}

const eventsOf = (app: TestApp) =>
  rows(app.cell.db, 'select type from event_bodies where app_no = $1 order by id', [app.no])

const message = (muid: string, more: object = {}) => ({
  ...{ muid, sender: 'a', receiver: 'b', receiverType: 'user', data: { text: muid }, sentAt: AT },
  ...more,
})

async function newApp() {
  const app = await server.newApp()
  await bring(app, 'users', {
    a: { uid: 'a', name: 'Amira', createdAt: AT },
    b: { uid: 'b', name: 'Ben', createdAt: AT },
  })
  return app
}

suite('importUsers', () => {
  test('creates users with their own times, each on its own', async () => {
    const app = await server.newApp()
    const before = await eventsOf(app)
    const users = {
      a: { uid: 'a', name: 'Amira', createdAt: String(AT), lastActiveAt: AT + 5, tags: ['x'] },
      b: { uid: 'b', name: 'Ben', deactivatedAt: AT + 9 },
      c: { uid: 'c' },
      d: { uid: 'e', name: 'Other key' },
      f: { uid: 'f', name: 'Future', createdAt: Math.floor(Date.now() / 1000) + 100 },
      g: { uid: 'g', name: 'Short', createdAt: 99_999 },
      h: { uid: 'h', name: 'Role', role: 'pilot' },
    }
    const data = await bring(app, 'users', users)
    assert.deepEqual(data.a, {
      success: true,
      data: {
        ...{ uid: 'a', name: 'Amira', status: 'offline', role: 'default', tags: ['x'] },
        ...{ createdAt: AT, lastActiveAt: AT + 5 },
      },
    })
    assert.equal(data.b.data.deactivatedAt, AT + 9)
    assert.deepEqual(data.c, {
      success: false,
      error: { code: 'ERR_BAD_REQUEST', message: 'name is required' },
    })
    for (const key of ['d', 'f', 'g']) assert.equal(data[key].error.code, 'ERR_BAD_REQUEST')
    assert.equal(data.h.error.code, 'ERR_ROLE_NOT_FOUND')
    const again = await bring(app, 'users', { a: users.a })
    assert.equal(again.a.error.code, 'ERR_UID_ALREADY_EXISTS')
    assert.deepEqual(await verify(app.cell, app.no), [])
    assert.deepEqual(await eventsOf(app), before)
  })

  test('refuses other shapes and more than 50 items, and limits the rate', async () => {
    const app = await server.newApp()
    for (const [kind, code] of [
      ['users', 'ERR_IMPORT_INVALID_USER_FORMAT'],
      ['groups', 'ERR_IMPORT_INVALID_GROUP_FORMAT'],
      ['members', 'ERR_IMPORT_INVALID_MEMBER_FORMAT'],
      ['messages', 'ERR_IMPORT_INVALID_MESSAGE_FORMAT'],
    ] as const) {
      assert.equal((await bring(app, kind, 'a', 400)).code, code)
    }
    const many = Object.fromEntries(
      Array.from({ length: 51 }, (_, n) => [`u${n}`, { uid: `u${n}`, name: 'U' }]),
    )
    assert.equal((await bring(app, 'users', many, 400)).code, 'ERR_BAD_REQUEST')
    const listed = await bring(app, 'users', [{ uid: 'l', name: 'Listed' }])
    assert.equal(listed.l.success, true)
    const { total } = (await app.call('GET', '/v3/users')).body.meta.pagination
    assert.equal(total, 1)
    // A new minute may begin meanwhile.
    for (let nth = 0; nth < 120; nth++) {
      const { status, headers } = await app.call('POST', '/v3/data_import/users', { body: {} })
      if (status !== 429) continue
      assert.ok(headers.get('retry-after'))
      return
    }
    assert.fail('no limit')
  })

  test('answers a retry with the same idempotency key as the first time', async () => {
    const app = await server.newApp()
    const body = { users: { a: { uid: 'a', name: 'Amira' }, b: { uid: 'b' } } }
    const options = { body, headers: { 'idempotency-key': 'k-1' } }
    const first = await app.call('POST', '/v3/data_import/users', options)
    const second = await app.call('POST', '/v3/data_import/users', options)
    assert.deepEqual(second.body, first.body)
    assert.equal(second.body.data.a.success, true)
  })
})

suite('importGroups', () => {
  test('creates groups with their owners', async () => {
    const app = await newApp()
    const data = await bring(app, 'groups', {
      g: { guid: 'g', name: 'G', type: 'private', owner: 'a', createdAt: AT + 1, tags: ['t'] },
      h: {
        ...{ guid: 'h', name: 'H', type: 'password', password: 'secret', owner: 'new' },
        groupOwnerDetails: { uid: 'new', name: 'New' },
      },
      i: { guid: 'i', name: 'I', type: 'public', owner: 'nobody' },
      j: { guid: 'j', name: 'J', type: 'password' },
      k: { guid: 'k', name: 'K' },
    })
    const { guid, owner, type, conversationId, createdAt, membersCount } = data.g.data
    assert.deepEqual(
      { guid, owner, type, conversationId, createdAt, membersCount },
      {
        ...{ guid: 'g', owner: 'a', type: 'private', conversationId: 'group_g' },
        ...{ createdAt: AT + 1, membersCount: 1 },
      },
    )
    assert.equal(data.h.data.owner, 'new')
    assert.equal(data.i.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal(data.j.error.code, 'ERR_EMPTY_GROUP_PASS')
    assert.equal(data.k.error.code, 'ERR_BAD_REQUEST')
    const joined = await app
      .as('b')
      .call('POST', '/v3/groups/h/join', { body: { password: 'secret' } })
    assert.equal(joined.status, 200)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('importMembers', () => {
  test('adds and bans users, with what they need', async () => {
    const app = await newApp()
    await bring(app, 'groups', { g: { guid: 'g', name: 'G', type: 'public', createdAt: AT } })
    const member = (guid: string, uid: string, more: object = {}) => ({
      [`${guid}_member_${uid}`]: { memberId: `${guid}_member_${uid}`, guid, uid, ...more },
    })
    const data = await bring(app, 'members', {
      ...member('g', 'a', { scope: 'admin', joinedAt: AT + 10 }),
      ...member('g', 'b', { isBanned: true }),
      ...member('g', 'c', { joinedAt: AT - 1, userDetails: { uid: 'c', name: 'C' } }),
      ...member('n', 'd', {
        userDetails: { uid: 'd', name: 'D' },
        groupDetails: { guid: 'n', name: 'N', type: 'public' },
      }),
      ...member('g', 'nobody'),
      other: { memberId: 'other', guid: 'g', uid: 'a' },
    })
    const result = { guid: 'g', uid: 'a', scope: 'admin', joinedAt: AT + 10 }
    assert.deepEqual(data.g_member_a.data, result)
    assert.equal(data.g_member_b.success, true)
    assert.equal(data.g_member_c.error.code, 'ERR_IMPORT_INVALID_JOINEDAT')
    assert.equal(data.n_member_d.success, true)
    assert.equal(data.g_member_nobody.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal(data.other.error.code, 'ERR_BAD_REQUEST')
    const again = await bring(app, 'members', { ...member('g', 'a'), ...member('g', 'b') })
    assert.equal(again.g_member_a.error.code, 'ERR_ALREADY_JOINED')
    assert.equal(again.g_member_b.error.code, 'ERR_BANNED_GROUPMEMBER')
    const refused = await app.as('b').call('POST', '/v3/groups/g/join', { body: {} })
    assert.equal(refused.body.error.code, 'ERR_BANNED_GROUPMEMBER')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('importMessages', () => {
  test('puts messages where their time says, below newer ones, without an event', async () => {
    const app = await newApp()
    const live = await app.as('a').sendText('b', 'now')
    const before = await eventsOf(app)
    const data = await bring(app, 'messages', {
      second: message('second', { sentAt: AT + 60, sender: 'b', receiver: 'a', readAt: AT + 70 }),
      first: message('first', { readAt: AT + 50, deliveredAt: AT + 40, tags: ['t'] }),
      same: message('same', { sentAt: String(AT) }),
    })
    const { id, sentAt, readAt, deliveredAt, muid, conversationId } = data.first.data
    assert.match(id, /^\d+$/)
    assert.deepEqual(
      { sentAt, readAt, deliveredAt, muid, conversationId },
      {
        sentAt: AT,
        readAt: AT + 50,
        deliveredAt: AT + 40,
        muid: 'first',
        conversationId: 'a_user_b',
      },
    )
    const listed = await app.as('b').call('GET', '/v3/users/a/messages')
    assert.deepEqual(
      listed.body.data.map(({ data }: { data: { text: string } }) => data.text).sort(),
      ['first', 'now', 'same', 'second'],
    )
    assert.deepEqual(
      listed.body.data.map(({ id }: { id: string }) => Number(id)),
      listed.body.data
        .map(({ id }: { id: string }) => Number(id))
        .sort((x: number, y: number) => x - y),
    )
    const [view] = (await app.as('b').call('GET', '/v3/conversations')).body.data
    assert.equal(view.lastMessage.id, live.id)
    // `first` was read, and so was nothing after it but what b sent.
    assert.equal(view.unreadMessageCount, '2')
    assert.equal(view.createdAt, AT)
    assert.deepEqual(await eventsOf(app), before)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('creates missing parties, and reads group messages for everyone', async () => {
    const app = await server.newApp()
    const data = await bring(app, 'messages', {
      m: message('m', {
        ...{ receiver: 'g', receiverType: 'group' },
        senderUserDetails: { uid: 'a', name: 'Amira' },
        receiverGroupDetails: { guid: 'g', name: 'G', type: 'public', owner: 'o' },
        receiverGroupOwnerDetails: { uid: 'o', name: 'Owner' },
      }),
      n: message('n', { receiver: 'nobody', senderUserDetails: { uid: 'a', name: 'Amira' } }),
    })
    assert.equal(data.m.data.data.entities.sender.entity.name, 'Amira')
    assert.equal(data.n.error.code, 'ERR_UID_NOT_FOUND')
    const [view] = (await app.as('o').call('GET', '/v3/conversations')).body.data
    assert.deepEqual([view.unreadMessageCount, view.lastMessage.muid], ['0', 'm'])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('imports a muid once, also if it was sent or is deleted', async () => {
    const app = await newApp()
    const repeated = async (muid: string, more: object = {}) =>
      (await bring(app, 'messages', { [muid]: message(muid, more) }))[muid].error?.code
    const sent = { ...message('sent'), sentAt: undefined }
    assert.equal((await app.as('a').call('POST', '/v3/messages', { body: sent })).status, 200)
    assert.equal(await repeated('sent'), 'ERR_IMPORT_MUID_ALREADY_EXISTS')
    assert.equal(await repeated('sent', { sender: 'b', receiver: 'a' }), undefined)
    assert.equal(await repeated('m'), undefined)
    assert.equal(
      await repeated('m', { sender: 'b', receiver: 'a' }),
      'ERR_IMPORT_MUID_ALREADY_EXISTS',
    )
    const retried = await app.as('a').call('POST', '/v3/messages', { body: { ...message('m') } })
    assert.equal(retried.body.data.sentAt, AT)
    await app.call('DELETE', `/v3/messages/${retried.body.data.id}`, { body: { permanent: true } })
    assert.equal(await repeated('m'), 'ERR_IMPORT_MUID_ALREADY_EXISTS')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('goes with its sender, also if the sender never was a member of the group', async () => {
    const app = await newApp()
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'b' })
    const texts = Object.fromEntries(
      Array.from({ length: 5 }, (_, n) => [
        `m${n}`,
        message(`m${n}`, { receiver: 'g', receiverType: 'group' }),
      ]),
    )
    await bring(app, 'messages', texts)
    const listed = async () => (await app.as('b').messages.listGroup('g', {})).data.length
    assert.equal(await listed(), 5)
    await app.client.users.delete('a', { permanent: true })
    assert.equal(await listed(), 0)
    // Nobody who gets the uid later inherits them.
    await app.client.users.create({ uid: 'a', name: 'Another' })
    assert.equal(await listed(), 0)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('refuses other categories than the contract has', async () => {
    const app = await newApp()
    for (const category of ['action', 'call', 'agentic', 'interactive']) {
      const data = await bring(app, 'messages', { m: message('m', { category, type: 'x' }) })
      assert.equal(data.m.error.code, 'ERR_INVALID_MESSAGE_CATEGORY')
    }
  })

  test('imports the same muid once in ten requests at the same time', async () => {
    const app = await newApp()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        bring(app, 'messages', { m: message('m', { receiver: n % 2 ? 'b' : 'a' }) }),
      ),
    )
    assert.equal(answers.filter(({ m }) => m.success).length, 1)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('leaves messages hidden that were cleared, and refuses those that were deleted for good', async () => {
    const app = await newApp()
    await app.as('a').sendText('b', 'old')
    const path = '/v3/users/a/conversation'
    await app.as('b').call('DELETE', path, { body: {} })
    const hidden = await bring(app, 'messages', { m: message('m') })
    assert.equal(hidden.m.success, true)
    const seen = async (uid: string, other: string) =>
      (await app.as(uid).call('GET', `/v3/users/${other}/messages`)).body.data.length
    assert.deepEqual([await seen('b', 'a'), await seen('a', 'b')], [0, 2])
    await app.as('a').call('DELETE', '/v3/users/b/conversation', {
      body: { deleteMessagesPermanently: true },
    })
    const refused = await bring(app, 'messages', { n: message('n') })
    assert.match(refused.n.error.message, /deleted for good/)
    assert.equal(await seen('a', 'b'), 0)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('keeps ids of an export if they are free, and replies by either id', async () => {
    const app = await newApp()
    const id = String((AT - 1_000_000_000) * 4_000_000 + 17)
    const data = await bring(app, 'messages', {
      m: message('m', { id }),
      n: message('n', { id, sender: 'b', receiver: 'a' }),
      r: message('r', { parentMuid: 'm', sentAt: AT + 1 }),
      // The id that `n` had in its export.
      s: message('s', { parentId: id, sentAt: AT + 1 }),
      t: message('t', { parentMuid: 'unknown', sentAt: AT + 1 }),
      u: message('u', { parentMuid: 'r', sentAt: AT + 1 }),
      v: message('v', { parentMuid: 'm', sentAt: AT - 1 }),
    })
    assert.equal(data.m.data.id, id)
    assert.notEqual(data.n.data.id, id)
    assert.equal(data.r.data.parentId, id)
    assert.equal(data.s.data.parentId, data.n.data.id)
    assert.equal(data.t.error.code, 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.equal(data.u.error.code, 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.match(data.v.error.message, /older/)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('finds imported messages by search, above and below the search horizon', async () => {
    const app = await newApp()
    await rows(app.cell.db, 'update apps set search_upto = $2 where app_no = $1 returning app_no', [
      ...[app.no, (AT - 1_000_000_000) * 4_000_000 + 4_000_000],
    ])
    await bring(app, 'messages', {
      m: message('m', { data: { text: 'a purple whale' } }),
      n: message('n', { data: { text: 'another whale' }, sentAt: AT + 10 }),
    })
    const changes = await rows(app.cell.db, 'select id from search_changes where app_no = $1', [
      app.no,
    ])
    assert.equal(changes.length, 1)
    const found = await app.as('b').call('GET', '/v3/messages?searchKey=whale')
    assert.equal(found.body.data.length, 2)
  })
})
