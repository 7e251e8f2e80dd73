import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()
const as = (uid?: string) => (uid ? { headers: { onbehalfof: uid } } : {})
const LIMIT = 5
const FULL = 'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED'

async function appWithUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  return app
}

/** The group g: owner and admin o, moderator m, participants p and q, stranger s. */
async function appWithGroup(): Promise<TestApp> {
  const app = await appWithUsers('o', 'm', 'p', 'q', 's')
  await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'o' } })
  const body = { moderators: ['m'], participants: ['p', 'q'] }
  await app.call('POST', '/v3/groups/g/members', { body })
  return app
}

async function say(app: TestApp, from: string, to: string): Promise<string> {
  const receiverType = to === 'g' ? 'group' : 'user'
  const body = { receiver: to, receiverType, data: { text: 'Hello' } }
  return (await app.call('POST', '/v3/messages', { ...as(from), body })).body.data.id
}

const pin = (app: TestApp, uid: string | undefined, id: string, method = 'POST') =>
  app.call(method, `/v3/messages/${id}/pin`, as(uid))
const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code
const told = async (app: TestApp) =>
  (await app.eventTypes()).filter((type) => type.endsWith('pinned')).join(' ')

async function pinned(app: TestApp, path: string, uid?: string, query = ''): Promise<string[]> {
  const { body } = await app.call('GET', `/v3/${path}/messages/pinned?${query}`, as(uid))
  return body.data.map((message: { id: string }) => message.id)
}

suite('a pinned message', () => {
  test('is pinned once, for both, until either releases it', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const id = await say(app, 'a', 'b')
    assert.deepEqual(await pinned(app, 'users/c', 'a'), [])
    const { data } = (await pin(app, 'a', id)).body
    assert.equal(data.pinnedBy, 'a')
    assert.ok(data.pinnedAt > 0)
    const again = (await pin(app, 'b', id)).body.data
    assert.deepEqual([again.pinnedBy, again.pinnedAt], ['a', data.pinnedAt])
    const { body } = await app.call('GET', '/v3/users/a/messages', as('b'))
    assert.equal(body.data[0].pinnedBy, 'a')
    assert.deepEqual(await pinned(app, 'users/a', 'b'), [id])
    assert.equal(await told(app), 'message.pinned')

    assert.equal((await pin(app, 'b', id, 'DELETE')).body.data.pinnedAt, undefined)
    assert.equal((await pin(app, 'b', id, 'DELETE')).status, 200)
    assert.deepEqual(await pinned(app, 'users/b', 'a'), [])
    assert.equal(await told(app), 'message.pinned message.unpinned')
    assert.equal(await codeOf(pin(app, 'a', '999999', 'DELETE')), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.equal((await pin(app, undefined, id)).body.data.pinnedBy, 'app_system')
  })

  const NO = 'ERR_MESSAGE_NO_ACCESS'
  const table: [string | undefined, string | undefined][] = [
    ['o', undefined],
    ['m', undefined],
    [undefined, undefined],
    ['p', 'ERR_PERMISSION_DENIED'],
    ['q', 'ERR_PERMISSION_DENIED'],
    ['s', NO],
  ]
  test('in a group: by admins, moderators and the app, also the own of participants', async () => {
    const app = await appWithGroup()
    for (const [uid, code] of table) {
      const id = await say(app, 'p', 'g')
      assert.equal(await codeOf(pin(app, uid, id)), code, `as ${uid}`)
      await pin(app, undefined, id)
      assert.equal(await codeOf(pin(app, uid, id, 'DELETE')), code, `as ${uid}`)
    }
    const outside = app.call('GET', '/v3/groups/g/messages/pinned', as('s'))
    assert.equal(await codeOf(outside), 'ERR_GROUP_NOT_JOINED')
    assert.equal((await pinned(app, 'groups/g', 'p')).length, 3)
    assert.equal((await pinned(app, 'groups/g')).length, 3)
  })

  test('between two: not where one blocks the other, and by nobody else', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const id = await say(app, 'a', 'b')
    assert.equal(await codeOf(pin(app, 'c', id)), NO)
    await app.call('POST', '/v3/users/a/blockedusers', { body: { blockedUids: ['b'] } })
    assert.equal(await codeOf(pin(app, 'a', id)), 'ERR_BLOCKED_RECEIVER')
    assert.equal(await codeOf(pin(app, 'b', id)), 'ERR_BLOCKED_SENDER')
    assert.equal((await pin(app, undefined, id)).status, 200)
    assert.equal((await pin(app, 'b', id, 'DELETE')).status, 200)
  })

  test('is none that tells of an action or is deleted; a deleted one is released', async () => {
    const app = await appWithGroup()
    const not = 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
    const [action] = (await app.call('GET', '/v3/groups/g/messages')).body.data
    assert.equal(await codeOf(pin(app, 'o', action.id)), not)
    const ids = [await say(app, 'p', 'g'), await say(app, 'p', 'g')]
    for (const id of ids) await pin(app, 'o', id)
    const removed = await app.call('DELETE', `/v3/messages/${ids[0]}`)
    assert.equal(removed.body.data.data.entities.on.entity.pinnedAt, undefined)
    assert.equal(await codeOf(pin(app, 'o', ids[0] ?? '')), not)
    assert.deepEqual(await pinned(app, 'groups/g', 'p'), [ids[1]])
  })

  test('stays within the limit, also when all come at once', async () => {
    const app = await appWithGroup()
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
    await app.call('DELETE', '/v3/groups/g/conversation', { ...as('p'), body })
    assert.deepEqual(await pinned(app, 'groups/g', 'p'), [], 'nothing of what was cleared away')
    assert.equal((await pinned(app, 'groups/g', 'q')).length, LIMIT)
  })
})
