/** One name across layers: a write's action and test suite have the name of its operation. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

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
