/** How the api serves the console and the API reference. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { build, type Rolldown } from 'vite'
import { buildApi } from '../src/api.ts'
import { managementOperations, operations } from './conformity.ts'
import { type TestApp, useServer } from './kit.ts'

const server = useServer()
const SOURCE = fileURLToPath(new URL('../../console', import.meta.url))
const SCRIPT_LIMIT = 250 * 1024
const LOAD_LIMIT = 1024 * 1024

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

  test('shows emails in a frame that runs only its own script, without an origin', async () => {
    const { body, headers } = await api.inject('/manage/console/email-frame')
    const policy = String(headers['content-security-policy']).split('; ')
    assert.ok(policy.includes("default-src 'none'") && policy.includes('sandbox allow-scripts'))
    assert.ok(policy.includes("frame-ancestors 'self'"))
    const [, script = ''] = body.match(/<script>(.*)<\/script>/s) ?? []
    const hash = createHash('sha256').update(script).digest('base64')
    assert.ok(policy.includes(`script-src 'sha256-${hash}'`))
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

  test('loads less than 1 MB, all pages together', async () => {
    const paths = [
      '',
      ...assets().flatMap((name) => (/\.(br|gz)$/.test(name) ? [] : [`assets/${name}`])),
    ]
    let total = 0
    for (const path of paths) {
      const { headers, rawPayload } = await api.inject({
        url: `/manage/console/${path}`,
        headers: { 'accept-encoding': 'gzip, br' },
      })
      assert.equal(headers['content-encoding'], 'br', path)
      total += rawPayload.length
    }
    assert.ok(total > 0 && total < LOAD_LIMIT, `${total} bytes`)
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

/** A request to the running server, as a browser sends it. */
async function get(path: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number
    headers: Record<string, string | string[] | undefined>
    body: string
    bytes: number
  }>()
  const port = server.service.apiPort
  request(
    { host: '127.0.0.1', port, path, headers: { 'accept-encoding': 'br', ...headers } },
    (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const sent = Buffer.concat(chunks)
        const body =
          response.headers['content-encoding'] === 'br' ? brotliDecompressSync(sent) : sent
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, body: body.toString(), bytes: sent.length })
      })
    },
  )
    .on('error', reject)
    .end()
  return promise
}

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }
const textOf = (html: string) =>
  html.replaceAll(/<[^>]+>/g, '').replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity)

interface Shown {
  operationId: string
  language: string
  code: string
}

/** All samples of a page. */
const samplesIn = (html: string): Shown[] =>
  html
    .split('<section class="operation" id="')
    .slice(1)
    .flatMap((section) =>
      [...section.matchAll(/<div class="sample" data-id="(\w+)">.*?<code>(.*?)<\/code>/gs)].map(
        ([, language = '', code = '']) => ({
          operationId: section.slice(0, section.indexOf('"')),
          language,
          code: textOf(code),
        }),
      ),
    )

/** The pages of both references, by path. */
async function readPages(headers: Record<string, string> = {}): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  for (const docs of ['/v3/docs', '/manage/docs']) {
    const first = await get(docs, headers)
    const areas = new Set(
      [...first.body.matchAll(new RegExp(`"${docs}/([a-z-]+)#`, 'g'))].map(([, area]) => area),
    )
    for (const area of areas)
      pages.set(`${docs}/${area}`, (await get(`${docs}/${area}`, headers)).body)
  }
  return pages
}

suite('the API reference', () => {
  test('shows every operation with an answer and with samples in four languages', async () => {
    const pages = await readPages()
    const samples = [...pages.values()].flatMap(samplesIn)
    for (const { operationId } of [...operations, ...managementOperations]) {
      const own = samples.filter((sample) => sample.operationId === operationId)
      const languages = new Set(own.map(({ language }) => language))
      assert.deepEqual([...languages], ['curl', 'node', 'python', 'php'], operationId)
    }
    checkSyntax(samples)
  })

  test("has this server's address and the caller's app in samples and document", async () => {
    const host = `127.0.0.1:${server.service.apiPort}`
    const named = (await get('/v3/docs/users?appId=clinic1')).body
    assert.ok(textOf(named).includes(`curl -X POST 'http://${host}/v3/users'`))
    assert.ok(textOf(named).includes("-H 'appId: clinic1'"))
    const unnamed = textOf((await get('/v3/docs/users')).body)
    assert.ok(unnamed.includes("-H 'appId: YOUR_APP_ID'"))
    const own = textOf((await get('/v3/docs/users', { host: 'clinic1.api-us.localhost:80' })).body)
    assert.ok(own.includes("curl -X POST 'http://clinic1.api-us.localhost:80/v3/users'"))
    assert.ok(!own.includes("-H 'appId:"))
    const managed = textOf((await get('/manage/apps/clinic1/v3/docs/users')).body)
    assert.ok(managed.includes("-H 'appId: clinic1'"))
    const keys = textOf((await get('/manage/docs/apps')).body)
    assert.ok(keys.includes(`curl 'http://${host}/manage/apps`))
    const onHost = textOf((await get('/docs/apps', { host: 'manage.localhost' })).body)
    assert.ok(onHost.includes("curl 'http://manage.localhost/apps"))
    const { servers } = JSON.parse((await get('/v3/openapi.json')).body)
    assert.equal(servers[0].url, `http://${host}`)
  })

  test('contains nothing that the caller sent, except host names and app ids', async () => {
    const script = '%22%3E%3Cscript%3Ealert(1)%3C/script%3E'
    for (const [path, headers] of [
      [`/v3/docs/users?appId=${script}`, {}],
      ['/v3/docs/users', { host: 'a"><script>alert(1)</script>' }],
    ] as const) {
      const page = await get(path, headers)
      assert.equal(page.status, 200)
      assert.ok(!page.body.includes('alert(1)'))
      assert.match(String(page.headers['content-security-policy']), /script-src 'self'/)
    }
    assert.equal((await get('/v3/docs/nothing')).status, 404)
  })

  test('loads less than 1 MB with its style and script, whatever the page', async () => {
    const assets = async (html: string) => {
      const paths = [...html.matchAll(/(?:href|src)="([^"]+\.(?:css|js)\?[^"]+)"/g)].map(
        ([, path = '']) => path,
      )
      assert.equal(paths.length, 2)
      return Promise.all(paths.map((path) => get(path)))
    }
    const links = (await get('/v3/docs')).body.matchAll(/href="(\/v3\/docs[a-z/-]*)["#]/g)
    const paths = new Set([...links].map(([, path = '']) => path))
    assert.ok(paths.has('/v3/docs/errors') && paths.has('/v3/docs/messages'))
    for (const path of paths) {
      const page = await get(path)
      const loaded = [page, ...(await assets(page.body))]
      for (const { status } of loaded) assert.equal(status, 200, path)
      const total = loaded.reduce((sum, { bytes }) => sum + bytes, 0)
      assert.ok(total < LOAD_LIMIT, `${path}: ${total} bytes`)
    }
    assert.ok((await get('/v3/openapi.json')).bytes < LOAD_LIMIT)
  })

  test('is sent again only after a change', async () => {
    const { headers } = await get('/v3/docs/users')
    const again = await get('/v3/docs/users', { 'if-none-match': String(headers.etag) })
    assert.deepEqual([again.status, again.bytes], [304, 0])
  })

  test('has samples that work', async () => {
    const app = await server.newApp()
    const url = `?appId=${app.id}`
    const samples = [
      ...samplesIn((await get(`/v3/docs/roles${url}`)).body),
      ...samplesIn((await get(`/v3/docs/users${url}`)).body),
      ...samplesIn((await get(`/v3/docs/messages${url}`)).body),
      ...samplesIn((await get(`/v3/docs/conversations${url}`)).body),
    ]
    const run = (language: string, operationId: string, nth = 0) =>
      runSample(app, samples, { language, operationId, nth })
    await run('curl', 'createRole')
    await run('node', 'createUser')
    await run('python', 'createUser', 1)
    await run('python', 'sendMessage')
    const listed = await run('curl', 'listConversations')
    assert.match(listed, /"conversationId":"amira_user_ben"/)
    await run('php', 'listConversations')
  })
})

test('answers with keys and tokens are never compressed', async () => {
  const app = await server.newApp()
  const headers = { appid: app.id, apikey: app.apiKey, 'accept-encoding': 'gzip, br' }
  for (const path of ['/v3/apikeys', '/v3/roles']) {
    const answer = await get(path, headers)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-encoding'], undefined)
  }
})

interface Wanted {
  language: string
  operationId: string
  nth: number
}

/** Runs a sample of a page, with the app's key, in a process of its own. */
async function runSample(app: TestApp, samples: Shown[], { language, operationId, nth }: Wanted) {
  const own = samples.filter((one) => one.operationId === operationId && one.language === language)
  const code = (own[nth]?.code ?? '').replaceAll('YOUR_API_KEY', app.apiKey)
  const [command, ...args] = {
    curl: ['sh', '-c', code.replace(/^curl/, 'curl --fail-with-body -s')],
    node: [process.execPath, '--input-type=module', '-e', code],
    python: ['python3', '-c', code],
    php: ['php', '-r', code.replace('<?php', '')],
  }[language] ?? ['false']
  return (await promisify(execFile)(command ?? '', args)).stdout
}

/** Every sample is a program of its language. One process checks all of a language. */
function checkSyntax(samples: Shown[]): void {
  const of = (language: string) => samples.filter((one) => one.language === language)
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  for (const { code } of of('node')) AsyncFunction(code)
  const check = (command: string, args: string[], input: string) => {
    const { status, stderr } = spawnSync(command, args, { input, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  }
  check(
    'sh',
    ['-n'],
    of('curl')
      .map(({ code }) => code)
      .join('\n'),
  )
  const parse = 'import ast, json, sys\nfor code in json.load(sys.stdin): ast.parse(code)'
  check('python3', ['-c', parse], JSON.stringify(of('python').map(({ code }) => code)))
  check(
    'php',
    ['-l'],
    of('php')
      .map(({ code }) => code)
      .join('\n')
      .replaceAll('\n<?php', ''),
  )
}
