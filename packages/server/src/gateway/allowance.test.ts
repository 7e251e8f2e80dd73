import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Allowance } from './allowance.ts'

/** What became of frames that came evenly, so many a second. */
function sent(perSecond: number, seconds: number) {
  const allowance = new Allowance(0)
  const outcomes = { allowed: 0, leftOut: 0, flood: 0 }
  for (let nth = 1; nth <= perSecond * seconds; nth++) {
    outcomes[allowance.take((nth * 1_000) / perSecond)]++
  }
  return outcomes
}

test('who sends a little too much loses just that, for as long as it likes', () => {
  const { allowed, leftOut, flood } = sent(25, 600)
  assert.ok(Math.abs(allowed - (20 * 600 + 40)) <= 1, `${allowed} allowed`)
  assert.equal(allowed + leftOut, 25 * 600)
  assert.equal(flood, 0)
  assert.deepEqual(sent(20, 600), { allowed: 12_000, leftOut: 0, flood: 0 })
})

test('who sends far too much is closed: at once, or after some seconds', () => {
  const allowance = new Allowance(0)
  const outcomes = Array.from({ length: 241 }, () => allowance.take(0))
  assert.equal(outcomes.indexOf('leftOut'), 40)
  assert.equal(outcomes.indexOf('flood'), 240)
  assert.equal(sent(60, 10).flood, 0)
  assert.ok(sent(60, 15).flood > 0)
})
