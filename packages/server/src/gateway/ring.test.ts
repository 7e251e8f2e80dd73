import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Budget } from './budget.ts'
import { readLogged } from './entry.ts'
import { Ring } from './ring.ts'

const KB = 1024
const MB = 1024 * KB

const entryOf = (position: number, uid: string) =>
  readLogged({
    position,
    type: 'message.saved',
    key: 'user',
    at: 0,
    body: JSON.stringify({ uid, messageId: 'x'.repeat(10 * KB) }),
  })

suite('the newest events of an app', () => {
  test('are found by topic, in order, as long as they are kept', () => {
    const ring = new Ring(new Budget(MB))
    for (let position = 1; position <= 10; position++)
      ring.push(entryOf(position, `u${position % 2}`))
    const positions = (after: number, upto: number) =>
      ring.inTopic('user:u1', after, upto).map(({ position }) => position)
    assert.deepEqual(positions(0, 10), [1, 3, 5, 7, 9])
    assert.deepEqual(positions(3, 8), [5, 7])
    ring.clear()
    assert.equal(ring.after, 10)
    assert.deepEqual(positions(0, 10), [])
    ring.push(entryOf(11, 'u1'))
    assert.deepEqual(positions(10, 11), [11])
  })

  test('share one budget for all apps, and a quiet app frees its part over time', () => {
    const budget = new Budget(4 * MB)
    const [quiet, busy] = [new Ring(budget), new Ring(budget)]
    for (let position = 1; position <= 300; position++) quiet.push(entryOf(position, 'u'))
    assert.equal(quiet.after, 0)
    for (let position = 1; position <= 1_000; position++) {
      busy.push(entryOf(position, 'u'))
      assert.ok(budget.used < 4 * MB + 20 * KB)
    }
    assert.ok(busy.after > 800)
    assert.equal(busy.inTopic('user:u', busy.after, 1_000).length, 1_000 - busy.after)
    quiet.trim(performance.now() + 121_000)
    assert.equal(quiet.after, 300)
    for (let position = 1_001; position <= 1_300; position++) busy.push(entryOf(position, 'u'))
    assert.equal(busy.inTopic('user:u', 1_000, 1_300).length, 300)
    for (const ring of [quiet, busy]) ring.clear()
    assert.equal(budget.used, 0)
  })
})
