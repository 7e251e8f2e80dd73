import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, useServer } from '../../../test/kit.ts'

const server = useServer()

suite('createFlagReason', () => {
  test('adds to the reasons that come with the service', async () => {
    const app = await server.newApp()
    const { flagReasons } = app.client
    const reason = await flagReasons.create({ id: 'off-topic', name: 'Off topic' })
    assert.deepEqual(await flagReasons.get('off-topic'), reason)
    const { data, meta } = await flagReasons.list({ limit: 100 })
    assert.deepEqual(
      data.map(({ id, default: ours }) => [id, ours]),
      [
        ['off-topic', undefined],
        ['spam', true],
        ['sexual', true],
        ['harassment', true],
      ],
    )
    assert.deepEqual(meta.current, { limit: 100, count: 4 })
    for (const id of ['off-topic', 'spam']) {
      await refused(flagReasons.create({ id, name: 'Again' }), 'ERR_BAD_REQUEST')
    }
  })
})

suite('updateFlagReason', () => {
  test('changes own reasons only', async () => {
    const { flagReasons } = (await server.newApp()).client
    await flagReasons.create({ id: 'x', name: 'X', description: 'Why' })
    const changed = await flagReasons.update('x', { name: 'Y' })
    assert.deepEqual([changed.name, changed.description], ['Y', 'Why'])
    assert.deepEqual(await flagReasons.update('x', {}), changed)
    await refused(flagReasons.update('spam', { name: 'Y' }), 'ERR_BAD_REQUEST')
    await refused(flagReasons.update('none', { name: 'Y' }), 'ERR_REASON_NOT_FOUND')
  })
})

suite('deleteFlagReason', () => {
  test('removes own reasons only', async () => {
    const { flagReasons } = (await server.newApp()).client
    await flagReasons.create({ id: 'x', name: 'X' })
    await flagReasons.delete('x')
    await refused(flagReasons.get('x'), 'ERR_REASON_NOT_FOUND')
    await refused(flagReasons.delete('spam'), 'ERR_BAD_REQUEST')
  })
})
