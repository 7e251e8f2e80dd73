/** One name across layers: a write's action and test suite have the name of its operation. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Components } from '../src/platform/http/components.ts'

const SERVER = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(resolve(SERVER, file), 'utf8')
const readAll = (pattern: string) => globSync(pattern, { cwd: SERVER }).map(read)

interface Operation {
  operationId?: string
}

const operationsOf = (file: string, methods: string[]): string[] =>
  Object.values(JSON.parse(read(file)).paths as Record<string, Record<string, Operation>>).flatMap(
    (path) => methods.flatMap((method) => path[method]?.operationId ?? []),
  )

const WRITES = ['post', 'put', 'patch', 'delete']
const writes = ['openapi.json', 'management.openapi.json'].flatMap((file) =>
  operationsOf(file, WRITES),
)

/** Twin operations for users and groups share an action: `pinUserConversation` is `pinConversation`. */
const actionOf = (operationId: string) => operationId.replace(/(User|Group)(?=Conversation)/, '')

suite('names', () => {
  test('finds the operations', () => {
    assert.ok(writes.includes('sendMessage'))
  })

  test("a write's action has the name of its operation", () => {
    const exported = new Set(
      readAll('src/areas/**/*actions.ts').flatMap((source) =>
        [...source.matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)].map(
          ([, name]) => name,
        ),
      ),
    )
    assert.deepEqual(
      writes.filter((operation) => !exported.has(actionOf(operation))),
      [],
    )
  })

  test("a write's route uses the action of that name", () => {
    const routes = readAll('src/areas/**/*routes.ts').map((source) =>
      source.replace(/^import [\s\S]*? from .*$/gm, '').replace(/['"`][^'"`\n]*['"`]/g, ''),
    )
    const used = (action: string) =>
      routes.some((source) => new RegExp(`\\b${action}\\b`).test(source))
    assert.deepEqual(
      writes.filter((operation) => !used(actionOf(operation))),
      [],
    )
  })

  test('a test suite has the name of each write', () => {
    const suites = readAll('{src,test}/**/*.test.ts').flatMap((source) =>
      [...source.matchAll(/\bsuite\(\s*['"`]([^'"`]+)['"`]/g)].flatMap(
        ([, name]) => name?.split(/[^\w]+/) ?? [],
      ),
    )
    const tested = new Set(suites.map(actionOf))
    assert.deepEqual(
      writes.filter((operation) => !tested.has(actionOf(operation))),
      [],
    )
  })
})

suite('named schemas', () => {
  const user = { type: 'object', properties: { role: { enum: ['a'] } }, 'x-component': 'User' }
  const documented = { Tree: { properties: { inner: { 'x-component': 'Tree' } } } }
  const reference = { $ref: '#/components/schemas/User' }

  test('are listed once, and references replace them', () => {
    const components = new Components(documented)
    const own = { ...user, description: 'The owner.' }
    assert.deepEqual(components.refer({ items: [user, own], properties: { user } }), {
      items: [reference, { ...reference, description: 'The owner.' }],
      properties: { user: reference },
    })
    const role = { type: 'string', enum: ['a'] }
    assert.deepEqual(components.schemas, { User: { type: 'object', properties: { role } } })
  })

  test('can contain themselves, be described elsewhere and be narrower in one place', () => {
    const components = new Components(documented)
    const tree = { $ref: '#/components/schemas/Tree' }
    const inner = { const: 1 }
    const narrow = {
      'x-component': 'Tree',
      'x-narrows': ['inner'],
      properties: { inner, more: {} },
    }
    assert.deepEqual(components.refer(narrow), { ...tree, properties: { inner } })
    assert.deepEqual(components.schemas, { Tree: { properties: { inner: tree } } })
  })

  test('fail if two different ones have the same name', () => {
    const components = new Components({})
    components.refer(user)
    const other = { type: 'string', 'x-component': 'User' }
    assert.throws(() => components.refer(other), /Two different schemas are named User/)
  })
})

suite('decisions', () => {
  test('have a number of their own, in their name and title', () => {
    const names = globSync('*.md', { cwd: resolve(SERVER, '../../docs/decisions') })
    const numbers = names.map((name) => Number(name.slice(0, 4)))
    assert.equal(new Set(numbers).size, names.length)
    const titled = (name: string) =>
      read(`../../docs/decisions/${name}`).startsWith(`# ${Number(name.slice(0, 4))}. `)
    assert.deepEqual(
      names.filter((name) => !titled(name)),
      [],
    )
  })
})
