/** Our credentials at a real TURN server, by the client of another implementation. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { after, before, suite, test } from 'node:test'
import { createTurnClient, type TurnProtocol } from 'werift'
import { CAN_RUN_COTURN, type Coturn, startCoturn } from '../../../test/coturn.ts'
import { iceServersFor, TURN_SECONDS } from './turn.ts'

const SECRET = 'a secret of coturn'
const UNAUTHORIZED = /401/

suite('credentials for a relay', { skip: !CAN_RUN_COTURN }, () => {
  let coturn: Coturn
  const clients: TurnProtocol[] = []
  before(async () => {
    coturn = await startCoturn(SECRET)
  })
  after(async () => {
    for (const client of clients) await client.close()
    await coturn.stop()
  })

  async function relay({ turnSecret = SECRET, now = Date.now(), name = 'a1b2' } = {}) {
    const { host, port } = coturn
    const urls = [`turn:${host}:${port}`]
    const [server] = iceServersFor({ turnUrls: urls, turnSecret }, name, now)
    const { username = '', credential: password = '' } = server ?? {}
    const client = await createTurnClient({ address: [host, port], username, password })
    clients.push(client)
    return client
  }

  test('let a device send through it', async () => {
    const peer = createSocket('udp4')
    peer.bind(0, coturn.host)
    await once(peer, 'listening')
    const client = await relay()
    const heard = once(peer, 'message')
    await client.sendData(Buffer.from('hello'), [coturn.host, peer.address().port])
    const [text, from] = await heard
    assert.equal(String(text), 'hello')
    assert.equal(from.port, client.relayedAddress[1])
    peer.close()
  })

  test('expire after an hour', async () => {
    const hourAgo = Date.now() - TURN_SECONDS * 1_000
    await assert.rejects(relay({ now: hourAgo - 5_000 }), UNAUTHORIZED)
    // A minute before that they were good.
    await relay({ now: hourAgo + 60_000 })
  })

  test('made with another secret are refused', async () => {
    await assert.rejects(relay({ turnSecret: 'a guess' }), UNAUTHORIZED)
  })
})
