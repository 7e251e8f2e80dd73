/** Our credentials at a real TURN server. */
import assert from 'node:assert/strict'
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { createTurnClient } from 'werift'
import { CAN_RUN_COTURN, type Coturn, startCoturn } from '../../../test/coturn.ts'
import { iceServersFor, TURN_SECONDS } from './turn.ts'

const SECRET = 'a secret of coturn'

suite('credentials for a relay', { skip: !CAN_RUN_COTURN }, () => {
  let coturn: Coturn
  before(async () => {
    coturn = await startCoturn(SECRET)
  })
  after(() => coturn.stop())

  function credentials({ turnSecret = SECRET, now = Date.now() } = {}) {
    const turnUrls = [`turn:${coturn.host}:${coturn.port}`]
    const [server] = iceServersFor({ turnUrls, turnSecret }, 'a1b2', now)
    const { username = '', credential: password = '' } = server ?? {}
    return { username, password }
  }

  test('let a device send through it', async () => {
    const peer = createSocket('udp4')
    peer.bind(0, coturn.host)
    await once(peer, 'listening')
    const address = [coturn.host, coturn.port] as const
    const client = await createTurnClient({ address, ...credentials() })
    const heard = once(peer, 'message')
    await client.sendData(Buffer.from('hello'), [coturn.host, peer.address().port])
    const [text, from] = await heard
    assert.equal(String(text), 'hello')
    assert.equal(from.port, client.relayedAddress[1])
    await client.close()
    peer.close()
  })

  test('expire after an hour', async () => {
    const hourAgo = Date.now() - TURN_SECONDS * 1_000
    assert.equal(await refusal(coturn, credentials({ now: hourAgo - 5_000 })), 401)
    // They are good until then.
    assert.equal(await refusal(coturn, credentials({ now: hourAgo + 300_000 })), undefined)
  })

  test('made with another secret, or for another time, are refused', async () => {
    assert.equal(await refusal(coturn, credentials({ turnSecret: 'a guess' })), 401)
    const { password } = credentials()
    const username = `${Math.floor(Date.now() / 1_000) + 2 * TURN_SECONDS}:a1b2`
    assert.equal(await refusal(coturn, { username, password }), 401)
  })

  test('open no TCP connections, such as one to the control port of a media server', async () => {
    const UNSUPPORTED_TRANSPORT = 442
    assert.equal(await refusal(coturn, credentials(), TCP), UNSUPPORTED_TRANSPORT)
  })
})

/** The types of messages and attributes of RFC 8656 that a request for a relay needs. */
const ALLOCATE = 0x0003
const USERNAME = 0x0006
const INTEGRITY = 0x0008
const ERROR = 0x0009
const REALM = 0x0014
const NONCE = 0x0015
const TRANSPORT = 0x0019
const UDP = Buffer.from([17, 0, 0, 0])
const TCP = Buffer.from([6, 0, 0, 0])

type Attributes = Map<number, Buffer>

/** The error with which a relay answers to these credentials; undefined if it accepts them. Over TCP, nothing is repeated. */
async function refusal(
  { host, port }: Coturn,
  { username, password }: { username: string; password: string },
  transport = UDP,
): Promise<number | undefined> {
  const socket = connect(port, host)
  try {
    const asked: Attributes = new Map([[TRANSPORT, transport]])
    socket.write(request(asked))
    const first = await answer(socket)
    assert.equal(errorIn(first), 401)
    for (const kind of [REALM, NONCE]) asked.set(kind, first.get(kind) ?? Buffer.alloc(0))
    asked.set(USERNAME, Buffer.from(username))
    const key = createHash('md5')
      .update(`${username}:${first.get(REALM)}:${password}`)
      .digest()
    socket.write(request(asked, key))
    return errorIn(await answer(socket))
  } finally {
    socket.destroy()
  }
}

function errorIn(attributes: Attributes): number | undefined {
  const error = attributes.get(ERROR)
  return error && error.readUInt8(2) * 100 + error.readUInt8(3)
}

const padded = (length: number) => Math.ceil(length / 4) * 4

function attribute(kind: number, value: Buffer): Buffer {
  const bytes = Buffer.alloc(4 + padded(value.length))
  bytes.writeUInt16BE(kind, 0)
  bytes.writeUInt16BE(value.length, 2)
  value.copy(bytes, 4)
  return bytes
}

/** The integrity is that of all before it, with the length that the message has with it. */
function request(attributes: Attributes, key?: Buffer): Buffer {
  const body = Buffer.concat([...attributes].map(([kind, value]) => attribute(kind, value)))
  const header = Buffer.alloc(20)
  header.writeUInt16BE(ALLOCATE, 0)
  header.writeUInt16BE(body.length + (key ? 24 : 0), 2)
  header.writeUInt32BE(0x2112a442, 4)
  randomBytes(12).copy(header, 8)
  const message = Buffer.concat([header, body])
  if (!key) return message
  const integrity = createHmac('sha1', key).update(message).digest()
  return Buffer.concat([message, attribute(INTEGRITY, integrity)])
}

async function answer(socket: ReturnType<typeof connect>): Promise<Attributes> {
  let bytes = Buffer.alloc(0)
  while (bytes.length < 20 || bytes.length < 20 + bytes.readUInt16BE(2)) {
    const [chunk] = await once(socket, 'data')
    bytes = Buffer.concat([bytes, chunk])
  }
  const attributes: Attributes = new Map()
  for (let at = 20; at < bytes.length; ) {
    const length = bytes.readUInt16BE(at + 2)
    attributes.set(bytes.readUInt16BE(at), bytes.subarray(at + 4, at + 4 + length))
    at += 4 + padded(length)
  }
  return attributes
}
