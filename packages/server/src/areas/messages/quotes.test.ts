import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()

const as = (uid: string | undefined) => (uid ? { headers: { onbehalfof: uid } } : {})

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of ['a', 'b', 'c']) {
    await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  }
  const group = { guid: 'g', name: 'G', owner: 'a', members: { participants: ['b'] } }
  await app.call('POST', '/v3/groups', { body: group })
  return app
}

const GROUP = { receiver: 'g', receiverType: 'group' }
const DIRECT = { receiver: 'b', receiverType: 'user' }

const say = (app: TestApp, sender: string | undefined, message: object, text = 'Hi') =>
  app.call('POST', '/v3/messages', { ...as(sender), body: { ...message, data: { text } } })

const get = async (app: TestApp, id: string) =>
  (await app.call('GET', `/v3/messages/${id}`)).body.data

suite('a quote', () => {
  for (const [kind, target] of [
    ['in a group', GROUP],
    ['between two', DIRECT],
  ] as const) {
    test(`${kind}: is shown alike by the send, and when it is read`, async () => {
      const app = await newApp()
      const first = (await say(app, 'a', { ...target, tags: ['x'], muid: 'm' }, '<@uid:b>')).body
        .data
      const { body } = await say(app, 'a', { ...target, quotedMessageId: Number(first.id) }, 'So')
      assert.equal(body.data.quotedMessageId, first.id)
      assert.deepEqual(body.data.quotedMessage, first)
      assert.deepEqual(await get(app, body.data.id), { ...body.data, receipts: { data: [] } })
      const again = (await say(app, 'a', { ...target, quotedMessageId: body.data.id })).body.data
      assert.equal(again.quotedMessage.quotedMessage, undefined)
      assert.equal(again.quotedMessage.quotedMessageId, first.id)
      assert.deepEqual(await get(app, again.id), { ...again, receipts: { data: [] } })
    })
  }

  test('shows what is deleted without content, and what is gone by its id', async () => {
    const app = await newApp()
    const first = (await say(app, 'a', GROUP)).body.data
    const { id } = (await say(app, 'b', { ...GROUP, quotedMessageId: first.id })).body.data
    await app.call('DELETE', `/v3/messages/${first.id}`)
    const stub = (await get(app, id)).quotedMessage
    assert.equal(stub.deletedBy, 'app_system')
    assert.equal(stub.data.text, undefined)
    await app.call('DELETE', `/v3/messages/${first.id}`, { body: { permanent: true } })
    assert.deepEqual((await get(app, id)).quotedMessage, { id: first.id })
    await app.call('DELETE', `/v3/messages/${id}`)
    assert.equal((await get(app, id)).quotedMessage, undefined)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('is left out of lists where it is not wanted', async () => {
    const app = await newApp()
    const first = (await say(app, 'a', GROUP)).body.data
    await say(app, 'b', { ...GROUP, quotedMessageId: first.id })
    const list = async (query: string) =>
      (await app.call('GET', `/v3/groups/g/messages?affix=prepend&limit=1&${query}`)).body.data[0]
    assert.equal((await list('')).quotedMessage.id, first.id)
    const hidden = await list('hideQuotedMessages=true')
    assert.deepEqual([hidden.quotedMessageId, hidden.quotedMessage], [first.id, undefined])
  })

  test('is of the same conversation, there, and no action', async () => {
    const app = await newApp()
    const elsewhere = (await say(app, 'a', DIRECT)).body.data.id
    const gone = (await say(app, 'a', GROUP)).body.data.id
    const action = (await app.call('DELETE', `/v3/messages/${gone}`)).body.data.id
    const codeOf = async (quotedMessageId: string) =>
      (await say(app, 'b', { ...GROUP, quotedMessageId })).body.error?.code
    assert.equal(await codeOf(elsewhere), 'ERR_BAD_REQUEST')
    assert.equal(await codeOf(gone), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.equal(await codeOf(action), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    assert.equal(await codeOf('99999999'), 'ERR_MESSAGE_ID_NOT_FOUND')
    const other = await newApp()
    const foreign = (await say(other, 'a', GROUP)).body.data.id
    assert.equal(await codeOf(foreign), 'ERR_MESSAGE_ID_NOT_FOUND')
    const cleared = (await say(app, 'a', GROUP)).body.data.id
    await app.call('DELETE', '/v3/groups/g/conversation', { ...as('b'), body: {} })
    assert.equal(await codeOf(cleared), 'ERR_MESSAGE_ID_NOT_FOUND')
  })
})
