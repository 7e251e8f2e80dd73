/** Nothing that somebody uploads runs in a reader's browser, however a page uses its URL. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Browser, BrowserContext } from 'playwright-core'
import { openChromium } from './chromium.ts'
import { type TestApp, useServer } from './kit.ts'
import { gifScript, page, pdf, svgScript, zip } from './media.ts'
import { readyFile } from './upload.ts'

const server = useServer({ roles: ['api', 'worker'] })

/** Scripts of uploads and of the test itself say this in the console. */
const SCRIPT = "console.log('ran')"

const files: [name: string, mimeType: string, bytes: Buffer<ArrayBuffer>][] = [
  ['page.html', 'text/html', page(SCRIPT)],
  [
    'page.xhtml',
    'application/xhtml+xml',
    Buffer.from(
      `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${SCRIPT}</script></html>`,
    ),
  ],
  ['picture.svg', 'image/svg+xml', svgScript(SCRIPT)],
  ['picture.gif', 'image/gif', gifScript(SCRIPT)],
  ['script.js', 'text/javascript', Buffer.from(SCRIPT)],
  ['page.txt', 'text/plain', page(SCRIPT)],
  ['page.pdf', 'application/pdf', Buffer.concat([pdf(), zip('a.html', SCRIPT)])],
  ['unknown', 'application/octet-stream', page(SCRIPT)],
]

/** The ways in which a page of the same origin can use a URL. */
const USES = [
  (url: string) => `<script src="${url}"></script>`,
  (url: string) => `<script type="module" src="${url}"></script>`,
  (url: string) => `<iframe src="${url}"></iframe>`,
  (url: string) => `<object data="${url}"></object>`,
  (url: string) => `<embed src="${url}">`,
  (url: string) => `<img src="${url}">`,
  (url: string) => `<link rel="stylesheet" href="${url}">`,
]

const pageWith = (elements: string[]) =>
  `<!doctype html><title>Uses</title>${elements.join('')}`.replaceAll('&', '&amp;')

suite('hostile files in Chromium', () => {
  let browser: Browser
  let app: TestApp
  const urls = new Map<string, string>()
  before(async () => {
    browser = await openChromium()
    app = await server.newApp()
    for (const [name, mimeType, bytes] of files) {
      const id = await readyFile(app, app.client, bytes, { name, mimeType })
      const { links } = await app.client.files.get(id)
      const { pathname, search } = new URL(links?.file ?? '')
      urls.set(name, `http://127.0.0.1:${server.service.apiPort}${pathname}${search}`)
    }
  })
  after(() => browser?.close())

  /** A new window, and what scripts in it said. */
  async function open(): Promise<{ context: BrowserContext; said: string[] }> {
    const context = await browser.newContext({ acceptDownloads: true })
    const said: string[] = []
    context.on('console', (line) => said.push(line.text()))
    context.on('weberror', (error) => said.push(String(error.error())))
    return { context, said }
  }

  /** Opens these elements on a page of the files' own origin, which the test puts there. */
  async function use(elements: string[]): Promise<string[]> {
    const { context, said } = await open()
    const window = await context.newPage()
    const address = `http://127.0.0.1:${server.service.apiPort}/uses-of-files`
    await window.route(address, (route) =>
      route.fulfill({ contentType: 'text/html', body: pageWith(elements) }),
    )
    await window.goto(address, { waitUntil: 'load' })
    // Whatever could run has run before this line is printed.
    await window.evaluate(() => console.log('last'))
    await context.close()
    return said
  }

  test('the test would notice a script', async () => {
    const own = `data:text/html,<script>${SCRIPT}</script>`
    assert.ok((await use([`<script>${SCRIPT}</script>`])).includes('ran'))
    assert.ok((await use([`<iframe src="${own}"></iframe>`])).includes('ran'))
  })

  test('nothing runs in any element of a page', async () => {
    const said = await use([...urls.values()].flatMap((url) => USES.map((element) => element(url))))
    assert.ok(said.includes('last'))
    assert.equal(said.includes('ran'), false, said.join('\n'))
  })

  test('nothing runs as a page: it is saved, and pictures are shown', async () => {
    const { context, said } = await open()
    const outcomes: [string, string][] = []
    for (const [name, url] of urls) {
      const window = await context.newPage()
      const saved = window.waitForEvent('download', { timeout: 0 }).then(
        () => 'saved',
        () => 'closed',
      )
      // A navigation that becomes a download is an error.
      const outcome = await window.goto(url).then(
        () => 'shown',
        () => saved,
      )
      outcomes.push([name, outcome])
      await window.close()
    }
    await context.close()
    assert.deepEqual(
      outcomes,
      files.map(([name]) => [name, name === 'picture.gif' ? 'shown' : 'saved']),
    )
    assert.equal(said.includes('ran'), false, said.join('\n'))
  })
})
