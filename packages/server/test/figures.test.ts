import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { atMost } from '../bench/figure.ts'

suite('a figure with a bar', () => {
  test('holds if there is nothing on both sides, and not if it has become something', () => {
    assert.equal(atMost('buffers', 0, 0, 1.5).holds, true)
    assert.equal(atMost('buffers', 1, 0, 1.5).holds, false)
    assert.equal(atMost('buffers', 3, 2, 1.5).holds, true)
    assert.equal(atMost('buffers', 4, 2, 1.5).holds, false)
  })
})
