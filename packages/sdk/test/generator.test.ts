import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { methodOf, namespaceOf } from '../generator/names.ts'
import { operationsFile } from '../generator/operations.ts'
import { type Schema, typeOf } from '../generator/types.ts'

suite('names', () => {
  const names: [string, string, string][] = [
    ['createUser', 'Users', 'users.create'],
    ['listUsers', 'users', 'users.list'],
    ['flushAuthTokens', 'Auth tokens', 'authTokens.flush'],
    ['blockUsers', 'Blocked users', 'blockedUsers.block'],
    ['listBlockedUsers', 'Blocked users', 'blockedUsers.list'],
    ['createApiKey', 'API keys', 'apiKeys.create'],
    ['transferGroupOwnership', 'groups', 'groups.transferOwnership'],
    ['changeMemberScope', 'Group members', 'groupMembers.changeScope'],
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
    [{ $ref: '#/components/schemas/User' }, 'User'],
    [{ oneOf: [{ $ref: '#/components/schemas/User' }, { type: 'null' }] }, 'User | null'],
    [{ type: 'string', 'x-count': true }, 'number'],
    [
      { type: 'object', properties: { a: {} }, additionalProperties: true },
      '{\n"a"?: unknown\n[field: string]: unknown\n}',
    ],
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
  const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
  const meta = ref('PageMeta')
  const user = ref('User')
  const components = {
    schemas: {
      PageMeta: object({ pagination: object({ total: { type: 'integer' } }) }),
      User: object({ uid: { type: 'string' }, unread: { type: 'string', 'x-count': true } }),
      NewUser: object({ uid: { type: 'string' }, more: { type: 'string' } }),
      Many: { ...object({}), 'x-with': 'more' } as Schema,
      Error: object({}),
    },
  }

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
    return operationsFile({ paths, components })
  }

  test('declares each component once, except errors, and uses its name', () => {
    const text = generate({
      getUser: { tag: 'users', answer: object({ data: user }) },
      findUserOwner: { tag: 'users', answer: object({ data: object({ owner: user }) }) },
    })
    assert.match(text, /type User = \{\n"uid"\?: string\n"unread"\?: number\n\}/)
    assert.match(text, /async get\(options\?: CallOptions\): Promise<User>/)
    assert.match(text, /type FindUserOwnerAnswer = \{\n"owner"\?: User\n\}/)
    assert.doesNotMatch(text, /type Error/)
  })

  test('converts counts of records and of pages', () => {
    const text = generate({
      getUser: { tag: 'users', answer: object({ data: user }) },
      listUsers: { tag: 'users', answer: object({ data: { type: 'array', items: user }, meta }) },
    })
    assert.equal(text.match(/counts: \["unread"\]/g)?.length, 2)
  })

  test('has a method of its own for a field that changes the response', () => {
    const answer = object({ data: { anyOf: [user, ref('Many')] } })
    const more = { requestBody: json(ref('NewUser')) }
    const text = generate({ sendUser: { tag: 'users', answer, more } })
    assert.match(text, /type NewUser = \{\n"uid"\?: string \| undefined/)
    assert.match(text, /type SendUserBody = NewUser & \{ more\?: undefined \}/)
    assert.match(text, /async send\(body: SendUserBody, [^)]*\): Promise<User>/)
    assert.match(text, /async sendToMany\(body: SendUserToManyBody, [^)]*\): Promise<Many>/)
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

  test('fails and says what to do: two types with the same name', () => {
    const schemas = { ...components.schemas, Page: object({}) }
    assert.throws(
      () => operationsFile({ paths: {}, components: { schemas } }),
      /Two types of the SDK would be named Page\. Rename/,
    )
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
