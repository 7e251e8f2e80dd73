import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newTotpSecret, stepOf, totpCode, totpStep } from './totp.ts'

suite('one-time codes', () => {
  /** "12345678901234567890" of RFC 6238, appendix B, in base 32. */
  const known = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

  test('match the standard', () => {
    const codes = [59, 1_111_111_109, 1_234_567_890, 20_000_000_000].map((seconds) =>
      totpCode(known, stepOf(seconds * 1000)),
    )
    assert.deepEqual(codes, ['287082', '081804', '005924', '353130'])
  })

  test('are also valid one step before and after their own', () => {
    const now = 1_800_000_015_000
    const steps = [-2, -1, 0, 1, 2].map((off) =>
      totpStep(known, totpCode(known, stepOf(now) + off), now),
    )
    const at = stepOf(now)
    assert.deepEqual(steps, [undefined, at - 1, at, at + 1, undefined])
  })

  test('other texts are not valid', () => {
    for (const code of ['', '12345', '1234567', 'abcdef', '１２３４５６', ' 28708', '28708\n']) {
      assert.equal(totpStep(known, code, 59_000), undefined)
    }
  })

  test('secrets differ and are 160 bits in base 32', () => {
    const [one, other] = [newTotpSecret(), newTotpSecret()]
    assert.match(one, /^[A-Z2-7]{32}$/)
    assert.notEqual(one, other)
  })
})
