import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { addressIn } from './bounce.ts'

suite('the address in a report', () => {
  test('is found with and without brackets', () => {
    for (const recipient of ['rfc822; ana@example.org', 'RFC822;<ana@example.org>']) {
      assert.equal(addressIn(recipient), 'ana@example.org')
    }
    for (const none of ['', 'ana@example.org', 'rfc822;', 'rfc822; ana ben', 'x; <a> <b>']) {
      assert.equal(addressIn(none), '')
    }
  })

  // In quadratic time, each would take many minutes.
  test('takes no longer in hostile reports', () => {
    for (const part of [';', '; ', ';<', ' ', '<', '>']) {
      assert.equal(addressIn(`rfc822;${part.repeat(1_000_000)}<`), '')
    }
  })
})
