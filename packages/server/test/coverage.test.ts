/** Runs after all other tests of `npm test`, on what they noted of every answer. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { errors } from '@loquat/protocol'
import { managementOperations, operations } from './conformity.ts'

/** Codes that no test can provoke, with the reason. */
const UNREACHABLE: Record<string, string> = {}

/** They call every operation by themselves: an area must not lean on them. */
const GENERATED = [
  ...['isolation.test.ts', 'access.test.ts', 'bad-input.test.ts'],
  'management-access.test.ts',
]

const seen = readFileSync(process.env.LOQUAT_TEST_SEEN ?? '/dev/null', 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(' '))

suite('what the tests have seen', () => {
  test('every operation succeeds in a test of its own', () => {
    const called = new Set(
      seen
        .filter(([, status, , file = '']) => status?.startsWith('2') && !GENERATED.includes(file))
        .map(([operationId]) => operationId),
    )
    const all = [...operations, ...managementOperations].map(({ operationId }) => operationId)
    const never = all.filter((id) => !called.has(id))
    assert.deepEqual(never, [], 'operations that no test calls with success')
  })

  test('every error of the catalogue', () => {
    const given = new Set(seen.map(([, , code]) => code))
    const never = Object.keys(errors).filter((code) => !given.has(code) && !UNREACHABLE[code])
    assert.deepEqual(never, [], 'errors that no test provokes')
  })

  test('no excuse for an error that was seen, or is none', () => {
    const given = new Set(seen.map(([, , code]) => code))
    const stale = Object.keys(UNREACHABLE).filter(
      (code) => given.has(code) || !Object.hasOwn(errors, code),
    )
    assert.deepEqual(stale, [])
  })
})
