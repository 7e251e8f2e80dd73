import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'

const server = useServer()
const create = (app: TestApp, uid: string) => app.client.bots.create({ uid, name: `Bot ${uid}` })

async function listed(app: TestApp): Promise<string[]> {
  const { data } = await app.client.bots.list()
  return data.map(({ uid }) => uid)
}

suite('createBot', () => {
  test('creates a user, without an auth token', async () => {
    const app = await server.newApp()
    const bot = await app.client.bots.create({ uid: 'Helper', name: 'Helper', tags: ['help'] })
    assert.deepEqual([bot.uid, bot.tags], ['helper', ['help']])
    assert.equal((await app.client.users.get('helper')).name, 'Helper')
    const token = { uid: 'other', name: 'Other', withAuthToken: true }
    const { body: other } = await app.call('POST', '/v3/bots', { body: token })
    assert.equal(other.data.authToken, undefined)
    assert.deepEqual(await listed(app), ['helper', 'other'])
    assert.equal((await app.eventTypes()).at(-1), 'user.created')
  })

  test('refuses a uid that is taken or has 50 characters', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await create(app, 'x'.repeat(49))
    await refused(create(app, 'x'.repeat(50)), 'ERR_BAD_REQUEST')
    await refused(create(app, 'x'.repeat(49)), 'ERR_BOT_ALREADY_EXISTS')
    await refused(create(app, 'amira'), 'ERR_UID_ALREADY_EXISTS')
    await refused(create(app, 'app_system'), 'ERR_UID_ALREADY_EXISTS')
  })

  test('creates at most 25 bots, even when 30 requests arrive at once', async () => {
    const app = await server.newApp()
    const all = Array.from({ length: 30 }, (_, nth) => create(app, `bot-${nth}`))
    const outcomes = await Promise.allSettled(all)
    const codes = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    assert.deepEqual(codes, Array(5).fill('ERR_PLAN_QUOTA_RESTRICTION'))
    const known = await listed(app)
    assert.equal(known.length, 25)
    await app.client.bots.delete(known[0] ?? '')
    await refused(create(app, 'one-more'), 'ERR_PLAN_QUOTA_RESTRICTION')
    await app.client.bots.delete(known[0] ?? '', { permanent: true })
    await create(app, 'one-more')
  })
})

suite('sendBotMessage', () => {
  const body = {
    receiver: 'amira',
    receiverType: 'user',
    data: { text: 'How can I help?' },
  } as const

  test('sends a message from the bot', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await app.client.bots.create({ uid: 'helper', name: 'Helper' })
    const sent = (await app.call('POST', '/v3/bots/helper/messages', { body })).body.data
    assert.equal(sent.sender, 'helper')
    assert.equal(sent.data.entities.sender.entity.name, 'Helper')
  })

  test('refuses users who are not bots, empty texts and groups without the bot', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await create(app, 'helper')
    const { bots } = app.client
    for (const uid of ['amira', 'nobody', 'app_system'])
      await refused(bots.sendMessage(uid, body), 'ERR_BOT_NOT_FOUND')
    await refused(
      bots.sendMessage('helper', { ...body, data: { text: '' } }),
      'ERR_EMPTY_MESSAGE_TEXT',
    )
    const group = { ...body, receiverType: 'group' } as const
    const unknown = bots.sendMessage('helper', { ...group, receiver: 'ghost' })
    await refused(unknown, 'ERR_GUID_NOT_FOUND')
    // The app itself may know of its private groups.
    await app.client.groups.create({ guid: 'secret', name: 'Secret', type: 'private' })
    const outside = bots.sendMessage('helper', { ...group, receiver: 'secret' })
    await refused(outside, 'ERR_GROUP_NOT_JOINED')
  })
})

suite('deleteBot', () => {
  test('deactivates the bot, or removes it for good', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await create(app, 'helper')
    const { bots } = app.client
    await refused(bots.delete('amira', { permanent: true }), 'ERR_BOT_NOT_FOUND')
    await bots.delete('helper')
    await refused(bots.delete('helper'), 'ERR_UID_NOT_FOUND')
    const message = { receiver: 'amira', receiverType: 'user', data: { text: 'Hello' } } as const
    await refused(bots.sendMessage('helper', message), 'ERR_BOT_NOT_FOUND')
    assert.deepEqual(await listed(app), ['helper'])
    await bots.delete('helper', { permanent: true })
    assert.deepEqual(await listed(app), [])
  })
})
