import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ErrorCode } from '@loquat/protocol'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { firstIdOf, secondOf, timeOf } from '../../core/ids.ts'
import { answerTo } from '../../platform/http/refusal.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

/** Sends a text and returns the raw answer. */
const say = (app: TestApp, sender: string, receiver: string, text = 'Hello', more: object = {}) =>
  app.as(sender).call('POST', '/v3/messages', {
    body: { receiver, receiverType: 'user', data: { text }, ...more },
  })

suite('the id of a message', () => {
  test('is its time, in the database and here', async () => {
    const app = await server.newApp()
    const text = `select id, id_time(id) = at as exact, id_second(id) as second,
        floor(extract(epoch from at) * 1000)::bigint as ms
      from (select at, ((extract(epoch from at) - 1000000000) * 4000000)::bigint as id
        from (select timestamptz '2001-09-09 01:46:40Z' + random() * interval '71 years' as at
          from generate_series(1, 500)) times) ids`
    type Row = { id: number; exact: boolean; second: number; ms: number }
    const { rows } = await app.cell.db.query<Row>({ name: '', text, values: [] })
    for (const { id, exact, second, ms } of rows) {
      assert.ok(exact && Number.isSafeInteger(id))
      assert.deepEqual([secondOf(id), Math.floor(ms / 1000)], [second, second])
      assert.equal(timeOf(id).getTime(), ms)
      assert.ok(firstIdOf(second) <= id && id < firstIdOf(second + 1))
    }
  })

  test('is above the last one of the conversation, even if that is in the future', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const { id, sentAt } = (await say(app, 'a', 'b')).body.data
    assert.equal(secondOf(Number(id)), sentAt)
    const ahead = Number(id) + 4_000_000 * 3600
    await app.cell.db.query({
      ...{ name: '', values: [app.no, ahead] },
      text: 'update conversations set last_id = $2 where app_no = $1',
    })
    const later = (await say(app, 'b', 'a')).body.data
    assert.deepEqual([later.id, later.sentAt], [String(ahead + 1), sentAt + 3600])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('is refused to a process whose clock is wrong', async () => {
    const app = await server.newApp()
    const check = async (clock: number) => {
      const statement = { name: '', text: 'select check_clock($1)', values: [clock] }
      await app.cell.db.query(statement)
    }
    await check(Date.now() - 30_000)
    for (const apart of [-90_000, 90_000]) {
      await assert.rejects(check(Date.now() + apart), (error) => {
        assert.match(String(error), /clocks .* are \d+ seconds apart/)
        return answerTo(error).code === 'ERR_MISSION_FAILED'
      })
    }
  })
})

suite('sendMessage', () => {
  test('returns the record with both users as entities', async () => {
    const app = await server.newApp()
    await app.users('ben', 'amira')
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
    const read = await app.client.messages.get(id)
    assert.deepEqual(read, { ...body.data, receipts: { data: [] } })
    assert.equal((await app.eventTypes()).at(-1), 'message.sent')
  })

  test('shows the users as they are now', async () => {
    const app = await server.newApp()
    const [ben, amira] = await app.users('ben', 'amira')
    const { id } = await ben.sendText('amira')
    const metadata = { team: 'ops', '@private': { ssn: 1 }, none: null }
    await app.client.users.update('ben', { name: 'Benjamin', metadata })
    const { sender } = (await app.call('GET', `/v3/messages/${id}`)).body.data.data.entities
    assert.equal(sender.entity.name, 'Benjamin')
    assert.deepEqual(sender.entity.metadata, { team: 'ops', none: null })
    const sent = (await say(app, 'ben', 'amira')).body.data.data.entities.sender.entity
    assert.deepEqual(sent, sender.entity)
    assert.partialDeepStrictEqual(await amira.users.get('ben'), sent)
  })

  test('sends as app_system for the app itself, whatever the blocks', async () => {
    const app = await server.newApp()
    const [ben] = await app.users('ben')
    const sent = await app.sendText('ben', 'Welcome')
    assert.equal(sent.sender, 'app_system')
    assert.equal(sent.conversationId, 'app_system_user_ben')
    const { unreadMessageCount, conversationWith } = await ben.conversations.getUser('app_system')
    assert.deepEqual([unreadMessageCount, conversationWith?.name], [1, 'System'])
  })

  test('to oneself creates one view with nothing unread', async () => {
    const app = await server.newApp()
    const [ben] = await app.users('ben')
    assert.equal((await ben.sendText('ben')).conversationId, 'ben_user_ben')
    assert.equal((await ben.conversations.getUser('ben')).unreadMessageCount, 0)
  })

  test('is refused both ways while one user blocks the other', async () => {
    const app = await server.newApp()
    const [a, b] = await app.users('a', 'b')
    await app.client.blockedUsers.block('a', { blockedUids: ['b'] })
    await refused(a.sendText('b'), 'ERR_BLOCKED_RECEIVER')
    await refused(b.sendText('a'), 'ERR_BLOCKED_SENDER')
    await app.client.blockedUsers.unblock('a', { blockedUids: ['b'] })
    await b.sendText('a')
  })

  test('reaches only friends if the role says so', async () => {
    const app = await server.newApp()
    const [a, b] = await app.users('a', 'b')
    const settings = { sendMessagesTo: 'friendsOnly' } as const
    await app.client.roles.create({ role: 'shy', name: 'Shy', settings })
    await app.client.users.update('a', { role: 'shy' })
    await refused(a.sendText('b'), 'ERR_PERMISSION_DENIED')
    await b.sendText('a')
    await app.client.friends.add('a', { accepted: ['b'] })
    await a.sendText('b')
  })

  test('moves the conversation up with a custom message, unless the sender or the app prevents it', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const custom = (more: object) =>
      app.as('a').call('POST', '/v3/messages', {
        body: {
          ...{ receiver: 'b', receiverType: 'user', category: 'custom', type: 'poll' },
          ...{ data: { customData: { n: 1 } }, ...more },
        },
      })
    const seen = async () => {
      const { body } = await app.as('b').call('GET', '/v3/users/a/conversation')
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
    const { data } = await app.as('a').messages.listUser('b')
    assert.equal(data.at(-1)?.id, silent.id)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('refuses senders and receivers who are unknown or deactivated', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await app.client.users.delete('b')
    await refused(say(app, 'a', 'b'), 'ERR_UID_NOT_FOUND')
    await refused(say(app, 'a', 'ghost'), 'ERR_UID_NOT_FOUND')
    await refused(say(app, 'ghost', 'a'), 'ERR_UID_NOT_FOUND')
    const group = { receiver: 'ghost', receiverType: 'group' }
    await refused(say(app, 'a', '', 'Hi', group), 'ERR_GUID_NOT_FOUND')
  })

  test('to several receivers returns an outcome for each, and a retry sends nothing twice', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
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
    const byMuid = await app.as('a').call('POST', '/v3/messages', { body })
    for (const { body: answer } of [again, byMuid]) {
      assert.equal(answer.data.uids.b.data.id, uids.b.data.id)
      assert.equal(answer.data.uids.c.data.id, uids.c.data.id)
    }
    const many = {
      uids: Array.from({ length: 20 }, (_, n) => `u${n}`),
      guids: ['1', '2', '3', '4', '5', '6'],
    }
    await refused(
      app.call('POST', '/v3/messages', {
        body: { ...body, multipleReceivers: many },
      }),
      'ERR_BAD_REQUEST',
    )
  })
})

suite('simultaneous requests of sendMessage', () => {
  test('to one user from many new senders cause no deadlock', async () => {
    const others = Array.from({ length: 24 }, (_, n) => `${n % 2 ? 'a' : 'z'}${n}`)
    const app = await server.newApp()
    await app.users('mmm', ...others)
    await Promise.all(others.map((uid) => app.as(uid).sendText('mmm')))
    const { meta } = await app.as('mmm').conversations.list()
    assert.equal(meta.pagination.total, others.length)
  })

  test('leave no conversation head behind when their receiver is removed after a block', async () => {
    const app = await server.newApp()
    await app.users('p', 'q')
    await app.client.blockedUsers.block('p', { blockedUids: ['q'] })
    await app.client.blockedUsers.unblock('p', { blockedUids: ['q'] })
    const sending = Array.from({ length: 8 }, () => say(app, 'p', 'q'))
    await app.client.users.delete('q', { permanent: true })
    await Promise.all(sending)
    await app.as('p').conversations.list()
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('deleteMessage with permanent', () => {
  test('shows when and by whom it was deleted, and stores only names', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await app.client.users.update('b', { metadata: { phone: '123' } })
    const { id } = (await say(app, 'a', 'b')).body.data
    const { body } = await app
      .as('a')
      .call('DELETE', `/v3/messages/${id}`, { body: { permanent: true } })
    const { on } = body.data.data.entities
    assert.ok(on.entity.deletedAt > 0)
    assert.equal(on.entity.deletedBy, 'a')
    const text = 'select data::text as data from messages where app_no = $1'
    const { rows } = await app.cell.db.query<{ data: string }>({ name: '', text, values: [app.no] })
    assert.equal(rows.length, 1)
    assert.doesNotMatch(rows[0]?.data ?? '', /phone/)
  })
})

suite('the content of sendMessage', () => {
  const file = { url: 'https://files.example/a.png', name: 'a.png', mimeType: 'image/png' }
  const good: [string, object][] = [
    [
      'several attachments with a caption',
      {
        type: 'image',
        data: { attachments: [{ ...file, extension: 'png', size: 12 }, file], text: 'Look' },
      },
    ],
    ['custom data', { category: 'custom', type: 'location', data: { customData: { lat: 1 } } }],
    ['interactive data', { category: 'interactive', data: { interactiveData: { text: 'Hi' } } }],
    ['other fields of data', { data: { text: 'Hi', own: [null, 1] } }],
  ]
  for (const [what, message] of good) {
    test(`may be ${what}`, async () => {
      const app = await server.newApp()
      await app.users('a', 'b')
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
  test('decides the category if none is given', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await storeSettings(server.deps, app, { 'core.conversations.updateOnCustomMessage': false })
    for (const [what, message] of forms) {
      const { body } = await say(app, 'a', 'b', '', message)
      assert.equal(`${body.data?.category} ${body.data?.type}`, what, JSON.stringify(body))
      const view = await app.as('a').call('GET', '/v3/users/b/conversation')
      const moved = view.body.data?.lastMessage?.id === body.data.id
      assert.equal(moved, !what.startsWith('custom'))
    }
  })

  test('needs a type if it is custom, and the error explains it', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const { body } = await say(app, 'a', 'b', '', { data: { customData } })
    assert.match(body.error.devMessage, /custom: any name/)
  })

  test('loses the fields that only the service sets', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
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

  const bad: [ErrorCode, object][] = [
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
  test('is refused with the code of its fault, and nothing is sent', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const before = await app.eventTypes()
    for (const [code, message] of bad) await refused(say(app, 'a', 'b', 'Hi', message), code)
    assert.deepEqual(await app.eventTypes(), before)
  })
})

suite('a retry of sendMessage', () => {
  test('with the same muid returns the same message, even when both run at once', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => say(app, 'a', 'b', 'Once', { muid: 'm1' })),
    )
    const ids = new Set(answers.map(({ body }) => body.data.id))
    assert.equal(ids.size, 1)
    assert.notEqual((await say(app, 'b', 'a', 'Once', { muid: 'm1' })).body.data.id, [...ids][0])
    // A muid belongs to the sender, not to the receiver.
    assert.equal((await say(app, 'a', 'c', 'Once', { muid: 'm1' })).body.data.id, [...ids][0])
  })

  test('with the same Idempotency-Key returns the message as it is now', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const send = (text: string) =>
      app.as('a').call('POST', '/v3/messages', {
        body: { receiver: 'b', receiverType: 'user', data: { text } },
        headers: { 'idempotency-key': 'k1' },
      })
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('Once')))
    const ids = new Set(answers.map(({ body }) => body.data.id))
    assert.equal(ids.size, 1)
    await refused(send('Other'), 'ERR_IDEMPOTENCY_KEY_REUSED')
    const [id = ''] = ids
    await app.client.messages.delete(id, { permanent: true })
    await refused(send('Once'), 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('with the same Idempotency-Key for other receivers is refused', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', '__proto__')
    const send = (...uids: string[]) =>
      app.as('a').call('POST', '/v3/messages', {
        body: { multipleReceivers: { uids }, data: { text: 'Hi' } },
        headers: { 'idempotency-key': 'k' },
      })
    const first = await send('b', '__proto__')
    assert.deepEqual(Object.keys(first.body.data.uids), ['b', '__proto__'])
    await refused(send('b'), 'ERR_IDEMPOTENCY_KEY_REUSED')
    const { id } = first.body.data.uids.b.data
    await app.client.messages.delete(id, { permanent: true })
    const again = (await send('b', '__proto__')).body.data.uids
    assert.equal(again.b.error.code, 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('of a refused message sends it', async () => {
    const app = await server.newApp()
    await app.users('a')
    const send = () =>
      app.as('a').call('POST', '/v3/messages', {
        body: { receiver: 'b', receiverType: 'user', data: { text: 'Hi' }, muid: 'm' },
        headers: { 'idempotency-key': 'k1' },
      })
    await refused(send(), 'ERR_UID_NOT_FOUND')
    await app.users('b')
    assert.equal((await send()).status, 200)
  })
})

suite('listUserMessages', () => {
  test('pages in both directions, even around a removed message', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const ids: string[] = []
    for (let n = 1; n <= 7; n++) {
      const [from, to] = n % 2 ? (['a', 'b'] as const) : (['b', 'a'] as const)
      ids.push((await app.as(from).sendText(to, `text ${n}`)).id)
      await app.as('a').sendText('c', 'between')
    }
    const list = async (query: string) => {
      const { body } = await app.as('a').call('GET', `/v3/users/b/messages?${query}`)
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
    await app.client.messages.delete(ids[3] ?? '', { permanent: true })
    assert.deepEqual((await list(`limit=2&affix=append&id=${ids[3]}`)).shown, [5, 6])
    assert.deepEqual((await list(`limit=2&affix=prepend&id=${ids[3]}`)).shown, [2, 3])
    const now = Math.floor(Date.now() / 1000)
    assert.deepEqual((await list(`limit=2&affix=append&sentAt=${now + 60}`)).shown, [])
    assert.deepEqual((await list(`limit=2&affix=append&sentAt=${now - 600}`)).shown, [1, 2])
    assert.deepEqual((await list(`limit=2&affix=prepend&sentAt=${now - 600}`)).shown, [])
    assert.equal((await list('limit=100')).next, undefined)
  })

  test('shows the app every message that a user sent or received, page by page', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const members = { participants: ['a', 'b'] }
    await app.client.groups.create({ guid: 'g', name: 'G', members })
    await app.client.groups.create({ guid: 'left', name: 'Left', members })
    const ids: string[] = []
    const send = async (from: string | undefined, to: string, counted = true) => {
      const receiverType = to === 'g' || to === 'left' ? 'group' : 'user'
      const { id } = await app.as(from).sendText(to, `${from} to ${to}`, { receiverType })
      if (counted) ids.push(id)
    }
    for (let round = 0; round < 3; round++) {
      await send('a', 'b')
      await send('b', 'a')
      await send('b', 'c', false)
      await send('a', 'g')
      await send('b', 'g', false)
      await send('a', 'a')
      await send(undefined, 'a')
      await send('c', 'a')
      await send('a', 'left')
    }
    await app.as('a').conversations.resetUser('c', {})
    await app.as('a').groups.leave('left')
    const left = await app.as('b').messages.listGroup('left', { category: 'action', limit: 100 })
    ids.push(...left.data.filter(({ sender }) => sender === 'a').map(({ id }) => id))

    const list = async (query: object) => {
      const { data, meta } = await app.client.messages.listUser('a', query)
      return { shown: data.map(({ id }) => id), ...meta }
    }
    const all = await list({})
    assert.deepEqual(all.shown, ids)
    assert.deepEqual([all.pagination?.total, all.next], [ids.length, undefined])
    const total = ids.length
    const pages = Math.ceil(total / 4)
    for (const affix of ['append', 'prepend'] as const) {
      const expected = affix === 'append' ? ids : ids.toReversed()
      const cut = (n: number) => {
        const part = expected.slice(4 * n, 4 * n + 4)
        return affix === 'append' ? part : part.toReversed()
      }
      for (const n of [3, 0, 1, 2, pages - 1, pages]) {
        const { shown, pagination } = await list({ affix, perPage: 4, page: n + 1 })
        assert.deepEqual(shown, cut(n), `${affix} ${n}`)
        const counts = { count: shown.length, per_page: 4, current_page: n + 1 }
        assert.deepEqual(pagination, { total, total_pages: pages, ...counts })
      }
      let cursor = {}
      for (let n = 0; n < pages; n++) {
        const page = await list({ affix, perPage: 4, ...cursor })
        assert.deepEqual([page.shown, page.pagination?.current_page], [cut(n), n + 1])
        assert.equal(page.pagination?.total, total)
        assert.deepEqual(page.next === undefined, n === pages - 1)
        cursor = page.cursor ?? {}
      }
      assert.deepEqual((await list({ affix, perPage: 4, ...cursor })).shown, [])
    }

    const some = await list({ sender: 'a', searchKey: 'to a', perPage: 2, page: 2 })
    assert.deepEqual([some.shown.length, some.pagination?.total], [1, 3])
    const crawled: string[] = []
    for await (const { id } of app.client.messages.allUser('a', { perPage: 5 })) crawled.push(id)
    assert.deepEqual(crawled, ids)

    await app.client.groups.delete('g')
    await app.client.users.delete('c', { permanent: true })
    const gone = (await list({})).shown
    assert.equal(gone.length, total - 6)
    const between = await app.as('a').messages.listUser('b', { affix: 'prepend' })
    assert.deepEqual(between.meta.cursor, { affix: 'prepend', id: between.data[0]?.id })
    assert.equal(between.meta.pagination, undefined)
  })
})

suite('getMessage', () => {
  test('shows a 1:1 message to its two users only', async () => {
    const app = await server.newApp()
    const [a, b, c] = await app.users('a', 'b', 'c')
    const { id } = await a.sendText('b')
    for (const user of [a, b]) await user.messages.get(id)
    await refused(c.messages.get(id), 'ERR_MESSAGE_NO_ACCESS')
    await refused(a.messages.get('999999999999'), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.deepEqual((await c.messages.listUser('b')).data, [])
    await refused(c.messages.listUser('ghost'), 'ERR_UID_NOT_FOUND')
  })
})

suite('deleteMessage', () => {
  test('keeps the message without its content and adds an action message', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const { id } = (await say(app, 'a', 'b', 'secret', { tags: ['t'] })).body.data
    const { body } = await app.as('a').call('DELETE', `/v3/messages/${id}`)
    assert.deepEqual(
      [body.data.category, body.data.type, body.data.data.action, body.data.sender],
      ['action', 'message', 'deleted', 'a'],
    )
    const { by, on, for: forWhom } = body.data.data.entities
    assert.deepEqual([by.entity.uid, on.entity.id, forWhom.entity.uid], ['a', id, 'b'])
    assert.ok(on.entity.deletedAt > 0 && on.entity.deletedBy === 'a')
    assert.ok(on.entity.updatedAt >= on.entity.deletedAt)
    assert.doesNotMatch(JSON.stringify(body), /secret/)
    const kept = await app.client.messages.get(id)
    assert.deepEqual([Object.keys(kept.data), kept.deletedBy], [['entities'], 'a'])
    assert.deepEqual([kept.updatedAt, kept.tags], [on.entity.updatedAt, undefined])
    assert.equal((await app.eventTypes()).at(-1), 'message.deleted')
    const view = await app.as('b').call('GET', '/v3/users/a/conversation')
    assert.deepEqual(
      [view.body.data.lastMessage, view.body.data.unreadMessageCount],
      [undefined, '0'],
    )
    const again = app.as('a').call('DELETE', `/v3/messages/${id}`)
    await refused(again, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    await app.client.messages.delete(id, { permanent: true })
    await refused(app.client.messages.get(id), 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('with permanent leaves only ids in the answer, the event and both action messages', async () => {
    const app = await server.newApp()
    const [a] = await app.users('a', 'b')
    const parent = (await a.sendText('b')).id
    const { id } = await a.sendText('b', 'secret', { muid: 'mine', parentMessageId: parent })
    const soft = await a.messages.delete(id)
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
    assert.deepEqual((await app.events()).at(-1)?.payload.message.data.entities.on, on)
    const text = 'select data::text as data from messages where app_no = $1'
    const kept = await app.cell.db.query<{ data: string }>({ name: '', text, values: [app.no] })
    for (const row of kept.rows) assert.doesNotMatch(row.data, /mine|secret|sentAt/)
  })

  test('is allowed to the sender and the app, and refused for action messages', async () => {
    const app = await server.newApp()
    const [a, b, c] = await app.users('a', 'b', 'c')
    const { id } = await a.sendText('b')
    await refused(b.messages.delete(id), 'ERR_MESSAGE_NOT_A_SENDER')
    await refused(c.messages.delete(id), 'ERR_MESSAGE_NO_ACCESS')
    const action = await app.client.messages.delete(id)
    assert.equal(action.sender, 'app_system')
    await refused(app.client.messages.delete(action.id), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
  })
})
