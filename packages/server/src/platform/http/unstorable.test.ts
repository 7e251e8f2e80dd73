import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUnstorable } from './unstorable.ts'

const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) })

test('what PostgreSQL cannot store, or only at great length, is found', () => {
  for (const fit of [0, -1, 1e20, 1e-20, 'text', null, [{ a: [true] }], nested(100)]) {
    assert.equal(findUnstorable(fit), undefined)
  }
  const unstorable: [unknown, string][] = [
    [{ a: ['\0'] }, 'a.0'],
    [{ a: '\ud800' }, 'a'],
    [{ a: { '\0': 1 } }, 'a'],
    [{ a: [1, 1e308] }, 'a.1'],
    [{ a: -1e21 }, 'a'],
    [{ a: 5e-324 }, 'a'],
    [nested(102), 'a'],
  ]
  for (const [value, field] of unstorable) assert.equal(findUnstorable(value)?.field, field)
})
