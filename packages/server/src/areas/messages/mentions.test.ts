import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()

const as = (uid: string) => ({ headers: { onbehalfof: uid } })

/** An app with a group of three, and one more who is in no group. */
async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of ['a', 'b', 'c', 'out']) {
    await app.call('POST', '/v3/users', { body: { uid, name: uid.toUpperCase() } })
  }
  const group = { guid: 'g', name: 'G', owner: 'a', members: { participants: ['b', 'c'] } }
  await app.call('POST', '/v3/groups', { body: group })
  return app
}

const say = async (app: TestApp, sender: string, text: string, more: object = {}) =>
  app.call('POST', '/v3/messages', {
    ...as(sender),
    body: { receiver: 'g', receiverType: 'group', data: { text }, ...more },
  })

async function unreadMentions(app: TestApp, uid: string): Promise<number> {
  const { body } = await app.call('GET', '/v3/groups/g/conversation', as(uid))
  const { data: listed } = (await app.call('GET', '/v3/conversations', as(uid))).body
  assert.equal(listed[0].unreadMentionsCount, body.data.unreadMentionsCount)
  return body.data.unreadMentionsCount
}

const read = (app: TestApp, uid: string, messageId?: string) =>
  app.call('POST', '/v3/groups/g/conversation/read', { ...as(uid), body: { messageId } })

suite('a message that mentions users', () => {
  test('shows them as they are now, and keeps the text', async () => {
    const app = await newApp()
    const text = 'See <@uid:B> and <@uid:b>, <@uid:out>, <@uid:ghost> <@uid:> <@all:x>'
    const { id, data } = (await say(app, 'a', text)).body.data
    assert.equal(data.text, text)
    assert.deepEqual(Object.keys(data.mentions), ['b', 'out'])
    assert.equal(data.mentions.b.name, 'B')
    const metadata = { none: null, '@private': { a: 1 } }
    await app.call('PUT', '/v3/users/b', { body: { name: 'Ben', metadata } })
    await app.call('DELETE', '/v3/users/out', { body: { permanent: true } })
    const { mentions } = (await app.call('GET', `/v3/messages/${id}`)).body.data.data
    assert.equal(mentions.b.name, 'Ben')
    assert.deepEqual(mentions.b.metadata, { none: null })
    assert.deepEqual(mentions.out, { uid: 'out', name: 'OUT' })
    const again = (await say(app, 'a', 'Hi <@uid:b>')).body.data
    const got = (await app.call('GET', `/v3/messages/${again.id}`)).body.data
    assert.deepEqual({ ...again, receipts: { data: [] } }, got)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('says so in captions, and nowhere else', async () => {
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

  test('mentions ten at most', async () => {
    const app = await newApp()
    const many = (count: number) => Array.from({ length: count }, (_, n) => `<@uid:u${n}>`).join('')
    assert.equal((await say(app, 'a', many(10))).status, 200)
    const refused = await say(app, 'a', many(11))
    assert.equal(refused.body.error.code, 'ERR_BAD_REQUEST')
    assert.ok(refused.body.error.details['data.text'])
  })

  test('has an event for each of them but the sender', async () => {
    const app = await newApp()
    await say(app, 'a', '<@uid:c> <@uid:a> <@uid:b>')
    assert.deepEqual((await app.eventTypes()).slice(-3), [
      'message.sent',
      'user.mentioned',
      'user.mentioned',
    ])
  })
})

suite('who is told of a mention', () => {
  const toldAfter = async (app: TestApp, change: () => Promise<{ status: number }>) => {
    const before = (await app.eventTypes()).length
    assert.equal((await change()).status, 200)
    const text = 'select type, payload from outbox where app_no = $1 order by id offset $2'
    const { rows } = await app.cell.db.query<{ type: string; payload: { uid: string } }>({
      ...{ name: '', text, values: [app.no, before] },
    })
    return rows.flatMap(({ type, payload }) => (type === 'user.mentioned' ? [payload.uid] : []))
  }

  test('nobody who cannot read it', async () => {
    const app = await newApp()
    const with_ = (receiver: string) => ({ receiver, receiverType: 'user' })
    const text = '<@uid:b> <@uid:c> <@uid:out>'
    assert.deepEqual(await toldAfter(app, () => say(app, 'a', text, with_('a'))), [])
    assert.deepEqual(await toldAfter(app, () => say(app, 'a', text, with_('out'))), ['out'])
    assert.deepEqual(await toldAfter(app, () => say(app, 'a', text)), ['b', 'c'])
    await app.call('POST', '/v3/groups/g/leave', { ...as('c'), body: {} })
    const { id } = (await say(app, 'a', 'Hi')).body.data
    const edit = () =>
      app.call('PUT', `/v3/messages/${id}`, { ...as('a'), body: { data: { text } } })
    assert.deepEqual(await toldAfter(app, edit), ['b'])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('nobody in a block with who mentions them', async () => {
    const app = await newApp()
    await app.call('POST', '/v3/users/b/blockedusers', { body: { blockedUids: ['a'] } })
    await app.call('POST', '/v3/users/a/blockedusers', { body: { blockedUids: ['c'] } })
    const text = '<@uid:b> <@uid:c>'
    assert.deepEqual(await toldAfter(app, () => say(app, 'a', text)), [])
    const { id } = (await say(app, 'a', 'Hi')).body.data
    const edit = (by: object) => () =>
      app.call('PUT', `/v3/messages/${id}`, { ...by, body: { data: { text } } })
    assert.deepEqual(await toldAfter(app, edit(as('a'))), [])
    await app.call('PUT', `/v3/messages/${id}`, { body: { data: { text: 'Hi' } } })
    assert.deepEqual(await toldAfter(app, edit({})), ['b', 'c'])
    assert.deepEqual(await toldAfter(app, () => say(app, 'c', '<@uid:b>')), ['b'])
  })
})

suite('lists of messages that mention users', () => {
  test('show blocks and tags where they are asked for', async () => {
    const app = await newApp()
    await app.call('PUT', '/v3/users/b', { body: { tags: ['staff'] } })
    await app.call('POST', '/v3/users/a/blockedusers', { body: { blockedUids: ['b'] } })
    await app.call('POST', '/v3/users/c/blockedusers', { body: { blockedUids: ['a'] } })
    await say(app, 'a', '<@uid:b> <@uid:c>')
    const list = async (query: string, uid?: string) => {
      const path = `/v3/groups/g/messages?affix=prepend&limit=1&${query}`
      return (await app.call('GET', path, uid ? as(uid) : {})).body.data[0].data.mentions
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
  test('follows the mark, both ways', async () => {
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
    await app.call('DELETE', '/v3/groups/g/conversation/read', { ...as('b'), body })
    assert.equal(await unreadMentions(app, 'b'), 1)
  })

  test('leaves out what is deleted, and what was before leaving or a reset', async () => {
    const app = await newApp()
    const soft = (await say(app, 'a', '<@uid:b>')).body.data.id
    const gone = (await say(app, 'a', '<@uid:b>')).body.data.id
    await say(app, 'a', '<@uid:b>')
    assert.equal(await unreadMentions(app, 'b'), 3)
    await app.call('DELETE', `/v3/messages/${soft}`)
    await app.call('DELETE', `/v3/messages/${gone}`, { body: { permanent: true } })
    assert.equal(await unreadMentions(app, 'b'), 1)
    await app.call('DELETE', '/v3/groups/g/members/b')
    await say(app, 'a', '<@uid:b>')
    await app.call('POST', '/v3/groups/g/members', { body: { participants: ['b'] } })
    assert.equal(await unreadMentions(app, 'b'), 0)
    await say(app, 'a', '<@uid:b>')
    assert.equal(await unreadMentions(app, 'b'), 1)
    await app.call('DELETE', '/v3/groups/g/conversation', { ...as('b'), body: {} })
    await say(app, 'a', 'Nobody')
    assert.equal(await unreadMentions(app, 'b'), 0)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('goes with a removed sender', async () => {
    const app = await newApp()
    await say(app, 'c', '<@uid:b>')
    await say(app, 'a', '<@uid:b>')
    await app.call('DELETE', '/v3/users/c', { body: { permanent: true } })
    assert.equal(await unreadMentions(app, 'b'), 1)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
