import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { errors, impossibleErrors } from '@loquat/protocol'
import { managementOperations, operations, type Schema } from './conformity.ts'
import { readLedger } from './ledger.ts'
import { checkAdditions, checkArea } from './ledger-check.ts'

const SERVER = fileURLToPath(new URL('..', import.meta.url))

/** Errors that the router returns before a request reaches an operation. */
const OF_THE_ROUTER = ['ERR_INVALID_API_VERSION', 'ERR_API_NOT_FOUND', 'ERR_REQUEST_TIMEOUT']

const all = [...operations, ...managementOperations]
const codes = Object.keys(errors).sort()

/** Codes inside the first argument of each `fail(…)`, and of `refuse(…)` in the database; it can be a choice. */
function codesRaised(): Set<string> {
  const sources = globSync('{src/**/*.ts,db/cell/functions/*.sql}', { cwd: SERVER })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(SERVER, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, ''))
  const calls = sources.flatMap((source) => source.split(/\b(?:fail|refuse)\(/).slice(1))
  return new Set(calls.flatMap((call) => firstArgument(call).match(/\b(AUTH_)?ERR_[A-Z_]+/g) ?? []))
}

function firstArgument(text: string): string {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index)
    if (depth === 0 && ',)'.includes(char)) return text.slice(0, index)
    if ('({['.includes(char)) depth++
    if (')}]'.includes(char)) depth--
  }
  return text
}

function codesDeclared(): Set<string> {
  const bodies = all.flatMap(({ responses }) => Object.values(responses))
  return new Set(bodies.flatMap(codesWithin))
}

/** Includes the codes for single ids in an answer. */
function codesWithin(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const inner = Object.values(schema).flatMap(codesWithin)
  return [...codesIn(schema as Schema), ...inner]
}

const codesIn = ({ properties }: Schema): string[] =>
  (properties?.error?.properties?.code?.enum as string[] | undefined) ?? []

suite('the catalogue of errors', () => {
  test('contains exactly the codes that the code raises', () => {
    assert.deepEqual([...codesRaised()].sort(), codes)
  })

  test('contains exactly the codes that operations declare or the router returns', () => {
    assert.deepEqual([...codesDeclared(), ...OF_THE_ROUTER].sort(), codes)
  })

  test('gives each code the status under which operations declare it', () => {
    for (const { operationId, responses } of all) {
      for (const [status, schema] of Object.entries(responses)) {
        for (const code of codesIn(schema)) {
          const own = errors[code as keyof typeof errors].status
          assert.equal(own, Number(status), `${code} in ${operationId}`)
        }
      }
    }
  })
})

suite('codes that are never returned', () => {
  for (const code of Object.keys(impossibleErrors)) {
    test(`are declared by no operation: ${code}`, () => {
      assert.ok(!Object.hasOwn(errors, code))
      assert.ok(!codesDeclared().has(code))
      assert.ok(!codesRaised().has(code))
    })
  }
})

suite('the OpenAPI document', () => {
  test('has operations', () => assert.ok(operations.length >= 5))

  test('has unique operationIds', () => {
    const ids = all.map(({ operationId }) => operationId)
    assert.deepEqual([...new Set(ids)], ids)
  })

  for (const operation of all) {
    const { method, path, operationId, summary, tags, scope, onBehalfOf, rate, manage } = operation
    test(`describes ${method} ${path}`, () => {
      assert.match(operationId, /^[a-z][A-Za-z]+$/)
      assert.ok(summary)
      assert.equal(tags.length, 1)
      assert.ok((scope && onBehalfOf && rate) || manage, 'says who may call it')
      assert.ok(Object.keys(operation.responses).some((status) => status.startsWith('2')))
    })

    test(`declares Idempotency-Key for ${method} ${path} if it writes`, () => {
      const named = operation.parameters.some(({ name }) => name === 'Idempotency-Key')
      // Of the public operations, only sign-up has one: a lost session is simply created again.
      const kept = manage !== 'public' || operationId === 'createOperator'
      assert.equal(named, method !== 'GET' && kept)
    })
  }
})

suite('the contract ledger', () => {
  const ledger = readLedger()

  for (const area of ledger.areas) {
    test(`says what is built: ${area.title}`, () => assert.deepEqual(checkArea(area, ledger), []))
  }

  test('knows everything that we offer', () => assert.deepEqual(checkAdditions(ledger), []))
})
