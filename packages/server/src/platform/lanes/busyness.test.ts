import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { watchBusyness } from './busyness.ts'

suite('watchBusyness', () => {
  test('says whether the thread worked for most of the last stretch', async () => {
    // Nothing is measured before the loop's first turn.
    await setImmediate()
    const isBusy = watchBusyness()
    const until = performance.now() + 300
    while (performance.now() < until);
    assert.equal(isBusy(), true)
    await sleep(600)
    assert.equal(isBusy(), false)
  })
})
