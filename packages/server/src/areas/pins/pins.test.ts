import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()
const LIMIT = 5
const FULL = 'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED'

/** A group g with the owner o, the moderator m and the participants p and q; s is outside it. */
async function newGroup(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('o', 'm', 'p', 'q', 's')
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'o' })
  const body = { moderators: ['m'], participants: ['p', 'q'] }
  await app.client.groupMembers.add('g', body)
  return app
}

async function say(app: TestApp, from: string, to: string): Promise<string> {
  const receiverType = to === 'g' ? 'group' : 'user'
  return (await app.as(from).sendText(to, 'Hello', { receiverType })).id
}

const pin = (app: TestApp, uid: string | undefined, id: string, method = 'POST') =>
  app.as(uid).call(method, `/v3/messages/${id}/pin`)
const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code
const pinEvents = async (app: TestApp) =>
  (await app.eventTypes()).filter((type) => type.endsWith('pinned')).join(' ')

async function pinned(app: TestApp, path: string, uid?: string, query = ''): Promise<string[]> {
  const { body } = await app.as(uid).call('GET', `/v3/${path}/messages/pinned?${query}`)
  return body.data.map((message: { id: string }) => message.id)
}

suite('unpinMessage', () => {
  test('releases a message for both users that either of them has pinned', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const id = await say(app, 'a', 'b')
    assert.deepEqual(await pinned(app, 'users/c', 'a'), [])
    const { data } = (await pin(app, 'a', id)).body
    assert.equal(data.pinnedBy, 'a')
    assert.ok(data.pinnedAt > 0)
    const again = (await pin(app, 'b', id)).body.data
    assert.deepEqual([again.pinnedBy, again.pinnedAt], ['a', data.pinnedAt])
    const { body } = await app.as('b').call('GET', '/v3/users/a/messages')
    assert.equal(body.data[0].pinnedBy, 'a')
    assert.deepEqual(await pinned(app, 'users/a', 'b'), [id])
    assert.equal(await pinEvents(app), 'message.pinned')

    assert.equal((await pin(app, 'b', id, 'DELETE')).body.data.pinnedAt, undefined)
    assert.equal((await pin(app, 'b', id, 'DELETE')).status, 200)
    assert.deepEqual(await pinned(app, 'users/b', 'a'), [])
    assert.equal(await pinEvents(app), 'message.pinned message.unpinned')
    await refused(pin(app, 'a', '999999', 'DELETE'), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.equal((await pin(app, undefined, id)).body.data.pinnedBy, 'app_system')
  })
})

suite('pinMessage', () => {
  const NO = 'ERR_MESSAGE_NO_ACCESS'
  const table: [string | undefined, string | undefined][] = [
    ['o', undefined],
    ['m', undefined],
    [undefined, undefined],
    ['p', 'ERR_PERMISSION_DENIED'],
    ['q', 'ERR_PERMISSION_DENIED'],
    ['s', NO],
  ]
  test('in a group is for admins, moderators and the app, even for messages of participants', async () => {
    const app = await newGroup()
    for (const [uid, code] of table) {
      const id = await say(app, 'p', 'g')
      assert.equal(await codeOf(pin(app, uid, id)), code, `as ${uid}`)
      await pin(app, undefined, id)
      assert.equal(await codeOf(pin(app, uid, id, 'DELETE')), code, `as ${uid}`)
    }
    const outside = app.as('s').call('GET', '/v3/groups/g/messages/pinned')
    await refused(outside, 'ERR_GROUP_NOT_JOINED')
    assert.equal((await pinned(app, 'groups/g', 'p')).length, 3)
    assert.equal((await pinned(app, 'groups/g')).length, 3)
  })

  test('in a 1:1 conversation is for its two users, unless one blocks the other', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const id = await say(app, 'a', 'b')
    await refused(pin(app, 'c', id), NO)
    await app.client.blockedUsers.block('a', { blockedUids: ['b'] })
    await refused(pin(app, 'a', id), 'ERR_BLOCKED_RECEIVER')
    await refused(pin(app, 'b', id), 'ERR_BLOCKED_SENDER')
    assert.equal((await pin(app, undefined, id)).status, 200)
    assert.equal((await pin(app, 'b', id, 'DELETE')).status, 200)
  })

  test('refuses action messages and deleted ones, and deleting a message releases it', async () => {
    const app = await newGroup()
    const not = 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
    const [action] = (await app.client.messages.listGroup('g')).data
    await refused(pin(app, 'o', action?.id ?? ''), not)
    const ids = [await say(app, 'p', 'g'), await say(app, 'p', 'g')]
    for (const id of ids) await pin(app, 'o', id)
    const removed = await app.call('DELETE', `/v3/messages/${ids[0]}`)
    assert.equal(removed.body.data.data.entities.on.entity.pinnedAt, undefined)
    await refused(pin(app, 'o', ids[0] ?? ''), not)
    assert.deepEqual(await pinned(app, 'groups/g', 'p'), [ids[1]])
  })

  test('keeps to the limit, even when all requests arrive at once', async () => {
    const app = await newGroup()
    await storeSettings(server.deps, app, { 'limits.pinnedMessages': LIMIT })
    const ids: string[] = []
    for (let nth = 0; nth < LIMIT + 4; nth++) ids.push(await say(app, 'p', 'g'))
    await until('the limit is known', async () => {
      const answers = await Promise.all(ids.map((id) => pin(app, 'o', id)))
      const codes = answers.map(({ body }) => body.error?.code).filter(Boolean)
      if (codes.length === 4) assert.deepEqual(codes, Array(4).fill(FULL))
      for (const id of codes.length === 4 ? [] : ids) await pin(app, 'o', id, 'DELETE')
      return codes.length === 4
    })
    const kept = await pinned(app, 'groups/g', 'p')
    assert.equal(kept.length, LIMIT)
    assert.equal(
      (await pin(app, 'o', kept[0] ?? '')).status,
      200,
      'a pinned one can be pinned again',
    )
    await pin(app, 'o', kept[0] ?? '', 'DELETE')
    assert.equal((await pin(app, 'o', kept[0] ?? '')).status, 200)

    assert.deepEqual(await pinned(app, 'groups/g', 'p', 'limit=2'), kept.slice(0, 2))
    const after = `limit=2&affix=append&id=${kept[1]}`
    assert.deepEqual(await pinned(app, 'groups/g', 'p', after), kept.slice(2, 4))
    assert.deepEqual(await pinned(app, 'groups/g', 'p', 'limit=2&affix=prepend'), kept.slice(-2))
    const body = { conversationWith: 'g' }
    await app.as('p').conversations.resetGroup('g', body)
    assert.deepEqual(await pinned(app, 'groups/g', 'p'), [], 'cleared messages are hidden')
    assert.equal((await pinned(app, 'groups/g', 'q')).length, LIMIT)
  })
})
