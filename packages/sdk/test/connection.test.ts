/** When a connection is made again, on a clock of the test's own; and with another WebSocket. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { mayReconnect } from '@loquat/protocol'
import { WebSocket as PackageSocket } from 'ws'
import { useServer } from '../../server/test/kit.ts'
import { until } from '../../server/test/until.ts'
import { Connection, type ConnectionState } from '../src/client/connection.ts'
import { LoquatClient } from '../src/client/index.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const UNAUTHORIZED = 4401

/** What a platform's WebSocket has, as far as it is used; the test says what happens to it. */
class Line {
  readyState = 0
  onopen = () => {}
  onmessage = (_: { data: string }) => {}
  onclose = (_: { code: number }) => {}
  onerror = () => {}
  send(): void {}
  close(): void {
    this.readyState = 3
  }
}

/** A connection, and all that it opened. */
function connect(t: TestContext, renew = async (_: string) => false) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
  const lines: Line[] = []
  const states: ConnectionState[] = []
  const codes: (number | undefined)[] = []
  class Scripted extends Line {
    constructor(_url: string) {
      super()
      lines.push(this)
    }
  }
  const connection = new Connection({
    url: 'ws://nowhere',
    WebSocket: Scripted,
    token: () => 'token',
    renew,
    onState: (state, code) => {
      states.push(state)
      codes.push(code)
    },
    onFrame: () => {},
    onGap: () => {},
  })
  t.after(() => connection.stop())
  connection.start()
  const last = () => lines.at(-1) as Line
  const ready = () => {
    last().readyState = 1
    last().onopen()
    const body = { uid: 'amira', position: 1, resumed: false }
    last().onmessage({ data: JSON.stringify({ type: 'session.ready', body }) })
  }
  /** It ends: the next is made after half of so many milliseconds at least, and after all of them. */
  const endsFor = (ms: number, code = 1006) => {
    const before = lines.length
    last().onclose({ code })
    t.mock.timers.tick(ms / 2 - 1)
    assert.equal(lines.length, before, `before half of ${ms} ms`)
    t.mock.timers.tick(ms / 2 + 1)
    assert.equal(lines.length, before + 1, `after ${ms} ms`)
  }
  const tick = (ms: number) => t.mock.timers.tick(ms)
  return { connection, lines, states, codes, last, ready, endsFor, tick }
}

suite('a connection that ends', () => {
  test('is made again after 1, 2, 4 … 30 s, half of it chance', (t) => {
    const { endsFor } = connect(t)
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) endsFor(seconds * 1000)
  })

  test('begins anew with 1 s only if it was online for 30', (t) => {
    const { ready, endsFor, tick } = connect(t)
    endsFor(1_000)
    ready()
    endsFor(2_000)
    ready()
    tick(29_999)
    endsFor(4_000)
    ready()
    tick(30_000)
    endsFor(1_000)
    endsFor(2_000)
  })

  test('is made again or not, as the code says', (t) => {
    const ours = Array.from({ length: 200 }, (_, n) => 4400 + n)
    for (const code of [1006, 1009, ...ours]) {
      // Another token decides.
      if (code === UNAUTHORIZED) continue
      const { lines, states, codes, last, ready, tick } = connect(t)
      ready()
      last().onclose({ code })
      tick(1_000)
      assert.equal(lines.length === 2, mayReconnect(code), String(code))
      assert.equal(states.at(-1), mayReconnect(code) ? 'connecting' : 'refused')
      assert.equal(codes.at(-1), mayReconnect(code) ? undefined : code)
      t.mock.timers.reset()
    }
  })

  test('is signed out when its token is refused and there is no other', async (t) => {
    const { last, states } = connect(t)
    last().onclose({ code: UNAUTHORIZED })
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(states.at(-1), 'signedOut')
  })

  test('is made once when another token may come, however often it was refused', async (t) => {
    const renewed = Promise.withResolvers<boolean>()
    const { connection, lines, last, tick, states } = connect(t, () => renewed.promise)
    last().onclose({ code: UNAUTHORIZED })
    assert.equal(states.at(-1), 'offline')
    tick(60_000)
    assert.equal(lines.length, 1)
    connection.hurry()
    last().onclose({ code: UNAUTHORIZED })
    assert.equal(lines.length, 2)
    renewed.reject(new Error('nobody knows'))
    await new Promise((resolve) => setImmediate(resolve))
    tick(50_000)
    assert.equal(lines.length, 3)
    assert.equal(states.at(-1), 'connecting')
  })
})

test('the package ws does as the WebSocket, also when nobody listens at first', async (t) => {
  const app = await server.newApp()
  for (const uid of ['amira', 'ben']) await app.client.users.create({ uid, name: uid })
  const { authToken } = await app.client.authTokens.create('amira')
  let tries = 0
  class Late extends PackageSocket {
    constructor(url: string) {
      super(tries++ === 0 ? 'ws://127.0.0.1:1' : url)
    }
  }
  const { apiPort, gatewayPort } = server.service
  const client = new LoquatClient({
    ...{ appId: app.id, uid: 'amira', authToken },
    baseUrl: `http://127.0.0.1:${apiPort}`,
    realtimeUrl: `ws://127.0.0.1:${gatewayPort}/v3/realtime?appId=${app.id}`,
    WebSocket: Late,
  })
  t.after(() => client.stop())
  const states: ConnectionState[] = []
  client.subscribe(() => states.push(client.state.connection))
  client.start()
  await until('it is online', () => client.state.connection === 'online')
  assert.ok(states.includes('offline'))
  const room = client.open({ type: 'user', id: 'ben' })
  const body = { receiver: 'amira', receiverType: 'user', data: { text: 'Hello' } } as const
  await app.client.onBehalfOf('ben').messages.send(body)
  await until('it has the message', () => client.state.rooms[room]?.messages.length === 1)
  // One that is not open yet is given up without a sound.
  client.stop()
  client.start()
  client.stop()
  assert.equal(client.state.connection, 'stopped')
})
