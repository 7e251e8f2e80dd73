import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { errors, impossibleErrors } from '@loquat/protocol'
import { managementOperations, operations, type Schema } from './conformity.ts'

const SERVER = fileURLToPath(new URL('..', import.meta.url))

/** Answers of the router, where there is no operation, or the request has not come to one. */
const OF_THE_ROUTER = ['ERR_INVALID_API_VERSION', 'ERR_API_NOT_FOUND', 'ERR_REQUEST_TIMEOUT']

const all = [...operations, ...managementOperations]
const codes = Object.keys(errors).sort()

/**
 * Codes inside the first argument of each `fail(…)` or `refusal(…)`, and of `refuse(…)` in the
 * database; it can be a choice.
 */
function codesRaised(): Set<string> {
  const sources = globSync('{src/**/*.ts,db/cell/functions/*.sql}', { cwd: SERVER })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(SERVER, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, ''))
  const calls = sources.flatMap((source) => source.split(/\b(?:fail|refusal|refuse)\(/).slice(1))
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

/** Also those that an answer tells for one id among several. */
function codesWithin(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const inner = Object.values(schema).flatMap(codesWithin)
  return [...codesIn(schema as Schema), ...inner]
}

const codesIn = ({ properties }: Schema): string[] =>
  (properties?.error?.properties?.code?.enum as string[] | undefined) ?? []

suite('the catalogue of errors', () => {
  test('each is raised somewhere, and no other', () => {
    assert.deepEqual([...codesRaised()].sort(), codes)
  })

  test('each is declared by an operation or belongs to the router, and no other', () => {
    assert.deepEqual([...codesDeclared(), ...OF_THE_ROUTER].sort(), codes)
  })

  test('each is declared under its own status', () => {
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

suite('codes that never come', () => {
  for (const code of Object.keys(impossibleErrors)) {
    test(`${code} is in no operation`, () => {
      assert.ok(!Object.hasOwn(errors, code))
      assert.ok(!codesDeclared().has(code))
      assert.ok(!codesRaised().has(code))
    })
  }
})

suite('the document', () => {
  test('has operations', () => assert.ok(operations.length >= 5))

  test('operation ids are unique', () => {
    const ids = all.map(({ operationId }) => operationId)
    assert.deepEqual([...new Set(ids)], ids)
  })

  for (const operation of all) {
    const { method, path, operationId, summary, tags, scope, onBehalfOf, rate, manage } = operation
    test(`${method} ${path} is described`, () => {
      assert.match(operationId, /^[a-z][A-Za-z]+$/)
      assert.ok(summary)
      assert.equal(tags.length, 1)
      assert.ok((scope && onBehalfOf && rate) || manage, 'says who may call it')
      assert.ok(Object.keys(operation.responses).some((status) => status.startsWith('2')))
    })

    test(`${method} ${path} takes an Idempotency-Key if it writes`, () => {
      const named = operation.parameters.some(({ name }) => name === 'Idempotency-Key')
      // Of what anyone may call, the sign-up alone: a session that is lost is made anew.
      const kept = manage !== 'public' || operationId === 'createOperator'
      assert.equal(named, method !== 'GET' && kept)
    })
  }
})
