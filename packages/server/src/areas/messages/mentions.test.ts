import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { snapshotOf } from '../../../test/snapshot.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()

/** An app with a group of three users, and another user outside it. */
async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of ['a', 'b', 'c', 'out']) {
    await app.client.users.create({ uid, name: uid.toUpperCase() })
  }
  const group = { guid: 'g', name: 'G', owner: 'a', members: { participants: ['b', 'c'] } }
  await app.client.groups.create(group)
  return app
}

const say = async (app: TestApp, sender: string, text: string, more: object = {}) =>
  app.as(sender).call('POST', '/v3/messages', {
    body: { receiver: 'g', receiverType: 'group', data: { text }, ...more },
  })

async function unreadMentions(app: TestApp, uid: string): Promise<number> {
  const { body } = await app.as(uid).call('GET', '/v3/groups/g/conversation')
  const { data: listed } = await app.as(uid).conversations.list()
  assert.equal(listed[0]?.unreadMentionsCount, body.data.unreadMentionsCount)
  return body.data.unreadMentionsCount
}

const read = (app: TestApp, uid: string, messageId?: string) =>
  app.as(uid).call('POST', '/v3/groups/g/conversation/read', { body: { messageId } })

suite('sendMessage with mentions', () => {
  test('shows the mentioned users as they are now and keeps the text', async () => {
    const app = await newApp()
    const text = 'See <@uid:B> and <@uid:b>, <@uid:out>, <@uid:ghost> <@uid:> <@all:x>'
    const { id, data } = (await say(app, 'a', text)).body.data
    assert.equal(data.text, text)
    assert.deepEqual(Object.keys(data.mentions), ['b', 'out'])
    assert.equal(data.mentions.b.name, 'B')
    const metadata = { none: null, '@private': { a: 1 } }
    await app.client.users.update('b', { name: 'Ben', metadata })
    await app.client.users.delete('out', { permanent: true })
    const { mentions } = (await app.call('GET', `/v3/messages/${id}`)).body.data.data
    assert.equal(mentions.b.name, 'Ben')
    assert.deepEqual(mentions.b.metadata, { none: null })
    assert.deepEqual(mentions.out, { uid: 'out', name: 'OUT' })
    const again = (await say(app, 'a', 'Hi <@uid:b>')).body.data
    const got = await app.client.messages.get(again.id)
    assert.deepEqual(snapshotOf({ ...again, receipts: { data: [] } }), snapshotOf(got))
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('finds mentions in texts and captions only', async () => {
    const app = await newApp()
    const attachments = [{ url: 'https://files.example/a.png' }]
    const image = { type: 'image', data: { text: '<@uid:b>', attachments } }
    const { data } = (await say(app, 'a', '', image)).body.data
    assert.deepEqual(Object.keys(data.mentions), ['b'])
    const custom = { category: 'custom', type: 'x', data: { text: '<@uid:b>', customData: {} } }
    assert.equal((await say(app, 'a', '', custom)).body.data.data.mentions, undefined)
    const forged = { data: { text: 'x', mentions: { b: { uid: 'b' } } } }
    assert.equal((await say(app, 'a', '', forged)).body.data.data.mentions, undefined)
    assert.equal(await unreadMentions(app, 'b'), 1)
  })

  test('refuses more than ten mentions', async () => {
    const app = await newApp()
    const many = (count: number) => Array.from({ length: count }, (_, n) => `<@uid:u${n}>`).join('')
    assert.equal((await say(app, 'a', many(10))).status, 200)
    const { details } = await refused(say(app, 'a', many(11)), 'ERR_BAD_REQUEST')
    assert.ok(details?.['data.text'])
  })

  test('sends an event for each mentioned user but the sender', async () => {
    const app = await newApp()
    await say(app, 'a', '<@uid:c> <@uid:a> <@uid:b>')
    assert.deepEqual((await app.eventTypes()).slice(-3), [
      'message.sent',
      'user.mentioned',
      'user.mentioned',
    ])
  })
})

suite('user.mentioned', () => {
  const mentionedBy = async (app: TestApp, change: () => Promise<{ status: number }>) => {
    const before = (await app.events()).length
    assert.equal((await change()).status, 200)
    const events = (await app.events()).slice(before)
    return events.flatMap(({ type, payload }) => (type === 'user.mentioned' ? [payload.uid] : []))
  }

  test('goes only to users who can read the message', async () => {
    const app = await newApp()
    const with_ = (receiver: string) => ({ receiver, receiverType: 'user' })
    const text = '<@uid:b> <@uid:c> <@uid:out>'
    assert.deepEqual(await mentionedBy(app, () => say(app, 'a', text, with_('a'))), [])
    assert.deepEqual(await mentionedBy(app, () => say(app, 'a', text, with_('out'))), ['out'])
    assert.deepEqual(await mentionedBy(app, () => say(app, 'a', text)), ['b', 'c'])
    await app.as('c').groups.leave('g')
    const { id } = (await say(app, 'a', 'Hi')).body.data
    const edit = () => app.as('a').call('PUT', `/v3/messages/${id}`, { body: { data: { text } } })
    assert.deepEqual(await mentionedBy(app, edit), ['b'])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test("doesn't go to users who block the sender or whom the sender blocks", async () => {
    const app = await newApp()
    await app.client.blockedUsers.block('b', { blockedUids: ['a'] })
    await app.client.blockedUsers.block('a', { blockedUids: ['c'] })
    const text = '<@uid:b> <@uid:c>'
    assert.deepEqual(await mentionedBy(app, () => say(app, 'a', text)), [])
    const { id } = (await say(app, 'a', 'Hi')).body.data
    const edit = (by?: string) => () =>
      app.as(by).call('PUT', `/v3/messages/${id}`, { body: { data: { text } } })
    assert.deepEqual(await mentionedBy(app, edit('a')), [])
    await app.client.messages.update(id, { data: { text: 'Hi' } })
    assert.deepEqual(await mentionedBy(app, edit()), ['b', 'c'])
    assert.deepEqual(await mentionedBy(app, () => say(app, 'c', '<@uid:b>')), ['b'])
  })
})

suite('listGroupMessages with mentions', () => {
  test('shows blocks and tags of the mentioned users on request', async () => {
    const app = await newApp()
    await app.client.users.update('b', { tags: ['staff'] })
    await app.client.blockedUsers.block('a', { blockedUids: ['b'] })
    await app.client.blockedUsers.block('c', { blockedUids: ['a'] })
    await say(app, 'a', '<@uid:b> <@uid:c>')
    const list = async (query: string, uid?: string) => {
      const path = `/v3/groups/g/messages?affix=prepend&limit=1&${query}`
      return (await app.as(uid).call('GET', path)).body.data[0].data.mentions
    }
    const plain = await list('', 'a')
    assert.deepEqual([plain.b.tags, plain.b.blockedByMe], [undefined, undefined])
    const seen = await list('mentionsWithBlockedInfo=true&mentionswithTagInfo=true', 'a')
    assert.deepEqual(seen.b.tags, ['staff'])
    assert.deepEqual([seen.b.blockedByMe, seen.b.hasBlockedMe], [true, false])
    assert.deepEqual([seen.c.blockedByMe, seen.c.hasBlockedMe], [false, true])
    assert.equal((await list('mentionsWithBlockedInfo=true')).b.blockedByMe, undefined)
  })
})

suite('the count of unread mentions', () => {
  test('follows the mark in both directions', async () => {
    const app = await newApp()
    const first = (await say(app, 'a', '<@uid:b> <@uid:a>')).body.data.id
    await say(app, 'c', 'Nobody')
    await say(app, 'c', '<@uid:b> <@uid:b>')
    assert.equal(await unreadMentions(app, 'a'), 0)
    assert.equal(await unreadMentions(app, 'b'), 2)
    await read(app, 'b', first)
    assert.equal(await unreadMentions(app, 'b'), 1)
    await read(app, 'b')
    assert.equal(await unreadMentions(app, 'b'), 0)
    const body = { messageId: first }
    await app.as('b').conversations.markGroupUnread('g', body)
    assert.equal(await unreadMentions(app, 'b'), 1)
  })

  test('leaves out deleted messages and those before a kick or a reset', async () => {
    const app = await newApp()
    const soft = (await say(app, 'a', '<@uid:b>')).body.data.id
    const gone = (await say(app, 'a', '<@uid:b>')).body.data.id
    await say(app, 'a', '<@uid:b>')
    assert.equal(await unreadMentions(app, 'b'), 3)
    await app.client.messages.delete(soft)
    await app.client.messages.delete(gone, { permanent: true })
    assert.equal(await unreadMentions(app, 'b'), 1)
    await app.client.groupMembers.kick('g', 'b')
    await say(app, 'a', '<@uid:b>')
    await app.client.groupMembers.add('g', { participants: ['b'] })
    assert.equal(await unreadMentions(app, 'b'), 0)
    await say(app, 'a', '<@uid:b>')
    assert.equal(await unreadMentions(app, 'b'), 1)
    await app.as('b').conversations.resetGroup('g', {})
    await say(app, 'a', 'Nobody')
    assert.equal(await unreadMentions(app, 'b'), 0)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('drops when a sender is removed', async () => {
    const app = await newApp()
    await say(app, 'c', '<@uid:b>')
    await say(app, 'a', '<@uid:b>')
    await app.client.users.delete('c', { permanent: true })
    assert.equal(await unreadMentions(app, 'b'), 1)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
