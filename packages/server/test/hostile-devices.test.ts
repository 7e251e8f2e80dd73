/** Hostile devices and a well-behaved one: the gateway stays within its memory limit and serves the latter. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { Device, send, tokenOf } from './device.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import { type Serving, startServing } from './loquat.ts'
import { until } from './until.ts'

const UNPROVEN = LONG ? 10_000 : 1_000
const NEVER_READING = 10
/** Far more memory than any attack may cost, far less than it tries to use. */
const MORE_MB = 250

const server = useServer({ roles: ['api', 'worker'] })
let gateway: Serving

const port = () => gateway.gatewayPort

/** A metric of the gateway process. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.internalPort}/metrics`)).text()
  const [, value] = new RegExp(`^${name}(?:{[^}]*})? (\\S+)`, 'm').exec(text) ?? []
  return Number(value)
}

const memory = async () => (await metric('loquat_memory_bytes')) / 2 ** 20

/** A hand-made WebSocket, which can break every rule. */
async function rawSocket(app: TestApp): Promise<Socket> {
  const socket = connect(port(), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(
    `GET /v3/realtime?appId=${app.id} HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: Upgrade\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  )
  await once(socket, 'data')
  return socket
}

/** A client's frame; its mask is zero, so that the payload stays readable. */
function frameOf(payload: Buffer, { opcode = 1, rsv = 0, length = payload.length } = {}): Buffer {
  const head =
    length < 126
      ? Buffer.from([0x80 | rsv | opcode, 0x80 | length])
      : Buffer.from([0x80 | rsv | opcode, 0xff, 0, 0, 0, 0, 0, 0, 0, 0])
  if (length >= 126) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, Buffer.alloc(4), payload])
}

/** The code of the close frame that ends what a socket receives. */
async function closeCode(socket: Socket): Promise<number> {
  const parts: Buffer[] = []
  socket.on('data', (data: Buffer) => {
    parts.push(data)
    // End our side, or the server would wait for our close frame.
    if (data.includes(0x88)) socket.end()
  })
  if (!socket.destroyed) await once(socket, 'close')
  const all = Buffer.concat(parts)
  const start = all.lastIndexOf(0x88)
  return start < 0 ? 0 : all.readUInt16BE(start + 2)
}

suite('hostile devices', () => {
  let app: TestApp
  let witness: Device
  before(async () => {
    gateway = await startServing('gateway', server.env)
    app = await server.newApp()
    await app.users('amira', 'ben', 'mallory')
    witness = await Device.connect(port(), app, await tokenOf(app, 'ben'))
  })
  after(async () => {
    await witness?.close()
    await gateway?.end('SIGKILL')
  })

  /** Runs the attack and checks that other devices are still served. */
  async function withstand(t: TestContext, attack: () => Promise<void>) {
    const before = await memory()
    await attack()
    const text = randomBytes(8).toString('hex')
    await send(app, 'amira', 'ben', text)
    await witness.waitFor('message.sent', ({ body }) => body.message.data.text === text)
    const grown = (await memory()) - before
    t.diagnostic(`${Math.round(before)} MB before, ${Math.round(grown)} MB more after`)
    assert.ok(grown < MORE_MB)
  }

  const signIn = async (socket: Socket, uid = 'mallory') => {
    const body = { authToken: await tokenOf(app, uid) }
    socket.write(frameOf(Buffer.from(JSON.stringify({ type: 'auth', body }))))
    await once(socket, 'data')
  }

  const wrong: Record<string, { frames: Buffer[]; code: number }> = {
    'a frame that is too large': {
      frames: [frameOf(Buffer.alloc(0), { length: 2 ** 30 })],
      code: 1009,
    },
    'invalid UTF-8': { frames: [frameOf(Buffer.from([0xff, 0xfe, 0xfd]))], code: 1007 },
    'a compression bomb': { frames: [frameOf(Buffer.alloc(1000), { rsv: 0x40 })], code: 1002 },
    'no JSON': { frames: [frameOf(Buffer.from('{'))], code: 4400 },
    'JSON that is no frame': { frames: [frameOf(Buffer.from('[["constructor"]]'))], code: 4400 },
    'a type of the prototype': {
      frames: [frameOf(Buffer.from('{"type":"__proto__","body":{}}'))],
      code: 4400,
    },
    'binary data': { frames: [frameOf(Buffer.from('{}'), { opcode: 2 })], code: 4400 },
    'a second auth': {
      frames: [frameOf(Buffer.from('{"type":"auth","body":{"authToken":"x"}}'))],
      code: 4400,
    },
    'a flood of the protocol’s own pings': {
      frames: Array.from({ length: 1_000 }, () => frameOf(Buffer.alloc(125), { opcode: 9 })),
      code: 4529,
    },
    'a flood': {
      frames: Array.from({ length: 1_000 }, () => frameOf(Buffer.from('{"type":"ping"}'))),
      code: 4529,
    },
  }
  for (const [name, { frames, code }] of Object.entries(wrong)) {
    test(`are closed with ${code}: ${name}`, async (t) => {
      await withstand(t, async () => {
        const socket = await rawSocket(app)
        await signIn(socket)
        const closed = closeCode(socket)
        socket.write(Buffer.concat(frames))
        assert.equal(await closed, code)
      })
    })
  }

  test('cannot send U+0000 to the database', async () => {
    const device = await Device.connect(port(), app, await tokenOf(app, 'mallory'))
    device.send('receipt.read', { receiverType: 'user', receiver: 'a\u0000b' }, 'nul')
    assert.equal((await device.waitFor('session.error')).body.code, 'ERR_BAD_REQUEST')
    await device.close()
  })

  test('cannot pass on data that is nested too deeply', async (t) => {
    await withstand(t, async () => {
      const socket = await rawSocket(app)
      await signIn(socket)
      for (const depth of [101, 1_000, 2_600]) {
        // Numeric keys, because others are serialized without recursion.
        const metadata = `${'{"0":'.repeat(depth)}1${'}'.repeat(depth)}`
        const body = `{"receiverType":"user","receiver":"ben","metadata":${metadata}}`
        const answer = once(socket, 'data')
        socket.write(frameOf(Buffer.from(`{"type":"typing.start","id":"deep","body":${body}}`)))
        assert.match(String((await answer)[0]), /ERR_BAD_REQUEST/)
      }
      socket.destroy()
    })
    assert.ok(!witness.frames.some(({ type }) => type.startsWith('typing')))
  })

  test('are disconnected if they stay after a refused upgrade', async () => {
    const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    socket.write('GET /x HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n')
    await once(socket.resume(), 'end')
    await until('no connection is left', () => {
      socket.write('.')
      return socket.closed
    })
  })

  test('are closed if they keep sending while the database hangs', async (t) => {
    await withstand(t, async () => {
      const device = await Device.connect(port(), app, await tokenOf(app, 'mallory'))
      const blocker = new pg.Client(app.cell.url)
      await blocker.connect()
      await blocker.query('begin; lock table users in access exclusive mode')
      let sentAt = 0
      // No more frames than are allowed.
      await until('it is closed', () => {
        if (performance.now() - sentAt > 60) {
          sentAt = performance.now()
          device.send('receipt.read', { receiverType: 'user', receiver: 'ben' })
        }
        return device.closeCode !== undefined
      })
      assert.equal(device.closeCode, 4529)
      assert.ok(!device.frames.some(({ type }) => type === 'session.throttled'))
      await blocker.end()
    })
  })

  test('gain nothing from unknown paths and truncated requests', async (t) => {
    await withstand(t, async () => {
      for (const path of ['//', '/v3/realtime/../x', '*', '/%', '/v3/realtime?appId=%']) {
        const socket = connect(port(), '127.0.0.1')
        socket.on('error', () => {})
        socket.write(
          `GET ${path} HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
        )
        await once(socket, 'data')
        socket.destroy()
      }
    })
  })

  test(`are closed if they never authenticate: ${UNPROVEN} connections`, async (t) => {
    await withstand(t, async () => {
      const sockets: Socket[] = []
      for (let n = 0; n < UNPROVEN; n += 100) {
        sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => rawSocket(app)))))
      }
      const [open, held] = [await metric('loquat_gateway_connections'), await memory()]
      const text = 'meanwhile'
      await send(app, 'amira', 'ben', text)
      const sent = performance.now()
      await witness.waitFor('message.sent', ({ body }) => body.message.data.text === text)
      const took = Math.round(performance.now() - sent)
      t.diagnostic(`${open} open: ${Math.round(held)} MB; a message took ${took} ms`)
      for (const socket of sockets) socket.resume()
      await until('all are closed', () => sockets.every(({ closed }) => closed))
    })
  })

  test(`are closed if they never read, without much memory: ${NEVER_READING} connections`, async (t) => {
    await app.client.groups.create({ guid: 'loud', name: 'Loud', type: 'public', owner: 'amira' })
    await app.call('POST', '/v3/groups/loud/members', { body: { participants: ['mallory'] } })
    await withstand(t, async () => {
      const sockets: Socket[] = []
      for (let n = 0; n < NEVER_READING; n++) {
        const socket = await rawSocket(app)
        await signIn(socket)
        socket.pause()
        sockets.push(socket)
      }
      // More than the kernel buffers: about 4 MB each.
      const text = 'x'.repeat(9_000)
      await until('all are closed', async () => {
        const sent = await Promise.all(
          Array.from({ length: 16 }, () => send(app, 'amira', 'loud', text, 'group')),
        )
        assert.ok(sent.every(({ status }) => status === 200))
        return (await metric('loquat_gateway_connections')) <= 1
      })
      for (const socket of sockets) socket.destroy()
    })
  })
})
