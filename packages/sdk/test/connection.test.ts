/** When the client reconnects, tested with a mock clock; and the client with another WebSocket. */
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

/** A fake WebSocket that the test controls. */
class FakeSocket {
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

/** A connection, and all the sockets that it opened. */
function connect(t: TestContext, renew = async (_: string) => false) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
  const sockets: FakeSocket[] = []
  const states: ConnectionState[] = []
  const codes: (number | undefined)[] = []
  class ScriptedSocket extends FakeSocket {
    constructor(_url: string) {
      super()
      sockets.push(this)
    }
  }
  const connection = new Connection({
    url: 'ws://nowhere',
    WebSocket: ScriptedSocket,
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
  const last = () => sockets.at(-1) as FakeSocket
  const ready = () => {
    last().readyState = 1
    last().onopen()
    const body = { uid: 'amira', position: 1, resumed: false }
    last().onmessage({ data: JSON.stringify({ type: 'session.ready', body }) })
  }
  /** Closes the connection. The next one must open between half of `ms` and all of it. */
  const closesFor = (ms: number, code = 1006) => {
    const before = sockets.length
    last().onclose({ code })
    t.mock.timers.tick(ms / 2 - 1)
    assert.equal(sockets.length, before, `before half of ${ms} ms`)
    t.mock.timers.tick(ms / 2 + 1)
    assert.equal(sockets.length, before + 1, `after ${ms} ms`)
  }
  const tick = (ms: number) => t.mock.timers.tick(ms)
  return { connection, sockets, states, codes, last, ready, closesFor, tick }
}

suite('a closed connection', () => {
  test('reconnects after 1, 2, 4 … 30 s, half of which is random', (t) => {
    const { closesFor } = connect(t)
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) closesFor(seconds * 1000)
  })

  test('resets the delay to 1 s only after it was online for 30 s', (t) => {
    const { ready, closesFor, tick } = connect(t)
    closesFor(1_000)
    ready()
    closesFor(2_000)
    ready()
    tick(29_999)
    closesFor(4_000)
    ready()
    tick(30_000)
    closesFor(1_000)
    closesFor(2_000)
  })

  test('reconnects or not, depending on the close code', (t) => {
    const ours = Array.from({ length: 200 }, (_, n) => 4400 + n)
    for (const code of [1006, 1009, ...ours]) {
      // Depends on whether there is a new token.
      if (code === UNAUTHORIZED) continue
      const { sockets, states, codes, last, ready, tick } = connect(t)
      ready()
      last().onclose({ code })
      tick(1_000)
      assert.equal(sockets.length === 2, mayReconnect(code), String(code))
      assert.equal(states.at(-1), mayReconnect(code) ? 'connecting' : 'refused')
      assert.equal(codes.at(-1), mayReconnect(code) ? undefined : code)
      t.mock.timers.reset()
    }
  })

  test('is signed out when its token is rejected and there is no new one', async (t) => {
    const { last, states } = connect(t)
    last().onclose({ code: UNAUTHORIZED })
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(states.at(-1), 'signedOut')
  })

  test('reconnects only once while it waits for a new token', async (t) => {
    const renewed = Promise.withResolvers<boolean>()
    const { connection, sockets, last, tick, states } = connect(t, () => renewed.promise)
    last().onclose({ code: UNAUTHORIZED })
    assert.equal(states.at(-1), 'offline')
    tick(60_000)
    assert.equal(sockets.length, 1)
    connection.reconnectNow()
    last().onclose({ code: UNAUTHORIZED })
    assert.equal(sockets.length, 2)
    renewed.reject(new Error('unknown'))
    await new Promise((resolve) => setImmediate(resolve))
    tick(50_000)
    assert.equal(sockets.length, 3)
    assert.equal(states.at(-1), 'connecting')
  })
})

test('the package ws works as the WebSocket, even if the first connection fails', async (t) => {
  const app = await server.newApp()
  await app.users('amira', 'ben')
  const { authToken } = await app.client.authTokens.create('amira')
  let attempts = 0
  class FailsOnce extends PackageSocket {
    constructor(url: string) {
      super(attempts++ === 0 ? 'ws://127.0.0.1:1' : url)
    }
  }
  const { apiPort, gatewayPort } = server.service
  const client = new LoquatClient({
    ...{ appId: app.id, uid: 'amira', authToken },
    baseUrl: `http://127.0.0.1:${apiPort}`,
    realtimeUrl: `ws://127.0.0.1:${gatewayPort}/v3/realtime?appId=${app.id}`,
    WebSocket: FailsOnce,
  })
  t.after(() => client.stop())
  const states: ConnectionState[] = []
  client.subscribe(() => states.push(client.state.connection))
  client.start()
  await until('the client is online', () => client.state.connection === 'online')
  assert.ok(states.includes('offline'))
  const room = client.open({ type: 'user', id: 'ben' })
  const body = { receiver: 'amira', receiverType: 'user', data: { text: 'Hello' } } as const
  await app.client.onBehalfOf('ben').messages.send(body)
  await until('the message has arrived', () => client.state.rooms[room]?.messages.length === 1)
  // Stopping while the socket is still opening must not raise an error.
  client.stop()
  client.start()
  client.stop()
  assert.equal(client.state.connection, 'stopped')
})
