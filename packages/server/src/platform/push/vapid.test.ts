import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newVapidKey, vapidPublicKeyOf } from './vapid.ts'

suite('VAPID keys', () => {
  test('belong to their public key', () => {
    // From RFC 8291, appendix A.
    assert.equal(
      vapidPublicKeyOf('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
      'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
    )
    const [one, other] = [newVapidKey(), newVapidKey()]
    assert.notEqual(one, other)
    assert.match(vapidPublicKeyOf(one) ?? '', /^B[\w-]{86}$/)
  })

  test('must be a number of the curve', () => {
    const zero = Buffer.alloc(32).toString('base64url')
    for (const key of ['', 'x', zero, `${newVapidKey()}A`, newVapidKey().slice(1), 'é'.repeat(43)])
      assert.equal(vapidPublicKeyOf(key), undefined)
  })
})
