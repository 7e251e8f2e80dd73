import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ErrorCode } from '@loquat/protocol'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { snapshotOf } from '../../../test/snapshot.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

/** A group with an owner, a moderator and two participants, and a user outside it. */
async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('owner', 'mod', 'sender', 'other', 'out')
  const members = { moderators: ['mod'], participants: ['sender', 'other'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'owner', members })
  return app
}

const say = async (app: TestApp, sender: string | undefined, message: object) => {
  const body = { receiver: 'g', receiverType: 'group', ...message }
  const answer = await app.as(sender).call('POST', '/v3/messages', { body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data
}

const edit = (app: TestApp, by: string | undefined, id: string, body: object) =>
  app.as(by).call('PUT', `/v3/messages/${id}`, { body })

const get = async (app: TestApp, id: string) =>
  (await app.call('GET', `/v3/messages/${id}`)).body.data

suite('updateMessage', () => {
  test('returns the action message, replaces the fields that are sent and keeps the others', async () => {
    const app = await newApp()
    const data = { text: 'At 6', metadata: { a: 1 }, own: null, spare: 1 }
    const { id } = await say(app, 'sender', { data, tags: ['x'] })
    const change = { text: 'At 7', spare: null, entities: 1, mentions: { owner: {} } }
    const { body } = await edit(app, 'sender', id, { data: change })
    const action = body.data
    assert.equal(action.category, 'action')
    assert.equal(action.type, 'message')
    assert.equal(action.data.action, 'edited')
    assert.equal(action.data.entities.by.entity.uid, 'sender')
    assert.equal(action.data.entities.for.entity.guid, 'g')
    const { entity } = action.data.entities.on
    assert.equal(entity.editedBy, 'sender')
    assert.ok(entity.editedAt >= entity.sentAt)
    const { entities: _entities, ...content } = entity.data
    assert.deepEqual(content, { text: 'At 7', metadata: { a: 1 }, own: null })
    assert.deepEqual(entity.tags, ['x'])
    const { receipts: _receipts, ...message } = await get(app, id)
    assert.deepEqual(snapshotOf(message), entity)
    assert.equal((await app.eventTypes()).at(-1), 'message.edited')
  })

  test('replaces tags, and refuses a request without any change', async () => {
    const app = await newApp()
    const { id } = await say(app, 'sender', { data: { text: 'Hi' }, tags: ['x'] })
    await edit(app, 'sender', id, { tags: ['y', 'z'] })
    const { tags, data } = await get(app, id)
    assert.deepEqual([tags, data.text], [['y', 'z'], 'Hi'])
    await edit(app, 'sender', id, { tags: [] })
    assert.equal((await get(app, id)).tags, undefined)
    await refused(edit(app, 'sender', id, {}), 'ERR_BAD_REQUEST')
  })

  test('stores no content in the action message, which shows the message as it is now', async () => {
    const app = await newApp()
    const { id } = await say(app, 'sender', { data: { text: 'First' }, tags: ['secret'] })
    const action = (await edit(app, 'sender', id, { data: { text: 'Second' } })).body.data
    await edit(app, 'sender', id, { data: { text: 'Third' } })
    const on = async () => (await get(app, action.id)).data.entities.on.entity
    assert.equal((await on()).data.text, 'Third')
    await app.client.messages.delete(id)
    assert.equal((await on()).data.text, undefined)
    assert.ok((await on()).deletedAt)
    await app.client.messages.delete(id, { permanent: true })
    const placed = { conversationId: 'group_g', receiverType: 'group', receiver: 'g' }
    assert.deepEqual(await on(), { id, sender: 'sender', ...placed })
    const text = 'select data::text as data from messages where app_no = $1'
    const { rows } = await app.cell.db.query<{ data: string }>({ name: '', text, values: [app.no] })
    for (const row of rows) assert.doesNotMatch(row.data, /First|Second|Third|secret/)
  })

  test('changes attachments, captions and custom data', async () => {
    const app = await newApp()
    const attachments = [{ url: 'https://files.example/a.png' }]
    const image = await say(app, 'sender', { type: 'image', data: { text: 'Old', attachments } })
    const other = { url: 'https://files.example/b.png', name: 'Sunset', mimeType: 'image/png' }
    await edit(app, 'sender', image.id, { data: { attachments: [{ ...other, size: 7 }] } })
    const changed = (await get(app, image.id)).data
    assert.deepEqual([changed.text, changed.attachments], ['Old', [{ ...other, size: '7' }]])
    const found = await app.client.messages.list({ searchKey: 'sunset' })
    assert.deepEqual(
      found.data.map(({ id }) => id),
      [image.id],
    )
    for (const [code, none] of [
      ['ERR_EMPTY_MESSAGE_FILE', []],
      ['ERR_EMPTY_MESSAGE_FILE', null],
      ['ERR_INVALID_MEDIA_MESSAGE', [{ url: 'no url' }]],
    ] as const) {
      await refused(edit(app, 'sender', image.id, { data: { attachments: none } }), code)
    }
    await edit(app, 'sender', image.id, { data: { text: 'New' } })
    const { text, attachments: kept } = (await get(app, image.id)).data
    assert.deepEqual([text, kept.length], ['New', 1])
    await edit(app, 'sender', image.id, { data: { metadata: { a: 1 }, own: 1 } })
    const { metadata, own } = (await get(app, image.id)).data
    assert.deepEqual([metadata, own], [{ a: 1 }, undefined])
    await edit(app, 'sender', image.id, { data: { text: null } })
    assert.equal((await get(app, image.id)).data.text, undefined)
    const custom = { category: 'custom', type: 'poll', data: { customData: { a: 1 } } }
    const poll = await say(app, 'sender', custom)
    await edit(app, 'sender', poll.id, { data: { customData: { b: 2 } } })
    assert.deepEqual((await get(app, poll.id)).data.customData, { b: 2 })
  })

  test('refuses what sendMessage would refuse, and changes nothing', async () => {
    const app = await newApp()
    const { id } = await say(app, 'sender', { data: { text: 'Hi' } })
    const cases: [ErrorCode, object][] = [
      ['ERR_EMPTY_MESSAGE_TEXT', { data: { text: ' ' } }],
      ['ERR_EMPTY_MESSAGE_TEXT', { data: { text: null } }],
      ['ERR_INVALID_MESSAGE_TEXT', { data: { text: 5 } }],
      ['ERR_INVALID_METADATA', { data: { metadata: 'x' } }],
      ['ERR_INVALID_MESSAGE_DATA', { data: 'x' }],
      ['ERR_PAYLOAD_TOO_LARGE', { data: { own: 'x'.repeat(10_240) } }],
      ['ERR_BAD_REQUEST', { tags: Array.from({ length: 26 }, (_, n) => `${n}`) }],
    ]
    for (const [code, body] of cases) await refused(edit(app, 'sender', id, body), code)
    assert.equal((await get(app, id)).editedAt, undefined)
    const added = (await app.eventTypes()).filter((type) => type === 'message.edited')
    assert.deepEqual(added, [])
  })

  test('moves the conversation up and counts as unread if the app has set so', async () => {
    const app = await newApp()
    const view = async () =>
      (await app.as('other').call('GET', '/v3/groups/g/conversation')).body.data
    const { id } = await say(app, 'sender', { data: { text: 'Hi' } })
    const before = await view()
    await edit(app, 'sender', id, { data: { text: 'Hello' } })
    assert.equal((await view()).lastMessage.id, id)
    assert.equal((await view()).lastMessage.data.text, 'Hello')
    assert.equal((await view()).unreadMessageCount, before.unreadMessageCount)
    await storeSettings(server.deps, app, { 'core.conversations.updateOnMessageActions': true })
    const action = (await edit(app, 'sender', id, { data: { text: 'Hey' } })).body.data
    const after = await view()
    assert.equal(after.lastMessage.id, action.id)
    assert.equal(Number(after.unreadMessageCount), Number(before.unreadMessageCount) + 1)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('recounts mentions and sends events for new ones', async () => {
    const app = await newApp()
    const unread = async (uid: string) =>
      (await app.as(uid).conversations.getGroup('g')).unreadMentionsCount
    const { id } = await say(app, 'sender', { data: { text: '<@uid:other> <@uid:mod>' } })
    await edit(app, 'sender', id, { data: { text: '<@uid:owner> <@uid:mod> <@uid:sender>' } })
    assert.deepEqual([await unread('other'), await unread('mod'), await unread('owner')], [0, 1, 1])
    assert.deepEqual((await app.eventTypes()).slice(-2), ['message.edited', 'user.mentioned'])
    await edit(app, 'sender', id, { tags: ['x'] })
    assert.deepEqual(Object.keys((await get(app, id)).data.mentions), ['mod', 'owner', 'sender'])
    await edit(app, 'sender', id, { data: { text: 'Nobody' } })
    assert.equal((await get(app, id)).data.mentions, undefined)
    assert.deepEqual([await unread('mod'), await unread('owner')], [0, 0])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test("doesn't mention removed users again when only tags change", async () => {
    const app = await newApp()
    const { id } = await say(app, 'sender', { data: { text: '<@uid:other> <@uid:mod>' } })
    await app.client.users.delete('other', { permanent: true })
    assert.equal((await edit(app, 'sender', id, { tags: ['x'] })).status, 200)
    assert.equal((await app.eventTypes()).at(-1), 'message.edited')
    const text = 'select uid from mentions where app_no = $1'
    const { rows } = await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.deepEqual(rows, [{ uid: 'mod' }])
    const { data, tags } = await get(app, id)
    assert.deepEqual([Object.keys(data.mentions), tags], [['mod', 'other'], ['x']])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('keeps the changes of simultaneous edits', async () => {
    const app = await newApp()
    const { id } = await say(app, 'sender', { data: { text: 'Hi' } })
    const edits = Array.from({ length: 8 }, (_, n) =>
      edit(app, 'sender', id, { data: { [`k${n}`]: n } }),
    )
    for (const { status } of await Promise.all(edits)) assert.equal(status, 200)
    const { data } = await get(app, id)
    for (let n = 0; n < 8; n++) assert.equal(data[`k${n}`], n)
  })

  test('edits once when it is retried with the same Idempotency-Key', async () => {
    const app = await newApp()
    const { id } = await say(app, 'sender', { data: { text: 'Hi' } })
    const { messages } = app.as('sender')
    const put = () => messages.update(id, { tags: ['x'] }, { idempotencyKey: 'k' })
    assert.equal((await put()).id, (await put()).id)
  })
})

suite('the right to edit a message', () => {
  const inGroup: [string | undefined, string | undefined][] = [
    ['sender', undefined],
    ['owner', undefined],
    ['mod', undefined],
    [undefined, undefined],
    ['other', 'ERR_MESSAGE_NOT_A_SENDER'],
    ['out', 'ERR_MESSAGE_NO_ACCESS'],
    ['ghost', 'ERR_UID_NOT_FOUND'],
  ]
  for (const [by, code] of inGroup) {
    test(`in a group: ${by ?? 'the app'} ${code ? 'may not edit' : 'may edit'}`, async () => {
      const app = await newApp()
      const { id } = await say(app, 'sender', { data: { text: 'Hi' } })
      const { body } = await edit(app, by, id, { data: { text: 'Hello' } })
      assert.equal(body.error?.code, code)
      if (!code) assert.equal((await get(app, id)).editedBy, by ?? 'app_system')
    })
  }

  const direct: [string | undefined, string | undefined][] = [
    ['sender', undefined],
    [undefined, undefined],
    ['other', 'ERR_MESSAGE_NOT_A_SENDER'],
    ['out', 'ERR_MESSAGE_NO_ACCESS'],
  ]
  for (const [by, code] of direct) {
    test(`in a 1:1 conversation: ${by ?? 'the app'} ${code ? 'may not edit' : 'may edit'}`, async () => {
      const app = await newApp()
      const to = { receiver: 'other', receiverType: 'user' }
      const { id } = await say(app, 'sender', { ...to, data: { text: 'Hi' } })
      const { body } = await edit(app, by, id, { data: { text: 'Hello' } })
      assert.equal(body.error?.code, code)
    })
  }

  for (const [from, to] of [
    ['sender', 'other'],
    ['other', 'sender'],
  ] as const) {
    test(`of ${from} to ${to} by the app names the receiver of the message`, async () => {
      const app = await newApp()
      const message = { receiver: to, receiverType: 'user', data: { text: 'Hi' } }
      const { id } = await say(app, from, message)
      const edited = (await edit(app, undefined, id, { data: { text: 'Hello' } })).body.data
      const deleted = (await app.call('DELETE', `/v3/messages/${id}`)).body.data
      const listed = await app.as(from).messages.listUser(to, { category: 'action' })
      const events = (await app.events()).filter(({ type }) => /edited|deleted/.test(type))
      const shown = [
        edited,
        deleted,
        ...listed.data,
        ...events.map(({ payload }) => payload.message),
      ]
      assert.deepEqual(
        shown.map(({ sender, receiver }) => [sender, receiver]),
        Array(6).fill(['app_system', to]),
      )
      assert.deepEqual(
        shown.map(({ data }) => data.entities.for.entity.uid),
        Array(6).fill(to),
      )
    })
  }

  test('in a 1:1 conversation: after a block neither user may edit, but the app and group members may', async () => {
    const app = await newApp()
    const to = { receiver: 'other', receiverType: 'user' }
    const { id } = await say(app, 'sender', { ...to, data: { text: 'Hi' } })
    const back = { receiver: 'sender', receiverType: 'user' }
    const answer = await say(app, 'other', { ...back, data: { text: 'Hi' } })
    const shared = await say(app, 'sender', { data: { text: 'Hi' } })
    await app.client.blockedUsers.block('other', { blockedUids: ['sender'] })
    const update = (by: string | undefined, message: string) =>
      app.as(by).messages.update(message, { data: { text: 'Boo <@uid:other>' } })
    await refused(update('sender', id), 'ERR_BLOCKED_SENDER')
    await refused(update('other', answer.id), 'ERR_BLOCKED_RECEIVER')
    assert.equal((await get(app, id)).data.text, 'Hi')
    await update('sender', shared.id)
    assert.equal((await app.eventTypes()).at(-1), 'message.edited')
    await update(undefined, id)
    await app.as('sender').messages.delete(id)
  })

  test('covers only text and custom messages for a device', async () => {
    const app = await newApp()
    const { authToken } = await app.client.authTokens.create('sender')
    const headers = { authtoken: authToken }
    const editAsDevice = async (message: object) => {
      const { id } = await say(app, 'sender', message)
      const body = { data: { metadata: { n: 1 } } }
      return app.call('PUT', `/v3/messages/${id}`, { apiKey: null, headers, body })
    }
    const file = { name: 'a', mimeType: 'image/png', extension: 'png', size: 1 }
    const attachments = [{ url: 'https://files.example/a.png', ...file }]
    const image = await editAsDevice({ type: 'image', data: { attachments } })
    assert.equal(image.body.error?.code, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    assert.match(image.body.error.devMessage, /text and custom messages/)
    const custom = { category: 'custom', type: 'poll', data: { customData: {} } }
    for (const message of [{ data: { text: 'x' } }, custom]) {
      assert.equal((await editAsDevice(message)).status, 200)
    }
  })

  test("doesn't cover deleted and action messages, even for the app", async () => {
    const app = await newApp()
    const { id } = await say(app, 'sender', { data: { text: 'Hi' } })
    const action = await app.as('sender').messages.delete(id)
    const refusal = async (message: string) =>
      (await edit(app, undefined, message, { tags: ['x'] })).body.error
    for (const [message, reason] of [
      [id, 'The message was deleted.'],
      [action.id, "This is an action message. It doesn't allow this action."],
    ]) {
      const { code, devMessage } = await refusal(message)
      assert.deepEqual([code, devMessage], ['ERR_MESSAGE_ACTION_NOT_ALLOWED', reason])
    }
    await app.client.messages.delete(id, { permanent: true })
    assert.equal((await refusal(id)).code, 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('ends for a sender who leaves the group', async () => {
    const app = await newApp()
    const { id } = await say(app, 'sender', { data: { text: 'Hi' } })
    await app.as('sender').groups.leave('g')
    await refused(edit(app, 'sender', id, { data: { text: 'Hello' } }), 'ERR_MESSAGE_NO_ACCESS')
  })
})
