import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realtimeLimits } from '@loquat/protocol'
import { ByteLimiter } from './byte-limiter.ts'

const { ephemeralUserRate, ephemeralAppRate } = realtimeLimits

/** How many of the bytes pass that a user tries to send in steps of 10 ms. */
function passed(limiter: ByteLimiter, uids: string[], seconds: number, bytes: number): number {
  let sum = 0
  for (let now = 0; now < seconds * 1_000; now += 10) {
    for (const uid of uids) if (limiter.take(uid, bytes, now)) sum += bytes
  }
  return sum
}

test('a user passes the rate on average, and one more second at once', () => {
  const sum = passed(new ByteLimiter(0), ['amira'], 20, 100_000)
  assert.ok(sum >= 20 * ephemeralUserRate && sum <= 21 * ephemeralUserRate + 100_000, String(sum))
})

test('all users of an app pass the rate of the app', () => {
  const uids = Array.from({ length: 100 }, (_, nth) => `user-${nth}`)
  const sum = passed(new ByteLimiter(0), uids, 10, 50_000)
  assert.ok(sum >= 10 * ephemeralAppRate && sum <= 11 * ephemeralAppRate + 50_000, String(sum))
})

test('a frame that is larger than the rate passes, and its debt is paid first', () => {
  const limiter = new ByteLimiter(0)
  assert.ok(limiter.take('amira', 3 * ephemeralUserRate, 0))
  assert.ok(!limiter.take('amira', 1, 1_900))
  assert.ok(limiter.take('ben', 1, 1_900))
  assert.ok(limiter.take('amira', 1, 2_100))
})
