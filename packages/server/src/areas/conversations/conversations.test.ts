import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ResetUserConversationBody } from '@loquat/sdk'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { verify } from '../../verify/verify.ts'
import { refuseClearForAll, refusePin, refusePurge } from './policy.ts'

const server = useServer()

const say = async (app: TestApp, sender: string, receiver: string) =>
  (await app.as(sender).sendText(receiver)).id

const view = (app: TestApp, uid: string, other: string) => app.as(uid).conversations.getUser(other)
const unread = async (app: TestApp, uid: string, other: string) =>
  (await view(app, uid, other)).unreadMessageCount
const mark = (
  app: TestApp,
  uid: string,
  other: string,
  what: 'delivered' | 'read' | 'unread',
  messageId?: string | number,
) =>
  app
    .as(uid)
    .call(
      what === 'unread' ? 'DELETE' : 'POST',
      `/v3/users/${other}/conversation/${what === 'unread' ? 'read' : what}`,
      { ...(messageId !== undefined && { body: { messageId } }) },
    )
const reset = (app: TestApp, uid: string, other: string, body: ResetUserConversationBody = {}) =>
  app.as(uid).conversations.resetUser(other, body)

suite('getUserConversation', () => {
  test('finds the conversation once it has a message, for both users', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await refused(view(app, 'a', 'b'), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    await refused(view(app, 'a', 'ghost'), 'ERR_UID_NOT_FOUND')
    const id = await say(app, 'a', 'b')
    const { createdAt, updatedAt, lastMessage, conversationWith, ...rest } = await view(
      app,
      'b',
      'a',
    )
    assert.deepEqual(rest, {
      conversationId: 'a_user_b',
      conversationType: 'user',
      unreadMessageCount: 1,
      unreadMentionsCount: 0,
    })
    assert.ok(lastMessage && conversationWith && 'uid' in conversationWith)
    assert.deepEqual([createdAt, updatedAt, lastMessage.id], [lastMessage.sentAt, createdAt, id])
    assert.deepEqual(lastMessage.receipts, { data: [] })
    assert.deepEqual([conversationWith.uid, conversationWith.conversationId], ['a', 'a_user_b'])
    assert.equal(await unread(app, 'a', 'b'), 0)
  })

  test('finds the conversation with a deactivated user', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await say(app, 'a', 'b')
    await app.client.users.delete('b')
    const { conversationWith } = await view(app, 'a', 'b')
    assert.ok(conversationWith && 'deactivatedAt' in conversationWith)
  })

  test('finds neither the conversation with a removed user nor its messages', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const id = await say(app, 'a', 'b')
    await app.client.users.delete('b', { permanent: true })
    await refused(app.client.messages.get(id), 'ERR_MESSAGE_ID_NOT_FOUND')
    await app.client.users.create({ uid: 'b', name: 'Another' })
    await refused(view(app, 'a', 'b'), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
  })

  // With a message and two views there are batches that end before, between and after the views.
  for (const limit of [1, 2, 3]) {
    test(`loses the conversation with a removed user that is swept ${limit} rows at a time`, async () => {
      const app = await server.newApp()
      await app.users('a', 'b')
      await say(app, 'a', 'b')
      const run = async (text: string) =>
        (await app.cell.db.query({ name: '', text, values: [app.no] })).rows
      await run(`update users set removed_at = now() where app_no = $1 and uid = 'a'`)
      const sweep = () => run(`select sweep_user($1, 'a', ${limit}) as gone`)
      while (!(await sweep())[0]?.gone);
      for (const table of ['inbox', 'conversations', 'messages']) {
        assert.deepEqual(await run(`select from ${table} where app_no = $1`), [], table)
      }
      const { data, meta } = await app.as('b').conversations.list()
      assert.deepEqual([data, meta.pagination.total], [[], 0])
    })
  }
})

suite('updateUserConversation', () => {
  test("sets the user's own tags, which conversationTags finds and a reset clears", async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a' })
    await app.client.groupMembers.add('g', { participants: ['b'] })
    await say(app, 'a', 'b')
    const tag = (path: string, tags: string[]) =>
      app.as('a').call('PUT', `/v3/${path}/conversation`, { body: { tags } })
    assert.deepEqual((await tag('users/b', ['work'])).body.data.tags, ['work'])
    assert.deepEqual((await tag('groups/g', ['work', 'fun'])).body.data.tags, ['work', 'fun'])
    const unchanged = await app.as('a').call('PUT', '/v3/groups/g/conversation', { body: {} })
    assert.deepEqual(unchanged.body.data.tags, ['work', 'fun'])
    assert.equal((await app.eventTypes()).at(-1), 'conversation.tags.updated')
    const listed = async (uid: string, query: string) => {
      const { body } = await app.as(uid).call('GET', `/v3/conversations?${query}`)
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
    assert.equal((await view(app, 'a', 'b')).tags, undefined)
    await refused(
      app.as('a').conversations.updateUser('a', { tags: [] }),
      'ERR_CONVERSATION_NOT_ACCESSIBLE',
    )
  })
})

suite('markUserConversationRead', () => {
  test('lowers the unread count up to a message, and unread raises it again', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push(await say(app, 'a', 'b'))
    await say(app, 'b', 'a')
    ids.push(await say(app, 'a', 'b'))
    assert.equal(await unread(app, 'b', 'a'), 6)
    await mark(app, 'b', 'a', 'read', ids[2])
    assert.equal(await unread(app, 'b', 'a'), 3)
    assert.equal((await view(app, 'b', 'a')).lastReadMessageId, ids[2])
    await mark(app, 'b', 'a', 'read', Number(ids[0]))
    assert.equal(await unread(app, 'b', 'a'), 3, 'read never moves back')
    await mark(app, 'b', 'a', 'read')
    assert.equal(await unread(app, 'b', 'a'), 0)
    await mark(app, 'b', 'a', 'unread', ids[0])
    assert.equal(await unread(app, 'b', 'a'), 5)
    await mark(app, 'b', 'a', 'unread', ids[4])
    assert.equal(await unread(app, 'b', 'a'), 5, 'unread never moves on')
    assert.equal(await unread(app, 'a', 'b'), 1)
  })

  test('counts neither deleted messages nor own ones', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const [first, second] = [await say(app, 'a', 'b'), await say(app, 'a', 'b')]
    const third = await say(app, 'a', 'b')
    await say(app, 'a', 'b')
    const own = await say(app, 'b', 'a')
    await app.client.messages.delete(second)
    await app.client.messages.delete(third, { permanent: true })
    assert.equal(await unread(app, 'b', 'a'), 2)
    await app.client.messages.delete(own)
    assert.equal(await unread(app, 'b', 'a'), 2)
    assert.equal(await unread(app, 'a', 'b'), 0)
    await mark(app, 'b', 'a', 'read', first)
    assert.equal(await unread(app, 'b', 'a'), 1)
  })

  test('sends an event only when it changes something, as the other marks do', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
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

  test('refuses messages of other conversations', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c', 'd')
    await say(app, 'a', 'b')
    const elsewhere = await say(app, 'a', 'c')
    const own = await say(app, 'b', 'd')
    await refused(mark(app, 'b', 'a', 'read', elsewhere), 'ERR_BAD_REQUEST')
    await refused(mark(app, 'b', 'a', 'read', '999999'), 'ERR_MESSAGE_ID_NOT_FOUND')
    const { authToken } = await app.client.authTokens.create('b')
    const device = { apiKey: null, headers: { authtoken: authToken } }
    const errorFor = async (messageId: string) => {
      const sent = { ...device, body: { messageId } }
      const { status, body } = await app.call('POST', '/v3/users/a/conversation/read', sent)
      return [status, JSON.stringify(body.error).replaceAll(`${messageId}`, 'N')]
    }
    assert.equal((await errorFor(own))[0], 400)
    assert.deepEqual(await errorFor(elsewhere), await errorFor('999999'), 'as if it did not exist')
    await refused(mark(app, 'b', 'c', 'read'), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
  })
})

suite('markUserConversationUnread', () => {
  test('needs a message', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await say(app, 'a', 'b')
    await refused(mark(app, 'b', 'a', 'unread'), 'ERR_BAD_REQUEST')
  })
})

suite('markUserConversationDelivered', () => {
  test('shows the sender the time of delivery, and reading a message also delivers it', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const first = await say(app, 'a', 'b')
    const second = await say(app, 'a', 'b')
    const times = async (id: string) => {
      const { deliveredAt, readAt, receipts } = await app.client.messages.get(id)
      return [deliveredAt !== undefined, readAt !== undefined, receipts?.data.length]
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
    const { data } = await app.client.messages.listReceipts(third)
    const [receipt] = data
    assert.equal(receipt?.recipient, 'b')
    assert.ok((receipt?.deliveredAt ?? 0) <= (receipt?.readAt ?? 0))
    // Users have no receipts for their own messages.
    await say(app, 'b', 'a')
    await mark(app, 'b', 'a', 'read')
    const { lastMessage } = await view(app, 'b', 'a')
    assert.deepEqual(lastMessage?.receipts?.data, [])
  })
})

suite('markGroupConversationRead', () => {
  test("moves only the member's own mark, and the receipts show every member's", async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c', 'd')
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a' })
    await app.client.groupMembers.add('g', { participants: ['b', 'c', 'd'] })
    const send = async () => (await app.as('a').sendText('g', 'Hi', { receiverType: 'group' })).id
    const marked = (method: string, uid: string, what: string, messageId?: string) =>
      app.as(uid).call(method, `/v3/groups/g/conversation/${what}`, {
        ...(messageId && { body: { messageId } }),
      })
    const count = async (uid: string) =>
      (await app.as(uid).conversations.getGroup('g')).unreadMessageCount
    const first = await send()
    const second = await send()
    // The messages about members who were added before c aren't unread to c.
    assert.deepEqual([await count('a'), await count('c')], [3, 4])
    await marked('POST', 'b', 'delivered')
    await marked('POST', 'c', 'read', first)
    assert.deepEqual([await count('b'), await count('c')], [5, 1])
    await marked('DELETE', 'c', 'read', first)
    assert.equal(await count('c'), 1)
    await marked('POST', 'c', 'read')
    await marked('DELETE', 'c', 'read', first)
    assert.equal(await count('c'), 1)

    const receipts = async (id: string, query = '') => {
      const { data, meta } = (await app.call('GET', `/v3/messages/${id}/receipts?${query}`)).body
      const shown = data.map((receipt: { recipient: string; readAt?: number }) => [
        receipt.recipient,
        receipt.readAt !== undefined,
      ])
      return { shown, next: meta.next?.id }
    }
    const both = [
      ['b', false],
      ['c', true],
    ]
    assert.deepEqual((await receipts(first)).shown, both)
    assert.deepEqual((await receipts(second)).shown, both)
    assert.deepEqual(await receipts(first, 'limit=1'), { shown: both.slice(0, 1), next: 'b' })
    assert.deepEqual((await receipts(first, 'limit=1&id=b')).shown, both.slice(1))
    // Many members who have read nothing sort between the two.
    await rows(
      app.cell.db,
      `insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
       select app_no, 'bx' || n, kind, with_id, conversation, scope, joined_at
       from inbox, generate_series(1, 5500) n where app_no = $1 and uid = 'b' and with_id = 'g'`,
      [app.no],
    )
    assert.deepEqual(await receipts(first), { shown: both, next: undefined })
    assert.deepEqual(await receipts(first, 'limit=1'), { shown: both.slice(0, 1), next: 'b' })
    const { readAt, receipts: listed } = await app.client.messages.get(first)
    assert.deepEqual([readAt, listed], [undefined, { data: [] }])
  })
})

suite('getGroupConversation', () => {
  test("shows the viewer's membership in the last message, and its tags on request", async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a' })
    await app.client.groupMembers.add('g', { participants: ['b'] })
    const joined = async (query = '') =>
      (await app.as('b').call('GET', `/v3/conversations?${query}`)).body.data[0]
    const { lastMessage, conversationWith } = await joined()
    assert.equal(lastMessage.data.action, 'added')
    assert.deepEqual(lastMessage.data.entities.for.entity, conversationWith)
    assert.deepEqual([conversationWith.scope, conversationWith.hasJoined], ['participant', true])
    await app.as('a').sendText('g', 'x', { receiverType: 'group', tags: ['t'] })
    assert.equal((await joined()).lastMessage.tags, undefined)
    assert.deepEqual((await joined('withTags=true')).lastMessage.tags, ['t'])
  })

  test('hides the group from a user who left and shows the whole history after joining again', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a' })
    const join = () => app.as('b').groups.join('g')
    const seen = () => app.as('b').conversations.getGroup('g')
    await join()
    await app.as('b').groups.leave('g')
    await refused(seen(), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    await app.as('a').sendText('g', 'Away', { receiverType: 'group' })
    await join()
    assert.equal((await seen()).unreadMessageCount, 0)
    const history = await app.as('b').messages.listGroup('g')
    assert.deepEqual(
      history.data.map(({ data }) => data.action),
      ['joined', 'left', undefined, 'joined'],
    )
  })
})

suite('resetUserConversation', () => {
  test('hides the conversation from the user alone, until a new message arrives', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const old = await say(app, 'a', 'b')
    await refused(reset(app, 'b', 'a', { conversationWith: 'c' }), 'ERR_BAD_REQUEST')
    await reset(app, 'b', 'a')
    assert.equal((await app.eventTypes()).at(-1), 'conversation.cleared')
    await refused(view(app, 'b', 'a'), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    await refused(reset(app, 'b', 'a'), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    await refused(app.as('b').messages.get(old), 'ERR_MESSAGE_ID_NOT_FOUND')
    await app.as('a').messages.get(old)
    assert.equal(await unread(app, 'a', 'b'), 0)
    const fresh = await say(app, 'a', 'b')
    assert.equal(await unread(app, 'b', 'a'), 1)
    const history = await app.as('b').messages.listUser('a')
    assert.deepEqual(
      history.data.map(({ id }) => id),
      [fresh],
    )
    await refused(mark(app, 'b', 'a', 'read', old), 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('removes the messages for both users with deleteMessagesPermanently', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const id = await say(app, 'a', 'b')
    await reset(app, 'b', 'a', { deleteMessagesPermanently: true })
    await refused(app.client.messages.get(id), 'ERR_MESSAGE_ID_NOT_FOUND')
    await refused(view(app, 'a', 'b'), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    await say(app, 'b', 'a')
    assert.deepEqual([await unread(app, 'a', 'b'), await unread(app, 'b', 'a')], [1, 0])
  })
})

suite('who may clear and pin conversations', () => {
  for (const [kind, code] of [
    ['app', undefined],
    ['appOnBehalf', undefined],
    ['user', 'AUTH_ERR_NO_ACCESS'],
  ] as const) {
    test(`delete messages for both, as ${kind}: ${code ?? 'allowed'}`, () => {
      const acting = kind === 'app' ? { kind } : { kind, uid: 'amira' }
      assert.equal(refusePurge(acting)?.code, code)
    })
  }

  for (const [kind, scope, code] of [
    ['user', null, undefined],
    ['group', 'admin', undefined],
    ['group', 'moderator', 'ERR_GROUP_NO_ADMIN_SCOPE'],
    ['group', 'participant', 'ERR_GROUP_NO_ADMIN_SCOPE'],
    ['group', null, 'ERR_GROUP_NO_ADMIN_SCOPE'],
  ] as const) {
    test(`clear a ${kind} conversation for everyone, as ${scope}: ${code ?? 'allowed'}`, () => {
      const acting = { kind: 'appOnBehalf', uid: 'ana' } as const
      assert.equal(refuseClearForAll(acting, kind, scope)?.code, code)
    })
  }

  for (const [by_app, code] of [
    [true, 'ERR_SYSTEM_PINNED_CONVERSATION'],
    [false, undefined],
  ] as const) {
    test(`change a pin of ${by_app ? 'the app' : 'their own'}: ${code ?? 'allowed'}`, () => {
      assert.equal(refusePin({ by_app })?.code, code)
    })
  }
})

suite('the order of 1:1 views', () => {
  test('follows sends, blocks, clears and removals, and verify finds whatever differs', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const listed = () =>
      rows<{ row: string }>(
        app.cell.db,
        `select uid || ' ' || with_id || case when blocked then ' blocked' else '' end as row
         from direct_views where app_no = $1 order by 1`,
        [app.no],
      ).then((found) => found.map(({ row }) => row))
    const found = async () =>
      (await verify(app.cell, app.no)).map(({ what, id }) => `${what}: ${id}`)
    await say(app, 'a', 'b')
    await say(app, 'c', 'a')
    await app.client.blockedUsers.block('a', { blockedUids: ['b'] })
    assert.deepEqual(await listed(), ['a b blocked', 'a c', 'b a', 'c a'])
    await app.as('a').conversations.resetUser('c', {})
    assert.deepEqual(await listed(), ['a b blocked', 'b a', 'c a'])
    assert.deepEqual(await found(), [])
    await say(app, 'c', 'a')
    assert.deepEqual(await listed(), ['a b blocked', 'a c', 'b a', 'c a'])

    for (const harm of [
      `delete from direct_views where app_no = $1 and uid = 'a' and with_id = 'c'`,
      `insert into direct_views select app_no, 'a', false, updated_second + 1, 'c' from direct_views
       where app_no = $1 and uid = 'c'`,
      `update direct_views set blocked = true where app_no = $1 and uid = 'a' and with_id = 'c'`,
    ]) {
      await rows(app.cell.db, harm, [app.no])
      assert.deepEqual(await found(), ['the order of 1:1 views: a c'])
    }
    await rows(
      app.cell.db,
      `update direct_views d set blocked = false, updated_second = h.updated_second
       from conversations h where d.app_no = $1 and d.uid = 'a' and d.with_id = 'c'
         and h.app_no = $1 and h.one = 'a' and h.other = 'c'`,
      [app.no],
    )
    assert.deepEqual(await found(), [])
    await app.client.users.delete('c', { permanent: true })
    const swept = await rows<{ gone: boolean }>(
      app.cell.db,
      `select sweep_user($1, 'c', 1000) as gone`,
      [app.no],
    )
    assert.deepEqual(swept, [{ gone: true }])
    assert.deepEqual(await listed(), ['a b blocked', 'b a'])
  })
})

suite('the tables that sends write have no CHECKs', () => {
  test('but functions and operations store no other kind and scope', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a' })
    await app.client.groupMembers.add('g', { participants: ['b'] })
    const message = { receiver: 'b', receiverType: 'room', data: { text: 'Hi' } }
    const sent = app.as('a').call('POST', '/v3/messages', { body: message })
    await refused(sent, 'ERR_INVALID_RECEIVER_TYPE')
    const scope = { body: { scope: 'owner' } }
    await refused(app.call('PUT', '/v3/groups/g/members/b', scope), 'ERR_BAD_REQUEST')
    await refused(
      app.call('POST', '/v3/groups/g/members', { body: { owners: ['b'] } }),
      'ERR_BAD_REQUEST',
    )
    await say(app, 'a', 'b')
    await assert.rejects(
      rows(app.cell.db, `select mark_conversation($1, 'b', 'user', 'a', 'seen', null)`, [app.no]),
      { code: '23502' },
    )
    await mark(app, 'b', 'a', 'read')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('and verify finds every other value', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a' })
    await say(app, 'a', 'b')
    await mark(app, 'b', 'a', 'read')
    for (const [table, column] of [
      ['conversations', 'kind'],
      ['inbox', 'scope'],
      ['marks', 'kind'],
    ]) {
      await rows(app.cell.db, `update ${table} set ${column} = 'other' where app_no = $1`, [app.no])
      const found = (await verify(app.cell, app.no)).map(({ what, id }) => `${what}: ${id}`)
      const rule = new RegExp(`^${table}\\.${column} is one of .*: other$`)
      assert.ok(
        found.some((one) => rule.test(one)),
        `${table}.${column}: ${found}`,
      )
    }
  })
})
