import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Session } from './session.ts'
import { Unauthenticated } from './unauthenticated.ts'

const session = (no: number) => ({ app: { no } }) as Session

suite('connections that wait for auth', () => {
  test('beyond the limit, the app with the most loses its oldest', () => {
    const waiting = new Unauthenticated(3)
    const [quiet, first, second] = [session(1), session(2), session(2)]
    for (const one of [quiet, first, second]) assert.equal(waiting.add(one), undefined)
    assert.equal(waiting.add(session(1)), quiet)
    assert.ok(waiting.delete(quiet))
    assert.equal(waiting.add(session(3)), first)
    assert.ok(waiting.delete(first))
    assert.equal(waiting.delete(first), false)
    assert.equal([...waiting].length, 3)
  })
})
