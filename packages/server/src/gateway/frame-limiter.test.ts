import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameLimiter } from './frame-limiter.ts'

/** Counts the outcomes of frames that arrive evenly at this rate. */
function sendEvenly(perSecond: number, seconds: number) {
  const limiter = new FrameLimiter(0)
  const outcomes = { allowed: 0, dropped: 0, flood: 0 }
  for (let nth = 1; nth <= perSecond * seconds; nth++) {
    outcomes[limiter.take((nth * 1_000) / perSecond)]++
  }
  return outcomes
}

test('a client that is slightly too fast loses only the excess, however long it continues', () => {
  const { allowed, dropped, flood } = sendEvenly(25, 600)
  assert.ok(Math.abs(allowed - (20 * 600 + 40)) <= 1, `${allowed} allowed`)
  assert.equal(allowed + dropped, 25 * 600)
  assert.equal(flood, 0)
  assert.deepEqual(sendEvenly(20, 600), { allowed: 12_000, dropped: 0, flood: 0 })
})

test('a client that is far too fast is closed, at once or after some seconds', () => {
  const limiter = new FrameLimiter(0)
  const outcomes = Array.from({ length: 241 }, () => limiter.take(0))
  assert.equal(outcomes.indexOf('dropped'), 40)
  assert.equal(outcomes.indexOf('flood'), 240)
  assert.equal(sendEvenly(60, 10).flood, 0)
  assert.ok(sendEvenly(60, 15).flood > 0)
})
