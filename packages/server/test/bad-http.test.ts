/** Requests that no HTTP library would send, on real sockets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { join as pathTo } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { type ErrorCode, errors } from '@loquat/protocol'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { buildApi } from '../src/api.ts'
import { noteAnswer } from './conformity.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import { seeded } from './seed.ts'
import { until } from './until.ts'

const REQUESTS = LONG ? 20_000 : 300
const AT_ONCE = 20

const server = useServer()

/**
 * Sends the bytes and returns everything until the server closes the connection. After `quietMs` of
 * silence it ends its side. Doing so earlier would withdraw the request; without it, the server would
 * wait for the rest of a truncated one.
 */
function exchange(bytes: Buffer, quietMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect({ port: server.service.apiPort ?? 0, host: '127.0.0.1' })
    socket.setTimeout(quietMs, () => socket.end())
    socket.on('data', (part: Buffer) => parts.push(part))
    // With a reset the server ends the connection too.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? resolve(textOf(parts)) : reject(error),
    )
    socket.on('close', () => resolve(textOf(parts)))
    socket.write(bytes)
  })
}

const textOf = (parts: Buffer[]) => Buffer.concat(parts).toString()

interface Response {
  status: number
  body: { error?: { code: string } }
}

/** Splits the answers; each must be complete, with a JSON body. */
function parseAnswers(text: string): Response[] {
  const answers: Response[] = []
  for (let rest = text; rest.length > 0; ) {
    const [, head = '', after = ''] = /^(HTTP\/1\.1 [\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(rest) ?? []
    assert.ok(head, `no HTTP: ${rest.slice(0, 200)}`)
    const status = Number(head.split(' ')[1])
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
    rest = Buffer.from(after).subarray(length).toString()
    if (status === 100) continue
    assert.match(head, /^content-type: application\/json/im)
    answers.push({ status, body: JSON.parse(Buffer.from(after).subarray(0, length).toString()) })
  }
  return answers
}

function assertSane(answers: Response[]) {
  for (const { status, body } of answers) {
    assert.ok(status < 500, JSON.stringify(body))
    if (status >= 400) assert.equal(errors[body.error?.code as ErrorCode]?.status, status)
  }
}

const BODY = JSON.stringify({ name: 'Raw', scope: 'authOnly' })

const head = ({ id, apiKey }: TestApp, line: string, more: string[] = []) =>
  [line, 'host: localhost', `appid: ${id}`, `apikey: ${apiKey}`, ...more, '', ''].join('\r\n')

const post = (app: TestApp, more: string[] = [], body = BODY) =>
  head(app, 'POST /v3/apikeys HTTP/1.1', [
    'content-type: application/json',
    'connection: close',
    `content-length: ${Buffer.byteLength(body)}`,
    ...more,
  ]) + body

const chunked = (app: TestApp, chunks: string) =>
  head(app, 'POST /v3/apikeys HTTP/1.1', [
    'content-type: application/json',
    'connection: close',
    'transfer-encoding: chunked',
  ]) + chunks

const hex = (text: string) => Buffer.byteLength(text).toString(16)
const list = (app: TestApp, line = 'GET /v3/apikeys HTTP/1.1', more: string[] = []) =>
  head(app, line, ['connection: close', ...more])

/** Each with the statuses that its answers may have; without any, closing the connection is enough. */
const cases: Record<string, (app: TestApp) => [text: string, ...statuses: number[]]> = {
  'a good request': (app) => [list(app), 200],
  'a body in chunks': (app) => [chunked(app, `${hex(BODY)}\r\n${BODY}\r\n0\r\n\r\n`), 200],
  'three in one go': (app) => [head(app, 'GET /v3/apikeys HTTP/1.1').repeat(2) + list(app), 200],
  'a bad one between good ones': (app) => [
    `${head(app, 'GET /v3/apikeys HTTP/1.1')}\u0001\u0002\r\n\r\n${list(app)}`,
    ...[200, 400],
  ],
  'not HTTP': () => ['\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n', 400],
  'HTTP/9.9': (app) => [list(app, 'GET /v3/apikeys HTTP/9.9'), 400],
  'HTTP/2 preface': () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  'an unknown method': (app) => [list(app, 'FETCH /v3/apikeys HTTP/1.1'), 400],
  'an asterisk for a path': (app) => [list(app, 'OPTIONS * HTTP/1.1'), 404],
  CONNECT: (app) => [list(app, 'CONNECT localhost:80 HTTP/1.1')],
  'a full URL for a path': (app) => [list(app, 'GET http://a/v3/apikeys HTTP/1.1'), 200, 400, 404],
  'raw bytes in the path': (app) => [list(app, 'GET /v3/apikeys/é\u00ff HTTP/1.1'), 400, 404],
  'a space in the path': (app) => [list(app, 'GET /v3/a b HTTP/1.1'), 400],
  'two slashes': (app) => [list(app, 'GET //v3//apikeys HTTP/1.1'), 404],
  'dots in the path': (app) => [list(app, 'GET /v3/../v3/apikeys HTTP/1.1'), 404],
  'a fragment': (app) => [list(app, 'GET /v3/apikeys#a HTTP/1.1'), 200, 400, 404],
  '20 KB of headers': (app) => [list(app, undefined, [`a: ${'x'.repeat(20_000)}`]), 400],
  '20 KB of path': (app) => [list(app, `GET /v3/${'x'.repeat(20_000)} HTTP/1.1`), 400],
  '10,000 values of a list': (app) => [
    list(app, `GET /v3/users?${'tags[]=a&'.repeat(10_000)} HTTP/1.1`),
    400,
  ],
  '3,000 headers': (app) => [list(app, undefined, Array(3_000).fill('a: b')), 200, 400],
  'no host': (app) => [list(app).replace(/host: .*\r\n/, ''), 400],
  'two hosts': (app) => [list(app, undefined, ['host: other']), 400],
  'the same host twice': (app) => [list(app, undefined, ['Host: localhost']), 400],
  'a host of odd characters': (app) => [list(app).replace('localhost', '<>%00..:::'), 200, 400],
  'a header without colon': (app) => [list(app, undefined, ['nonsense']), 400],
  'U+0000 in a header': (app) => [list(app, undefined, ['onbehalfof: a\u0000b']), 400],
  'a folded header': (app) => [list(app, undefined, ['a: b\r\n c: d']), 200, 400],
  'two content lengths': (app) => [post(app, ['content-length: 3']), 400],
  'length and chunks': (app) => [post(app, ['transfer-encoding: chunked']), 400],
  'a negative length': (app) => [post(app).replace(/length: \d+/, 'length: -1'), 400],
  'a length of 10^30': (app) => [
    post(app).replace(/length: \d+/, `length: 1${'0'.repeat(30)}`),
    400,
  ],
  'a length of 1 GB': (app) => [post(app).replace(/length: \d+/, 'length: 1000000000'), 413],
  'less body than promised': (app) => [post(app).slice(0, -5), 400],
  'more body than promised': (app) => [`${post(app)}{"more":1}`, 200, 400],
  'chunks that end early': (app) => [chunked(app, `ff\r\n${BODY}`), 400],
  'a chunk of no size': (app) => [chunked(app, `zz\r\n${BODY}\r\n0\r\n\r\n`), 400],
  'chunks over the limit': (app) => [
    chunked(app, `${`1000\r\n${' '.repeat(4_096)}\r\n`.repeat(5)}0\r\n\r\n`),
    413,
  ],
  Expect: (app) => [post(app, ['expect: 100-continue']), 200],
  'an unknown Expect': (app) => [post(app, ['expect: a-miracle']), 200],
  'an upgrade': (app) => [
    list(app, undefined).replace('connection: close', 'connection: upgrade\r\nupgrade: websocket'),
  ],
}

/** Cases in which the server waits for the rest. */
const CUT_OFF = /less body|end early|an upgrade|CONNECT/

suite('a request that does not end', () => {
  let api: FastifyInstance
  before(async () => {
    api = await buildApi(server.deps, { console: '' })
    assert.equal(api.server.requestTimeout, 60_000)
    Object.assign(api.server, { headersTimeout: 20, requestTimeout: 20 })
    // How often the server checks; it reads this when it starts to listen.
    Object.assign(api.server, { connectionsCheckingInterval: 10 })
    await api.listen({ port: 0 })
  })
  after(() => api.close())

  for (const [what, build] of Object.entries({
    'in its headers': (app: TestApp) => list(app).slice(0, -2),
    'in its body': (app: TestApp) => post(app).slice(0, -5),
  })) {
    test(`returns 408 and closes the connection: ${what}`, async () => {
      const { port } = api.server.address() as AddressInfo
      const text = build(await server.newApp())
      // The client never ends its own side.
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.write(text)
      const parts: Buffer[] = []
      for await (const part of socket.iterator({ destroyOnReturn: false })) parts.push(part)
      const [answer, ...more] = parseAnswers(textOf(parts))
      assert.deepEqual([answer?.status, more], [408, []])
      assert.equal(answer?.body.error?.code, 'ERR_REQUEST_TIMEOUT')
      noteAnswer('-', 408, answer?.body)
      const count = promisify(api.server.getConnections.bind(api.server))
      await until('the connection is gone', async () => (await count()) === 0)
      socket.destroy()
    })
  }
})

suite('a large body', () => {
  test('has more time, by its size', async () => {
    const api = await buildApi(server.deps, { console: '' })
    Object.assign(api.server, { connectionsCheckingInterval: 10 })
    await api.listen({ port: 0 })
    const app = await server.newApp()
    const { upload } = await app.client.files.create({ name: 'a', size: 5, mimeType: 'a/b' })
    const { pathname, search } = new URL(upload?.parts[0]?.url ?? '')
    const { port } = api.server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1' })
    const head = ['host: localhost', 'content-type: a/b', 'content-length: 5', 'connection: close']
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\nHel`)
    const work = pathTo(server.env.LOQUAT_FILES_FOLDER ?? '', '.work')
    await until('it arrives', async () => (await readdir(work).catch(() => [])).length > 0)
    const timedOut = once(api.server, 'clientError')
    Object.assign(api.server, { headersTimeout: 20, requestTimeout: 20 })
    const [error] = await timedOut
    assert.equal(error.code, 'ERR_HTTP_REQUEST_TIMEOUT')
    socket.write('lo')
    const parts: Buffer[] = []
    for await (const part of socket) parts.push(part)
    assert.match(textOf(parts), /^HTTP\/1.1 204 /)
    await api.close()
  })
})

suite('bad HTTP', { concurrency: 4 }, () => {
  for (const [what, build] of Object.entries(cases)) {
    test(what, async () => {
      const [text, ...allowed] = build(await server.newApp())
      const answers = parseAnswers(
        await exchange(Buffer.from(text, 'latin1'), CUT_OFF.test(what) ? 500 : 10_000),
      )
      assertSane(answers)
      const statuses = answers.map(({ status }) => status)
      if (allowed.length > 0) {
        assert.ok(answers.length > 0, 'an answer')
        assert.ok(
          statuses.every((status) => allowed.includes(status)),
          String(statuses),
        )
      }
    })
  }

  test(`never breaks the server: ${REQUESTS} requests with changed, missing or added bytes`, async () => {
    const app = await server.newApp()
    const originals = [list(app), post(app), chunked(app, `${hex(BODY)}\r\n${BODY}\r\n0\r\n\r\n`)]
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      cut: fc.constantFrom(0, 1, 2, 30),
      put: fc.uint8Array({ maxLength: 3 }),
    })
    const bad = fc.record({
      original: fc.nat({ max: 2 }),
      edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
    })
    // Many at once, because truncated requests take a while.
    const some = fc.array(bad, { minLength: AT_ONCE, maxLength: AT_ONCE })
    await fc.assert(
      fc.asyncProperty(some, async (requests) => {
        const sent = requests.map(({ original, edits }) =>
          exchange(edits.reduce(applyEdit, Buffer.from(originals[original] ?? '')), 500),
        )
        for (const text of await Promise.all(sent)) assertSane(parseAnswers(text))
      }),
      { numRuns: REQUESTS / AT_ONCE, ...seeded },
    )
    // The server must still answer.
    assert.equal((await app.call('GET', '/v3/apikeys')).status, 200)
  })
})

interface Edit {
  at: number
  cut: number
  put: Uint8Array
}

function applyEdit(given: Buffer, { at, cut, put }: Edit): Buffer {
  const from = Math.floor(at * given.length)
  return Buffer.concat([given.subarray(0, from), put, given.subarray(from + cut)])
}
