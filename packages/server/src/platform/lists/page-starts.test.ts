import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { useServer } from '../../../test/kit.ts'
import { PageStarts } from './page-starts.ts'

const server = useServer()

suite('jumps', () => {
  test('of one owner run one after the other, of several at the same time', async () => {
    const starts = new PageStarts(server.deps.cache)
    const gates = new Map<string, () => void>()
    const begun: string[] = []
    const jump = (owner: number, name: string) =>
      starts.jump(owner, () => {
        begun.push(name)
        return new Promise<void>((resolve) => gates.set(name, resolve))
      })
    const jumps = [jump(1, 'a1'), jump(1, 'a2'), jump(2, 'b1')]
    await setImmediate()
    assert.deepEqual(begun, ['a1', 'b1'])
    gates.get('a1')?.()
    await jumps[0]
    await setImmediate()
    assert.deepEqual(begun, ['a1', 'b1', 'a2'])
    for (const end of gates.values()) end()
    await Promise.all(jumps)
  })
})
