/** What clients may put into bodies and ids of any operation. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from './kit.ts'
import { rowsOf } from './rows.ts'

const server = useServer()

async function appWithTwo(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('a', 'b')
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a' })
  return app
}

suite('unknown fields of a body', () => {
  test('change nothing on their own, nor does an empty list of fields to clear', async () => {
    const app = await appWithTwo()
    await app.client.roles.create({ role: 'r', name: 'R' })
    const rows = await rowsOf(app)
    for (const path of ['users/a', 'groups/g', 'roles/r']) {
      for (const body of [{ unset: [] }, { unset: [], unknown: 1 }, { unknown: 1 }]) {
        assert.equal((await app.call('PUT', `/v3/${path}`, { body })).status, 200)
        assert.deepEqual(await rowsOf(app), rows, `${path} ${JSON.stringify(body)}`)
      }
    }
  })

  test("next to lists of members don't name users", async () => {
    const app = await appWithTwo()
    await app.client.groupMembers.add('g', { moderators: ['b'] })
    for (const [nth, note] of [null, 'hi', ['x'], {}].entries()) {
      await app.client.users.create({ uid: `c${nth}`, name: 'C' })
      const answer = await app
        .as('b')
        .call('POST', '/v3/groups/g/members', { body: { note, usersToBan: [`c${nth}`] } })
      assert.deepEqual(answer.body.data?.usersToBan, { [`c${nth}`]: { success: true } })
    }
  })
})

test('names in custom data keep their case and order', async () => {
  const app = await appWithTwo()
  const data = { 'a\nb': 1, 'c\u2028d': { 'e\r': [2] }, '': 3, ' ': null, constructor: 4 }
  const { users, groups, roles } = app.client
  assert.deepEqual((await users.update('a', { metadata: data })).metadata, data)
  assert.deepEqual((await users.get('a')).metadata, data)
  assert.deepEqual((await groups.update('g', { metadata: data })).metadata, data)
  assert.deepEqual((await groups.list()).data[0]?.metadata, data)
  assert.deepEqual((await roles.update('default', { metadata: data })).metadata, data)
  const { authToken } = await app.client.authTokens.create('a', { force: true })
  const token = await app.client.authTokens.update('a', authToken, { appInfo: data })
  assert.deepEqual(token.appInfo, data)
  const body = { receiver: 'b', receiverType: 'user', category: 'custom', type: 't' }
  const sent = await app.as('a').call('POST', '/v3/messages', {
    body: { ...body, data: { ...data, customData: data, metadata: data } },
  })
  const read = await app.call('GET', `/v3/messages/${sent.body.data.id}`)
  const { entities: _entities, ...kept } = read.body.data.data
  assert.deepEqual(kept, { ...data, customData: data, metadata: data })
  const listed = await app.as('a').call('GET', '/v3/users/b/messages')
  assert.equal(listed.body.data[0].data['a\nb'], 1)
})

test('conversation ids are converted to lower case', async () => {
  const app = await appWithTwo()
  const a = { headers: { onbehalfof: 'a' } }
  const body = { receiver: 'b', receiverType: 'user', data: { text: 'Hello' } }
  await app.call('POST', '/v3/messages', { body, ...a })
  const found = await app.call('GET', '/v3/messages?conversationId=A_user_B', a)
  assert.equal(found.body.data.length, 1)
  const { data } = (await app.call('GET', '/v3/conversations/A_User_B', a)).body
  assert.equal(data.conversationId, 'a_user_b')
})
