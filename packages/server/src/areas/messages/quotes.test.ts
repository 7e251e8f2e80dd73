import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { snapshotOf } from '../../../test/snapshot.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('a', 'b', 'c')
  const group = { guid: 'g', name: 'G', owner: 'a', members: { participants: ['b'] } }
  await app.client.groups.create(group)
  return app
}

const GROUP = { receiver: 'g', receiverType: 'group' }
const DIRECT = { receiver: 'b', receiverType: 'user' }

const say = (app: TestApp, sender: string | undefined, message: object, text = 'Hi') =>
  app.as(sender).call('POST', '/v3/messages', { body: { ...message, data: { text } } })

const get = (app: TestApp, id: string) => app.client.messages.get(id)

suite('sendMessage with a quote', () => {
  for (const [kind, target] of [
    ['in a group', GROUP],
    ['in a 1:1 conversation', DIRECT],
  ] as const) {
    test(`${kind}: returns the same quote as getMessage`, async () => {
      const app = await newApp()
      const first = (await say(app, 'a', { ...target, tags: ['x'], muid: 'm' }, '<@uid:b>')).body
        .data
      const { body } = await say(app, 'a', { ...target, quotedMessageId: Number(first.id) }, 'So')
      assert.equal(body.data.quotedMessageId, first.id)
      assert.deepEqual(body.data.quotedMessage, snapshotOf(first))
      const read = await get(app, body.data.id)
      assert.deepEqual(snapshotOf(read), snapshotOf({ ...body.data, receipts: { data: [] } }))
      const again = (await say(app, 'a', { ...target, quotedMessageId: body.data.id })).body.data
      assert.equal(again.quotedMessage.quotedMessage, undefined)
      assert.equal(again.quotedMessage.quotedMessageId, first.id)
      const readAgain = await get(app, again.id)
      assert.deepEqual(snapshotOf(readAgain), snapshotOf({ ...again, receipts: { data: [] } }))
    })
  }

  test('shows a deleted message without content, and a removed one by its id', async () => {
    const app = await newApp()
    const first = (await say(app, 'a', GROUP)).body.data
    const { id } = (await say(app, 'b', { ...GROUP, quotedMessageId: first.id })).body.data
    await app.client.messages.delete(first.id)
    const stub = (await get(app, id)).quotedMessage
    assert.equal(stub?.deletedBy, 'app_system')
    assert.equal(stub?.data?.text, undefined)
    await app.client.messages.delete(first.id, { permanent: true })
    assert.deepEqual((await get(app, id)).quotedMessage, { id: first.id })
    await app.client.messages.delete(id)
    assert.equal((await get(app, id)).quotedMessage, undefined)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('is listed without the quote with hideQuotedMessages', async () => {
    const app = await newApp()
    const first = (await say(app, 'a', GROUP)).body.data
    await say(app, 'b', { ...GROUP, quotedMessageId: first.id })
    const list = async (query: string) =>
      (await app.call('GET', `/v3/groups/g/messages?affix=prepend&limit=1&${query}`)).body.data[0]
    assert.equal((await list('')).quotedMessage.id, first.id)
    const hidden = await list('hideQuotedMessages=true')
    assert.deepEqual([hidden.quotedMessageId, hidden.quotedMessage], [first.id, undefined])
  })

  test('refuses messages of other conversations, deleted ones and action messages', async () => {
    const app = await newApp()
    const elsewhere = (await say(app, 'a', DIRECT)).body.data.id
    const gone = (await say(app, 'a', GROUP)).body.data.id
    const action = (await app.client.messages.delete(gone)).id
    const quote = (quotedMessageId: string) => say(app, 'b', { ...GROUP, quotedMessageId })
    await refused(quote(elsewhere), 'ERR_BAD_REQUEST')
    await refused(quote(gone), 'ERR_MESSAGE_ID_NOT_FOUND')
    await refused(quote(action), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    await refused(quote('99999999'), 'ERR_MESSAGE_ID_NOT_FOUND')
    const other = await newApp()
    const foreign = (await say(other, 'a', GROUP)).body.data.id
    await refused(quote(foreign), 'ERR_MESSAGE_ID_NOT_FOUND')
    const cleared = (await say(app, 'a', GROUP)).body.data.id
    await app.as('b').conversations.resetGroup('g', {})
    await refused(quote(cleared), 'ERR_MESSAGE_ID_NOT_FOUND')
  })
})
