/** Runs after all other tests of `npm test`, on the answers that they recorded. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { errors } from '@loquat/protocol'
import { managementOperations, operations } from './conformity.ts'

/** Codes that no test can provoke, with the reason. */
const UNREACHABLE: Record<string, string> = {}

/** These files call every operation, so they don't count as an area's own test. */
const GENERATED = [
  ...['isolation.test.ts', 'access.test.ts', 'bad-input.test.ts'],
  'management-access.test.ts',
]

const seen = readFileSync(process.env.LOQUAT_TEST_SEEN ?? '/dev/null', 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(' '))

suite('the answers in the tests', () => {
  test('include a success of every operation in a test of its area', () => {
    const called = new Set(
      seen
        .filter(([, status, , file = '']) => status?.startsWith('2') && !GENERATED.includes(file))
        .map(([operationId]) => operationId),
    )
    const all = [...operations, ...managementOperations].map(({ operationId }) => operationId)
    const never = all.filter((id) => !called.has(id))
    assert.deepEqual(never, [], 'operations that no test calls with success')
  })

  test('include every error of the catalogue', () => {
    const given = new Set(seen.map(([, , code]) => code))
    const never = Object.keys(errors).filter((code) => !given.has(code) && !UNREACHABLE[code])
    assert.deepEqual(never, [], 'errors that no test provokes')
  })

  test('include no error that is listed as impossible to provoke', () => {
    const given = new Set(seen.map(([, , code]) => code))
    const stale = Object.keys(UNREACHABLE).filter(
      (code) => given.has(code) || !Object.hasOwn(errors, code),
    )
    assert.deepEqual(stale, [])
  })
})
