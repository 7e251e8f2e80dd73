/** The threads that read pages. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { html } from '../../../../test/site.ts'
import { extract, extractPage, type Reader } from './extract.ts'

const never = { appNo: 1, signal: new AbortController().signal }

const taskOf = (page: string) => ({
  ...{ page: Buffer.from(page), type: 'text/html' as const, charset: undefined },
  url: 'https://example.org/',
})

async function textOf(page: string, reader: Reader = never): Promise<string | undefined> {
  const read = await extractPage(taskOf(page), reader)
  return 'text' in read && 'chunks' in read.text ? read.text.chunks[0]?.text : undefined
}

suite('pages', () => {
  test('follow each other in a thread, until one of them has to be given up', async (t) => {
    let opened = 0
    const count = () => opened++
    process.on('worker', count)
    t.after(() => process.off('worker', count))
    assert.equal(await textOf(html('A', 'First.')), 'First.')
    const before = opened
    assert.equal(await textOf(html('B', 'Second.')), 'Second.')
    assert.deepEqual(await extract({ text: 'Third.' }, never), {
      chunks: [{ heading: '', text: 'Third.' }],
    })
    assert.equal(opened, before)
    // Its answer would come too late.
    const enough = new AbortController()
    const given = textOf(html('C', 'Given up.'), { appNo: 1, signal: enough.signal })
    enough.abort()
    await assert.rejects(given, { name: 'AbortError' })
    assert.equal(await textOf(html('D', 'Fourth.')), 'Fourth.')
    assert.equal(opened, before + 1)
    // Another app has other threads.
    assert.equal(await textOf(html('E', 'Fifth.'), { ...never, appNo: 2 }), 'Fifth.')
    assert.equal(opened, before + 2)
  })

  test('that wait for others know for how long', async () => {
    // More threads than there are.
    const enough = new AbortController()
    const held = [11, 12, 13].map((appNo) =>
      textOf(html('A', 'Held.'), { appNo, signal: enough.signal }).catch(() => undefined),
    )
    const { promise: waited, resolve } = Promise.withResolvers<number>()
    const read = textOf(html('B', 'Read.'), { ...never, appNo: 14, waited: resolve })
    const asked = performance.now()
    await new Promise((next) => setImmediate(next))
    const leastMs = performance.now() - asked
    enough.abort()
    assert.equal(await read, 'Read.')
    assert.ok((await waited) >= leastMs)
    await Promise.all(held)
  })
})
