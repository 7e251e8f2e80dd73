import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { Agent, type IncomingMessage, request } from 'node:http'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from './kit.ts'
import { lockApp } from './locks.ts'
import { type LogEntry, type Serving, startServing } from './loquat.ts'
import { assertWithin, timedTest } from './timed-test.ts'
import { until } from './until.ts'

const server = useServer()

/** Long enough for clients on a slow machine to connect once more. */
const NOTICE_SECONDS = 10
const CLIENTS = 8
const RECONNECTS = 3

interface Reply {
  status: number
  closes: boolean
  body: string
}

interface Call {
  port: number
  app: TestApp
  agent: Agent
  method?: string
  path?: string
  body?: string
}

/** Sends one request; rejects unless its answer arrives completely. */
function send({
  port,
  app,
  agent,
  method = 'GET',
  path = '/v3/apikeys',
  body,
}: Call): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      appid: app.id,
      apikey: app.apiKey,
      ...(body && { 'content-type': 'application/json' }),
    }
    const sent = request({ port, method, path, agent, headers }, (response: IncomingMessage) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.once('error', reject)
      response.once('close', () => {
        if (!response.complete) return reject(new Error('the answer was cut off'))
        return resolve({
          status: response.statusCode ?? 0,
          closes: response.headers.connection === 'close',
          body: Buffer.concat(chunks).toString(),
        })
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

/** A client behind a load balancer that soon stops sending: it reconnects only a few more times when told to. */
async function hammer({ apiPort: port }: Serving, app: TestApp, replies: Reply[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (;;) {
    const reply = await send({ port, app, agent })
    replies.push(reply)
    if (replies.filter(({ closes }) => closes).length > RECONNECTS) break
  }
  agent.destroy()
}

/** The lines of a log. */
const linesOf = (text: string): LogEntry[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

const startDraining = (noticeSeconds: number) =>
  startServing('api', {
    ...server.env,
    LOQUAT_DRAIN_NOTICE_SECONDS: String(noticeSeconds),
    LOQUAT_DRAIN_SECONDS: '60',
  })

suite('a process after SIGTERM', () => {
  test('is not ready at once, on its internal port too, and alive to the end', async (t) => {
    const own = { ...server.env, LOQUAT_DRAIN_NOTICE_SECONDS: '600' }
    const target = await startServing('api', own)
    t.after(() => target.end('SIGKILL'))
    const health = async (port: number, what: string) =>
      (await fetch(`http://127.0.0.1:${port}/health/${what}`)).status
    assert.equal(await health(target.internalPort, 'ready'), 200)
    target.signal('SIGTERM')
    for (const port of [target.internalPort, target.apiPort]) {
      await until('it is not ready', async () => (await health(port, 'ready')) === 503)
      assert.equal(await health(port, 'live'), 200)
    }
  })

  test('drops no request under load', async (t) => {
    const app = await server.newApp()
    const target = await startDraining(NOTICE_SECONDS)
    t.after(() => target.end('SIGKILL'))
    const replies: Reply[][] = Array.from({ length: CLIENTS }, () => [])
    const clients = replies.map((own) => hammer(target, app, own))
    const ready = async () =>
      (await fetch(`http://127.0.0.1:${target.apiPort}/health/ready`)).status
    assert.equal(await ready(), 200)
    await until('all are busy', () => replies.every((own) => own.length >= 20))

    target.signal('SIGTERM')
    await until('it is not ready', async () => (await ready()) === 503)
    await Promise.all(clients)

    for (const { status, body } of replies.flat()) {
      assert.equal(status, 200)
      assert.equal(JSON.parse(body).data.length, 2)
    }
    for (const own of replies) {
      const told = own.findIndex(({ closes }) => closes)
      assert.ok(told > 0 && own.slice(told).every(({ closes }) => closes))
    }
    const { code, stderr } = await target.ended
    assert.equal(code, 0)
    const answered = linesOf(stderr).filter(({ route }) => route === '/v3/apikeys')
    assert.equal(answered.length, replies.flat().length, 'lines in the log')
    assert.equal(linesOf(stderr).at(-1)?.msg, 'drained')
  })

  timedTest(
    'answers a slow request after the notice period, and its connection delays nothing',
    async (t) => {
      const app = await server.newApp()
      const target = await startDraining(2)
      t.after(() => target.end('SIGKILL'))
      const held = await lockApp(app)
      t.after(() => held.close())
      const agent = new Agent({ keepAlive: true })
      t.after(() => agent.destroy())
      const body = JSON.stringify({ name: 'Slow', scope: 'authOnly' })
      const slow = send({ port: target.apiPort, app, agent, method: 'POST', body })
      await until('it is under way', async () => (await held.waiting()) === 1)

      target.signal('SIGTERM')
      const refused = async () => {
        const answer = fetch(`http://127.0.0.1:${target.apiPort}/health/live`)
        return answer.then(
          () => false,
          () => true,
        )
      }
      await until('no connection is taken', refused)
      await held.release()
      const { status, closes } = await slow
      assert.equal(status, 200)
      assert.equal(closes, true)
      const released = performance.now()
      assert.equal((await target.ended).code, 0)
      assertWithin(5_000, performance.now() - released)
    },
  )
})

suite('the log of a process', () => {
  const LINES = 100
  const log = new URL('../src/platform/log/log.ts', import.meta.url)

  /** Runs a program that logs many lines and then ends in this way. */
  function logUntil(end: string) {
    const program = `
      import { openLog } from '${log}'
      const log = openLog('info')
      for (let n = 0; n < ${LINES}; n++) log.info({ n }, 'line')
      ${end}`
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program])
    return { ...run, lines: linesOf(String(run.stderr)) }
  }

  const ends: [how: string, program: string, code: number | null][] = [
    ['by itself', '', 0],
    ['by exit', 'process.exit(3)', 3],
    ['by an uncaught exception', `setImmediate(() => { throw new Error('bug') })`, 1],
    ['by a rejected promise', `void Promise.reject(new Error('bug'))`, 1],
  ]
  for (const [how, program, code] of ends) {
    test(`is complete if the process ends ${how}`, () => {
      const { status, lines } = logUntil(program)
      assert.equal(status, code)
      assert.deepEqual(
        lines.map(({ n }) => n),
        Array.from({ length: LINES }, (_, n) => n),
      )
    })
  }

  test('has an error and everything before it even if the process is killed right after', () => {
    const kill = `process.kill(process.pid, 'SIGKILL')`
    const { signal, lines } = logUntil(`log.error('failed'); log.info('later'); ${kill}`)
    assert.equal(signal, 'SIGKILL')
    assert.equal(lines.length, LINES + 1)
    assert.equal(lines.at(-1)?.msg, 'failed')
  })

  test('has a line after 200 ms at the latest', () => {
    // The program never ends by itself, and nothing else is logged.
    const wait = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1_000)`
    assert.equal(logUntil(wait).lines.length, LINES)
  })
})
