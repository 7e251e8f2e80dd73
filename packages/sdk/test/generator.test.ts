import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { methodOf, namespaceOf } from '../generator/names.ts'
import { operationsFile } from '../generator/operations.ts'
import { type Schema, typeOf } from '../generator/types.ts'

suite('names', () => {
  const names: [string, string, string][] = [
    ['createUser', 'users', 'users.create'],
    ['listUsers', 'users', 'users.list'],
    ['flushAuthTokens', 'auth_tokens', 'authTokens.flush'],
    ['blockUsers', 'blocked_users', 'blockedUsers.block'],
    ['listBlockedUsers', 'blocked_users', 'blockedUsers.list'],
    ['createApiKey', 'api_keys', 'apiKeys.create'],
    ['transferGroupOwnership', 'groups', 'groups.transferOwnership'],
    ['changeMemberScope', 'group_members', 'groupMembers.changeScope'],
    ['listUserMessages', 'messages', 'messages.listUser'],
    ['addCategory', 'categories', 'categories.add'],
  ]
  for (const [operationId, tag, method] of names) {
    test(`${operationId} with tag ${tag} becomes ${method}`, () => {
      assert.equal(`${namespaceOf(tag)}.${methodOf(operationId, tag)}`, method)
    })
  }

  for (const [operationId, tag] of [
    ['login', 'sessions'],
    ['createPerson', 'users'],
    ['users', 'users'],
  ] as const) {
    test(`${operationId} with tag ${tag} fails and says what to do`, () => {
      assert.throws(() => methodOf(operationId, tag), /Name it verb and noun, such as "create/)
    })
  }
})

suite('types', () => {
  const types: [Schema, string][] = [
    [{ type: 'string' }, 'string'],
    [{ type: ['integer', 'null'] }, 'number | null'],
    [{ const: true }, 'true'],
    [{ enum: ['a', 2] }, '"a" | 2'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'Record<string, boolean>'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ description: 'anything' }, 'unknown'],
    [
      { type: 'object', required: ['a'], properties: { a: { type: 'null' }, b: {} } },
      '{\n"a": null\n"b"?: unknown\n}',
    ],
  ]
  for (const [schema, type] of types) {
    test(JSON.stringify(schema), () => assert.equal(typeOf(schema, { input: false }), type))
  }

  test('optional arguments may be undefined', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    assert.equal(typeOf(schema, { input: true }), '{\n"a"?: string | undefined\n}')
  })

  test('an unsupported schema fails and says what to do', () => {
    const unknown = { not: { type: 'string' } } as Schema
    assert.throws(
      () => typeOf(unknown, { input: false }),
      /Add support for it to generator\/types.ts/,
    )
  })
})

suite('the generated file', () => {
  const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties })
  const json = (schema: Schema) => ({ content: { 'application/json': { schema } } })
  const meta = object({ pagination: object({ total: { type: 'integer' } }) })
  const user = object({ uid: { type: 'string' } })

  function generate(operations: Record<string, { tag: string; answer: Schema; more?: object }>) {
    const paths = Object.fromEntries(
      Object.entries(operations).map(([operationId, { tag, answer, more }]) => {
        const responses = { 200: json(answer) }
        return [
          `/${operationId}`,
          { get: { operationId, summary: operationId, tags: [tag], responses, ...more } },
        ]
      }),
    )
    return operationsFile({ paths }, { PageMeta: meta })
  }

  test('uses one name for a record, even inside records that come before it', () => {
    const group = object({ owner: user })
    const text = generate({
      getGroup: { tag: 'groups', answer: object({ data: group }) },
      findGroup: { tag: 'groups', answer: object({ data: group }) },
      getUser: { tag: 'users', answer: object({ data: user }) },
    })
    assert.match(text, /type Group = \{\n"owner"\?: User\n\}/)
    assert.match(text, /async get\(options\?: CallOptions\): Promise<Group>/)
    assert.match(text, /async find\(options\?: CallOptions\): Promise<Group>/)
  })

  test('returns the whole response if it has more than data', () => {
    const answer = object({ data: user, next: { type: 'string' } })
    const text = generate({ readUser: { tag: 'users', answer } })
    assert.match(text, /Promise<ReadUserAnswer> \{\n\s+return this.#transport.answer/)
  })

  test('marks deprecated operations', () => {
    const more = { deprecated: true, description: 'Use another.' }
    const text = generate({ getUser: { tag: 'users', answer: object({ data: user }), more } })
    assert.match(text, /@deprecated Use another\./)
  })

  const data = object({ data: user })
  const page = object({ data: { type: 'array', items: user }, meta })
  const faults: [string, Parameters<typeof generate>[0], RegExp][] = [
    [
      'two operations with the same name',
      { deleteUser: { tag: 'users', answer: data }, deleteUsers: { tag: 'users', answer: data } },
      /^Error: deleteUser and deleteUsers would both become users\.delete\. Give one/,
    ],
    [
      'an operation with the name of an iterator',
      { listUsers: { tag: 'users', answer: page }, allUsers: { tag: 'users', answer: data } },
      /listUsers and allUsers would both become users\.all\./,
    ],
    [
      'an operation that returns pages but is not named list',
      { searchUsers: { tag: 'users', answer: page } },
      /searchUsers returns pages, so its name must start with "list"/,
    ],
    [
      'two types with the same name',
      { getPage: { tag: 'pages', answer: data } },
      /Two types of the SDK would be named Page\. Rename/,
    ],
    [
      'a response that is not JSON',
      { getUser: { tag: 'users', answer: data, more: { responses: { 200: {} } } } },
      /getUser has a request or response that isn't JSON\. Extend/,
    ],
  ]
  for (const [what, operations, sentence] of faults) {
    test(`fails and says what to do: ${what}`, () =>
      assert.throws(() => generate(operations), sentence))
  }
})
