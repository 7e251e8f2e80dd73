import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { Peers } from './peers.ts'

const server = useServer()

suite('peers', () => {
  test('count each other from the start until they leave', async () => {
    const { bus } = server.deps
    const first = new Peers(bus, 'test.peers')
    assert.equal(first.count, 1)
    const others = [new Peers(bus, 'test.peers'), new Peers(bus, 'test.peers')]
    const elsewhere = new Peers(bus, 'test.others')
    for (const peers of [first, ...others]) await until('all are known', () => peers.count === 3)
    assert.equal(elsewhere.count, 1)
    for (const peers of others) peers.close()
    await until('the others have left', () => first.count === 1)
    for (const peers of [first, elsewhere]) peers.close()
  })
})
