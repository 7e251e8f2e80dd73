import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { audienceOf } from '@loquat/protocol'
import { hold, whileWaiting } from '../../../test/hold-keys.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()
const as = (uid: string) => ({ headers: { onbehalfof: uid } })

/** me, with as many others as named, each of whom has written; and a group g of me and the first. */
async function talkative(...others: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of ['me', ...others]) {
    await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  }
  for (const uid of others) {
    const body = { receiver: 'me', receiverType: 'user', data: { text: 'Hello' } }
    await app.call('POST', '/v3/messages', { ...as(uid), body })
  }
  await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'me' } })
  await app.call('POST', '/v3/groups/g/members', { body: { participants: others.slice(0, 1) } })
  return app
}

const pin = (app: TestApp, path: string, method = 'POST', uid = 'me') =>
  app.call(method, `/v3/${path}/conversation/pin`, as(uid))
const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code

suite('pins', () => {
  test('of a user: five at most, also when many are set at once', async () => {
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
    assert.equal(await codeOf(nobody), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    const listed = await app.call('GET', '/v3/conversations', as('me'))
    const pinned = listed.body.data.filter((row: { pinnedAt?: number }) => row.pinnedAt)
    assert.equal(pinned.length, 4)
  })

  test('of a user tell whose view of which conversation it is', async () => {
    const app = await talkative('a')
    const view = { uid: 'me', conversationId: 'group_g', receiverType: 'group', receiver: 'g' }
    const last = async () =>
      (
        await rows<{ payload: unknown }>(
          app.cell.db,
          'select payload from outbox where app_no = $1 order by id desc limit 1',
          [app.no],
        )
      )[0]?.payload
    await pin(app, 'groups/g')
    assert.deepEqual(await last(), { ...view, pinned: true })
    await app.call('PUT', '/v3/groups/g/conversation', { ...as('me'), body: { tags: ['t'] } })
    assert.deepEqual(await last(), { ...view, tags: ['t'] })
  })

  test('of a user do not stay at a view that is cleared at the same moment', async () => {
    const app = await talkative('a')
    const clear = `select clear_view($1, conversation, uid) from inbox
      where app_no = $1 and uid = 'me' and with_id = 'a'`
    const held = await hold(app, clear, [app.no])
    const late = await whileWaiting(held, pin(app, 'users/a'))
    assert.equal(late.body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    const pinned = 'select from inbox where app_no = $1 and pinned_at is not null'
    assert.deepEqual(await rows(app.cell.db, pinned, [app.no]), [])
  })

  test('of a user are not counted where the app pinned since, or what is being swept', async () => {
    const others = ['a', 'b', 'c', 'd', 'e', 'f', 'h']
    const app = await talkative(...others)
    for (const uid of ['a', 'b', 'c', 'd']) await pin(app, `users/${uid}`)
    await pin(app, 'groups/g')
    const full = 'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'
    assert.equal(await codeOf(pin(app, 'users/e')), full)
    const body = { pinnedConversations: [{ uid: 'a' }] }
    await app.call('PUT', '/v3/conversations/pinned', { body })
    assert.equal((await pin(app, 'users/e')).status, 200)
    assert.equal(await codeOf(pin(app, 'users/f')), full)
    const remove = (table: string) => `update ${table} set removed_at = now() where app_no = $1`
    await rows(app.cell.db, `${remove('users')} and uid = 'b'`, [app.no])
    assert.equal((await pin(app, 'users/f')).status, 200)
    await rows(app.cell.db, remove('groups'), [app.no])
    assert.equal((await pin(app, 'users/h')).status, 200)
  })

  test('of the app: for everyone, in order, and not for users to change', async () => {
    const app = await talkative('a', 'b')
    const set = (...pinnedConversations: object[]) =>
      app.call('PUT', '/v3/conversations/pinned', { body: { pinnedConversations } })
    const { body } = await set({ guid: 'g' }, { uid: 'a' }, { guid: 'g' })
    const order = body.data.map((row: { conversationId: string }) => row.conversationId)
    assert.deepEqual(order, ['group_g', 'user_a'])
    assert.deepEqual((await app.call('GET', '/v3/conversations/pinned')).body, body)
    assert.equal((await app.eventTypes()).at(-1), 'app.conversations.pinned')
    for (const method of ['POST', 'DELETE']) {
      assert.equal(await codeOf(pin(app, 'users/a', method)), 'ERR_SYSTEM_PINNED_CONVERSATION')
    }
    const view = await app.call('GET', '/v3/groups/g/conversation', as('a'))
    assert.equal(view.body.data.pinnedBy, 'app_system')
    assert.equal(await codeOf(set({ uid: 'b', guid: 'g' })), 'ERR_BAD_REQUEST')
    assert.equal(await codeOf(set({ uid: 'ghost' })), 'ERR_UID_NOT_FOUND')
    assert.equal(await codeOf(set({ guid: 'ghost' })), 'ERR_GUID_NOT_FOUND')
    const many = Array.from({ length: 6 }, (_, nth) => ({ uid: `u${nth}` }))
    const over = 'ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'
    assert.equal(await codeOf(set(...many)), over)
    assert.deepEqual((await set()).body.data, [])
  })

  test('of the app go with what is removed, and do not come back with its id', async () => {
    const app = await talkative('a', 'b')
    const pinnedConversations = [{ guid: 'g' }, { uid: 'a' }, { uid: 'b' }]
    await app.call('PUT', '/v3/conversations/pinned', { body: { pinnedConversations } })
    await app.call('DELETE', '/v3/groups/g')
    await app.call('DELETE', '/v3/users/a', { body: { permanent: true } })
    await app.call('DELETE', '/v3/users/b')
    await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'Another', owner: 'me' } })
    await app.call('POST', '/v3/users', { body: { uid: 'a', name: 'Another' } })
    const { body } = await app.call('GET', '/v3/conversations/pinned')
    const left = body.data.map((row: { conversationId: string }) => row.conversationId)
    assert.deepEqual(left, ['user_b'], 'who is deactivated stays')
  })

  test('of the app: removed at the same moment, none is left', async () => {
    const app = await talkative('a')
    const body = { pinnedConversations: [{ guid: 'g' }, { uid: 'a' }] }
    await Promise.all([
      app.call('PUT', '/v3/conversations/pinned', { body }),
      app.call('DELETE', '/v3/groups/g'),
      app.call('DELETE', '/v3/users/a', { body: { permanent: true } }),
    ])
    assert.deepEqual((await app.call('GET', '/v3/conversations/pinned')).body.data, [])
  })
})

suite('by printed id', () => {
  test('is deprecated, and finds the own of two that print alike', async () => {
    const app = await server.newApp()
    for (const uid of ['a', 'c', 'a_user_b', 'b_user_c']) {
      await app.call('POST', '/v3/users', { body: { uid, name: uid } })
    }
    for (const [from, to] of [
      ['a_user_b', 'c'],
      ['a', 'b_user_c'],
    ] as const) {
      const body = { receiver: to, receiverType: 'user', data: { text: 'Hello' } }
      await app.call('POST', '/v3/messages', { ...as(from), body })
    }
    const get = (uid: string, id = 'a_user_b_user_c') =>
      app.call('GET', `/v3/conversations/${id}`, as(uid))
    for (const [uid, other] of [
      ['a', 'b_user_c'],
      ['c', 'a_user_b'],
    ] as const) {
      const { body, headers } = await get(uid)
      assert.equal(body.data.conversationWith.uid, other)
      assert.ok(headers.get('deprecation') && headers.get('sunset'))
      assert.match(headers.get('link') ?? '', /users\/{uid}\/conversation>.*groups\/{guid}\/conv/)
    }
    assert.equal(await codeOf(get('c', 'a_user_b')), 'ERR_CONVERSATION_NOT_FOUND')
    assert.equal(await codeOf(get('c', 'group_ghost')), 'ERR_CONVERSATION_NOT_FOUND')
    const stranger = await app.call('POST', '/v3/users', { body: { uid: 'z', name: 'z' } })
    assert.equal(stranger.status, 200)
    assert.equal(await codeOf(get('z')), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
  })

  test('clears for all', async () => {
    const app = await talkative('a', 'b')
    const remove = (uid: string, id: string) =>
      app.call('DELETE', `/v3/conversations/${id}`, as(uid))
    const listed = async (uid: string) => {
      const { data, meta } = (await app.call('GET', '/v3/conversations', as(uid))).body
      const ids = data.map((row: { conversationId: string }) => row.conversationId)
      return [ids, meta.pagination.total]
    }
    assert.equal((await remove('a', 'a_user_me')).status, 200)
    assert.deepEqual(await listed('a'), [['group_g'], 1])
    assert.equal(await codeOf(remove('a', 'group_g')), 'ERR_GROUP_NO_ADMIN_SCOPE')
    assert.equal((await remove('me', 'group_g')).status, 200)
    const text = `select payload from outbox where app_no = $1 order by id desc limit 1`
    const { rows } = await app.cell.db.query<{ payload: unknown }>({
      name: '',
      text,
      values: [app.no],
    })
    assert.deepEqual(audienceOf('conversation.cleared', rows[0]?.payload), { group: 'g' })
    assert.deepEqual(
      [await listed('a'), await listed('me')],
      [
        [[], 0],
        [['b_user_me'], 1],
      ],
    )
    const whole = await app.call('GET', '/v3/conversations')
    assert.equal(whole.body.meta.pagination.total, 2)
    const body = { receiver: 'g', receiverType: 'group', data: { text: 'New' } }
    await app.call('POST', '/v3/messages', { ...as('me'), body })
    assert.deepEqual(await listed('a'), [['group_g'], 1])
    assert.equal((await app.call('GET', '/v3/conversations')).body.meta.pagination.total, 4)
  })
})
