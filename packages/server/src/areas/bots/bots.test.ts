import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'

const server = useServer()
const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code
const create = (app: TestApp, uid: string) =>
  app.call('POST', '/v3/bots', { body: { uid, name: `Bot ${uid}` } })

async function listed(app: TestApp): Promise<string[]> {
  const { data } = await app.client.bots.list()
  return data.map(({ uid }) => uid)
}

suite('bots', () => {
  test('are users that the app speaks for', async () => {
    const app = await server.newApp()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    const bot = await app.client.bots.create({ uid: 'Helper', name: 'Helper', tags: ['help'] })
    assert.deepEqual([bot.uid, bot.tags], ['helper', ['help']])
    assert.equal((await app.client.users.get('helper')).name, 'Helper')
    const token = { uid: 'other', name: 'Other', withAuthToken: true }
    const { body: other } = await app.call('POST', '/v3/bots', { body: token })
    assert.equal(other.data.authToken, undefined)
    assert.deepEqual(await listed(app), ['helper', 'other'])
    assert.equal((await app.eventTypes()).at(-1), 'user.created')

    const body = { receiver: 'amira', receiverType: 'user', data: { text: 'How can I help?' } }
    const sent = await app.call('POST', '/v3/bots/helper/messages', { body })
    assert.equal(sent.body.data.sender, 'helper')
    assert.equal(sent.body.data.data.entities.sender.entity.name, 'Helper')
    for (const uid of ['amira', 'nobody', 'app_system']) {
      const refused = app.call('POST', `/v3/bots/${uid}/messages`, { body })
      assert.equal(await codeOf(refused), 'ERR_BOT_NOT_FOUND', uid)
    }
    const bad = app.call('POST', '/v3/bots/helper/messages', { body: { ...body, data: {} } })
    assert.equal(await codeOf(bad), 'ERR_EMPTY_MESSAGE_TEXT')
    const group = { ...body, receiver: 'ghost', receiverType: 'group' }
    const nowhere = app.call('POST', '/v3/bots/helper/messages', { body: group })
    assert.equal(await codeOf(nowhere), 'ERR_GUID_NOT_FOUND')
    // The app calls: it knows of its private groups.
    await app.client.groups.create({ guid: 'secret', name: 'Secret', type: 'private' })
    const stranger = { ...group, receiver: 'secret' }
    const refused = app.call('POST', '/v3/bots/helper/messages', { body: stranger })
    assert.equal(await codeOf(refused), 'ERR_GROUP_NOT_JOINED')
  })

  test('have uids of their own, below 50 characters', async () => {
    const app = await server.newApp()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    assert.equal((await create(app, 'x'.repeat(49))).status, 200)
    assert.equal(await codeOf(create(app, 'x'.repeat(50))), 'ERR_BAD_REQUEST')
    assert.equal(await codeOf(create(app, 'x'.repeat(49))), 'ERR_BOT_ALREADY_EXISTS')
    assert.equal(await codeOf(create(app, 'amira')), 'ERR_UID_ALREADY_EXISTS')
    assert.equal(await codeOf(create(app, 'app_system')), 'ERR_UID_ALREADY_EXISTS')
  })

  test('are 25 at most, also when 30 come at once', async () => {
    const app = await server.newApp()
    const all = Array.from({ length: 30 }, (_, nth) => create(app, `bot-${nth}`))
    const codes = (await Promise.all(all)).map(({ body }) => body.error?.code).filter(Boolean)
    assert.deepEqual(codes, Array(5).fill('ERR_PLAN_QUOTA_RESTRICTION'))
    const known = await listed(app)
    assert.equal(known.length, 25)
    await app.client.bots.delete(known[0] ?? '')
    assert.equal(await codeOf(create(app, 'one-more')), 'ERR_PLAN_QUOTA_RESTRICTION')
    await app.client.bots.delete(known[0] ?? '', { permanent: true })
    assert.equal((await create(app, 'one-more')).status, 200)
  })

  test('fall silent when they are deactivated, and are gone when removed', async () => {
    const app = await server.newApp()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    await app.client.bots.create({ uid: 'helper', name: 'Helper' })
    const remove = (uid: string, permanent: boolean) =>
      app.call('DELETE', `/v3/bots/${uid}`, { body: { permanent } })
    assert.equal(await codeOf(remove('amira', true)), 'ERR_BOT_NOT_FOUND')
    assert.equal((await remove('helper', false)).status, 200)
    assert.equal(await codeOf(remove('helper', false)), 'ERR_UID_NOT_FOUND')
    const body = { receiver: 'amira', receiverType: 'user', data: { text: 'Hello' } }
    const silent = app.call('POST', '/v3/bots/helper/messages', { body })
    assert.equal(await codeOf(silent), 'ERR_BOT_NOT_FOUND')
    assert.deepEqual(await listed(app), ['helper'])
    assert.equal((await remove('helper', true)).status, 200)
    assert.deepEqual(await listed(app), [])
  })
})
