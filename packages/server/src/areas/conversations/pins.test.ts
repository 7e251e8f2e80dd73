import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { audienceOf } from '@loquat/protocol'
import { runQueued } from '../../../test/job-runner.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { holdLock, whileWaiting } from '../../../test/locks.ts'
import { rows } from '../../../test/log-writers.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()

/** An app in which each of `others` has written to me, with a group g of me and the first of them. */
async function talkative(...others: string[]): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('me', ...others)
  for (const uid of others) await app.as(uid).sendText('me')
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'me' })
  await app.client.groupMembers.add('g', { participants: others.slice(0, 1) })
  return app
}

/** Adds the users `m0`, `m1` … to the group g. */
async function addMembers(app: TestApp, count: number): Promise<void> {
  const add = `with people as (
      insert into users (app_no, uid, name, role)
      select $1, 'm' || n, 'm' || n, 'default' from generate_series(0, $2::int - 1) n returning uid
    ), members as (
      insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
      select $1, p.uid, 'group', 'g', h.no, 'participant', now()
      from people p join conversations h on h.app_no = $1 and h.kind = 'group' and h.one = 'g'
    ), counts as (
      insert into totals (app_no, what, shard, total)
      select $1, 'users.active', 99, $2::int
      union all
      select $1, 'views.group', 99, $2 from conversations where app_no = $1 and one = 'g' and shown_id > 0
    )
    update groups set members_count = members_count + $2 where app_no = $1 and guid = 'g'`
  await rows(app.cell.db, add, [app.no, count])
}

const pin = (app: TestApp, path: string, method = 'POST', uid = 'me') =>
  app.as(uid).call(method, `/v3/${path}/conversation/pin`)

suite('pinUserConversation', () => {
  test('pins at most five conversations, even when many requests arrive at once', async () => {
    const others = ['a', 'b', 'c', 'd', 'e', 'f']
    const app = await talkative(...others)
    const { body } = await pin(app, 'users/a')
    assert.equal(body.data.pinnedBy, 'me')
    assert.ok(body.data.pinnedAt > 0)
    assert.equal((await app.eventTypes()).at(-1), 'conversation.pinned')
    const again = (await pin(app, 'users/a')).body.data
    assert.equal(again.pinnedAt, body.data.pinnedAt)
    const answers = await Promise.all(others.slice(1).map((uid) => pin(app, `users/${uid}`)))
    const full = answers.filter((answer) => answer.status === 400)
    assert.deepEqual(
      full.map((answer) => answer.body.error.code),
      ['ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'],
    )
    assert.equal((await pin(app, 'users/a', 'DELETE')).body.data.pinnedAt, undefined)
    assert.equal((await pin(app, 'groups/g')).status, 200)
    assert.equal((await pin(app, 'groups/g', 'DELETE')).status, 200)
    const nobody = pin(app, 'users/b', 'POST', 'a')
    await refused(nobody, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    const { data } = await app.as('me').conversations.list()
    assert.equal(data.filter(({ pinnedAt }) => pinnedAt).length, 4)
  })

  test("doesn't pin a conversation that is being cleared", async () => {
    const app = await talkative('a')
    const clear = `select clear_view($1, conversation, uid) from inbox
      where app_no = $1 and uid = 'me' and with_id = 'a'`
    const held = await holdLock(app, clear, [app.no])
    await refused(whileWaiting(held, pin(app, 'users/a')), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    const pinned = 'select from inbox where app_no = $1 and pinned_at is not null'
    assert.deepEqual(await rows(app.cell.db, pinned, [app.no]), [])
  })

  test('counts neither conversations that the app has pinned since nor those being swept', async () => {
    const others = ['a', 'b', 'c', 'd', 'e', 'f', 'h']
    const app = await talkative(...others)
    for (const uid of ['a', 'b', 'c', 'd']) await pin(app, `users/${uid}`)
    await pin(app, 'groups/g')
    const full = 'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'
    await refused(pin(app, 'users/e'), full)
    const body = { pinnedConversations: [{ uid: 'a' }] }
    await app.client.conversations.setPinned(body)
    assert.equal((await pin(app, 'users/e')).status, 200)
    await refused(pin(app, 'users/f'), full)
    const remove = (table: string) => `update ${table} set removed_at = now() where app_no = $1`
    await rows(app.cell.db, `${remove('users')} and uid = 'b'`, [app.no])
    assert.equal((await pin(app, 'users/f')).status, 200)
    await rows(app.cell.db, remove('groups'), [app.no])
    assert.equal((await pin(app, 'users/h')).status, 200)
  })
})

suite('pinGroupConversation', () => {
  test('sends an event that names the user and the conversation, as a change of tags does', async () => {
    const app = await talkative('a')
    const view = { uid: 'me', conversationId: 'group_g', receiverType: 'group', receiver: 'g' }
    const last = async () => (await app.events()).at(-1)?.payload
    await pin(app, 'groups/g')
    assert.deepEqual(await last(), { ...view, pinned: true })
    await app.as('me').conversations.updateGroup('g', { tags: ['t'] })
    assert.deepEqual(await last(), { ...view, tags: ['t'] })
  })
})

suite('unpinUserConversation', () => {
  test('releases the pin, and succeeds without one', async () => {
    const { conversations } = (await talkative('a')).as('me')
    await conversations.pinUser('a')
    for (let n = 0; n < 2; n++)
      assert.equal((await conversations.unpinUser('a')).pinnedAt, undefined)
  })
})

suite('setPinnedConversations', () => {
  test("pins conversations for everyone, in order; users can't change these pins", async () => {
    const app = await talkative('a', 'b')
    const set = (...pinnedConversations: object[]) =>
      app.call('PUT', '/v3/conversations/pinned', { body: { pinnedConversations } })
    const { body } = await set({ guid: 'g' }, { uid: 'a' }, { guid: 'g' })
    const order = body.data.map((row: { conversationId: string }) => row.conversationId)
    assert.deepEqual(order, ['group_g', 'user_a'])
    assert.deepEqual((await app.call('GET', '/v3/conversations/pinned')).body, body)
    assert.equal((await app.eventTypes()).at(-1), 'app.conversations.pinned')
    for (const method of ['POST', 'DELETE']) {
      await refused(pin(app, 'users/a', method), 'ERR_SYSTEM_PINNED_CONVERSATION')
    }
    const view = await app.as('a').call('GET', '/v3/groups/g/conversation')
    assert.equal(view.body.data.pinnedBy, 'app_system')
    await refused(set({ uid: 'b', guid: 'g' }), 'ERR_BAD_REQUEST')
    await refused(set({ uid: 'ghost' }), 'ERR_UID_NOT_FOUND')
    await refused(set({ guid: 'ghost' }), 'ERR_GUID_NOT_FOUND')
    const many = Array.from({ length: 6 }, (_, nth) => ({ uid: `u${nth}` }))
    await refused(set(...many), 'ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
    assert.deepEqual((await set()).body.data, [])
  })

  test("loses the pins of removed users and groups, and new ones with the same id don't get them", async () => {
    const app = await talkative('a', 'b')
    const pinnedConversations = [{ guid: 'g' }, { uid: 'a' }, { uid: 'b' }]
    await app.client.conversations.setPinned({ pinnedConversations })
    await app.client.groups.delete('g')
    await app.client.users.delete('a', { permanent: true })
    await app.client.users.delete('b')
    await app.client.groups.create({ guid: 'g', name: 'Another', owner: 'me' })
    await app.client.users.create({ uid: 'a', name: 'Another' })
    const data = await app.client.conversations.getPinned()
    const left = data.map((row: { conversationId: string }) => row.conversationId)
    assert.deepEqual(left, ['user_b'], 'a deactivated user stays')
  })

  test('leaves no pin of a user or group that is removed at the same moment', async () => {
    const app = await talkative('a')
    const body = { pinnedConversations: [{ guid: 'g' }, { uid: 'a' }] }
    await Promise.all([
      app.call('PUT', '/v3/conversations/pinned', { body }),
      app.call('DELETE', '/v3/groups/g'),
      app.call('DELETE', '/v3/users/a', { body: { permanent: true } }),
    ])
    assert.deepEqual(await app.client.conversations.getPinned(), [])
  })
})

suite('getConversation', () => {
  test("is deprecated, and finds the caller's own of two conversations with the same printed id", async () => {
    const app = await server.newApp()
    await app.users('a', 'c', 'a_user_b', 'b_user_c')
    for (const [from, to] of [
      ['a_user_b', 'c'],
      ['a', 'b_user_c'],
    ] as const) {
      await app.as(from).sendText(to)
    }
    const get = (uid: string, id = 'a_user_b_user_c') =>
      app.as(uid).call('GET', `/v3/conversations/${id}`)
    for (const [uid, other] of [
      ['a', 'b_user_c'],
      ['c', 'a_user_b'],
    ] as const) {
      const { body, headers } = await get(uid)
      assert.equal(body.data.conversationWith.uid, other)
      assert.ok(headers.get('deprecation') && headers.get('sunset'))
      assert.match(headers.get('link') ?? '', /users\/{uid}\/conversation>.*groups\/{guid}\/conv/)
    }
    await refused(get('c', 'a_user_b'), 'ERR_CONVERSATION_NOT_FOUND')
    await refused(get('c', 'group_ghost'), 'ERR_CONVERSATION_NOT_FOUND')
    await app.users('z')
    await refused(get('z'), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
  })
})

suite('deleteConversation', () => {
  test('clears the conversation for everyone in it', async () => {
    const app = await talkative('a', 'b')
    const remove = (uid: string, id: string) =>
      app.as(uid).call('DELETE', `/v3/conversations/${id}`)
    const listed = async (uid: string) => {
      const { data, meta } = await app.as(uid).conversations.list()
      const ids = data.map((row: { conversationId: string }) => row.conversationId)
      return [ids, meta.pagination.total]
    }
    assert.equal((await remove('a', 'a_user_me')).status, 200)
    assert.deepEqual(await listed('a'), [['group_g'], 1])
    await refused(remove('a', 'group_g'), 'ERR_GROUP_NO_ADMIN_SCOPE')
    assert.equal((await remove('me', 'group_g')).status, 200)
    const cleared = (await app.events()).at(-1)
    assert.deepEqual(audienceOf('conversation.cleared', cleared?.payload), { group: 'g' })
    assert.deepEqual(
      [await listed('a'), await listed('me')],
      [
        [[], 0],
        [['b_user_me'], 1],
      ],
    )
    const whole = await app.call('GET', '/v3/conversations')
    assert.equal(whole.body.meta.pagination.total, 2)
    await app.as('me').sendText('g', 'New', { receiverType: 'group' })
    assert.deepEqual(await listed('a'), [['group_g'], 1])
    assert.equal((await app.client.conversations.list()).meta.pagination.total, 4)
  })

  test('clears a large group in batches, beside sends and marks, and says so at the end', async () => {
    const app = await server.newApp()
    await app.users('me', 'zoe')
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'me' })
    await app.client.groupMembers.add('g', { participants: ['zoe'] })
    await addMembers(app, 1_500)
    const toGroup = { receiverType: 'group' }
    await app.as('me').sendText('g', 'Old', toGroup)
    await app.as('zoe').sendText('g', 'Old too', toGroup)
    const unread = async (uid: string) =>
      (await app.as(uid).conversations.list()).data.map((view) => Number(view.unreadMessageCount))
    const cleared = async () =>
      (await app.events()).flatMap(({ type, payload }) =>
        type === 'conversation.cleared' ? [payload.forAll] : [],
      )

    const { body } = await app.as('me').call('DELETE', '/v3/conversations/group_g')
    assert.equal(body.data.message, 'Conversation group_g is being cleared for everyone.')
    assert.deepEqual(await cleared(), [false])
    assert.deepEqual([await unread('me'), await unread('zoe')], [[], [2]], 'zoe is the last member')
    assert.deepEqual(await verify(app.cell, app.no), [])
    // What happens before the job gets to zoe stays.
    await app.as('zoe').sendText('g', 'New', toGroup)
    await app.as('me').sendText('g', 'Newer', toGroup)
    const { id } = await app.as('me').sendText('g', 'Gone', toGroup)
    await app.call('DELETE', `/v3/messages/${id}`, { body: { permanent: true } })
    await app.as('m999').call('POST', '/v3/groups/g/conversation/read', { body: {} })
    const old = { sender: 'me', receiver: 'g', receiverType: 'group', sentAt: 1_700_000_000 }
    const imported = await app.call('POST', '/v3/data_import/messages', {
      body: { messages: { x: { ...old, muid: 'x', data: { text: 'Imported' } } } },
    })
    assert.equal(imported.body.data.x.success, true)
    await runQueued(server.deps, app.cell, 'conversations.clear')
    assert.deepEqual(await cleared(), [false, true])
    assert.deepEqual(await verify(app.cell, app.no), [])
    const counts = await Promise.all(['me', 'zoe', 'm0', 'm999'].map(unread))
    assert.deepEqual(counts, [[1], [1], [2], [0]])
    const uncleared = `select uid from inbox where app_no = $1 and kind = 'group' and cleared_id = 0`
    assert.deepEqual(await rows(app.cell.db, uncleared, [app.no]), [])
    const { data: left } = await app.as('zoe').messages.listGroup('g')
    const texts = left.flatMap(({ category, data }) => (category === 'message' ? [data.text] : []))
    assert.deepEqual(texts, ['New', 'Newer'])
  })

  test('takes no more than a batch of members under the lock of a group', async () => {
    const app = await server.newApp()
    await app.users('me')
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'me' })
    await addMembers(app, 1_200)
    await app.as('me').sendText('g', 'Old', { receiverType: 'group' })
    await app.as('me').call('DELETE', '/v3/conversations/group_g')
    const done = `select from inbox where app_no = $1 and kind = 'group' and cleared_id > 0`
    assert.equal((await rows(app.cell.db, done, [app.no])).length, 1_000 + 1)
    await app.client.groups.delete('g')
    await runQueued(server.deps, app.cell, 'conversations.clear')
    const { length } = (await app.eventTypes()).filter((type) => type === 'conversation.cleared')
    assert.equal(length, 1, 'of a deleted group nothing more is announced')
  })
})
