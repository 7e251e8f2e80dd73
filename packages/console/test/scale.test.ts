import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { areaOf, pathOf, roundUp } from '../src/areas/usage/scale.ts'

suite('the chart axis', () => {
  test('ends at a round number that is at least the maximum', () => {
    const cases = [
      ...[
        [0, 4],
        [3, 4],
        [5, 5],
        [7, 8],
        [11, 15],
        [21, 25],
        [26, 30],
        [99, 100],
        [101, 150],
      ],
      ...[
        [2_400, 2_500],
        [7_400, 8_000],
        [10_000, 10_000],
        [1_000_001, 1_500_000],
      ],
    ]
    for (const [value = 0, round] of cases) assert.equal(roundUp(value), round, String(value))
  })

  test('draws a line from edge to edge with zero at the bottom', () => {
    assert.equal(pathOf([0, 5, 10], 10), 'M0 100L50 50L100 0')
    assert.equal(areaOf([10, 10], 10), 'M0 0L100 0L100 100L0 100Z')
    assert.equal(pathOf([4], 4), 'M0 0')
  })
})
