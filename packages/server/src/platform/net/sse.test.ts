import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InvalidStream, readEvents } from './sse.ts'

const LIMITS = { lineBytes: 100, totalBytes: 1_000 }

async function read(text: string, size: number, limits = LIMITS) {
  async function* chunks() {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const events: string[] = []
  for await (const { event, data } of readEvents(chunks(), limits)) events.push(`${event}=${data}`)
  return events
}

suite('server-sent events', () => {
  test('are the same, however the bytes arrive', async () => {
    const text =
      ': hello\n\ndata: a漢\n\nevent: x\r\ndata:1\r\ndata: 2\r\n\r\nid: 7\ndata\n\nretry: 1\n\ndata: lost'
    for (const size of [1, 2, 3, 7, 1_000]) {
      assert.deepEqual(await read(text, size), ['message=a漢', 'x=1\n2', 'message='])
    }
  })

  test('may have long lines in small pieces, which take linear time', async () => {
    const data = 'x'.repeat(100_000)
    const limits = { lineBytes: 1_000_000, totalBytes: 1_000_000 }
    assert.deepEqual(await read(`data: ${data}\r\n\r\n`, 1, limits), [`message=${data}`])
  })

  test('must not be too long', async () => {
    await assert.rejects(read(`data: ${'x'.repeat(200)}`, 10), InvalidStream)
    await assert.rejects(read('data: x\n\n'.repeat(200), 10), InvalidStream)
  })
})
