/** How the api serves the console. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { build, type Rolldown } from 'vite'
import { buildApi } from '../src/api.ts'
import { useServer } from './kit.ts'

const server = useServer()
const SOURCE = fileURLToPath(new URL('../../console', import.meta.url))
const SCRIPT_LIMIT = 250 * 1024

suite('the console', () => {
  const built = mkdtempSync(join(tmpdir(), 'loquat-console-'))
  let api: FastifyInstance
  let output: Rolldown.RolldownOutput['output']
  before(async () => {
    const outDir = join(built, 'dist')
    const options = {
      root: SOURCE,
      logLevel: 'error',
      build: { outDir, emptyOutDir: true },
    } as const
    output = ((await build(options)) as Rolldown.RolldownOutput).output
    api = await buildApi(server.deps, { console: outDir })
  })
  after(async () => {
    await api?.close()
    rmSync(built, { recursive: true, force: true })
  })
  const assets = () => readdirSync(join(built, 'dist/assets'))

  test('is one page, the same on manage.<host> and at /manage', async () => {
    const page = await api.inject('/manage/console/')
    assert.equal(page.statusCode, 200)
    assert.match(String(page.headers['content-type']), /^text\/html/)
    const headers = { host: 'manage.localhost' }
    const onHost = await api.inject({ url: '/console/', headers })
    assert.equal(onHost.body, page.body)
    for (const name of assets()) {
      assert.equal((await api.inject(`/manage/console/assets/${name}`)).statusCode, 200)
    }
    const script = assets().find((name) => name.endsWith('.js'))
    const cached = await api.inject(`/manage/console/assets/${script}`)
    assert.match(String(cached.headers['cache-control']), /immutable/)
    assert.equal(page.headers['cache-control'], 'no-cache')
  })

  test('is the target of redirects from / and /manage', async () => {
    const redirectOf = async (url: string, host = 'localhost') =>
      (await api.inject({ url, headers: { host } })).headers.location
    assert.equal(await redirectOf('/manage'), 'manage/console/')
    assert.equal(await redirectOf('/manage/'), 'console/')
    assert.equal(await redirectOf('/manage/console'), 'console/')
    assert.equal(await redirectOf('/', 'manage.localhost'), 'console/')
  })

  test('allows only scripts from its own files', async () => {
    const { body, headers } = await api.inject('/manage/console/')
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'self'/)
    assert.doesNotMatch(policy, /unsafe|\*/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    const scripts = body.match(/<script[^>]*>[^<]*/g) ?? []
    assert.equal(scripts.length, 1)
    assert.match(scripts[0] ?? '', /src="\.\/assets\/[\w-]+\.js"[^>]*>$/)
    assert.doesNotMatch(body, / on\w+=|style=/)
  })

  test('serves no other files', async () => {
    for (const path of ['../package.json', '..%2fpackage.json', '%2e%2e/package.json', '.env']) {
      const { statusCode } = await api.inject(`/manage/console/${path}`)
      assert.ok([400, 403, 404].includes(statusCode), `${path}: ${statusCode}`)
    }
  })

  test('loads less than 250 KB of script for any page, compressed', () => {
    const chunks = output.filter((file) => file.type === 'chunk')
    const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
    const sizeOf = (name: string) => gzipSync(readFileSync(join(built, 'dist', name))).length
    /** The chunk and everything it imports. */
    const loadedBy = (name: string, seen = new Set<string>()): Set<string> => {
      if (seen.has(name)) return seen
      seen.add(name)
      for (const imported of named.get(name)?.imports ?? []) loadedBy(imported, seen)
      return seen
    }
    const first = chunks.find(({ isEntry }) => isEntry)?.fileName ?? ''
    const pages = chunks.filter(({ isDynamicEntry }) => isDynamicEntry)
    assert.ok(pages.length > 2)
    for (const page of pages) {
      const loaded = [...loadedBy(first).union(loadedBy(page.fileName))]
      const total = loaded.reduce((sum, name) => sum + sizeOf(name), 0)
      assert.ok(total > 0 && total < SCRIPT_LIMIT, `${page.name}: ${total} bytes`)
    }
  })
})
