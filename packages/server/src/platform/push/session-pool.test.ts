import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, suite, test } from 'node:test'
import { newAuthority } from '../../../test/certificates.ts'
import {
  type Arrived,
  type Http2Server,
  type Reply,
  startHttp2,
} from '../../../test/push/http2-server.ts'
import { PATIENT } from '../../../test/push/push.ts'
import { trustedCertificate } from '../../../test/receiver.ts'
import { until } from '../../../test/until.ts'
import { Unanswered } from './call.ts'
import type { PushLimits } from './limits.ts'
import { type SessionPool, Sessions } from './session-pool.ts'

const OK: Reply = { status: 200 }

let server: Http2Server
let arrived: Arrived[]
let respond: (request: Arrived) => Reply | Promise<Reply>
let sessions: Sessions
let pool: SessionPool

const open = (limits: Partial<PushLimits> = {}) => {
  sessions = new Sessions({ ...PATIENT, ...limits })
  pool = sessions.newPool(server.url)
}

beforeEach(async () => {
  arrived = []
  respond = () => OK
  server = await startHttp2((request) => {
    arrived.push(request)
    return respond(request)
  })
  open()
})

afterEach(() => {
  sessions.close()
  server.close()
})

const post = (path: string, to = pool) => to.post({ path, headers: {}, body: '{}' })
const statusOf = async (path: string, to = pool) => (await post(path, to)).status
const paths = () => arrived.map(({ path }) => path)
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `/${n}`)

/** Keeps requests open until the test lets them go. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<Reply>()
  respond = () => promise
  return () => resolve(OK)
}

suite('sessions', () => {
  test('open as many streams as the provider allows, and another connection after that', async () => {
    server.allowStreams(5)
    open({ sessionsPerPool: 2 })
    const release = gate()
    const calls = numbered(30).map((path) => statusOf(path))
    await until('ten streams', () => arrived.length >= 10)
    assert.equal(sessions.open, 2)
    assert.equal(sessions.waiting, 20)
    release()
    assert.deepEqual(new Set(await Promise.all(calls)), new Set([200]))
    assert.equal(server.mostStreams, 5)
    assert.equal(server.connections, 2)
    assert.equal(new Set(paths()).size, 30)
  })

  test('follow a provider that changes its mind about streams', async () => {
    server.allowStreams(1)
    open({ sessionsPerPool: 1 })
    await post('/first')
    for (const session of server.sessions) session.settings({ maxConcurrentStreams: 3 })
    const release = gate()
    const calls = numbered(3).map((path) => statusOf(path))
    await until('three streams at once', () => arrived.length === 4)
    release()
    await Promise.all(calls)
  })

  test('are replaced after GOAWAY before they are closed', async () => {
    const release = gate()
    const before = statusOf('/before')
    await until('the first request', () => arrived.length === 1)
    server.goAway()
    // The old session never gets this, although it is still open.
    const [first] = arrived
    await until('a second connection', async () => {
      void statusOf('/probe').catch(() => {})
      return server.connections === 2
    })
    assert.equal(first?.session.destroyed, false)
    release()
    assert.equal(await before, 200)
    assert.equal(await statusOf('/after'), 200)
    assert.notEqual(arrived.at(-1)?.session, first?.session)
    await until('the old session closes', () => first?.session.destroyed)
  })

  for (const code of [0, 11]) {
    test(`move what GOAWAY with code ${code} says was not processed`, async () => {
      const calls = numbered(6).map((path) => statusOf(path))
      // Streams of a client have the ids 1, 3, 5 …: the fourth and later ones aren't processed.
      respond = ({ path }) => {
        if (server.connections > 1) return OK
        if (path === '/5') server.goAway(code, 5)
        return 'hang'
      }
      const settled = await Promise.allSettled(
        calls.map((call, n) => (n < 3 && code === 0 ? undefined : call)),
      )
      const moved = settled.slice(3)
      assert.deepEqual(
        moved.map((one) => one.status === 'fulfilled' && one.value),
        [200, 200, 200],
      )
      if (code !== 0) {
        // The connection is gone, and the provider may have processed the first three.
        for (const one of settled.slice(0, 3)) assert.equal(one.status, 'rejected')
      } else {
        sessions.close()
        for (const call of calls.slice(0, 3)) await assert.rejects(call, Unanswered)
      }
      assert.deepEqual(paths().slice(6).toSorted(), ['/3', '/4', '/5'])
    })
  }

  test('stop moving a call that every session refuses', async () => {
    respond = ({ stream }) => {
      stream.close(7)
      return 'hang'
    }
    await assert.rejects(post('/x'), Unanswered)
    assert.equal(arrived.length, 4)
  })

  test('are replaced if they break, and what they had is unanswered', async () => {
    respond = () => 'break'
    await assert.rejects(post('/x'), Unanswered)
    respond = () => OK
    assert.equal(await statusOf('/y'), 200)
    assert.deepEqual(paths(), ['/x', '/y'])
  })

  test('that hang are replaced after a timeout', async () => {
    open({ timeoutMs: 50 })
    respond = () => 'hang'
    await until('a request that arrives', async () => {
      await assert.rejects(post('/x'), Unanswered)
      return arrived.length > 0
    })
    const hung = arrived.map(({ session }) => session)
    respond = () => OK
    await until('an answer', () => statusOf('/y').catch(() => undefined))
    assert.ok(!hung.includes(arrived.at(-1)?.session as never))
    await until('the hung ones are closed', () => hung.every(({ destroyed }) => destroyed))
  })

  test('that hang delay no other credential', async () => {
    open({ sessions: 8, sessionsPerPool: 4 })
    respond = ({ path }) => (path === '/hang' ? 'hang' : OK)
    server.allowStreams(10)
    let settled = 0
    const hanging = Array.from({ length: 100 }, () =>
      post('/hang').catch(() => {
        settled++
      }),
    )
    await until('all its connections are full', () => arrived.length === 40)
    const other = sessions.newPool(server.url)
    assert.equal(await statusOf('/other', other), 200)
    assert.equal(settled, 0)
    sessions.close()
    await Promise.all(hanging)
    assert.equal(settled, 100)
  })

  test('close when they have been idle', async () => {
    open({ idleMs: 1 })
    assert.equal(await statusOf('/x'), 200)
    await until('no connection', () => server.sessions.size === 0)
    assert.equal(sessions.open, 0)
    assert.equal(await statusOf('/y'), 200)
  })

  test('are limited for the whole process; the longest idle one gives way', async () => {
    open({ sessions: 2 })
    const pools = Array.from({ length: 4 }, () => sessions.newPool(server.url))
    for (const one of [...pools, ...pools]) {
      assert.equal(await statusOf('/x', one), 200)
      assert.ok(sessions.open <= 2)
    }
    assert.equal(server.connections, 8)
  })

  test('wait for a connection if all are busy', async () => {
    open({ sessions: 1 })
    const others = [sessions.newPool(server.url), sessions.newPool(server.url)]
    const release = gate()
    const busy = statusOf('/busy')
    await until('the first request', () => arrived.length === 1)
    const waiting = others.map((other) => statusOf('/waiting', other))
    assert.equal(sessions.waiting, 2)
    release()
    assert.deepEqual(await Promise.all([busy, ...waiting]), [200, 200, 200])
  })

  test('let a limited number of calls wait', async () => {
    server.allowStreams(1)
    open({ sessionsPerPool: 1, waiting: 2 })
    const release = gate()
    const first = statusOf('/0')
    await until('it arrived', () => arrived.length === 1)
    const more = [statusOf('/1'), statusOf('/2')]
    await assert.rejects(post('/3'), /too many calls wait/)
    release()
    assert.deepEqual(await Promise.all([first, ...more]), [200, 200, 200])
  })

  test('fail what waits if the provider cannot be reached', async () => {
    server.close()
    for (const result of await Promise.allSettled(numbered(3).map((path) => post(path)))) {
      assert.equal(result.status, 'rejected')
    }
    assert.equal(sessions.open, 0)
  })

  test('end with the process', async () => {
    respond = () => 'hang'
    const call = post('/x')
    await until('it arrived', () => arrived.length === 1)
    sessions.close()
    await assert.rejects(call, Unanswered)
    await assert.rejects(post('/y'), Unanswered)
    await until('no connection', () => server.sessions.size === 0)
  })
})

suite('a server', () => {
  const refusalOf = async (options: object) => {
    const other = createServer(options, (_request, response) => response.end())
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    const wrong = sessions.newPool(`https://127.0.0.1:${port}`)
    try {
      await post('/x', wrong)
      return ''
    } catch (error) {
      return (error as Error).message
    } finally {
      other.close()
      other.closeAllConnections()
    }
  }

  test('without HTTP/2 gets nothing', async () => {
    const { key, cert } = trustedCertificate()
    assert.notEqual(await refusalOf({ key, cert }), '')
  })

  test('with a certificate that nobody trusts gets nothing', async (t) => {
    const authority = newAuthority()
    t.after(() => authority.remove())
    const files = authority.sign('IP:127.0.0.1')
    const [key, cert] = [readFileSync(files.key), readFileSync(files.cert)]
    const refusal = await refusalOf({ key, cert, ALPNProtocols: ['h2'] })
    assert.match(refusal, /unable to verify|self-signed/)
  })
})
