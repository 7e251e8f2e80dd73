import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()
const as = (uid: string) => ({ headers: { onbehalfof: uid } })
const LIMIT = 4
const FULL = 'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED'

/** The group g of o, p and q; s is a stranger to it. */
async function appWithGroup(): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of ['o', 'p', 'q', 's']) {
    await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  }
  await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'o' } })
  await app.call('POST', '/v3/groups/g/members', { body: { participants: ['p', 'q'] } })
  return app
}

async function say(app: TestApp, from: string, to: string): Promise<string> {
  const receiverType = to === 'g' ? 'group' : 'user'
  const body = { receiver: to, receiverType, data: { text: 'Hello' } }
  return (await app.call('POST', '/v3/messages', { ...as(from), body })).body.data.id
}

const save = (app: TestApp, uid: string, id: string, method = 'POST') =>
  app.call(method, `/v3/messages/${id}/save`, as(uid))
const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code

async function saved(app: TestApp, uid: string, query = ''): Promise<string[]> {
  const { body } = await app.call('GET', `/v3/messages/saved?${query}`, as(uid))
  return body.data.map((message: { id: string }) => message.id)
}

const told = async (app: TestApp) =>
  (await app.eventTypes()).filter((type) => /message.(un)?saved/.test(type)).join(' ')

suite('a saved message', () => {
  test('is saved once, also when the request is repeated after the message was deleted', async () => {
    const app = await appWithGroup()
    const id = await say(app, 'p', 'g')
    const headers = { ...as('q').headers, 'idempotency-key': 'once' }
    const once = () => app.call('POST', `/v3/messages/${id}/save`, { headers })
    assert.equal((await once()).status, 200)
    await app.call('DELETE', `/v3/messages/${id}`, as('p'))
    const { status, body } = await once()
    assert.deepEqual([status, body.data.id, body.data.savedAt], [200, id, undefined])
    assert.equal(await told(app), 'message.saved')
  })

  test("is on the user's list alone, with the time of the first save", async () => {
    const app = await appWithGroup()
    const id = await say(app, 'p', 'g')
    const { data } = (await save(app, 'q', id)).body
    assert.ok(data.savedAt > 0)
    await app.cell.db.query({
      name: '',
      text: `update saves set saved_at = saved_at - interval '1 hour' where app_no = $1`,
      values: [app.no],
    })
    assert.equal((await save(app, 'q', id)).body.data.savedAt, data.savedAt - 3600)
    assert.deepEqual([await saved(app, 'q'), await saved(app, 'p')], [[id], []])
    const seen = async (uid: string) =>
      (await app.call('GET', '/v3/groups/g/messages?affix=prepend', as(uid))).body.data.at(-1)
    assert.ok((await seen('q')).savedAt)
    assert.equal((await seen('p')).savedAt, undefined)
    assert.equal((await app.call('GET', `/v3/messages/${id}`)).body.data.savedAt, undefined)
    assert.equal((await save(app, 'o', id)).status, 200)

    assert.equal((await save(app, 'q', id, 'DELETE')).body.data.savedAt, undefined)
    assert.equal((await save(app, 'q', id, 'DELETE')).status, 200)
    assert.deepEqual([await saved(app, 'q'), await saved(app, 'o')], [[], [id]])
    assert.equal(await told(app), 'message.saved message.saved message.unsaved')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('is one that the user can see, and only as long as that is so', async () => {
    const app = await appWithGroup()
    const [group, direct] = [await say(app, 'p', 'g'), await say(app, 'p', 'q')]
    for (const method of ['POST', 'DELETE']) {
      assert.equal(await codeOf(save(app, 's', group, method)), 'ERR_MESSAGE_NO_ACCESS')
      assert.equal(await codeOf(save(app, 'o', direct, method)), 'ERR_MESSAGE_NO_ACCESS')
    }
    const nobody = app.call('POST', `/v3/messages/${group}/save`)
    assert.equal(await codeOf(nobody), 'ERR_BAD_REQUEST')
    const [action] = (await app.call('GET', '/v3/groups/g/messages')).body.data
    assert.equal(await codeOf(save(app, 'q', action.id)), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')

    const other = await say(app, 'p', 'q')
    for (const id of [group, direct, other]) await save(app, 'q', id)
    assert.deepEqual(await saved(app, 'q'), [group, direct, other])
    assert.deepEqual(await saved(app, 'q', 'limit=1&affix=prepend'), [other])
    assert.deepEqual(await saved(app, 'q', `affix=append&id=${group}`), [direct, other])
    await app.call('DELETE', `/v3/messages/${direct}`)
    assert.deepEqual(await saved(app, 'q'), [group, other])
    await app.call('DELETE', '/v3/groups/g/members/q')
    assert.deepEqual(await saved(app, 'q'), [other])
    await app.call('POST', '/v3/groups/g/members', { body: { participants: ['q'] } })
    assert.deepEqual(await saved(app, 'q'), [group, other])
    const body = { conversationWith: 'p' }
    await app.call('DELETE', '/v3/users/p/conversation', { ...as('q'), body })
    assert.deepEqual(await saved(app, 'q'), [group])
    await app.call('DELETE', '/v3/groups/g')
    assert.deepEqual(await saved(app, 'q'), [])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('stays within the limit, also when all come at once', async () => {
    const app = await appWithGroup()
    await storeSettings(server.deps, app, { 'limits.savedMessages': LIMIT })
    const ids: string[] = []
    for (let nth = 0; nth < LIMIT + 3; nth++) ids.push(await say(app, 'p', nth % 2 ? 'g' : 'q'))
    await until('the limit is known', async () => {
      const answers = await Promise.all(ids.map((id) => save(app, 'q', id)))
      const codes = answers.map(({ body }) => body.error?.code).filter(Boolean)
      if (codes.length === 3) assert.deepEqual(codes, Array(3).fill(FULL))
      for (const id of codes.length === 3 ? [] : ids) await save(app, 'q', id, 'DELETE')
      return codes.length === 3
    })
    const kept = await saved(app, 'q')
    assert.equal(kept.length, LIMIT)
    await app.call('DELETE', `/v3/messages/${kept[0]}`)
    const next = ids.find((id) => !kept.includes(id)) ?? ''
    assert.equal((await save(app, 'q', next)).status, 200, 'a deleted one takes no place')
    assert.equal((await save(app, 'p', kept[1] ?? '')).status, 200)
    await app.call('DELETE', '/v3/users/q', { body: { permanent: true } })
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
