import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { queryAt } from '../../../test/databases.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()
const LIMIT = 4
const FULL = 'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED'

/** A group g of o, p and q; s is outside it. */
async function newGroup(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('o', 'p', 'q', 's')
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'o' })
  await app.client.groupMembers.add('g', { participants: ['p', 'q'] })
  return app
}

async function say(app: TestApp, from: string, to: string): Promise<string> {
  const receiverType = to === 'g' ? 'group' : 'user'
  return (await app.as(from).sendText(to, 'Hello', { receiverType })).id
}

const save = (app: TestApp, uid: string, id: string, method = 'POST') =>
  app.as(uid).call(method, `/v3/messages/${id}/save`)

async function saved(app: TestApp, uid: string, query = ''): Promise<string[]> {
  const { body } = await app.as(uid).call('GET', `/v3/messages/saved?${query}`)
  return body.data.map((message: { id: string }) => message.id)
}

const saveEvents = async (app: TestApp) =>
  (await app.eventTypes()).filter((type) => /message.(un)?saved/.test(type)).join(' ')

suite('saveMessage', () => {
  test('saves once, even if the request is retried after the message was deleted', async () => {
    const app = await newGroup()
    const id = await say(app, 'p', 'g')
    const once = () => app.as('q').messages.save(id, { idempotencyKey: 'once' })
    await once()
    await app.as('p').messages.delete(id)
    const { id: again, savedAt } = await once()
    assert.deepEqual([again, savedAt], [id, undefined])
    assert.equal(await saveEvents(app), 'message.saved')
  })

  test('keeps to the limit, even when all requests arrive at once', async () => {
    const app = await newGroup()
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
    await app.client.messages.delete(kept[0] ?? '')
    const next = ids.find((id) => !kept.includes(id)) ?? ''
    assert.equal((await save(app, 'q', next)).status, 200, 'deleted messages no longer count')
    assert.equal((await save(app, 'p', kept[1] ?? '')).status, 200)
    await app.client.users.delete('q', { permanent: true })
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('unsaveMessage', () => {
  test("takes the message from the user's own list only, where it had the time of the first save", async () => {
    const app = await newGroup()
    const id = await say(app, 'p', 'g')
    const { data } = (await save(app, 'q', id)).body
    assert.ok(data.savedAt > 0)
    const age = `update saves set saved_at = saved_at - interval '1 hour' where app_no = $1`
    await queryAt(app.cell.url, age, [app.no])
    assert.equal((await save(app, 'q', id)).body.data.savedAt, data.savedAt - 3600)
    assert.deepEqual([await saved(app, 'q'), await saved(app, 'p')], [[id], []])
    const seen = async (uid: string) =>
      (await app.as(uid).call('GET', '/v3/groups/g/messages?affix=prepend')).body.data.at(-1)
    assert.ok((await seen('q')).savedAt)
    assert.equal((await seen('p')).savedAt, undefined)
    assert.equal((await app.client.messages.get(id)).savedAt, undefined)
    assert.equal((await save(app, 'o', id)).status, 200)

    assert.equal((await save(app, 'q', id, 'DELETE')).body.data.savedAt, undefined)
    assert.equal((await save(app, 'q', id, 'DELETE')).status, 200)
    assert.deepEqual([await saved(app, 'q'), await saved(app, 'o')], [[], [id]])
    assert.equal(await saveEvents(app), 'message.saved message.saved message.unsaved')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('listSavedMessages', () => {
  test('lists only messages that the user can save, and for as long as the user can see them', async () => {
    const app = await newGroup()
    const [group, direct] = [await say(app, 'p', 'g'), await say(app, 'p', 'q')]
    for (const method of ['POST', 'DELETE']) {
      await refused(save(app, 's', group, method), 'ERR_MESSAGE_NO_ACCESS')
      await refused(save(app, 'o', direct, method), 'ERR_MESSAGE_NO_ACCESS')
    }
    const nobody = app.call('POST', `/v3/messages/${group}/save`)
    await refused(nobody, 'ERR_BAD_REQUEST')
    const [action] = (await app.client.messages.listGroup('g')).data
    await refused(save(app, 'q', action?.id ?? ''), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')

    const other = await say(app, 'p', 'q')
    for (const id of [group, direct, other]) await save(app, 'q', id)
    assert.deepEqual(await saved(app, 'q'), [group, direct, other])
    assert.deepEqual(await saved(app, 'q', 'limit=1&affix=prepend'), [other])
    assert.deepEqual(await saved(app, 'q', `affix=append&id=${group}`), [direct, other])
    await app.client.messages.delete(direct)
    assert.deepEqual(await saved(app, 'q'), [group, other])
    await app.client.groupMembers.kick('g', 'q')
    assert.deepEqual(await saved(app, 'q'), [other])
    await app.client.groupMembers.add('g', { participants: ['q'] })
    assert.deepEqual(await saved(app, 'q'), [group, other])
    const body = { conversationWith: 'p' }
    await app.as('q').conversations.resetUser('p', body)
    assert.deepEqual(await saved(app, 'q'), [group])
    await app.client.groups.delete('g')
    assert.deepEqual(await saved(app, 'q'), [])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
