import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()

async function appWithUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  return app
}

const as = (uid: string) => ({ headers: { onbehalfof: uid } })

async function say(app: TestApp, sender: string, receiver: string): Promise<string> {
  const body = { receiver, receiverType: 'user', data: { text: 'Hello' } }
  return (await app.call('POST', '/v3/messages', { ...as(sender), body })).body.data.id
}

const view = (app: TestApp, uid: string, other: string) =>
  app.call('GET', `/v3/users/${other}/conversation`, as(uid))
const unread = async (app: TestApp, uid: string, other: string) =>
  (await view(app, uid, other)).body.data.unreadMessageCount
const mark = (
  app: TestApp,
  uid: string,
  other: string,
  what: 'delivered' | 'read' | 'unread',
  messageId?: string | number,
) =>
  app.call(
    what === 'unread' ? 'DELETE' : 'POST',
    `/v3/users/${other}/conversation/${what === 'unread' ? 'read' : what}`,
    { ...as(uid), ...(messageId !== undefined && { body: { messageId } }) },
  )
const reset = (app: TestApp, uid: string, other: string, body: object = {}) =>
  app.call('DELETE', `/v3/users/${other}/conversation`, { ...as(uid), body })

suite('a view', () => {
  test('comes with the first message, for both sides', async () => {
    const app = await appWithUsers('a', 'b')
    assert.equal((await view(app, 'a', 'b')).body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    assert.equal((await view(app, 'a', 'ghost')).body.error.code, 'ERR_UID_NOT_FOUND')
    const id = await say(app, 'a', 'b')
    const { createdAt, updatedAt, lastMessage, conversationWith, ...rest } = (
      await view(app, 'b', 'a')
    ).body.data
    assert.deepEqual(rest, {
      conversationId: 'a_user_b',
      conversationType: 'user',
      unreadMessageCount: '1',
      unreadMentionsCount: 0,
    })
    assert.deepEqual([createdAt, updatedAt, lastMessage.id], [lastMessage.sentAt, createdAt, id])
    assert.deepEqual(lastMessage.receipts, { data: [] })
    assert.deepEqual([conversationWith.uid, conversationWith.conversationId], ['a', 'a_user_b'])
    assert.equal(await unread(app, 'a', 'b'), '0')
  })

  test('of a deactivated user stays', async () => {
    const app = await appWithUsers('a', 'b')
    await say(app, 'a', 'b')
    await app.call('DELETE', '/v3/users/b')
    const { conversationWith } = (await view(app, 'a', 'b')).body.data
    assert.ok(conversationWith.deactivatedAt > 0)
  })

  test('of a removed user goes, with all that was said', async () => {
    const app = await appWithUsers('a', 'b')
    const id = await say(app, 'a', 'b')
    await app.call('DELETE', '/v3/users/b', { body: { permanent: true } })
    assert.equal((await app.call('GET', `/v3/messages/${id}`)).status, 404)
    await app.call('POST', '/v3/users', { body: { uid: 'b', name: 'Another' } })
    assert.equal((await view(app, 'a', 'b')).body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
  })

  // With a message and two views there are batches that end before, between and after the views.
  for (const limit of [1, 2, 3]) {
    test(`of a removed user goes for both, swept ${limit} at a time`, async () => {
      const app = await appWithUsers('a', 'b')
      await say(app, 'a', 'b')
      const run = async (text: string) =>
        (await app.cell.db.query({ name: '', text, values: [app.no] })).rows
      await run(`update users set removed_at = now() where app_no = $1 and uid = 'a'`)
      const sweep = () => run(`select sweep_user($1, 'a', ${limit}) as gone`)
      while (!(await sweep())[0]?.gone);
      for (const table of ['inbox', 'conversations', 'messages']) {
        assert.deepEqual(await run(`select from ${table} where app_no = $1`), [], table)
      }
      const { status, body } = await app.call('GET', '/v3/conversations', as('b'))
      assert.deepEqual([status, body.data, body.meta.pagination.total], [200, [], 0])
    })
  }
})

suite('tags', () => {
  test("are the owner's own, found by conversationTags, and go with a reset", async () => {
    const app = await appWithUsers('a', 'b')
    await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'a' } })
    await app.call('POST', '/v3/groups/g/members', { body: { participants: ['b'] } })
    await say(app, 'a', 'b')
    const tag = (path: string, tags: string[]) =>
      app.call('PUT', `/v3/${path}/conversation`, { ...as('a'), body: { tags } })
    assert.deepEqual((await tag('users/b', ['work'])).body.data.tags, ['work'])
    assert.deepEqual((await tag('groups/g', ['work', 'fun'])).body.data.tags, ['work', 'fun'])
    const unchanged = await app.call('PUT', '/v3/groups/g/conversation', { ...as('a'), body: {} })
    assert.deepEqual(unchanged.body.data.tags, ['work', 'fun'])
    assert.equal((await app.eventTypes()).at(-1), 'conversation.tags.updated')
    const listed = async (uid: string, query: string) => {
      const { body } = await app.call('GET', `/v3/conversations?${query}`, as(uid))
      return body.data.map((row: { conversationId: string; tags?: string[] }) => [
        row.conversationId,
        row.tags,
      ])
    }
    const found = await listed('a', 'conversationTags=fun&withTags=true')
    assert.deepEqual(found, [['group_g', ['work', 'fun']]])
    assert.equal((await listed('a', 'conversationTags=work')).length, 2)
    assert.deepEqual(await listed('b', 'conversationTags=work'), [])
    await reset(app, 'a', 'b')
    await say(app, 'b', 'a')
    assert.equal((await view(app, 'a', 'b')).body.data.tags, undefined)
    const nobody = await app.call('PUT', '/v3/users/a/conversation', {
      ...as('a'),
      body: { tags: [] },
    })
    assert.equal(nobody.body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
  })
})

suite('marks', () => {
  test('lower the count up to a message, and raise it again', async () => {
    const app = await appWithUsers('a', 'b')
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push(await say(app, 'a', 'b'))
    await say(app, 'b', 'a')
    ids.push(await say(app, 'a', 'b'))
    assert.equal(await unread(app, 'b', 'a'), '6')
    await mark(app, 'b', 'a', 'read', ids[2])
    assert.equal(await unread(app, 'b', 'a'), '3')
    assert.equal((await view(app, 'b', 'a')).body.data.lastReadMessageId, ids[2])
    await mark(app, 'b', 'a', 'read', Number(ids[0]))
    assert.equal(await unread(app, 'b', 'a'), '3', 'read never moves back')
    await mark(app, 'b', 'a', 'read')
    assert.equal(await unread(app, 'b', 'a'), '0')
    await mark(app, 'b', 'a', 'unread', ids[0])
    assert.equal(await unread(app, 'b', 'a'), '5')
    await mark(app, 'b', 'a', 'unread', ids[4])
    assert.equal(await unread(app, 'b', 'a'), '5', 'unread never moves on')
    assert.equal(await unread(app, 'a', 'b'), '1')
  })

  test('deleted messages leave the count, own ones never are in it', async () => {
    const app = await appWithUsers('a', 'b')
    const ids: string[] = []
    for (let n = 0; n < 4; n++) ids.push(await say(app, 'a', 'b'))
    const own = await say(app, 'b', 'a')
    await app.call('DELETE', `/v3/messages/${ids[1]}`)
    await app.call('DELETE', `/v3/messages/${ids[2]}`, { body: { permanent: true } })
    assert.equal(await unread(app, 'b', 'a'), '2')
    await app.call('DELETE', `/v3/messages/${own}`)
    assert.equal(await unread(app, 'b', 'a'), '2')
    assert.equal(await unread(app, 'a', 'b'), '0')
    await mark(app, 'b', 'a', 'read', ids[0])
    assert.equal(await unread(app, 'b', 'a'), '1')
  })

  test('give the sender the times; read implies delivered', async () => {
    const app = await appWithUsers('a', 'b')
    const first = await say(app, 'a', 'b')
    const second = await say(app, 'a', 'b')
    const times = async (id: string) => {
      const { deliveredAt, readAt, receipts } = (await app.call('GET', `/v3/messages/${id}`)).body
        .data
      return [deliveredAt > 0, readAt > 0, receipts.data.length]
    }
    await mark(app, 'b', 'a', 'delivered')
    assert.deepEqual(await times(first), [true, false, 1])
    await mark(app, 'b', 'a', 'read', first)
    assert.deepEqual(
      [await times(first), await times(second)],
      [
        [true, true, 1],
        [true, false, 1],
      ],
    )
    const third = await say(app, 'a', 'b')
    assert.deepEqual(await times(third), [false, false, 0])
    await mark(app, 'b', 'a', 'read')
    assert.deepEqual(await times(third), [true, true, 1])
    const { body } = await app.call('GET', `/v3/messages/${third}/receipts`)
    assert.deepEqual(body.data[0].recipient, 'b')
    assert.ok(body.data[0].deliveredAt <= body.data[0].readAt)
    // The reader's own messages have no receipt of the reader.
    await say(app, 'b', 'a')
    await mark(app, 'b', 'a', 'read')
    const own = (await view(app, 'b', 'a')).body.data.lastMessage
    assert.deepEqual(own.receipts.data, [])
  })

  test('are announced when they change something', async () => {
    const app = await appWithUsers('a', 'b')
    const id = await say(app, 'a', 'b')
    const before = (await app.eventTypes()).length
    for (let n = 0; n < 2; n++) await mark(app, 'b', 'a', 'delivered')
    for (let n = 0; n < 2; n++) await mark(app, 'b', 'a', 'read', id)
    await say(app, 'a', 'b')
    await mark(app, 'b', 'a', 'read')
    await mark(app, 'b', 'a', 'delivered')
    for (let n = 0; n < 2; n++) await mark(app, 'b', 'a', 'unread', id)
    assert.deepEqual((await app.eventTypes()).slice(before), [
      'conversation.delivered',
      'conversation.read',
      'message.sent',
      'conversation.read',
      'conversation.unread',
    ])
  })

  test('at messages that are not of the conversation', async () => {
    const app = await appWithUsers('a', 'b', 'c', 'd')
    await say(app, 'a', 'b')
    const elsewhere = await say(app, 'a', 'c')
    const own = await say(app, 'b', 'd')
    const code = async (id: string) => (await mark(app, 'b', 'a', 'read', id)).body.error.code
    assert.equal(await code(elsewhere), 'ERR_BAD_REQUEST')
    assert.equal(await code('999999'), 'ERR_MESSAGE_ID_NOT_FOUND')
    const token = await app.call('POST', '/v3/users/b/auth_tokens', { body: {} })
    const device = { apiKey: null, headers: { authtoken: token.body.data.authToken } }
    const told = async (messageId: string) => {
      const sent = { ...device, body: { messageId } }
      const { status, body } = await app.call('POST', '/v3/users/a/conversation/read', sent)
      return [status, JSON.stringify(body.error).replaceAll(`${messageId}`, 'N')]
    }
    assert.equal((await told(own))[0], 400)
    assert.deepEqual(await told(elsewhere), await told('999999'), 'as if it were not there')
    const nothing = await mark(app, 'b', 'c', 'read')
    assert.equal(nothing.body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    assert.equal((await mark(app, 'b', 'a', 'unread')).status, 400)
  })
})

suite('in a group', () => {
  test('each member has marks of its own, and the receipts tell of all', async () => {
    const app = await appWithUsers('a', 'b', 'c', 'd')
    await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'a' } })
    await app.call('POST', '/v3/groups/g/members', { body: { participants: ['b', 'c', 'd'] } })
    const send = async () => {
      const body = { receiver: 'g', receiverType: 'group', data: { text: 'Hello' } }
      return (await app.call('POST', '/v3/messages', { ...as('a'), body })).body.data.id
    }
    const marked = (method: string, uid: string, what: string, messageId?: string) =>
      app.call(method, `/v3/groups/g/conversation/${what}`, {
        ...as(uid),
        ...(messageId && { body: { messageId } }),
      })
    const count = async (uid: string) =>
      (await app.call('GET', '/v3/groups/g/conversation', as(uid))).body.data.unreadMessageCount
    const first = await send()
    const second = await send()
    // What told of the members added before c is not unread to it.
    assert.deepEqual([await count('a'), await count('c')], ['3', '4'])
    await marked('POST', 'b', 'delivered')
    await marked('POST', 'c', 'read', first)
    assert.deepEqual([await count('b'), await count('c')], ['5', '1'])
    await marked('DELETE', 'c', 'read', first)
    assert.equal(await count('c'), '1')
    await marked('POST', 'c', 'read')
    await marked('DELETE', 'c', 'read', first)
    assert.equal(await count('c'), '1')

    const receipts = async (id: string, query = '') => {
      const { data, meta } = (await app.call('GET', `/v3/messages/${id}/receipts?${query}`)).body
      const told = data.map((receipt: { recipient: string; readAt?: number }) => [
        receipt.recipient,
        receipt.readAt !== undefined,
      ])
      return { told, next: meta.next?.id }
    }
    const both = [
      ['b', false],
      ['c', true],
    ]
    assert.deepEqual((await receipts(first)).told, both)
    assert.deepEqual((await receipts(second)).told, both)
    assert.deepEqual(await receipts(first, 'limit=1'), { told: both.slice(0, 1), next: 'b' })
    assert.deepEqual((await receipts(first, 'limit=1&id=b')).told, both.slice(1))
    // Between the two stand many who have read nothing.
    await rows(
      app.cell.db,
      `insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
       select app_no, 'bx' || n, kind, with_id, conversation, scope, joined_at
       from inbox, generate_series(1, 2500) n where app_no = $1 and uid = 'b' and with_id = 'g'`,
      [app.no],
    )
    const near = await receipts(first)
    assert.deepEqual(near.told, both.slice(0, 1))
    assert.deepEqual(await receipts(first, `id=${near.next}`), {
      told: both.slice(1),
      next: undefined,
    })
    const { readAt, receipts: listed } = (await app.call('GET', `/v3/messages/${first}`)).body.data
    assert.deepEqual([readAt, listed], [undefined, { data: [] }])
  })

  test('the last message shows the group as its owner stands in it, and its tags when asked', async () => {
    const app = await appWithUsers('a', 'b')
    await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'a' } })
    await app.call('POST', '/v3/groups/g/members', { body: { participants: ['b'] } })
    const joined = async (query = '') =>
      (await app.call('GET', `/v3/conversations?${query}`, as('b'))).body.data[0]
    const { lastMessage, conversationWith } = await joined()
    assert.equal(lastMessage.data.action, 'added')
    assert.deepEqual(lastMessage.data.entities.for.entity, conversationWith)
    assert.deepEqual([conversationWith.scope, conversationWith.hasJoined], ['participant', true])
    const body = { receiver: 'g', receiverType: 'group', data: { text: 'x' }, tags: ['t'] }
    await app.call('POST', '/v3/messages', { ...as('a'), body })
    assert.equal((await joined()).lastMessage.tags, undefined)
    assert.deepEqual((await joined('withTags=true')).lastMessage.tags, ['t'])
  })

  test('who left sees nothing, and finds the whole history again', async () => {
    const app = await appWithUsers('a', 'b')
    await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'a' } })
    const join = () => app.call('POST', '/v3/groups/g/join', { ...as('b'), body: {} })
    const seen = () => app.call('GET', '/v3/groups/g/conversation', as('b'))
    await join()
    await app.call('POST', '/v3/groups/g/leave', as('b'))
    assert.equal((await seen()).body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    const body = { receiver: 'g', receiverType: 'group', data: { text: 'Away' } }
    await app.call('POST', '/v3/messages', { ...as('a'), body })
    await join()
    assert.equal((await seen()).body.data.unreadMessageCount, '0')
    const history = await app.call('GET', '/v3/groups/g/messages', as('b'))
    assert.deepEqual(
      history.body.data.map((message: { data: { action?: string } }) => message.data.action),
      ['joined', 'left', undefined, 'joined'],
    )
  })
})

suite('a reset', () => {
  test('hides everything so far from its owner alone, until something new comes', async () => {
    const app = await appWithUsers('a', 'b')
    const old = await say(app, 'a', 'b')
    assert.equal((await reset(app, 'b', 'a', { conversationWith: 'c' })).status, 400)
    assert.equal((await reset(app, 'b', 'a')).status, 200)
    assert.equal((await app.eventTypes()).at(-1), 'conversation.cleared')
    assert.equal((await view(app, 'b', 'a')).body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    assert.equal((await reset(app, 'b', 'a')).body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    assert.equal((await app.call('GET', `/v3/messages/${old}`, as('b'))).status, 404)
    assert.equal((await app.call('GET', `/v3/messages/${old}`, as('a'))).status, 200)
    assert.equal(await unread(app, 'a', 'b'), '0')
    const fresh = await say(app, 'a', 'b')
    assert.equal(await unread(app, 'b', 'a'), '1')
    const history = await app.call('GET', '/v3/users/a/messages', as('b'))
    assert.deepEqual(
      history.body.data.map(({ id }: { id: string }) => id),
      [fresh],
    )
    assert.equal((await mark(app, 'b', 'a', 'read', old)).status, 404)
  })

  test('with deleteMessagesPermanently removes the messages for both', async () => {
    const app = await appWithUsers('a', 'b')
    const id = await say(app, 'a', 'b')
    await reset(app, 'b', 'a', { deleteMessagesPermanently: true })
    assert.equal((await app.call('GET', `/v3/messages/${id}`)).status, 404)
    assert.equal((await view(app, 'a', 'b')).body.error.code, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    await say(app, 'b', 'a')
    assert.deepEqual([await unread(app, 'a', 'b'), await unread(app, 'b', 'a')], ['1', '0'])
  })
})
