/** What clients may put into bodies, queries and ids of any operation. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fieldsOf, managementOperations, operations, type Schema } from './conformity.ts'
import { refused, type TestApp, useServer } from './kit.ts'
import { headersOf, pathOf, prepare, type ValidRequest } from './resources.ts'
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

suite('lists in a query', () => {
  const lists = [...operations, ...managementOperations].flatMap((operation) =>
    operation.parameters
      .filter((parameter) => parameter.in === 'query' && parameter.schema.type === 'array')
      .map((parameter) => ({ ...operation, ...parameter })),
  )
  const itemsOf = ({ items }: Schema) => ((items as Schema).enum as string[]) ?? ['a', 'b']

  /** Each has two values. */
  const forms: Record<string, (name: string, one: string, other: string) => string> = {
    commas: (name, one, other) => `${name}=${one},${other}`,
    'commas and spaces': (name, one, other) => `${name}=%20${one},+${other}`,
    repeated: (name, one, other) => `${name}=${one}&${name}=${other}`,
    brackets: (name, one, other) => `${name}[]=${one}&${name}[]=${other}`,
    'escaped brackets': (name, one, other) => `${name}%5B%5D=${one}&${name}%5b%5d=${other}`,
    numbers: (name, one, other) => `${name}[1]=${other}&${name}[0]=${one}`,
    'huge numbers': (name, one, other) =>
      `${name}[999999999]=${one}&${name}[${'9'.repeat(400)}]=${other}`,
    mixed: (name, one, other) => `${name}=${one}&${name}[]=${other},${one}&${name}[7]=,&${name}=`,
  }

  test('are documented as separated by commas', () => {
    const others = lists.filter(({ style, explode }) => style !== 'form' || explode !== false)
    assert.deepEqual(others, [])
    assert.ok(lists.length >= 33)
  })

  test('mean the same in every form, for every list', async () => {
    const app = await server.newApp()
    const requests = new Map<string, ValidRequest>()
    for (const list of lists) {
      const request = requests.get(list.operationId) ?? (await prepare(app, list))
      requests.set(list.operationId, request)
      const [one = 'a', other = 'b'] = itemsOf(list.schema)
      const answers = await Promise.all(
        Object.values(forms).map(async (form) => {
          const url = `${pathOf(request)}?${form(list.name, one, other)}`
          return (await app.call('GET', url, { headers: headersOf(request) })).body
        }),
      )
      assert.ok(answers[0].data, `${list.operationId} ${list.name}`)
      for (const [n, answer] of answers.entries())
        assert.deepEqual(answer, answers[0], `${list.path} ${list.name} ${Object.keys(forms)[n]}`)
    }
  })

  test('find the same users in every form, and are ignored without values', async () => {
    const app = await server.newApp()
    for (const [uid, tags] of [
      ['a', ['x']],
      ['b', ['y', 'z']],
      ['c', ['w']],
    ] as const)
      await app.client.users.create({ uid, name: uid, tags: [...tags] })
    const found = async (query: string) =>
      (await app.call('GET', `/v3/users?${query}`)).body.data.map(({ uid }: { uid: string }) => uid)
    for (const [form, write] of Object.entries(forms))
      assert.deepEqual(await found(write('tags', 'x', 'y')), ['a', 'b'], form)
    for (const empty of ['tags=', 'tags', 'tags[]=', 'tags=,%20,', 'uids=', 'status[]='])
      assert.deepEqual(await found(empty), ['a', 'b', 'c'], empty)
    for (const unknown of [
      'tags[__proto__]=x',
      'tags[a]=x',
      'tags[-1]=x',
      'tags[[]]=x',
      'tags.0=x',
    ])
      assert.deepEqual(await found(unknown), ['a', 'b', 'c'], unknown)
    assert.deepEqual(await found('tags=x&'.repeat(1_500)), ['a'])
  })

  test('are refused if they are too long', async () => {
    const app = await server.newApp()
    const values = Array.from({ length: 1_100 }, (_, n) => n.toString(36))
    for (const query of [`tags=${values}`, values.map((value) => `tags[]=${value}`).join('&')]) {
      const { details } = await refused(app.call('GET', `/v3/users?${query}`), 'ERR_BAD_REQUEST')
      assert.deepEqual(details, { tags: ['tags must have at most 1000 values'] })
    }
    const { details } = await refused(
      app.call('GET', `/v3/users?tags[]=${values.slice(0, 101)}`),
      'ERR_BAD_REQUEST',
    )
    assert.deepEqual(details, { tags: ['tags must NOT have more than 100 items'] })
  })
})

suite('tags', () => {
  const writers = operations.filter(({ body }) => body && fieldsOf(body).includes('tags'))

  test('must not contain a comma, wherever they are stored', async () => {
    assert.ok(writers.length >= 11)
    const app = await server.newApp()
    for (const operation of writers) {
      const request = await prepare(app, operation)
      const send = (tags: string[]) =>
        app.call(operation.method, pathOf(request), {
          body: { ...(request.body as object), tags },
          headers: headersOf(request),
        })
      const { details } = await refused(send(['a', 'b,c']), 'ERR_BAD_REQUEST')
      assert.deepEqual(details?.['tags.1'], ['tags.1 must not contain a comma'])
      await refused(send(['a', '  ']), 'ERR_BAD_REQUEST')
      await refused(send(['a', ' a ']), 'ERR_BAD_REQUEST')
    }
  })

  test('are stored without spaces around them, and found so', async () => {
    const app = await server.newApp()
    const { tags } = await app.client.users.create({ uid: 'a', name: 'A', tags: [' new york '] })
    assert.deepEqual(tags, ['new york'])
    const { data } = await app.client.users.list({ tags: [' new york'] })
    assert.equal(data.length, 1)
  })
})
