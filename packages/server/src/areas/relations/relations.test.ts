import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ListBlockedUsersQuery, ListFriendsQuery } from '@loquat/sdk'
import { tokenOf } from '../../../test/device.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

const befriend = (app: TestApp, uid: string, ...accepted: string[]) =>
  app.client.friends.add(uid, { accepted })
const part = (app: TestApp, uid: string, ...friends: string[]) =>
  app.client.friends.delete(uid, { friends })
const block = (app: TestApp, uid: string, ...blockedUids: string[]) =>
  app.client.blockedUsers.block(uid, { blockedUids })
const unblock = (app: TestApp, uid: string, ...blockedUids: string[]) =>
  app.client.blockedUsers.unblock(uid, { blockedUids })
const friendsOf = async (app: TestApp, uid: string, query?: ListFriendsQuery) =>
  (await app.client.friends.list(uid, query)).data.map((user) => user.uid)
const blockedBy = async (app: TestApp, uid: string, query?: ListBlockedUsersQuery) =>
  (await app.client.blockedUsers.list(uid, query)).data.map((user) => user.uid)

suite('addFriends', () => {
  test('makes friends of both users and returns an outcome for each id', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    await befriend(app, 'amira', 'cleo')
    const { accepted } = await befriend(app, 'amira', 'ben', 'Cleo', 'amira', 'ghost')
    assert.deepEqual(
      Object.entries(accepted).map(([uid, { error }]) => [uid, error?.code]),
      [
        ['ben', undefined],
        ['cleo', 'ERR_ALREADY_FRIEND'],
        ['amira', 'ERR_CANNOT_FORM_SELF_RELATION'],
        ['ghost', 'ERR_UID_NOT_FOUND'],
      ],
    )
    assert.deepEqual(await friendsOf(app, 'amira'), ['ben', 'cleo'])
    assert.deepEqual(await friendsOf(app, 'ben'), ['amira'])
    assert.deepEqual(await friendsOf(app, 'amira', { searchKey: 'LE' }), ['cleo'])
    assert.deepEqual(await friendsOf(app, 'amira', { searchKey: '\u0301' }), [])
    assert.equal((await app.eventTypes()).at(-1), 'user.friends.added')
  })

  test('refuses an unknown user and an empty list', async () => {
    const app = await server.newApp()
    await app.users('a')
    await refused(befriend(app, 'ghost', 'a'), 'ERR_UID_NOT_FOUND')
    await refused(befriend(app, 'a'), 'ERR_BAD_REQUEST')
  })

  test('limits the friends of both users', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c', 'd')
    await storeSettings(server.deps, app, { 'limits.friendsPerUser': 2 })
    const codes = async (uid: string, ...others: string[]) =>
      Object.values((await befriend(app, uid, ...others)).accepted).map(({ error }) => error?.code)
    const full = 'ERR_PLAN_QUOTA_RESTRICTION'
    assert.deepEqual(await codes('a', 'b', 'c', 'd'), [undefined, undefined, full])
    assert.deepEqual(await codes('d', 'a', 'b'), [full, undefined])
  })
})

suite('deleteFriends', () => {
  test('ends the friendship for both users and skips strangers, unless there are only strangers', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await befriend(app, 'a', 'b')
    assert.equal((await part(app, 'b', 'a', 'c')).message, 'Friends removed.')
    assert.deepEqual(await friendsOf(app, 'a'), [])
    await refused(part(app, 'a', 'b'), 'ERR_NOT_A_FRIEND')
  })

  test('leaves the same state for both users when both add and remove at once, without a deadlock', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const outcomes = await Promise.allSettled<unknown>(
      Array.from({ length: 24 }, (_, n) => {
        const [one = '', two = '', three = ''] = n % 2 ? ['a', 'b', 'c'] : ['c', 'b', 'a']
        return n % 3 === 2 ? part(app, one, two, three) : befriend(app, one, two, three)
      }),
    )
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.equal(outcome.reason.status, 404)
    }
    for (const one of ['a', 'b', 'c']) {
      for (const other of await friendsOf(app, one)) {
        assert.ok((await friendsOf(app, other)).includes(one), `${one} and ${other}`)
      }
    }
  })
})

suite('listFriends', () => {
  test('with affix, sorts by the time of the last change', async () => {
    const app = await server.newApp()
    await app.users('me', 'a', 'b', 'c')
    await befriend(app, 'me', 'a', 'b', 'c')
    const times = { a: 300, b: 100, c: 200 }
    for (const [uid, second] of Object.entries(times)) {
      const text = 'update users set updated_at = to_timestamp($3) where app_no = $1 and uid = $2'
      await app.cell.db.query({ name: '', text, values: [app.no, uid, second] })
    }
    const page = async (query: string) => {
      const { body } = await app.call('GET', `/v3/users/me/friends?perPage=2&${query}`)
      const uids = body.data.map(({ uid }: { uid: string }) => uid)
      const { next: _next, ...cursor } = body.meta.cursor ?? {}
      return { uids, cursor, total: body.meta.pagination.total }
    }
    const forward = { affix: 'append', updatedAt: 200, id: 'c' }
    assert.deepEqual(await page('affix=append'), { uids: ['b', 'c'], cursor: forward, total: 3 })
    assert.deepEqual((await page('affix=append&updatedAt=200')).uids, ['a'])
    const back = { affix: 'prepend', updatedAt: 200, id: 'c' }
    assert.deepEqual(await page('affix=prepend'), { uids: ['c', 'a'], cursor: back, total: 3 })
    assert.deepEqual((await page('affix=prepend&updatedAt=200')).uids, ['b'])
    assert.deepEqual((await page('affix=prepend&updatedAt=100')).uids, [])
    // Page numbers count from where the list begins.
    assert.deepEqual((await page('affix=append&page=2')).uids, ['a'])
    assert.deepEqual((await page('affix=prepend&page=2')).uids, ['b'])
    assert.deepEqual((await page('affix=append&updatedAt=50&page=2')).uids, ['a'])
    assert.deepEqual((await page('affix=append&updatedAt=50&page=3')).uids, [])
  })

  test('returns each friend once to the SDK, in either order and from a given time', async () => {
    const app = await server.newApp()
    await app.users('me', 'a', 'b', 'c', 'd', 'e')
    await befriend(app, 'me', 'a', 'b', 'c', 'd', 'e')
    await block(app, 'me', 'a', 'b', 'c', 'd', 'e')
    const text = `update users set updated_at = to_timestamp(ascii(uid)) where app_no = $1`
    await app.cell.db.query({ name: '', text, values: [app.no] })
    const { friends, blockedUsers } = app.client
    for (const [query, expected] of [
      [{}, 'abcde'],
      [{ affix: 'append' }, 'abcde'],
      [{ affix: 'prepend' }, 'debca'],
      [{ affix: 'append', updatedAt: 'b'.charCodeAt(0) }, 'cde'],
      [{ affix: 'append', updatedAt: 'd'.charCodeAt(0) }, 'e'],
      [{ affix: 'append', updatedAt: 'e'.charCodeAt(0) }, ''],
    ] as [ListFriendsQuery, string][]) {
      for (const list of [friends, blockedUsers]) {
        const found = await Array.fromAsync(list.all('me', { ...query, perPage: 2 }))
        assert.equal(found.map(({ uid }) => uid).join(''), expected, JSON.stringify(query))
      }
    }
  })

  test("continues by page number and by cursor, and refuses another list's cursor", async () => {
    const app = await server.newApp()
    await app.users('me', 'a', 'b', 'c')
    await befriend(app, 'me', 'a', 'b', 'c')
    const read = async (path: string) => (await app.call('GET', `/v3/users/me/${path}`)).body
    const first = await read('friends?perPage=2')
    assert.deepEqual(Object.keys(first.meta.cursor), ['next'])
    const { next } = first.meta.cursor
    for (const query of ['page=2', `cursor=${next}`]) {
      const { data, meta } = await read(`friends?perPage=2&${query}`)
      assert.deepEqual([data.length, data[0].uid, meta.pagination.total], [1, 'c', 3])
      assert.equal(meta.cursor, undefined)
    }
    assert.deepEqual((await read('friends?perPage=2&page=3')).data, [])
    const elsewhere = await app.call('GET', `/v3/users/me/blockedusers?cursor=${next}`)
    assert.equal(elsewhere.status, 400)
    const another = await app.call('GET', `/v3/users/a/friends?cursor=${next}`)
    assert.equal(another.status, 400)
  })

  test('returns every friend changed in the same second to a reader that follows the cursor', async () => {
    const app = await server.newApp()
    await app.users('me', 'a', 'b', 'c')
    await befriend(app, 'me', 'a', 'b', 'c')
    const text = 'update users set updated_at = to_timestamp(100) where app_no = $1'
    await app.cell.db.query({ name: '', text, values: [app.no] })
    for (const [affix, expected] of [
      ['append', 'abc'],
      ['prepend', 'cba'],
    ]) {
      let found = ''
      for (let cursor = ''; ; ) {
        const { body } = await app.call(
          'GET',
          `/v3/users/me/friends?perPage=1&affix=${affix}${cursor}`,
        )
        if (body.data.length === 0) break
        found += body.data[0].uid
        const { updatedAt, id } = body.meta.cursor
        cursor = `&updatedAt=${updatedAt}&id=${id}`
      }
      assert.equal(found, expected)
    }
  })

  test('hides deactivated friends and forgets removed ones', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const { users } = app.client
    await befriend(app, 'a', 'b', 'c')
    await users.delete('b')
    assert.deepEqual(await friendsOf(app, 'a'), ['c'])
    await users.reactivate({ uidsToActivate: ['b'] })
    await users.delete('c', { permanent: true })
    assert.deepEqual(await friendsOf(app, 'a'), ['b'])
    await users.create({ uid: 'c', name: 'Another' })
    assert.deepEqual(await friendsOf(app, 'c'), [])
  })
})

suite('blockUsers', () => {
  test('shows blocks in lists of either direction and in user records', async () => {
    const app = await server.newApp()
    await app.users('amira', 'mallory', 'zoe')
    const outcomes = await block(app, 'amira', 'mallory', 'amira', 'ghost')
    assert.deepEqual(outcomes.mallory, { success: true, message: 'amira now blocks mallory.' })
    assert.equal(outcomes.amira?.error?.code, 'ERR_CANNOT_BLOCK_SELF')
    assert.equal(outcomes.ghost?.error?.code, 'ERR_UID_NOT_FOUND')
    await block(app, 'zoe', 'amira')

    assert.deepEqual(await blockedBy(app, 'amira'), ['mallory'])
    assert.deepEqual(await blockedBy(app, 'amira', { direction: 'hasBlockedMe' }), ['zoe'])
    assert.deepEqual(await blockedBy(app, 'amira', { direction: 'both' }), ['mallory', 'zoe'])
    const seen = await app.as('amira').users.get('mallory')
    const { blockedByMe, blockedByMeAt = 0, hasBlockedMe, blockedAt } = seen
    assert.deepEqual([blockedByMe, hasBlockedMe], [true, false])
    assert.ok(blockedByMeAt > 0 && blockedAt === blockedByMeAt)
    const other = await app.as('mallory').users.get('amira')
    assert.deepEqual([other.blockedByMe, other.hasBlockedMe], [false, true])
  })

  test('changes nothing and sends no event when the block exists, and unblocking likewise', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await block(app, 'a', 'b')
    const before = await app.eventTypes()
    assert.equal((await block(app, 'a', 'b')).b?.success, true)
    assert.deepEqual(await app.eventTypes(), before)
    assert.equal((await unblock(app, 'a', 'b')).b?.success, true)
    assert.equal((await unblock(app, 'a', 'b')).b?.success, true)
    assert.deepEqual((await app.eventTypes()).slice(before.length), ['user.unblocked'])
    assert.deepEqual(await blockedBy(app, 'a', { direction: 'both' }), [])
  })

  test('limits the users whom a user blocks, also for requests at the same time', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c', 'd', 'e')
    await storeSettings(server.deps, app, { 'limits.blocksPerUser': 2 })
    const codes = async (...others: string[]) =>
      Object.values(await block(app, 'a', ...others)).map(({ error }) => error?.code)
    const full = 'ERR_PLAN_QUOTA_RESTRICTION'
    assert.deepEqual((await Promise.all([codes('b'), codes('c'), codes('d')])).flat().sort(), [
      ...[full, undefined, undefined],
    ])
    const [blocked = ''] = await blockedBy(app, 'a')
    assert.deepEqual(await codes(blocked, 'a', 'e'), [undefined, 'ERR_CANNOT_BLOCK_SELF', full])
    await unblock(app, 'a', blocked)
    assert.deepEqual(await codes('e', blocked), [undefined, full])
    assert.equal((await blockedBy(app, 'a')).length, 2)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('leaves one row at most when users block and unblock each other at once, without a deadlock', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    // A failed request fails the test.
    await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const [one, two] = n % 2 ? (['a', 'b'] as const) : (['b', 'a'] as const)
        return n % 3 === 2 ? unblock(app, one, two) : block(app, one, two)
      }),
    )
    assert.ok((await blockedBy(app, 'a')).length <= 1)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('a block', () => {
  test('refuses messages in both directions until both users unblock, before and after the first message', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const sendings = async () => {
      const codes = ['a', 'b'].map((uid) => app.as(uid).sendText(uid === 'a' ? 'b' : 'a'))
      const settled = await Promise.allSettled(codes)
      return settled.map((one) => (one.status === 'fulfilled' ? 'sent' : one.reason.code))
    }
    const [receiver, sender] = ['ERR_BLOCKED_RECEIVER', 'ERR_BLOCKED_SENDER']
    for (let round = 0; round < 2; round++) {
      await block(app, 'b', 'a')
      assert.deepEqual(await sendings(), [sender, receiver])
      await block(app, 'a', 'b')
      assert.deepEqual(await sendings(), [receiver, receiver])
      await unblock(app, 'b', 'a')
      assert.deepEqual(await sendings(), [receiver, sender])
      assert.deepEqual(await verify(app.cell, app.no), [])
      await unblock(app, 'a', 'b')
      assert.deepEqual(await sendings(), ['sent', 'sent'])
      assert.deepEqual(await verify(app.cell, app.no), [])
    }
  })

  test('ends with a deleted user: the next user with this uid is not blocked', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await app.as('a').sendText('b')
    await block(app, 'a', 'b', 'c')
    await block(app, 'b', 'a')
    for (const uid of ['b', 'c']) {
      await app.client.users.delete(uid, { permanent: true })
      await app.client.users.create({ uid, name: 'Another' })
      await app.as('a').sendText(uid)
    }
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('is compared by verify with the head of the conversation, both ways', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await block(app, 'b', 'a', 'c')
    const text = `update conversations set blocked_other = false, blocked_one = true
      where app_no = $1 and one = 'a'`
    await app.cell.db.query({ name: '', text, values: [app.no] })
    const found = await verify(app.cell, app.no)
    assert.deepEqual(found.map(({ id, stored }) => [id, stored]).sort(), [
      ['a b', 'true'],
      ['b a', 'false'],
    ])
  })
})

suite('unblockUsers', () => {
  test('unblocks a deactivated user, once', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await block(app, 'a', 'b')
    await app.client.users.deactivate({ uidsToDeactivate: ['b', 'c'] })
    const released = await unblock(app, 'a', 'b', 'c', 'a', 'ghost')
    assert.deepEqual(
      Object.entries(released).map(([uid, { success, error }]) => [uid, error?.code ?? success]),
      [
        ['b', true],
        ['c', 'ERR_UID_NOT_FOUND'],
        ['a', true],
        ['ghost', 'ERR_UID_NOT_FOUND'],
      ],
    )
    assert.equal((await app.eventTypes()).at(-1), 'user.unblocked')
    await app.client.users.reactivate({ uidsToActivate: ['b'] })
    assert.deepEqual(await blockedBy(app, 'a'), [])
    assert.equal((await unblock(app, 'a', 'b')).b?.success, true)
  })

  test('leaves no empty conversation behind, nor does the removal of a user', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c', 'd')
    const heads = async () => {
      const text = 'select one, other from conversations where app_no = $1 order by one, other'
      return (await app.cell.db.query({ name: '', text, values: [app.no] })).rows
    }
    await unblock(app, 'a', 'b')
    assert.deepEqual(await heads(), [])
    await block(app, 'a', 'b')
    await block(app, 'b', 'a', 'c')
    await unblock(app, 'a', 'b')
    assert.deepEqual(await heads(), [
      { one: 'a', other: 'b' },
      { one: 'b', other: 'c' },
    ])
    await unblock(app, 'b', 'a')
    assert.deepEqual(await heads(), [{ one: 'b', other: 'c' }])
    await block(app, 'd', 'b')
    await app.as('c').sendText('d')
    await app.client.users.delete('b', { permanent: true })
    assert.deepEqual(await heads(), [{ one: 'c', other: 'd' }])
  })
})

suite('listBlockedUsers', () => {
  test('lists and counts more than 10,000 users', async () => {
    const app = await server.newApp()
    await app.users('me')
    const text = `
      with many as (
        insert into users (app_no, uid, name, role)
        select $1, 'u' || n, 'U', 'default' from generate_series(1, $2::int) n returning uid)
      insert into blocks (app_no, uid, blocked_uid) select $1, 'me', uid from many`
    await app.cell.db.query({ name: '', text, values: [app.no, 10_000] })
    // With the statistics of a small app, each user would be searched for in the whole app.
    await app.cell.db.query({ name: '', text: 'analyze users, blocks', values: [] })
    await app.client.users.create({ uid: 'last', name: 'Z' })
    // More than the limit, as if it had been lowered since.
    const one = `insert into blocks (app_no, uid, blocked_uid) values ($1, 'me', 'last')`
    await app.cell.db.query({ name: '', text: one, values: [app.no] })
    const page = { perPage: 1000, page: 11, direction: 'both' as const }
    const { data, meta } = await app.client.blockedUsers.list('me', page)
    assert.deepEqual(
      data.map(({ uid }) => uid),
      ['last'],
    )
    const counts = { count: 1, per_page: 1000, current_page: 11 }
    assert.deepEqual(meta, { pagination: { ...counts, total: 10_001, total_pages: 11 } })
  })

  test('leaves out users whose profile the role may not read, as the list of friends does', async () => {
    const app = await server.newApp()
    await app.users('ana', 'ben', 'cleo', 'dan')
    for (const role of ['ruled', 'nurse']) await app.client.roles.create({ role, name: role })
    await app.client.users.update('ana', { role: 'ruled' })
    await app.client.users.update('cleo', { role: 'nurse' })
    await befriend(app, 'ana', 'ben', 'cleo')
    await block(app, 'ana', 'ben', 'cleo', 'dan')
    const token = await tokenOf(app, 'ana')
    const list = async (what: string) => {
      const headers = { authtoken: token }
      const path = `/v3/users/ana/${what}`
      const { body } = await app.call('GET', path, { apiKey: null, headers })
      assert.equal(body.meta.pagination.total, body.data.length)
      return body.data.map(({ uid }: { uid: string }) => uid)
    }
    const permit = (permissions: Record<string, unknown>) =>
      app.client.permissions.updateRole('ruled', { permissions } as never)
    assert.deepEqual(await list('blockedusers'), ['ben', 'cleo', 'dan'])
    await permit({ 'getUserDetails.mode': 'friends' })
    await until('the rule applies', async () => (await list('blockedusers')).length === 2)
    assert.deepEqual(await list('blockedusers'), ['ben', 'cleo'])
    await permit({ 'getUserDetails.allowedRoles': ['nurse'] })
    await until('the rule applies', async () => (await list('blockedusers')).length === 1)
    assert.deepEqual(await list('blockedusers?searchKey=CL'), ['cleo'])
    assert.deepEqual(await list('blockedusers?affix=append'), ['cleo'])
    assert.deepEqual(await list('friends'), ['cleo'])
    // The app sees them all, and the user can still lift a block.
    assert.deepEqual(await blockedBy(app, 'ana'), ['ben', 'cleo', 'dan'])
    const answer = await app.call('DELETE', '/v3/users/ana/blockedusers', {
      ...{ apiKey: null, headers: { authtoken: token }, body: { blockedUids: ['dan'] } },
    })
    assert.equal(answer.body.data.dan.success, true)
    assert.deepEqual(await blockedBy(app, 'ana'), ['ben', 'cleo'])
  })
})
