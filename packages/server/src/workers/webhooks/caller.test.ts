import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { openMetrics } from '../../platform/metrics/metrics.ts'
import { Targets } from '../../platform/net/targets.ts'
import { Caller } from './caller.ts'

test('a receiver that switches protocols has rejected the event', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n'),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const metrics = openMetrics()
  const caller = new Caller({
    targets: new Targets({ privateTargets: true, nameServers: [] }),
    metrics,
  })
  t.after(async () => {
    caller.close()
    server.close()
    await metrics.close()
  })
  const { port } = server.address() as AddressInfo
  const { status, error } = await caller.post(`http://127.0.0.1:${port}/`, {}, '{}')
  assert.deepEqual([status, error], [101, null])
})

test('calls that hang take all slots of their app, and none of another one', async (t) => {
  const metrics = openMetrics()
  const targets = new Targets({ privateTargets: true, nameServers: [] })
  const caller = new Caller({ targets, metrics })
  t.after(async () => {
    caller.close()
    await metrics.close()
  })
  const hang = Promise.withResolvers<void>()
  let running = 0
  const calls = Array.from({ length: 2_000 }, () =>
    caller.inTurn(1, () => {
      running++
      return hang.promise
    }),
  )
  await caller.inTurn(2, async () => {})
  assert.equal(running, 256)
  hang.resolve()
  await Promise.all(calls)
  assert.equal(running, 2_000)
})
