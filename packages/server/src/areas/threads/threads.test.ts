import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('a', 'b', 'c', 'out')
  const group = { guid: 'g', name: 'G', owner: 'a', members: { participants: ['b', 'c'] } }
  await app.client.groups.create(group)
  return app
}

const GROUP = { receiver: 'g', receiverType: 'group' }
const to = (receiver: string) => ({ receiver, receiverType: 'user' })

const sent = async (answer: ReturnType<TestApp['call']>) => {
  const { status, body } = await answer
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

const say = (app: TestApp, sender: string | undefined, target: object, text = 'Hi') =>
  sent(app.as(sender).call('POST', '/v3/messages', { body: { ...target, data: { text } } }))

const answerTo = (app: TestApp, sender: string, id: string, more: object = {}) =>
  app
    .as(sender)
    .call('POST', `/v3/messages/${id}/thread`, { body: { data: { text: 'Reply' }, ...more } })
const reply = (app: TestApp, sender: string, id: string, more: object = {}) =>
  sent(answerTo(app, sender, id, more))

const get = async (app: TestApp, path: string, uid?: string) => {
  const { status, body } = await app.as(uid).call('GET', `/v3${path}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

const view = async (app: TestApp, uid: string) =>
  (await get(app, '/groups/g/conversation', uid)).data

const threads = async (app: TestApp, uid?: string, query = '') =>
  (await get(app, `/threads?${query}`, uid)).data

suite('sendThreadReply', () => {
  test('sends the reply to the conversation of its parent, which shows it', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const first = await reply(app, 'b', parent.id)
    assert.equal(first.parentId, parent.id)
    assert.equal(first.receiver, 'g')
    const got = (await get(app, `/messages/${first.id}`)).data
    assert.deepEqual({ ...first, receipts: { data: [] } }, got)
    const second = await sent(
      app.as('c').call('POST', '/v3/messages', {
        body: { parentMessageId: Number(parent.id), data: { text: 'Also' } },
      }),
    )
    const { replyCount, lastReply } = (await get(app, `/messages/${parent.id}`)).data
    assert.equal(replyCount, 2)
    assert.equal(lastReply.id, second.id)
    assert.equal(lastReply.data.text, 'Also')
    assert.equal((await app.eventTypes()).at(-1), 'message.sent')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('in a 1:1 conversation sends the reply to the other user', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', to('b'))
    assert.equal((await reply(app, 'b', parent.id)).receiver, 'a')
    assert.equal((await reply(app, 'a', parent.id)).receiver, 'b')
    const own = await say(app, 'a', to('a'))
    assert.equal((await reply(app, 'a', own.id)).receiver, 'a')
    const ours = await say(app, undefined, to('a'))
    const body = { parentMessageId: ours.id, data: { text: 'More' } }
    assert.equal((await sent(app.call('POST', '/v3/messages', { body }))).receiver, 'a')
  })

  test('never counts as unread, and moves the conversation up if the app has set so', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const before = await view(app, 'c')
    const first = await reply(app, 'b', parent.id)
    const shown = await view(app, 'c')
    assert.equal(shown.lastMessage.id, first.id)
    assert.equal(shown.unreadMessageCount, before.unreadMessageCount)
    await storeSettings(server.deps, app, { 'core.conversations.updateOnReplies': false })
    const second = await reply(app, 'b', parent.id)
    assert.equal((await view(app, 'c')).lastMessage.id, first.id)
    assert.equal((await get(app, `/messages/${second.id}`)).data.sentAt, second.sentAt)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('brings no cleared conversation back if replies move nothing', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', to('b'))
    await app.as('b').conversations.resetUser('a', {})
    await storeSettings(server.deps, app, { 'core.conversations.updateOnReplies': false })
    await reply(app, 'a', parent.id)
    await refused(app.as('b').conversations.getUser('a'), 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('has a setting of its own for edits and deletions of replies', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const first = await reply(app, 'b', parent.id)
    const unread = async () => Number((await view(app, 'c')).unreadMessageCount)
    const before = await unread()
    await storeSettings(server.deps, app, { 'core.conversations.updateOnMessageActions': true })
    const body = { data: { text: 'Edited' } }
    await sent(app.call('PUT', `/v3/messages/${first.id}`, { body }))
    assert.equal(await unread(), before)
    await storeSettings(server.deps, app, {
      'core.conversations.updateOnMessageActions': false,
      'core.threads.updateOnMessageActions': true,
    })
    const edited = await sent(app.call('PUT', `/v3/messages/${first.id}`, { body }))
    assert.equal(await unread(), before + 1)
    assert.equal((await view(app, 'c')).lastMessage.id, edited.id)
    await sent(app.call('PUT', `/v3/messages/${parent.id}`, { body }))
    await sent(app.call('DELETE', `/v3/messages/${parent.id}`))
    assert.equal(await unread(), before)
    await sent(app.call('DELETE', `/v3/messages/${first.id}`))
    assert.equal(await unread(), before + 1)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('refuses parents that are replies, actions, or in another conversation', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const direct = await say(app, 'a', to('b'))
    const first = await reply(app, 'b', parent.id)
    const action = await sent(app.call('DELETE', `/v3/messages/${first.id}`))
    await refused(answerTo(app, 'a', first.id), 'ERR_MESSAGE_THREAD_NESTING')
    await refused(answerTo(app, 'a', action.id), 'ERR_WRONG_MESSAGE_THREAD_CATEGORY')
    const elsewhere = answerTo(app, 'a', parent.id, to('b'))
    await refused(elsewhere, 'ERR_WRONG_MESSAGE_THREAD')
    await refused(answerTo(app, 'c', direct.id), 'ERR_MESSAGE_NO_ACCESS')
    await refused(answerTo(app, 'c', direct.id, to('b')), 'ERR_WRONG_MESSAGE_THREAD')
    await refused(answerTo(app, 'out', parent.id), 'ERR_MESSAGE_NO_ACCESS')
    await refused(answerTo(app, 'out', parent.id, GROUP), 'ERR_GROUP_NOT_JOINED')
    await refused(answerTo(app, 'a', '99999999'), 'ERR_MESSAGE_ID_NOT_FOUND')
    await refused(answerTo(app, 'a', '99999999', GROUP), 'ERR_MESSAGE_ID_NOT_FOUND')
    const many = await reply(app, 'a', parent.id, {
      multipleReceivers: { uids: ['b'], guids: ['g'] },
    })
    assert.equal(many.uids.b.error.code, 'ERR_WRONG_MESSAGE_THREAD')
    assert.equal(many.guids.g.data.parentId, parent.id)
    const other = await newApp()
    await refused(answerTo(other, 'a', parent.id, GROUP), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('refuses parents that the sender has cleared', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    await app.as('b').conversations.resetGroup('g', {})
    await refused(answerTo(app, 'b', parent.id, GROUP), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.equal((await answerTo(app, 'c', parent.id, GROUP)).status, 200)
  })

  test('sends one reply for two requests with the same Idempotency-Key or muid', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const keyed = () =>
      sent(
        app.as('b').call('POST', `/v3/messages/${parent.id}/thread`, {
          headers: { 'idempotency-key': 'k' },
          body: { data: { text: 'Once' } },
        }),
      )
    const [one, two] = await Promise.all([keyed(), keyed()])
    assert.equal(one.id, two.id)
    const again = () => reply(app, 'c', parent.id, { muid: 'm' })
    const [three, four] = await Promise.all([again(), again()])
    assert.equal(three.id, four.id)
    assert.equal((await get(app, `/messages/${parent.id}`)).data.replyCount, 2)
  })

  test('counts each of many simultaneous replies', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const senders = Array.from({ length: 12 }, (_, n) => ['a', 'b', 'c'][n % 3] ?? 'a')
    const replies = await Promise.all(senders.map((uid) => reply(app, uid, parent.id)))
    const { replyCount, lastReply } = (await get(app, `/messages/${parent.id}`)).data
    assert.equal(replyCount, 12)
    assert.equal(lastReply.id, String(Math.max(...replies.map(({ id }) => Number(id)))))
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('deleteMessage in a thread', () => {
  test("lowers the parent's count, and no other reply replaces the newest one", async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const replies = [await reply(app, 'b', parent.id), await reply(app, 'c', parent.id)]
    const remove = (id: string, permanent: boolean) =>
      sent(app.call('DELETE', `/v3/messages/${id}`, { body: { permanent } }))
    const read = async () => (await get(app, `/messages/${parent.id}`)).data
    await remove(replies[1].id, false)
    assert.deepEqual([(await read()).replyCount, (await read()).lastReply], [1, undefined])
    await remove(replies[1].id, true)
    assert.equal((await read()).replyCount, 1)
    await remove(replies[0].id, true)
    assert.equal((await read()).replyCount, 0)
    await reply(app, 'b', parent.id)
    assert.equal((await read()).replyCount, 1)
    assert.ok((await read()).lastReply)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('keeps the replies of a parent, unless the parent is removed permanently', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const first = await reply(app, 'b', parent.id)
    await sent(app.call('DELETE', `/v3/messages/${parent.id}`))
    assert.equal((await get(app, `/messages/${parent.id}/thread`, 'c')).data[0].id, first.id)
    assert.equal((await threads(app, 'c'))[0].deletedBy, 'app_system')
    await sent(app.call('DELETE', `/v3/messages/${parent.id}`, { body: { permanent: true } }))
    const list = app.as('c').call('GET', `/v3/messages/${parent.id}/thread`)
    await refused(list, 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.deepEqual(await threads(app, 'c'), [])
    assert.equal((await get(app, `/messages/${first.id}`)).data.parentId, parent.id)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('threads', () => {
  test('and replies of a removed user are removed too', async () => {
    const app = await newApp()
    const [kept, gone] = [await say(app, 'a', GROUP), await say(app, 'b', GROUP)]
    await reply(app, 'b', kept.id)
    await reply(app, 'c', kept.id)
    await reply(app, 'c', gone.id)
    const direct = await say(app, 'a', to('b'))
    await reply(app, 'b', direct.id)
    await app.client.users.delete('b', { permanent: true })
    const listed = await threads(app, 'a')
    assert.deepEqual(
      listed.map(({ id, replyCount }: { id: string; replyCount: number }) => [id, replyCount]),
      [[kept.id, 1]],
    )
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('are removed with the messages of a conversation', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', to('b'))
    await reply(app, 'b', parent.id)
    await sent(app.as('a').call('POST', `/v3/messages/${parent.id}/thread/subscription`))
    const body = { deleteMessagesPermanently: true }
    await app.as('a').conversations.resetUser('b', body)
    assert.deepEqual(await threads(app, 'a'), [])
    const count = async (table: string) =>
      (
        await app.cell.db.query<{ n: number }>({
          ...{ name: '', values: [app.no] },
          text: `select count(*) as n from ${table} where app_no = $1`,
        })
      ).rows[0]?.n
    assert.deepEqual([await count('threads'), await count('thread_users')], [0, 0])
    await app.client.groups.delete('g')
  })
})

suite('listThreadReplies', () => {
  test('pages as the history does', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      ids.push((await reply(app, 'b', parent.id)).id)
      await say(app, 'b', GROUP)
    }
    const path = `/messages/${parent.id}/thread`
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
    const first = await get(app, `${path}?limit=3`, 'c')
    assert.deepEqual(idsOf(first), ids.slice(0, 3))
    const { affix, id } = first.meta.next
    const rest = await get(app, `${path}?limit=3&affix=${affix}&id=${id}`, 'c')
    assert.deepEqual(idsOf(rest), ids.slice(3))
    assert.equal(rest.meta.next, undefined)
    assert.deepEqual(idsOf(await get(app, `${path}?limit=2&affix=prepend`)), ids.slice(3))
    const { sentAt } = (await get(app, `/messages/${ids[0]}`)).data
    assert.deepEqual(idsOf(await get(app, `${path}?affix=append&sentAt=${sentAt - 1}`)), ids)
    await refused(app.as('out').call('GET', `/v3${path}`), 'ERR_MESSAGE_NO_ACCESS')
  })
})

suite('listThreads', () => {
  test('lists the threads that the caller can see, newest first', async () => {
    const app = await newApp()
    const inGroup = await say(app, 'a', GROUP)
    const direct = await say(app, 'a', to('b'))
    const foreign = await say(app, 'b', to('c'))
    for (const { id } of [inGroup, direct, foreign]) await reply(app, 'b', id)
    await reply(app, 'a', inGroup.id)
    const idsOf = async (uid?: string, query = '') =>
      (await threads(app, uid, query)).map(({ id }: { id: string }) => id).sort()
    const sorted = (...messages: { id: string }[]) => messages.map(({ id }) => id).sort()
    assert.deepEqual(await idsOf(), sorted(inGroup, direct, foreign))
    assert.deepEqual(await idsOf('a'), sorted(inGroup, direct))
    assert.deepEqual(await idsOf('c'), sorted(inGroup, foreign))
    assert.deepEqual(await idsOf('out'), [])
    assert.deepEqual(await idsOf('c', 'participatedByMe=true'), [])
    assert.deepEqual(await idsOf('a', 'participatedByMe=true'), sorted(inGroup, direct))
    await app.as('c').groups.leave('g')
    assert.deepEqual(await idsOf('c'), sorted(foreign))
    await app.as('a').conversations.resetUser('b', {})
    assert.deepEqual(await idsOf('a'), sorted(inGroup))
    await refused(app.client.threads.list({ participatedByMe: true }), 'ERR_BAD_REQUEST')
  })

  test('counts the replies and mentions that the caller has not read', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const first = await reply(app, 'b', parent.id, { data: { text: '<@uid:c>' } })
    await reply(app, 'c', parent.id)
    await reply(app, 'b', parent.id, { data: { text: '<@uid:c> <@uid:a>' } })
    const gone = await reply(app, 'b', parent.id, { data: { text: '<@uid:c>' } })
    await sent(app.call('DELETE', `/v3/messages/${gone.id}`))
    await say(app, 'b', GROUP, '<@uid:c>')
    const both = 'withUnreadReplyCount=true&withMentionCount=true'
    const counts = async (uid: string) => {
      const [{ unreadReplyCount, mentionCount }] = await threads(app, uid, both)
      return [unreadReplyCount, mentionCount]
    }
    assert.deepEqual(await counts('c'), [2, 2])
    assert.deepEqual(await counts('a'), [3, 1])
    assert.deepEqual(await counts('b'), [1, 0])
    assert.equal((await view(app, 'c')).unreadMentionsCount, 3)
    const body = { messageId: first.id }
    await app.as('c').conversations.markGroupRead('g', body)
    assert.deepEqual(await counts('c'), [1, 1])
    const [{ unreadReplyCount }] = await threads(app, 'c')
    assert.equal(unreadReplyCount, undefined)
  })

  test('pages in both directions without missing threads of the same second', async () => {
    const app = await newApp()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      const { id } = await say(app, 'a', n % 2 ? GROUP : to('b'))
      await reply(app, 'b', id)
      ids.push(id)
    }
    for (const [uid, filter] of [
      ['b', ''],
      ['b', '&participatedByMe=true'],
      [undefined, ''],
    ]) {
      const crawl = async (affix: string) => {
        const pages: string[][] = []
        let cursor = ''
        do {
          const { data, meta } = await get(
            app,
            `/threads?limit=2&affix=${affix}${filter}${cursor}`,
            uid,
          )
          pages.push(data.map(({ id }: { id: string }) => id))
          cursor = meta.next && `&updatedAt=${meta.next.updatedAt}&id=${meta.next.id}`
        } while (cursor)
        return pages
      }
      assert.deepEqual((await crawl('prepend')).flat(), ids.toReversed())
      assert.deepEqual((await crawl('append')).toReversed().flat(), ids.toReversed())
    }
    const [{ lastReply }] = await threads(app, 'b', 'limit=1')
    const second = `updatedAt=${lastReply.sentAt}`
    assert.deepEqual(await threads(app, 'b', `affix=append&${second}`), [])
    assert.equal(
      (await threads(app, 'b', `affix=append&updatedAt=${lastReply.sentAt - 60}`)).length,
      5,
    )
  })

  test('fills pages although threads of a removed user are not swept yet', async () => {
    const app = await newApp()
    const ids: string[] = []
    for (const sender of ['a', 'b', 'b', 'b', 'c']) {
      const { id } = await say(app, sender, GROUP)
      await reply(app, 'a', id)
      ids.push(id)
    }
    const text = `update users set removed_at = now() where app_no = $1 and uid = 'b'`
    await app.cell.db.query({ name: '', text, values: [app.no] })
    for (const [affix, first, second] of [
      ['prepend', ids[4], ids[0]],
      ['append', ids[0], ids[4]],
    ]) {
      const { data, meta } = await get(
        app,
        `/threads?limit=1&affix=${affix}&updatedAt=${affix === 'append' ? 1 : 9e9}`,
      )
      assert.deepEqual([data[0]?.id, meta.next?.id], [first, first])
      const next = new URLSearchParams({ ...meta.next, limit: 1 })
      const rest = await get(app, `/threads?${next}`)
      assert.deepEqual([rest.data[0]?.id, rest.meta.next], [second, undefined])
    }
  })
})

suite('unfollowThread', () => {
  test("removes a followed thread from the user's own, but not one with the user's replies", async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const follow = (method: string, uid: string, id = parent.id) =>
      app.as(uid).call(method, `/v3/messages/${id}/thread/subscription`)
    const own = async (uid: string) =>
      (await threads(app, uid, 'participatedByMe=true')).map(({ id }: { id: string }) => id)
    assert.equal((await follow('POST', 'c')).body.data.success, true)
    assert.equal((await follow('POST', 'c')).body.data.success, true)
    assert.deepEqual(await own('c'), [])
    await reply(app, 'b', parent.id)
    assert.deepEqual(await own('c'), [parent.id])
    assert.equal((await follow('DELETE', 'c')).body.data.success, true)
    assert.equal((await follow('DELETE', 'c')).body.data.success, true)
    assert.deepEqual(await own('c'), [])
    await follow('DELETE', 'b')
    assert.deepEqual(await own('b'), [parent.id])
    const events = (await app.eventTypes()).filter((type) => type === 'thread.followed')
    assert.equal(events.length, 3)
  })
})

suite('followThread', () => {
  test('refuses replies, actions, unknown messages and users without access', async () => {
    const app = await newApp()
    const parent = await say(app, 'a', GROUP)
    const first = await reply(app, 'b', parent.id)
    const action = await app.client.messages.delete(first.id)
    const { threads } = app.as('a')
    await refused(app.as('out').threads.follow(parent.id), 'ERR_MESSAGE_NO_ACCESS')
    await refused(threads.follow(first.id), 'ERR_MESSAGE_THREAD_NESTING')
    await refused(threads.follow(action.id), 'ERR_WRONG_MESSAGE_THREAD_CATEGORY')
    await refused(threads.follow('99999999'), 'ERR_MESSAGE_ID_NOT_FOUND')
  })
})
