import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { throttle } from './bus.ts'

test('many calls in a short time cause two runs: the first at once, the others together', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    let acts = 0
    const wake = throttle(5, () => acts++)
    for (let n = 0; n < 10; n++) wake()
    assert.equal(acts, 1)
    mock.timers.tick(5)
    assert.equal(acts, 2)
    mock.timers.tick(5)
    assert.equal(acts, 2, 'nothing was missed since')
    wake()
    assert.equal(acts, 3)
  } finally {
    mock.timers.reset()
  }
})
