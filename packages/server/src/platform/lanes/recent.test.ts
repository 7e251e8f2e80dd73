import assert from 'node:assert/strict'
import { mock, suite, test } from 'node:test'
import { RecentUse } from './recent.ts'

suite('recent use of a cell', () => {
  test('names whether another app was there in the last second', () => {
    let now = 10_000
    const clock = mock.method(performance, 'now', () => now)
    const recent = new RecentUse()
    recent.add(1)
    assert.deepEqual(
      [1, 2].map((app) => recent.byOthersThan(app)),
      [false, true],
    )
    now += 900
    recent.add(2)
    recent.add(2)
    assert.deepEqual(
      [1, 2, 3].map((app) => recent.byOthersThan(app)),
      [true, true, true],
    )
    now += 900
    recent.add(2)
    // The first app was there 1.8 s ago.
    assert.deepEqual(
      [1, 2].map((app) => recent.byOthersThan(app)),
      [true, false],
    )
    clock.mock.restore()
  })
})
