/** Crawls of real local websites, friendly and hostile ones. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { suite, type TestContext, test } from 'node:test'
import { ask } from '../../../../../test/agent-runs.ts'
import { newAuthority } from '../../../../../test/certificates.ts'
import { refused, type TestApp, useServer } from '../../../../../test/kit.ts'
import { holdLock } from '../../../../../test/locks.ts'
import { rows } from '../../../../../test/log-writers.ts'
import { useModelServer } from '../../../../../test/model-server.ts'
import { trustedCertificate } from '../../../../../test/receiver.ts'
import { html, openSite, redirect, type Site } from '../../../../../test/site.ts'
import { until } from '../../../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true', LOQUAT_CRAWL_PAUSE_MS: '0' },
})
const models = useModelServer(() => ['At noon [1].'])

/** Waits until a crawl is over. */
const crawled = (app: TestApp, id: string) =>
  until(`the crawl of ${id}`, async () => {
    const states = await app.client.knowledge.poll({ uniqueId: [id] })
    return states[id] !== 'indexing' && app.client.knowledge.getSource(id)
  })

async function crawl(app: TestApp, url: string, options: object = {}) {
  const { uniqueId, status } = await app.client.knowledge.createWebsite({ url, ...options })
  assert.equal(status, 'indexing')
  return crawled(app, uniqueId)
}

async function again(app: TestApp, id: string) {
  await app.client.knowledge.crawlWebsite(id)
  return crawled(app, id)
}

async function pagesOf(app: TestApp, id: string) {
  const { data } = await app.client.knowledge.listPages(id, { limit: 100 })
  return data.toReversed()
}

/** What became of each page, by its path. */
async function fates(app: TestApp, site: Site, id: string) {
  const pages = await pagesOf(app, id)
  return Object.fromEntries(
    pages.map(({ url, status, reason }) => [url.slice(site.url.length), reason ?? status]),
  )
}

async function newReader(app: TestApp, id: string) {
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  const { uid } = await app.client.agents.create({ name: 'Reader', providerId: 'house' })
  await app.client.knowledge.attach(uid, 'websites', { uniqueIds: [id] })
  return uid
}

const found = async (app: TestApp, agent: string, query: string) =>
  (await app.client.knowledge.search(agent, { query })).map(({ text }) => text)

const house = (t: TestContext) =>
  openSite(t, {
    '/': html('House', 'Welcome, guest.', '/pool#top', 'desk', '/nowhere', 'mailto:a@b.c'),
    '/pool': html('Pool', 'The pool opens at noon.', '/', '/desk'),
    '/desk': html('Desk', 'The desk opens at nine.', './pool', '/cellar'),
    '/cellar': html('Cellar', 'Bicycles stand in the cellar.'),
  })

suite('createKnowledgeWebsite', () => {
  test('reads the pages that the first one leads to, each once', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    const source = await crawl(app, site.url, { depth: 1 })
    const { uniqueId: id, sourceType, title, pages, chunks } = source
    assert.deepEqual(
      [sourceType, title, source.url, pages, chunks],
      ['websites', site.url.slice(7), `${site.url}/`, 4, 3],
    )
    // The cellar is two links away.
    assert.deepEqual(site.paths(), ['/robots.txt', '/', '/pool', '/desk', '/nowhere'])
    assert.deepEqual(await fates(app, site, id), {
      ...{ '/': 'processed', '/pool': 'processed', '/desk': 'processed', '/nowhere': 'gone' },
    })
    const agent = await newReader(app, id)
    const { websites, files } = await app.client.agents.get(agent)
    assert.deepEqual([websites, files], [[id], []])
    const [best] = await app.client.knowledge.search(agent, { query: 'When does the pool open?' })
    assert.deepEqual(
      [best?.title, best?.url, best?.text],
      ['Pool', `${site.url}/pool`, 'The pool opens at noon.'],
    )
  })

  test('lets answers cite a page, with its address', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    const { uniqueId } = await crawl(app, site.url)
    const agent = await newReader(app, uniqueId)
    const [amira] = await app.users('amira')
    const { answerId = '' } = await ask({ app, amira, agent }, 'When does the pool open?')
    const { data } = await app.client.messages.get(answerId)
    const { sources } = data.metadata as { sources: { id: string }[] }
    const [cited] = sources
    assert.deepEqual(sources, [{ ...cited, number: 1, title: 'Pool', url: `${site.url}/pool` }])
    const chunk = await amira.messages.getSource(answerId, cited?.id ?? '')
    assert.deepEqual([chunk.text, chunk.url], ['The pool opens at noon.', `${site.url}/pool`])
    // A page that is gone can't be opened any more.
    site.pages = { '/': site.pages['/'] ?? '' }
    await again(app, uniqueId)
    await refused(amira.messages.getSource(answerId, cited?.id ?? ''), 'ERR_KB_NOT_FOUND')
  })

  test('keeps to the rules of the site', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    site.pages['/robots.txt'] = 'User-agent: *\nDisallow: /pool\nDisallow: /desk'
    const { uniqueId } = await crawl(app, site.url)
    assert.deepEqual(site.paths(), ['/robots.txt', '/', '/nowhere'])
    const { '/pool': pool } = await fates(app, site, uniqueId)
    assert.equal(pool, 'robots')
    // What it forbids later is not found any more.
    site.pages['/robots.txt'] = 'User-agent: Loquat\nDisallow: /'
    const { status, reason, chunks } = await again(app, uniqueId)
    assert.deepEqual([status, reason, chunks], ['failed', 'robots', 0])
    assert.deepEqual(site.paths(), ['/robots.txt'])
    // A site that doesn't say what it forbids is not read.
    site.pages['/robots.txt'] = (_request, response) => void response.writeHead(503).end()
    const silent = await again(app, uniqueId)
    assert.deepEqual([silent.status, silent.reason], ['failed', 'unreachable'])
    assert.deepEqual(site.paths(), ['/robots.txt'])
  })

  test('reads a site over TLS, if its certificate can be trusted', async (t) => {
    const app = await server.newApp()
    const plain = await openSite(t, { '/pool': html('Pool', 'The pool is closed.') })
    const pages = {
      '/': html('House', 'Welcome.', '/pool', `${plain.url}/pool`),
      '/pool': html('Pool', 'The pool opens at noon.'),
    }
    const site = await openSite(t, pages, undefined, trustedCertificate())
    const { uniqueId, status, url } = await crawl(app, site.url)
    assert.deepEqual([status, url], ['indexed', `${site.url}/`])
    assert.deepEqual(await fates(app, site, uniqueId), { '/': 'processed', '/pool': 'processed' })
    assert.deepEqual(plain.paths(), [])
    const authority = newAuthority()
    t.after(() => authority.remove())
    const { key, cert } = authority.sign('IP:127.0.0.1')
    const files = { key: readFileSync(key), cert: readFileSync(cert) }
    const stranger = await openSite(t, pages, undefined, files)
    const refusal = await crawl(app, stranger.url)
    assert.deepEqual([refusal.status, refusal.reason], ['failed', 'unreachable'])
    assert.deepEqual(stranger.paths(), [])
  })

  test('pauses without a slot, and goes on from its checkpoint', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    site.pages['/robots.txt'] = 'User-agent: *\nDisallow: /nowhere\nCrawl-delay: 1.01'
    const { chunks } = await crawl(app, site.url, { depth: 1 })
    assert.equal(chunks, 3)
    // Each page is a run of the job. The rules are in its checkpoint.
    assert.deepEqual(site.paths(), ['/robots.txt', '/', '/pool', '/desk'])
  })

  test('is deleted in the middle of a crawl', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    const asked = new Promise<() => void>((resolve) => {
      site.pages['/desk'] = (_request, response) =>
        resolve(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Late</p>'))
    })
    const { uniqueId: id } = await app.client.knowledge.createWebsite({ url: site.url })
    const answer = await asked
    await app.client.knowledge.deleteSource(id)
    answer()
    await until('nothing is left', async () => {
      const left = await rows(
        app.cell.db,
        `select from jobs where app_no = $1 union all select from knowledge_pages where app_no = $1
         union all select from knowledge_chunks where app_no = $1`,
        [app.no],
      )
      return left.length === 0
    })
    assert.ok(!site.paths().includes('/cellar'))
    await refused(app.client.knowledge.listPages(id), 'ERR_KB_NOT_FOUND')
  })
})

suite('a hostile site', () => {
  test('keeps no crawl busy, and leads it nowhere else', async (t) => {
    const app = await server.newApp()
    const inner = await openSite(t, {}, () => html('Inner', 'The secret is 4711.'))
    const innerPort = new URL(inner.url).port
    const site = await openSite(
      t,
      {
        '/robots.txt': 'User-agent: *\nDisallow: /forbidden',
        '/loop-a': html('A', 'Loop A.', '/loop-b'),
        '/loop-b': html('B', 'Loop B.', '/loop-a'),
        '/round-1': redirect('/round-2'),
        '/round-2': redirect('/round-1'),
        '/inward': redirect(`${inner.url}/secret`),
        '/by-name': redirect(`http://localhost:${innerPort}/secret`),
        '/metadata': redirect('http://169.254.169.254/latest/meta-data/'),
        '/elsewhere': redirect('https://example.org/'),
        '/to-file': redirect('file:///etc/passwd'),
        '/with-password': redirect(`http://user:word@127.0.0.1:${innerPort}/secret`),
        '/based': `<base href="${inner.url}/"><p>Based.</p><a href="secret">x</a>`,
        '/giant': (_request, response) =>
          void response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(`<p>${'giant '.repeat(500_000)}`),
        '/picture': (_request, response) =>
          void response.writeHead(200, { 'content-type': 'image/png' }).end('PNG'),
        '/login': (_request, response) => void response.writeHead(401).end('No'),
        '/title': html(`&lt;/script&gt;&quot;}]\u202e\n${'long '.repeat(5_000)}`, 'Titled.'),
        '/nested': `${'<div>'.repeat(10_000)}deep`,
        '/nul': 'a\0b',
        '/hidden': `<meta name="robots" content="NOINDEX">${html('Hidden', 'Hide me.')}`,
        '/empty': '<p> </p>',
      },
      (path) => {
        const [, year] = /^\/calendar\/(\d+)$/.exec(path) ?? []
        // Each day leads to others that nobody has seen.
        if (year) return html(`Day ${year}`, `On day ${year}.`, `/calendar/${Number(year) + 1}`)
        // Each address is new, and its page is the same.
        const [, sid] = /^\/shop\?sid=(\d+)$/.exec(path) ?? []
        return sid ? html('Shop', 'We sell.', `/shop?sid=${Number(sid) + 1}`) : undefined
      },
    )
    site.pages['/'] = html(
      ...(['Start', 'All is well.'] as const),
      ...Object.keys(site.pages).filter((path) => path !== '/robots.txt'),
      ...[
        '/forbidden/x',
        '/shop?sid=1',
        '/calendar/1',
        '/photo.JPG?size=large',
        `${inner.url}/direct`,
        'javascript:alert(1)',
      ],
      ...[`//127.0.0.1:${innerPort}/`, 'data:text/html,x', 'http://[', `/${'x'.repeat(3_000)}`],
    )
    const source = await crawl(app, site.url, { depth: 10, maxPages: 12 })
    assert.equal(source.status, 'indexed')
    assert.deepEqual(inner.paths(), [])
    const asked = site.paths()
    assert.equal(new Set(asked).size, asked.length, 'a page was asked for twice')
    assert.ok(!asked.some((path) => path.startsWith('/forbidden')))
    const { uniqueId } = source
    const became = await fates(app, site, uniqueId)
    // What isn't kept doesn't count.
    const kept = Object.values(became).filter((fate) => fate === 'processed')
    assert.equal(kept.length, 12)
    const calendar = Object.entries(became).filter(([path]) => path.startsWith('/calendar'))
    assert.deepEqual(calendar.at(-1), ['/calendar/7', 'limit'])
    assert.ok(!asked.includes('/calendar/7'))
    for (const [path] of calendar) delete became[path]
    assert.deepEqual(became, {
      ...{ '/': 'processed', '/loop-a': 'processed', '/loop-b': 'processed' },
      ...{ '/round-1': 'moved', '/round-2': 'moved', '/inward': 'other_host' },
      ...{ '/by-name': 'other_host', '/metadata': 'other_host', '/elsewhere': 'other_host' },
      ...{ '/to-file': 'other_host', '/with-password': 'other_host', '/based': 'processed' },
      ...{ '/giant': 'too_large', '/picture': 'not_text', '/login': 'refused' },
      ...{ '/title': 'processed', '/nested': 'unreadable', '/nul': 'unreadable' },
      ...{ '/hidden': 'noindex', '/empty': 'empty', '/forbidden/x': 'robots' },
      ...{ '/shop?sid=1': 'processed', '/shop?sid=2': 'duplicate' },
    })
    const titled = (await pagesOf(app, uniqueId)).find(({ url }) => url.endsWith('/title'))
    const { title = '' } = titled ?? {}
    assert.ok(title.startsWith('</script>"}] long long') && title.length <= 500, title)
  })

  test('that fails is asked once more, and keeps what it had', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    const { uniqueId } = await crawl(app, site.url)
    const agent = await newReader(app, uniqueId)
    site.paths()
    site.pages['/pool'] = (_request, response) => void response.destroy()
    await again(app, uniqueId)
    assert.equal(site.paths().filter((path) => path === '/pool').length, 2)
    const { data } = await app.client.knowledge.listPages(uniqueId, { status: 'failed' })
    const [pool] = data.filter(({ url }) => url.endsWith('/pool'))
    assert.deepEqual([pool?.reason, pool?.retryCount, pool?.chunksCreated], ['unreachable', 2, 1])
    assert.equal((await found(app, agent, 'pool')).length, 1)
  })
})

suite('crawlKnowledgeWebsite', () => {
  /** The rows of the chunks: a chunk that was stored again is another row. */
  const versions = (app: TestApp) =>
    rows<{ text: string; version: string }>(
      app.cell.db,
      'select text, xmin::text as version from knowledge_chunks where app_no = $1 order by text',
      [app.no],
    )

  test('indexes what has changed, and forgets what is gone', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    site.pages['/desk'] = (request, response) => {
      const known = request.headers['if-none-match'] === '"v1"'
      response.writeHead(known ? 304 : 200, { 'content-type': 'text/html', etag: '"v1"' })
      response.end(known ? undefined : html('Desk', 'The desk opens at nine.', '/cellar'))
    }
    const { uniqueId } = await crawl(app, site.url)
    const agent = await newReader(app, uniqueId)
    const before = await versions(app)
    assert.equal((await found(app, agent, 'bicycles')).length, 1)
    site.pages['/pool'] = html('Pool', 'The pool opens at midnight.', '/garden')
    site.pages['/garden'] = html('Garden', 'The garden is new.')
    delete site.pages['/cellar']
    const { chunks, pages } = await again(app, uniqueId)
    assert.deepEqual([chunks, pages], [4, 5])
    assert.deepEqual(await found(app, agent, 'bicycles'), [])
    assert.deepEqual(await found(app, agent, 'noon'), [])
    assert.deepEqual(await found(app, agent, 'midnight'), ['The pool opens at midnight.'])
    assert.deepEqual(await found(app, agent, 'garden'), ['The garden is new.'])
    const after = await versions(app)
    const kept = ({ text }: { text: string }) => /desk|Welcome/.test(text)
    // The desk was not sent again, and the first page was sent as before.
    assert.deepEqual(after.filter(kept), before.filter(kept))
    assert.equal(after.filter(kept).length, 2)
    const fate = async () => (await fates(app, site, uniqueId))['/cellar']
    assert.equal(await fate(), 'gone')
    await again(app, uniqueId)
    assert.equal(await fate(), undefined)
  })

  test('finds a page again that was gone, behind one that has not changed', async (t) => {
    const app = await server.newApp()
    const pool = html('Pool', 'The pool opens at noon.')
    const site = await openSite(t, {
      '/': (request, response) => {
        const known = request.headers['if-none-match'] === '"v1"'
        response.writeHead(known ? 304 : 200, { 'content-type': 'text/html', etag: '"v1"' })
        response.end(known ? undefined : html('House', 'Welcome.', '/pool'))
      },
      '/pool': pool,
    })
    const { uniqueId } = await crawl(app, site.url)
    const fate = async () => (await fates(app, site, uniqueId))['/pool']
    const asksForChanges = () => site.requests.some(({ headers }) => headers['if-none-match'])
    delete site.pages['/pool']
    await again(app, uniqueId)
    assert.equal(await fate(), 'gone')
    await again(app, uniqueId)
    assert.equal(await fate(), undefined)
    site.pages['/pool'] = pool
    site.paths()
    await again(app, uniqueId)
    assert.equal(await fate(), 'processed')
    assert.equal(asksForChanges(), false)
    // Nothing is lost now.
    await again(app, uniqueId)
    assert.equal(asksForChanges(), true)
  })

  test('visits each page once more if a crawl is under way', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    const asked = new Promise<() => void>((resolve) => {
      site.pages['/cellar'] = (_request, response) =>
        resolve(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Bikes</p>'))
    })
    const { uniqueId } = await app.client.knowledge.createWebsite({ url: site.url })
    const answer = await asked
    site.pages['/pool'] = html('Pool', 'The pool opens at midnight.')
    site.pages['/cellar'] = html('Cellar', 'Bikes')
    await app.client.knowledge.crawlWebsite(uniqueId)
    answer()
    const { status } = await crawled(app, uniqueId)
    assert.equal(status, 'indexed')
    const agent = await newReader(app, uniqueId)
    assert.deepEqual(await found(app, agent, 'pool'), ['The pool opens at midnight.'])
  })

  test('visits all pages, although the crawl that is under way has reached its limits', async (t) => {
    const app = await server.newApp()
    const site = await openSite(t, {
      // Long enough to be met, also by a slow machine.
      '/robots.txt': 'User-agent: *\nCrawl-delay: 5',
      '/': html('House', 'Welcome.', '/pool'),
      '/pool': html('Pool', 'The pool opens at noon.'),
    })
    const { uniqueId } = await app.client.knowledge.createWebsite({ url: site.url })
    await until('the pause after a page', async () => {
      const spent = `update jobs set checkpoint = checkpoint || '{"spentMs": 9000000}'
        where app_no = $1 and state = 'waiting' and checkpoint is not null returning id`
      return (await rows(app.cell.db, spent, [app.no])).length > 0
    })
    await app.client.knowledge.crawlWebsite(uniqueId)
    await crawled(app, uniqueId)
    assert.deepEqual(await fates(app, site, uniqueId), { '/': 'processed', '/pool': 'processed' })
  })
})

suite('processKnowledgePages', () => {
  test('indexes the pages that were found, without those that are excluded', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    const { uniqueId, chunks } = await crawl(app, site.url, { index: false })
    assert.equal(chunks, 0)
    const agent = await newReader(app, uniqueId)
    assert.deepEqual(await found(app, agent, 'pool'), [])
    const pages = await pagesOf(app, uniqueId)
    assert.deepEqual(
      pages.map(({ title, status }) => [title, status]),
      [
        ...[
          ['House', 'discovered'],
          ['Pool', 'discovered'],
          ['Desk', 'discovered'],
        ],
        ...[
          [undefined, 'failed'],
          ['Cellar', 'discovered'],
        ],
      ],
    )
    const [, pool] = pages
    const { knowledge } = app.client
    const exclude = [pool?.urlId ?? '', `${site.url}/cellar`]
    const batch = await knowledge.processPages(uniqueId, { exclude })
    assert.deepEqual([batch.urlsProcessed, batch.totalUrls, batch.status], [3, 5, 'processing'])
    await crawled(app, uniqueId)
    site.paths()
    assert.deepEqual(await found(app, agent, 'pool bicycles desk'), ['The desk opens at nine.'])
    // Later crawls leave them out, too.
    await again(app, uniqueId)
    assert.ok(!site.paths().some((path) => ['/pool', '/cellar'].includes(path)))
    // Another choice takes effect at once.
    await knowledge.processPages(uniqueId, { exclude: [`${site.url}/desk`] })
    assert.deepEqual(await found(app, agent, 'desk'), [])
    await crawled(app, uniqueId)
    assert.equal((await found(app, agent, 'pool bicycles')).length, 2)
  })

  test('lets nobody find a page from now on, and deletes its chunks later', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    const { uniqueId } = await crawl(app, site.url)
    const agent = await newReader(app, uniqueId)
    const [chunk] = await app.client.knowledge.search(agent, { query: 'pool noon' })
    const chunks = 'select from knowledge_chunks where app_no = $1 for update'
    const held = await holdLock(app, chunks, [app.no])
    try {
      await app.client.knowledge.processPages(uniqueId, { exclude: [`${site.url}/pool`] })
      assert.deepEqual(await found(app, agent, 'pool noon'), [])
      const { data } = await app.client.knowledge.listChunks(uniqueId)
      assert.ok(!data.some(({ id }) => id === chunk?.id))
    } finally {
      await held.release()
      await held.close()
    }
    const left = 'select from knowledge_chunks where app_no = $1 and chunk_id = $2'
    await until('no chunk', async () => {
      return (await rows(app.cell.db, left, [app.no, chunk?.id])).length === 0
    })
    assert.equal((await crawled(app, uniqueId)).chunks, 3)
  })
})

suite('listKnowledgePages', () => {
  test('lists pages in parts, by their state and time', async (t) => {
    const app = await server.newApp()
    const site = await house(t)
    const { uniqueId } = await crawl(app, site.url)
    const { knowledge } = app.client
    const first = await knowledge.listPages(uniqueId, { limit: 3 })
    const cursor = String(first.meta.next?.createdAt)
    const rest = await knowledge.listPages(uniqueId, { limit: 3, cursor })
    const all = [...first.data, ...rest.data].map(({ url }) => url.slice(site.url.length))
    assert.deepEqual(all, ['/cellar', '/nowhere', '/desk', '/pool', '/'])
    assert.equal(rest.meta.next, undefined)
    const [, middle] = first.data
    const newer = await knowledge.listPages(uniqueId, { startTime: middle?.createdAt ?? 0 })
    assert.equal(newer.data.length, 2)
    const failed = await knowledge.listPages(uniqueId, { status: 'failed' })
    assert.deepEqual(
      failed.data.map(({ urlId }) => urlId),
      [middle?.urlId],
    )
    const text = await app.client.knowledge.createText({ title: 'Text', text: 'No site' })
    await refused(knowledge.listPages(text.uniqueId), 'ERR_KB_NOT_FOUND')
  })

  test('says which pages can be found by their meaning, by the current model', async (t) => {
    const app = await server.newApp()
    const site = await openSite(t, { '/': html('Pool', 'The pool opens at noon.') })
    const { uniqueId } = await crawl(app, site.url)
    const { url, key } = models
    const provider = { id: 'house', name: 'House', url, key, embeddingModel: 'meanings' }
    await app.client.modelProviders.create(provider)
    const pageOf = async () => (await pagesOf(app, uniqueId))[0]
    await until('the vector', async () => (await pageOf())?.vectorizationStatus === 'complete')
    // As if another model had made it.
    await rows(
      app.cell.db,
      `update knowledge_vectors set model = 'house others' where app_no = $1`,
      [app.no],
    )
    const { vectorizationStatus, embeddingsGenerated } = (await pageOf()) ?? {}
    assert.deepEqual([vectorizationStatus, embeddingsGenerated], ['none', 0])
    // Without a model, vectors are of no use.
    await app.client.modelProviders.update('house', { embeddingModel: null })
    await until('no vectors', async () => {
      const left = 'select from knowledge_vectors where app_no = $1'
      return (await rows(app.cell.db, left, [app.no])).length === 0
    })
  })
})

suite('pollKnowledgePages', () => {
  test('leaves out what does not exist, and what is of another app', async (t) => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const site = await house(t)
    const { uniqueId } = await crawl(app, site.url, { depth: 0 })
    const [page] = await pagesOf(app, uniqueId)
    const asked = { uniqueId: [page?.urlId ?? '', randomUUID()] }
    assert.deepEqual(await app.client.knowledge.pollPages(uniqueId, asked), {
      [page?.urlId ?? '']: 'processed',
    })
    await refused(other.client.knowledge.pollPages(uniqueId, asked), 'ERR_KB_NOT_FOUND')
    await refused(other.client.knowledge.crawlWebsite(uniqueId), 'ERR_KB_NOT_FOUND')
  })
})
