import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

async function appWithUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  return app
}

const as = (uid: string) => ({ headers: { onbehalfof: uid } })

/** Sends a text, and gives the answer. */
const say = (app: TestApp, sender: string, receiver: string, text = 'Hello', more: object = {}) =>
  app.call('POST', '/v3/messages', {
    ...as(sender),
    body: { receiver, receiverType: 'user', data: { text }, ...more },
  })

const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code

suite('sending to a user', () => {
  test('gives the record, with both sides in it', async () => {
    const app = await appWithUsers('ben', 'amira')
    const { body } = await say(app, 'ben', 'Amira', 'See you at 6', {
      muid: 'm-17',
      tags: ['plan'],
    })
    const { id, sentAt, updatedAt, data, ...rest } = body.data
    assert.match(id, /^\d+$/)
    assert.equal(sentAt, updatedAt)
    assert.ok(Math.abs(sentAt - Date.now() / 1000) < 60)
    assert.deepEqual(rest, {
      conversationId: 'amira_user_ben',
      sender: 'ben',
      receiverType: 'user',
      receiver: 'amira',
      category: 'message',
      type: 'text',
      muid: 'm-17',
      tags: ['plan'],
    })
    assert.equal(data.text, 'See you at 6')
    assert.equal(data.entities.sender.entity.name, 'ben')
    assert.equal(data.entities.receiver.entity.conversationId, 'amira_user_ben')
    const read = (await app.call('GET', `/v3/messages/${id}`)).body.data
    assert.deepEqual(read, { ...body.data, receipts: { data: [] } })
    assert.equal((await app.eventTypes()).at(-1), 'message.sent')
  })

  test('the entities are as the users are now', async () => {
    const app = await appWithUsers('ben', 'amira')
    const { id } = (await say(app, 'ben', 'amira')).body.data
    const metadata = { team: 'ops', '@private': { ssn: 1 }, none: null }
    await app.call('PUT', '/v3/users/ben', { body: { name: 'Benjamin', metadata } })
    const { sender } = (await app.call('GET', `/v3/messages/${id}`)).body.data.data.entities
    assert.equal(sender.entity.name, 'Benjamin')
    assert.deepEqual(sender.entity.metadata, { team: 'ops', none: null })
    const sent = (await say(app, 'ben', 'amira')).body.data.data.entities.sender.entity
    assert.deepEqual(sent, sender.entity)
    const user = (await app.call('GET', '/v3/users/ben', as('amira'))).body.data
    for (const [field, value] of Object.entries(sent)) assert.deepEqual(user[field], value, field)
  })

  test('the app itself sends as app_system, and no block holds it up', async () => {
    const app = await appWithUsers('ben')
    const { body } = await app.call('POST', '/v3/messages', {
      body: { receiver: 'ben', receiverType: 'user', data: { text: 'Welcome' } },
    })
    assert.equal(body.data.sender, 'app_system')
    assert.equal(body.data.conversationId, 'app_system_user_ben')
    assert.equal(body.data.data.entities.sender.entity.name, 'System')
    const view = await app.call('GET', '/v3/users/app_system/conversation', as('ben'))
    assert.equal(view.body.data.unreadMessageCount, '1')
    assert.equal(view.body.data.conversationWith.name, 'System')
  })

  test('to oneself: one view, nothing unread', async () => {
    const app = await appWithUsers('ben')
    assert.equal((await say(app, 'ben', 'ben')).body.data.conversationId, 'ben_user_ben')
    const { body } = await app.call('GET', '/v3/users/ben/conversation', as('ben'))
    assert.equal(body.data.unreadMessageCount, '0')
  })

  test('blocks act both ways, and end', async () => {
    const app = await appWithUsers('a', 'b')
    const block = (method: string) =>
      app.call(method, '/v3/users/a/blockedusers', { body: { blockedUids: ['b'] } })
    await block('POST')
    assert.equal(await codeOf(say(app, 'a', 'b')), 'ERR_BLOCKED_RECEIVER')
    assert.equal(await codeOf(say(app, 'b', 'a')), 'ERR_BLOCKED_SENDER')
    await block('DELETE')
    assert.equal((await say(app, 'b', 'a')).status, 200)
  })

  test('a role can allow friends only', async () => {
    const app = await appWithUsers('a', 'b')
    const settings = { sendMessagesTo: 'friendsOnly' }
    await app.call('POST', '/v3/roles', { body: { role: 'shy', name: 'Shy', settings } })
    await app.call('PUT', '/v3/users/a', { body: { role: 'shy' } })
    assert.equal(await codeOf(say(app, 'a', 'b')), 'ERR_PERMISSION_DENIED')
    assert.equal((await say(app, 'b', 'a')).status, 200)
    await app.call('POST', '/v3/users/a/friends', { body: { accepted: ['b'] } })
    assert.equal((await say(app, 'a', 'b')).status, 200)
  })

  test('a custom one moves the view unless its sender, or the app, wants it otherwise', async () => {
    const app = await appWithUsers('a', 'b')
    const custom = (more: object) =>
      app.call('POST', '/v3/messages', {
        ...as('a'),
        body: {
          ...{ receiver: 'b', receiverType: 'user', category: 'custom', type: 'poll' },
          ...{ data: { customData: { n: 1 } }, ...more },
        },
      })
    const seen = async () => {
      const { body } = await app.call('GET', '/v3/users/a/conversation', as('b'))
      return [body.data?.lastMessage.id, body.data?.unreadMessageCount]
    }
    await custom({ updateConversation: false })
    assert.deepEqual(await seen(), [undefined, undefined])
    const shown = (await custom({})).body.data.id
    await custom({ updateConversation: false })
    assert.deepEqual(await seen(), [shown, '1'])
    await storeSettings(server.deps, app, { 'core.conversations.updateOnCustomMessage': false })
    const silent = (await custom({ updateConversation: true })).body.data
    assert.deepEqual(await seen(), [shown, '1'])
    const { body } = await app.call('GET', '/v3/users/b/messages', as('a'))
    assert.equal(body.data.at(-1).id, silent.id)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('an empty onBehalfOf is no way to be the app', async () => {
    const app = await appWithUsers('a')
    const { status, body } = await app.call('GET', '/v3/conversations', as(' '))
    assert.deepEqual([status, Object.keys(body.error.details)], [400, ['onBehalfOf']])
  })

  test('nobody to send to', async () => {
    const app = await appWithUsers('a', 'b')
    await app.call('DELETE', '/v3/users/b')
    assert.equal(await codeOf(say(app, 'a', 'b')), 'ERR_UID_NOT_FOUND')
    assert.equal(await codeOf(say(app, 'a', 'ghost')), 'ERR_UID_NOT_FOUND')
    assert.equal(await codeOf(say(app, 'ghost', 'a')), 'ERR_UID_NOT_FOUND')
    const group = { receiver: 'ghost', receiverType: 'group' }
    assert.equal(await codeOf(say(app, 'a', '', 'Hi', group)), 'ERR_GUID_NOT_FOUND')
  })

  test('to several: each has an outcome of its own, and a retry sends nothing twice', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const body = {
      receiver: 'b',
      receiverType: 'user',
      multipleReceivers: { uids: ['b', 'c', 'ghost'], guids: ['nowhere'] },
      data: { text: 'All' },
      muid: 'm',
    }
    const headers = { onbehalfof: 'a', 'idempotency-key': 'k' }
    const first = await app.call('POST', '/v3/messages', { body, headers })
    const { uids, guids } = first.body.data
    assert.equal(uids.b.data.receiver, 'b')
    assert.equal(uids.c.data.receiver, 'c')
    assert.equal(uids.ghost.error.code, 'ERR_UID_NOT_FOUND')
    assert.equal(guids.nowhere.error.code, 'ERR_GUID_NOT_FOUND')
    const again = await app.call('POST', '/v3/messages', { body, headers })
    const byMuid = await app.call('POST', '/v3/messages', { body, ...as('a') })
    for (const { body: answer } of [again, byMuid]) {
      assert.equal(answer.data.uids.b.data.id, uids.b.data.id)
      assert.equal(answer.data.uids.c.data.id, uids.c.data.id)
    }
    const many = {
      uids: Array.from({ length: 20 }, (_, n) => `u${n}`),
      guids: ['1', '2', '3', '4', '5', '6'],
    }
    const over = await app.call('POST', '/v3/messages', {
      body: { ...body, multipleReceivers: many },
    })
    assert.equal(over.body.error.code, 'ERR_BAD_REQUEST')
  })
})

suite('sending meets', () => {
  test('a permanent delete tells when and by whom, and keeps no more than names', async () => {
    const app = await appWithUsers('a', 'b')
    await app.call('PUT', '/v3/users/b', { body: { metadata: { phone: '123' } } })
    const { id } = (await say(app, 'a', 'b')).body.data
    const { body } = await app.call('DELETE', `/v3/messages/${id}`, {
      ...as('a'),
      body: { permanent: true },
    })
    const { on } = body.data.data.entities
    assert.ok(on.entity.deletedAt > 0)
    assert.equal(on.entity.deletedBy, 'a')
    const text = 'select data::text as data from messages where app_no = $1'
    const { rows } = await app.cell.db.query<{ data: string }>({ name: '', text, values: [app.no] })
    assert.equal(rows.length, 1)
    assert.doesNotMatch(rows[0]?.data ?? '', /phone/)
  })

  test('first messages of many to one user do not wait in a circle', async () => {
    const others = Array.from({ length: 24 }, (_, n) => `${n % 2 ? 'a' : 'z'}${n}`)
    const app = await appWithUsers('mmm', ...others)
    const answers = await Promise.all(others.map((uid) => say(app, uid, 'mmm')))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    const { body } = await app.call('GET', '/v3/conversations', as('mmm'))
    assert.equal(body.meta.pagination.total, others.length)
  })

  test('to several with one key: another list of receivers is another request', async () => {
    const app = await appWithUsers('a', 'b', '__proto__')
    const send = (...uids: string[]) =>
      app.call('POST', '/v3/messages', {
        headers: { onbehalfof: 'a', 'idempotency-key': 'k' },
        body: { multipleReceivers: { uids }, data: { text: 'Hi' } },
      })
    const first = await send('b', '__proto__')
    assert.deepEqual(Object.keys(first.body.data.uids), ['b', '__proto__'])
    assert.equal((await send('b')).body.error.code, 'ERR_IDEMPOTENCY_KEY_REUSED')
    const { id } = first.body.data.uids.b.data
    await app.call('DELETE', `/v3/messages/${id}`, { body: { permanent: true } })
    const again = (await send('b', '__proto__')).body.data.uids
    assert.equal(again.b.error.code, 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('a head that a block left does not outlive its user', async () => {
    const app = await appWithUsers('p', 'q')
    const blocks = { body: { blockedUids: ['q'] } }
    await app.call('POST', '/v3/users/p/blockedusers', blocks)
    await app.call('DELETE', '/v3/users/p/blockedusers', blocks)
    const sending = Array.from({ length: 8 }, () => say(app, 'p', 'q'))
    await app.call('DELETE', '/v3/users/q', { body: { permanent: true } })
    await Promise.all(sending)
    assert.equal((await app.call('GET', '/v3/conversations', as('p'))).status, 200)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('content', () => {
  const file = { url: 'https://files.example/a.png', name: 'a.png', mimeType: 'image/png' }
  const good: [string, object][] = [
    [
      'several attachments with a caption',
      {
        type: 'image',
        data: { attachments: [{ ...file, extension: 'png', size: 12 }, file], text: 'Look' },
      },
    ],
    ['custom', { category: 'custom', type: 'location', data: { customData: { lat: 1 } } }],
    ['interactive', { category: 'interactive', data: { interactiveData: { text: 'Hi' } } }],
    ['other keys of data', { data: { text: 'Hi', own: [null, 1] } }],
  ]
  for (const [what, message] of good) {
    test(`${what} is taken`, async () => {
      const app = await appWithUsers('a', 'b')
      const { status, body } = await say(app, 'a', 'b', '', message)
      assert.equal(status, 200)
      const { entities: _entities, ...data } = body.data.data
      const given = structuredClone((message as { data: Record<string, unknown> }).data)
      if (Array.isArray(given.attachments)) given.attachments[0].size = '12'
      assert.deepEqual(data, given)
    })
  }

  const customData = { n: 1 }
  const interactiveData = { text: 'Come?' }
  const form = { formFields: [], submitElement: { elementType: 'button', elementId: 'yes' } }
  const forms: [string, object][] = [
    ['custom poll', { type: 'poll', data: { customData } }],
    ['custom poll', { type: 'poll', data: { text: 'Vote', customData } }],
    ['interactive card', { data: { interactiveData } }],
    ['interactive form', { type: 'form', data: { interactiveData: form } }],
    ['message text', { data: { text: 'Hi', customData, interactiveData } }],
    ['message text', { type: 'text', data: { text: 'Hi', customData } }],
  ]
  test('without a category it is what its data looks like', async () => {
    const app = await appWithUsers('a', 'b')
    await storeSettings(server.deps, app, { 'core.conversations.updateOnCustomMessage': false })
    for (const [what, message] of forms) {
      const { body } = await say(app, 'a', 'b', '', message)
      assert.equal(`${body.data?.category} ${body.data?.type}`, what, JSON.stringify(body))
      const view = (await app.call('GET', '/v3/users/b/conversation', as('a'))).body.data
      const moved = view?.lastMessage?.id === body.data.id
      assert.equal(moved, !what.startsWith('custom'))
    }
  })

  test('a custom one without a type is told what a type is', async () => {
    const app = await appWithUsers('a', 'b')
    const { body } = await say(app, 'a', 'b', '', { data: { customData } })
    assert.match(body.error.devMessage, /custom: any name/)
  })

  test('what the service says itself is left out', async () => {
    const app = await appWithUsers('a', 'b')
    const data = {
      text: 'Hi',
      entities: { sender: 'x' },
      reactions: [1],
      moderation: {},
      mentions: 1,
    }
    const { body } = await say(app, 'a', 'b', '', { data })
    assert.deepEqual(Object.keys(body.data.data).sort(), ['entities', 'text'])
    assert.equal(body.data.data.entities.sender.entity.uid, 'a')
  })

  const bad: [string, object][] = [
    ['ERR_EMPTY_RECEIVER', { receiver: undefined }],
    ['ERR_EMPTY_RECEIVER', { receiver: '' }],
    ['ERR_BAD_REQUEST', { receiver: 'bob smith' }],
    ['ERR_BAD_REQUEST', { multipleReceivers: { uids: ['bob smith'] } }],
    ['ERR_INVALID_RECEIVER_TYPE', { receiverType: 'room' }],
    ['ERR_INVALID_RECEIVER_TYPE', { receiverType: undefined }],
    ['ERR_INVALID_MESSAGE_DATA', { data: undefined }],
    ['ERR_INVALID_MESSAGE_DATA', { data: ['Hi'] }],
    ['ERR_INVALID_MESSAGE_DATA', { category: 'interactive', data: { interactiveData: 1 } }],
    ['ERR_EMPTY_MESSAGE_TEXT', { data: {} }],
    ['ERR_EMPTY_MESSAGE_TEXT', { data: { text: '  ' } }],
    ['ERR_INVALID_MESSAGE_TEXT', { data: { text: 5 } }],
    ['ERR_EMPTY_MESSAGE_CATEGORY', { category: '' }],
    ['ERR_INVALID_MESSAGE_CATEGORY', { category: 'action' }],
    ['ERR_EMPTY_MESSAGE_TYPE', { type: '' }],
    ['ERR_EMPTY_MESSAGE_TYPE', { category: 'custom', data: { customData: {} } }],
    ['ERR_EMPTY_MESSAGE_TYPE', { data: { customData: {} } }],
    ['ERR_INVALID_MESSAGE_TYPE', { type: 'smell' }],
    ['ERR_INVALID_MESSAGE_TYPE', { category: 'interactive', type: 'text' }],
    ['ERR_EMPTY_MESSAGE_FILE', { type: 'image', data: { text: 'x' } }],
    ['ERR_INVALID_MEDIA_MESSAGE', { type: 'file', data: { attachments: [{}] } }],
    [
      'ERR_INVALID_MEDIA_MESSAGE',
      { type: 'file', data: { attachments: [{ url: 'javascript:1' }] } },
    ],
    ['ERR_INVALID_MEDIA_MESSAGE', { type: 'file', data: { attachments: 'x' } }],
    ['ERR_EMPTY_CUSTOM_DATA', { category: 'custom', type: 'x', data: {} }],
    ['ERR_INVALID_CUSTOM_DATA', { category: 'custom', type: 'x', data: { customData: 'x' } }],
    ['ERR_INVALID_METADATA', { data: { text: 'x', metadata: 'y' } }],
    ['ERR_PAYLOAD_TOO_LARGE', { data: { text: 'x'.repeat(10_300) } }],
    ['ERR_PAYLOAD_TOO_LARGE', { data: { text: 'x'.repeat(66_000) } }],
  ]
  test('each fault has its code, and nothing is sent', async () => {
    const app = await appWithUsers('a', 'b')
    const before = await app.eventTypes()
    for (const [code, message] of bad) {
      assert.equal(
        await codeOf(say(app, 'a', 'b', 'Hi', message)),
        code,
        JSON.stringify(message).slice(0, 80),
      )
    }
    assert.deepEqual(await app.eventTypes(), before)
  })
})

suite('a retry', () => {
  test('with the same muid finds the message, also when both run at once', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => say(app, 'a', 'b', 'Once', { muid: 'm1' })),
    )
    const ids = new Set(answers.map(({ body }) => body.data.id))
    assert.equal(ids.size, 1)
    assert.notEqual((await say(app, 'b', 'a', 'Once', { muid: 'm1' })).body.data.id, [...ids][0])
    // The id is the sender's, whoever receives.
    assert.equal((await say(app, 'a', 'c', 'Once', { muid: 'm1' })).body.data.id, [...ids][0])
  })

  test('with the same Idempotency-Key gets the message as it is now', async () => {
    const app = await appWithUsers('a', 'b')
    const send = (text: string) =>
      app.call('POST', '/v3/messages', {
        headers: { onbehalfof: 'a', 'idempotency-key': 'k1' },
        body: { receiver: 'b', receiverType: 'user', data: { text } },
      })
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('Once')))
    const ids = new Set(answers.map(({ body }) => body.data.id))
    assert.equal(ids.size, 1)
    assert.equal((await send('Other')).body.error.code, 'ERR_IDEMPOTENCY_KEY_REUSED')
    const [id] = ids
    await app.call('DELETE', `/v3/messages/${id}`, { body: { permanent: true } })
    assert.equal((await send('Once')).body.error.code, 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('of a send that was refused runs anew', async () => {
    const app = await appWithUsers('a')
    const send = () =>
      app.call('POST', '/v3/messages', {
        headers: { onbehalfof: 'a', 'idempotency-key': 'k1' },
        body: { receiver: 'b', receiverType: 'user', data: { text: 'Hi' }, muid: 'm' },
      })
    assert.equal((await send()).status, 404)
    await app.call('POST', '/v3/users', { body: { uid: 'b', name: 'B' } })
    assert.equal((await send()).status, 200)
  })
})

suite('reading', () => {
  test('a conversation, in both directions, also around a message that is gone', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const ids: string[] = []
    for (let n = 1; n <= 7; n++) {
      const [from, to] = n % 2 ? ['a', 'b'] : ['b', 'a']
      ids.push((await say(app, from ?? '', to ?? '', `text ${n}`)).body.data.id)
      await say(app, 'a', 'c', 'between')
    }
    const list = async (query: string) => {
      const { body } = await app.call('GET', `/v3/users/b/messages?${query}`, as('a'))
      const shown = body.data.map((message: { id: string }) => ids.indexOf(message.id) + 1)
      return { shown, next: body.meta.next, current: body.meta.current }
    }
    const first = await list('limit=3')
    assert.deepEqual([first.shown, first.current], [[1, 2, 3], { limit: 3, count: 3 }])
    assert.deepEqual([first.next.affix, first.next.id], ['append', ids[2]])
    assert.deepEqual((await list(`limit=3&affix=append&id=${first.next.id}`)).shown, [4, 5, 6])
    const last = await list('limit=3&affix=prepend')
    assert.deepEqual([last.shown, last.next.id], [[5, 6, 7], ids[4]])
    assert.deepEqual((await list(`limit=9&affix=prepend&id=${last.next.id}`)).shown, [1, 2, 3, 4])
    await app.call('DELETE', `/v3/messages/${ids[3]}`, { body: { permanent: true } })
    assert.deepEqual((await list(`limit=2&affix=append&id=${ids[3]}`)).shown, [5, 6])
    assert.deepEqual((await list(`limit=2&affix=prepend&id=${ids[3]}`)).shown, [2, 3])
    const now = Math.floor(Date.now() / 1000)
    assert.deepEqual((await list(`limit=2&affix=append&sentAt=${now + 60}`)).shown, [])
    assert.deepEqual((await list(`limit=2&affix=append&sentAt=${now - 600}`)).shown, [1, 2])
    assert.deepEqual((await list(`limit=2&affix=prepend&sentAt=${now - 600}`)).shown, [])
    assert.equal((await list('limit=100')).next, undefined)
  })

  test('what a user sent, without an actor', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    for (const to of ['b', 'c', 'b']) await say(app, 'a', to)
    await say(app, 'b', 'a')
    const { body } = await app.call('GET', '/v3/users/a/messages?perPage=2')
    assert.deepEqual(
      body.data.map((message: { receiver: string }) => message.receiver),
      ['b', 'c'],
    )
    const more = await app.call(
      'GET',
      `/v3/users/a/messages?perPage=2&affix=append&id=${body.meta.next.id}`,
    )
    assert.deepEqual(
      more.body.data.map((message: { receiver: string }) => message.receiver),
      ['b'],
    )
    assert.deepEqual(body.meta.cursor, { affix: 'append', id: body.meta.next.id })
    const end = more.body.data[0].id
    assert.deepEqual([more.body.meta.next, more.body.meta.cursor.id], [undefined, end])
    const later = await app.call('GET', `/v3/users/a/messages?affix=append&id=${end}`)
    assert.deepEqual([later.body.data, later.body.meta.cursor], [[], undefined])
    const between = await app.call('GET', '/v3/users/c/messages?affix=prepend', as('a'))
    const [{ id }] = between.body.data
    assert.deepEqual(between.body.meta.cursor, { affix: 'prepend', id })
    assert.equal((await app.call('GET', '/v3/users/a/messages?page=2')).status, 400)
    const back = await app.call('GET', `/v3/users/a/messages?perPage=2&affix=prepend`)
    assert.deepEqual(
      back.body.data.map((message: { receiver: string }) => message.receiver),
      ['c', 'b'],
    )
  })

  test('a message is for the two alone', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const { id } = (await say(app, 'a', 'b')).body.data
    for (const uid of ['a', 'b']) {
      assert.equal((await app.call('GET', `/v3/messages/${id}`, as(uid))).status, 200)
    }
    assert.equal(
      await codeOf(app.call('GET', `/v3/messages/${id}`, as('c'))),
      'ERR_MESSAGE_NO_ACCESS',
    )
    assert.equal(
      await codeOf(app.call('GET', '/v3/messages/999999999999', as('a'))),
      'ERR_MESSAGE_ID_NOT_FOUND',
    )
    assert.deepEqual((await app.call('GET', '/v3/users/b/messages', as('c'))).body.data, [])
    assert.equal(
      await codeOf(app.call('GET', '/v3/users/ghost/messages', as('c'))),
      'ERR_UID_NOT_FOUND',
    )
  })
})

suite('deleting', () => {
  test('leaves the place without content, and tells of it', async () => {
    const app = await appWithUsers('a', 'b')
    const { id } = (await say(app, 'a', 'b', 'secret', { tags: ['t'] })).body.data
    const { body } = await app.call('DELETE', `/v3/messages/${id}`, as('a'))
    assert.deepEqual(
      [body.data.category, body.data.type, body.data.data.action, body.data.sender],
      ['action', 'message', 'deleted', 'a'],
    )
    const { by, on, for: forWhom } = body.data.data.entities
    assert.deepEqual([by.entity.uid, on.entity.id, forWhom.entity.uid], ['a', id, 'b'])
    assert.ok(on.entity.deletedAt > 0 && on.entity.deletedBy === 'a')
    assert.ok(on.entity.updatedAt >= on.entity.deletedAt)
    assert.doesNotMatch(JSON.stringify(body), /secret/)
    const kept = (await app.call('GET', `/v3/messages/${id}`)).body.data
    assert.deepEqual([Object.keys(kept.data), kept.deletedBy], [['entities'], 'a'])
    assert.deepEqual([kept.updatedAt, kept.tags], [on.entity.updatedAt, undefined])
    assert.equal((await app.eventTypes()).at(-1), 'message.deleted')
    const view = await app.call('GET', '/v3/users/a/conversation', as('b'))
    assert.deepEqual(
      [view.body.data.lastMessage, view.body.data.unreadMessageCount],
      [undefined, '0'],
    )
    const again = app.call('DELETE', `/v3/messages/${id}`, as('a'))
    assert.equal(await codeOf(again), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    const gone = await app.call('DELETE', `/v3/messages/${id}`, { body: { permanent: true } })
    assert.equal(gone.status, 200)
    assert.equal((await app.call('GET', `/v3/messages/${id}`)).status, 404)
  })

  test('for good leaves only ids, in the answer, the event and both actions', async () => {
    const app = await appWithUsers('a', 'b')
    const parent = (await say(app, 'a', 'b')).body.data.id
    const sent = { muid: 'mine', parentMessageId: parent }
    const { id } = (await say(app, 'a', 'b', 'secret', sent)).body.data
    const soft = (await app.call('DELETE', `/v3/messages/${id}`, as('a'))).body.data
    const onOf = async (action: string) =>
      (await app.call('GET', `/v3/messages/${action}`)).body.data.data.entities.on.entity
    assert.equal((await onOf(soft.id)).muid, 'mine')
    const gone = await app.call('DELETE', `/v3/messages/${id}`, { body: { permanent: true } })
    const { on } = gone.body.data.data.entities
    assert.deepEqual(on.entity, {
      ...{ id, conversationId: 'a_user_b', sender: 'a', receiverType: 'user', receiver: 'b' },
      ...{ parentId: parent, deletedAt: on.entity.deletedAt, deletedBy: 'a' },
    })
    assert.deepEqual(await onOf(gone.body.data.id), on.entity)
    assert.deepEqual(await onOf(soft.id), on.entity)
    const select = <T extends object>(text: string) =>
      app.cell.db.query<T>({ name: '', text, values: [app.no] })
    const events = await select<{ on: object }>(
      `select payload #> '{message,data,entities,on}' as on from outbox where app_no = $1 order by id desc limit 1`,
    )
    assert.deepEqual(events.rows, [{ on }])
    const kept = await select<{ data: string }>(
      'select data::text as data from messages where app_no = $1',
    )
    for (const row of kept.rows) assert.doesNotMatch(row.data, /mine|secret|sentAt/)
  })

  test('is for the sender and the app; what tells of an action stays', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const { id } = (await say(app, 'a', 'b')).body.data
    const remove = (uid: string) => codeOf(app.call('DELETE', `/v3/messages/${id}`, as(uid)))
    assert.equal(await remove('b'), 'ERR_MESSAGE_NOT_A_SENDER')
    assert.equal(await remove('c'), 'ERR_MESSAGE_NO_ACCESS')
    const action = (await app.call('DELETE', `/v3/messages/${id}`)).body.data
    assert.equal(action.sender, 'app_system')
    assert.equal(
      await codeOf(app.call('DELETE', `/v3/messages/${action.id}`)),
      'ERR_MESSAGE_ACTION_NOT_ALLOWED',
    )
  })
})
