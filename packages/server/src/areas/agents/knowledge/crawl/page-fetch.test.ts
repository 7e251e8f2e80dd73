/** What a page can do to the process that fetches it. */
import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { refused, useServer } from '../../../../../test/kit.ts'
import { startNameServer } from '../../../../../test/name-server.ts'
import { openSite, type Page } from '../../../../../test/site.ts'
import { Outbound } from '../../../../platform/net/outbound.ts'
import { Targets } from '../../../../platform/net/targets.ts'
import { fetchPage, fetchRobots } from './page-fetch.ts'

const server = useServer()

function opened(t: TestContext, { privateTargets = true, nameServers = [] as string[] } = {}) {
  const outbound = new Outbound(new Targets({ privateTargets, nameServers }))
  t.after(() => outbound.close())
  const { signal } = new AbortController()
  return { outbound, timeoutMs: 60_000, signal }
}

async function fetched(t: TestContext, page: Page, timeoutMs = 60_000) {
  const { url } = await openSite(t, { '/': page })
  return fetchPage({ ...opened(t), timeoutMs }, url, undefined)
}

const answer =
  (headers: Record<string, string>, body: string | Buffer = ''): Page =>
  (_request, response) =>
    void response.writeHead(200, headers).end(body)

suite('a page', () => {
  test('is read packed or not, in its own charset', async (t) => {
    const type = 'text/html; charset=ISO-8859-1'
    for (const page of [
      answer({ 'content-type': type }, Buffer.from('caf\xe9', 'latin1')),
      answer(
        { 'content-type': type, 'content-encoding': 'gzip' },
        gzipSync(Buffer.from('caf\xe9', 'latin1')),
      ),
    ]) {
      const seen = await fetched(t, page)
      assert.ok('page' in seen)
      assert.equal(seen.page.bytes.toString('latin1'), 'café')
      assert.equal(seen.page.charset, 'iso-8859-1')
    }
  })

  test('that never ends is not read to its end', async (t) => {
    let sent = 0
    const seen = await fetched(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) sent += 65_536
      }
      response.on('drain', more)
      more()
    })
    assert.deepEqual(seen, { reason: 'too_large', passing: false })
    // Buffers of the two sockets come on top.
    assert.ok(sent < 50_000_000, `${sent} bytes`)
  })

  test('that drips is left after a while', async (t) => {
    const seen = await fetched(
      t,
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' })
        const drip = setInterval(() => response.write('x'), 20)
        response.on('close', () => clearInterval(drip))
      },
      500,
    )
    assert.deepEqual(seen, { reason: 'unreachable', passing: true })
  })

  for (const [what, page, reason] of [
    [
      'that unpacks to 20 MB is too large',
      answer(
        { 'content-type': 'text/html', 'content-encoding': 'gzip' },
        gzipSync(Buffer.alloc(20_000_000)),
      ),
      'too_large',
    ],
    [
      'that is packed wrongly is unreadable',
      answer({ 'content-type': 'text/html', 'content-encoding': 'gzip' }, 'no gzip'),
      'unreadable',
    ],
    [
      'that is packed in another way is unreadable',
      answer({ 'content-type': 'text/html', 'content-encoding': 'br' }, 'x'),
      'unreadable',
    ],
    ['that is a picture is left', answer({ 'content-type': 'image/png' }, 'x'), 'not_text'],
    ['without a type is left', answer({}, 'x'), 'not_text'],
  ] as const) {
    test(what, async (t) => {
      assert.deepEqual(await fetched(t, page), { reason, passing: false })
    })
  }

  test('of a name with a private address is never asked for', async (t) => {
    let connections = 0
    const inside = createServer(() => connections++)
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
    t.after(() => void inside.close())
    const { port } = inside.address() as AddressInfo
    const nameServers = [await startNameServer(() => ['127.0.0.1'])]
    const guarded = opened(t, { privateTargets: false, nameServers })
    for (const url of [`https://inside.example:${port}/`, `https://127.0.0.1:${port}/`])
      assert.deepEqual(await fetchPage(guarded, url, undefined), {
        ...{ reason: 'forbidden_target', passing: false },
      })
    assert.equal(await fetchRobots(guarded, `https://inside.example:${port}/`), undefined)
    assert.equal(connections, 0)
  })
})

suite('createKnowledgeWebsite', () => {
  test('refuses URLs that lead inward, and those that are none', async () => {
    const app = await server.newApp()
    for (const url of [
      ...['http://example.com', 'https://127.0.0.1', 'https://[::1]/', 'https://2130706433/'],
      ...['https://localhost/', 'https://a.internal/', 'https://user:word@example.com/'],
      ...['ftp://example.com', 'file:///etc/passwd', 'no URL'],
      `https://93.184.215.14/${'ü'.repeat(500)}`,
    ])
      await refused(app.client.knowledge.createWebsite({ url }), 'ERR_BAD_REQUEST')
  })
})
