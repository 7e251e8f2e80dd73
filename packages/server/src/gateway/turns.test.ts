import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Turns } from './turns.ts'

/** Keeps the thread busy. */
function burn(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

suite('turns', () => {
  test('does all work in order, and others come between', async () => {
    const turns = new Turns()
    const done: number[] = []
    for (let n = 0; n < 30; n++) {
      turns.add(() => {
        burn(1)
        done.push(n)
      })
    }
    assert.equal(done.length, 0)
    await setImmediate()
    const inTheFirstTurn = done.length
    // A machine that stops for a moment ends the turn earlier.
    assert.ok(inTheFirstTurn >= 1 && inTheFirstTurn <= 6, `${inTheFirstTurn} at once`)
    while (done.length < 30) await setImmediate()
    assert.deepEqual(done, [...Array(30).keys()])
    turns.add(() => done.push(30))
    await setImmediate()
    assert.equal(done.at(-1), 30)
  })
})
