/** Messages that are checked without being sent. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer({ roles: ['api', 'worker'] })

type NewMessage = Parameters<TestApp['client']['checkedMessages']['create']>[0]

/** An app that disapproves `spam`, with two users and a group without members. */
async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('ana', 'ben')
  await app.client.groups.create({ guid: 'club', name: 'Club' })
  await app.client.moderationRules.create({
    ...{ id: 'no-spam', name: 'No spam', enabled: true },
    conditions: [{ category: 'word', value: ['spam'] }],
  })
  return app
}

const text = (content: string, more: Partial<NewMessage> = {}): NewMessage => ({
  ...{ sender: 'ana', receiver: 'ben', receiverType: 'user', data: { text: content }, ...more },
})

const moderationOf = ({ data }: { data: object }) => (data as { moderation?: object }).moderation
const DISAPPROVED = { status: 'disapproved', rule: { id: 'no-spam', name: 'No spam' } }

suite('createCheckedMessage', () => {
  test('answers what the rules say, and delivers nothing', async () => {
    const app = await newApp()
    const create = (message: NewMessage) => app.client.checkedMessages.create(message)
    const good = await create(text('Hello', { muid: 'm1' }))
    assert.deepEqual(moderationOf(good), { status: 'approved' })
    const { sender, receiver, receiverType, conversationId, category, type, muid } = good
    assert.deepEqual(
      [sender, receiver, receiverType, conversationId, category, type, muid],
      ['ana', 'ben', 'user', 'ana_user_ben', 'message', 'text', 'm1'],
    )
    // Nobody needs to be a member.
    const bad = await create(text('ｓｐａｍ', { receiver: 'club', receiverType: 'group' }))
    assert.deepEqual(moderationOf(bad), DISAPPROVED)
    assert.deepEqual([bad.receiver, bad.receiverType], ['club', 'group'])
    const custom = { customData: { note: 'spam' } }
    const unseen = await create(text('', { category: 'custom', type: 'note', data: custom }))
    assert.equal(moderationOf(unseen), undefined)

    for (const uid of ['ana', 'ben']) {
      const { body } = await app.as(uid).call('GET', '/v3/conversations')
      assert.deepEqual(body.data, [])
    }
    for (const { id } of [good, bad]) {
      await refused(app.client.messages.get(id), 'ERR_MESSAGE_ID_NOT_FOUND')
    }
    const { body } = await app.call('GET', '/v3/moderation/blocked-messages')
    assert.deepEqual(body.data, [])
    const types = await app.eventTypes()
    assert.ok(!types.some((type) => type.startsWith('message.') || type === 'moderation.blocked'))
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('creates users and groups that are unknown, once', async () => {
    const app = await newApp()
    const message = text('Hello', {
      ...{ sender: 'Cleo', senderUserDetails: { uid: 'cleo', name: 'Cleo', tags: ['new'] } },
      ...{ receiver: 'desk', receiverType: 'group' },
      receiverGroupDetails: { guid: 'desk', name: 'Desk', type: 'private' },
    })
    const both = await Promise.all([1, 2, 3].map(() => app.client.checkedMessages.create(message)))
    assert.equal(new Set(both.map(({ id }) => id)).size, 3)
    assert.equal((await app.client.users.get('cleo')).name, 'Cleo')
    assert.equal((await app.client.groups.get('desk')).type, 'private')
    const created = (await app.eventTypes()).filter((type) => /^(user|group)\.created$/.test(type))
    assert.deepEqual(created.toSorted(), [
      ...['group.created', 'group.created'],
      ...['user.created', 'user.created', 'user.created'],
    ])
    // What is known stays as it is.
    const other = { ...message, senderUserDetails: { uid: 'cleo', name: 'Other' } }
    await app.client.checkedMessages.create(other)
    assert.equal((await app.client.users.get('cleo')).name, 'Cleo')
  })

  test('asks the rules about users that it has just created', async () => {
    const app = await newApp()
    await app.client.moderationRules.update('no-spam', {
      filters: [
        { type: 'sender', entity: 'user', operand: 'tags', operator: 'equals', value: 'new' },
      ],
    })
    const from = (uid: string, tags: string[]) =>
      app.client.checkedMessages.create(
        text('spam', { sender: uid, senderUserDetails: { uid, name: uid, tags } }),
      )
    assert.deepEqual(moderationOf(await from('dora', ['new'])), DISAPPROVED)
    assert.equal(moderationOf(await from('emil', ['old'])), undefined)
  })

  test('refuses unknown users and groups, and details of others', async () => {
    const app = await newApp()
    const create = (more: Partial<NewMessage>) =>
      app.client.checkedMessages.create(text('Hello', more))
    await refused(create({ sender: 'zoe' }), 'ERR_UID_NOT_FOUND')
    await refused(create({ receiver: 'zoe' }), 'ERR_UID_NOT_FOUND')
    await refused(create({ receiver: 'zoe', receiverType: 'group' }), 'ERR_GUID_NOT_FOUND')
    const details = { uid: 'yan', name: 'Yan' }
    await refused(create({ sender: 'zoe', senderUserDetails: details }), 'ERR_BAD_REQUEST')
    await refused(create({ data: { text: ' ' } }), 'ERR_EMPTY_MESSAGE_TEXT')
    assert.equal((await app.client.users.list({})).data.length, 2)
  })

  test('checks a message once for each muid of its sender', async () => {
    const app = await newApp()
    const create = (content: string, more: Partial<NewMessage> = {}) =>
      app.client.checkedMessages.create(text(content, { muid: 'same', ...more }))
    const [first, second] = await Promise.all([create('Hello'), create('spam')])
    assert.equal(first.id, second.id)
    assert.deepEqual(moderationOf(first), moderationOf(second))
    const other = await create('spam', { sender: 'ben', receiver: 'ana' })
    assert.notEqual(other.id, first.id)
  })
})

suite('listCheckedMessages', () => {
  test('pages and filters in both directions', async () => {
    const app = await newApp()
    const ids: string[] = []
    for (const [content, more] of [
      ['one', {}],
      ['spam', {}],
      ['two', { receiver: 'club', receiverType: 'group' }],
      ['spam', { sender: 'ben', receiver: 'ana' }],
    ] as [string, Partial<NewMessage>][]) {
      ids.push((await app.client.checkedMessages.create(text(content, more))).id)
    }
    const list = async (query: string) => {
      const { body } = await app.call('GET', `/v3/moderation/messages?${query}`)
      return { ids: body.data.map(({ id }: { id: string }) => ids.indexOf(id)), meta: body.meta }
    }
    const all = await list('')
    assert.deepEqual([all.ids, all.meta], [[0, 1, 2, 3], { current: { limit: 100, count: 4 } }])
    const page = await list('limit=3')
    const { affix, id, sentAt } = page.meta.next
    assert.deepEqual([page.ids, affix, id, typeof sentAt], [[0, 1, 2], 'append', ids[2], 'number'])
    const rest = await list(`limit=3&affix=append&id=${id}&sentAt=${sentAt}`)
    assert.deepEqual([rest.ids, rest.meta.next], [[3], undefined])
    const down = await list('limit=3&affix=prepend')
    assert.deepEqual([down.ids, down.meta.next.id], [[1, 2, 3], ids[1]])
    assert.deepEqual((await list(`affix=prepend&id=${ids[1]}`)).ids, [0])
    assert.deepEqual((await list(`affix=append&sentAt=${sentAt + 60}`)).ids, [])
    assert.deepEqual((await list(`affix=append&sentAt=${sentAt - 60}`)).ids, [0, 1, 2, 3])
    assert.deepEqual((await list(`affix=prepend&sentAt=${sentAt + 60}`)).ids, [0, 1, 2, 3])
    const found = async (query: string) => (await list(query)).ids
    assert.deepEqual(await found('sender=ben'), [3])
    assert.deepEqual(await found('receiverUID=ben'), [0, 1])
    assert.deepEqual(await found('receiverGUID=club'), [2])
    assert.deepEqual(await found('receiverUID=club'), [])
    assert.deepEqual(await found('category=custom'), [])
    assert.deepEqual(await found('type=text&sender=ana'), [0, 1, 2])
    assert.deepEqual(await found('moderationStatus=disapproved'), [1, 3])
    assert.deepEqual(await found('moderationStatus=pending'), [])
  })
})

suite('updateCheckedMessage', () => {
  test('checks the message anew', async () => {
    const app = await newApp()
    const { checkedMessages } = app.client
    const { id } = await checkedMessages.create(text('spam'))
    const better = await checkedMessages.update(id, { data: { text: 'Hello', metadata: { a: 1 } } })
    assert.deepEqual(moderationOf(better), { status: 'approved' })
    assert.deepEqual([better.editedBy, typeof better.editedAt], ['app_system', 'number'])
    await app.client.moderationRules.update('no-spam', {
      conditions: [{ category: 'word', value: ['hello'] }],
    })
    // Without changes, and by the rules of today.
    const again = await checkedMessages.update(id, {})
    assert.deepEqual(moderationOf(again), DISAPPROVED)
    assert.deepEqual(await checkedMessages.get(id), again)
    assert.equal((again.data as { metadata?: { a?: number } }).metadata?.a, 1)
    await refused(checkedMessages.update(id, { data: { text: '' } }), 'ERR_EMPTY_MESSAGE_TEXT')
  })
})

suite('getCheckedMessage', () => {
  test('knows no messages that were sent', async () => {
    const app = await newApp()
    const sent = await app.as('ana').sendText('ben', 'Hello')
    await refused(app.client.checkedMessages.get(sent.id), 'ERR_MESSAGE_ID_NOT_FOUND')
  })
})

suite('deleteCheckedMessage', () => {
  test('leaves nothing of the message', async () => {
    const app = await newApp()
    const { checkedMessages } = app.client
    const { id } = await checkedMessages.create(text('Hello', { muid: 'm' }))
    await checkedMessages.delete(id)
    await refused(checkedMessages.get(id), 'ERR_MESSAGE_ID_NOT_FOUND')
    await refused(checkedMessages.delete(id), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.notEqual((await checkedMessages.create(text('Hello', { muid: 'm' }))).id, id)
  })

  test('happens with the user or the group', async () => {
    const app = await newApp()
    await app.users('cleo')
    const { checkedMessages } = app.client
    for (const more of [
      { sender: 'cleo' },
      { receiver: 'cleo' },
      { sender: 'cleo', receiver: 'cleo' },
      { receiver: 'club', receiverType: 'group' as const },
    ]) {
      await checkedMessages.create(text('Hello', more))
    }
    const { id: kept } = await checkedMessages.create(text('Hello'))
    await app.client.users.delete('cleo', { permanent: true })
    await app.client.groups.delete('club')
    const { body } = await app.call('GET', '/v3/moderation/messages')
    assert.deepEqual(
      body.data.map(({ id }: { id: string }) => id),
      [kept],
    )
    const count = 'select count(*)::int as count from checked_messages where app_no = $1'
    await until(
      'one is left',
      async () => (await rows<{ count: number }>(app.cell.db, count, [app.no]))[0]?.count === 1,
    )
  })
})
