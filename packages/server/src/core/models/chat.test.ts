import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { after, suite, test } from 'node:test'
import { newAuthority } from '../../../test/certificates.ts'
import { startNameServer } from '../../../test/name-server.ts'
import { Outbound } from '../../platform/net/outbound.ts'
import { Targets } from '../../platform/net/targets.ts'
import { streamChat } from './chat.ts'
import { ChatFailed } from './prompt.ts'

const authority = newAuthority()
const ends: (() => void)[] = [() => authority.remove()]
after(() => {
  for (const end of ends) end()
})

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A server that does this with its connections. */
function plainServer(accept: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  ends.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  return portOf(
    createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      accept(socket)
    }),
  )
}

/** Why a model doesn't answer. */
async function failureAt(url: string, { nameServers, idleMs = 60_000 }: Options = {}) {
  const targets = new Targets({ privateTargets: !nameServers, nameServers: nameServers ?? [] })
  const outbound = new Outbound(targets)
  const { signal } = new AbortController()
  const prompt = { kind: 'openai' as const, model: 'm', system: undefined, temperature: undefined }
  const turns = [{ role: 'user' as const, text: 'Hello' }]
  const request = { ...prompt, turns, maxTokens: 10, key: 'k', outbound, url, idleMs, signal }
  const failure = await streamChat(request)
    .next()
    .catch((error) => error)
  outbound.close()
  assert.ok(failure instanceof ChatFailed)
  return failure
}

interface Options {
  nameServers?: string[]
  idleMs?: number
}

suite('a call without a connection costs nothing', () => {
  test('if nobody listens', async () => {
    const server = createServer()
    const port = await portOf(server)
    await new Promise((resolve) => server.close(resolve))
    const { fault, spent } = await failureAt(`http://127.0.0.1:${port}`)
    assert.deepEqual([fault, spent], ['provider_unavailable', false])
  })

  test('if the host name has no address', async () => {
    const nameServers = [await startNameServer(() => [])]
    const { fault, spent } = await failureAt('https://nobody.example', { nameServers })
    assert.deepEqual([fault, spent], ['provider_unavailable', false])
  })

  test('if the name server does not answer for too long', async () => {
    const silent = createSocket('udp4')
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve))
    ends.push(() => silent.close())
    const nameServers = [`127.0.0.1:${silent.address().port}`]
    const failure = await failureAt('https://slow.example', { nameServers, idleMs: 200 })
    const { fault, spent, message } = failure
    assert.deepEqual([fault, spent], ['provider_unavailable', false])
    assert.equal(message, 'no connection within 0.2 seconds')
  })

  test('if its certificate is not valid', async () => {
    const { cert, key } = authority.sign('IP:127.0.0.1')
    const secret = { cert: readFileSync(cert), key: readFileSync(key) }
    const port = await portOf(createHttps(secret, () => assert.fail('a request arrived')))
    const { fault, spent } = await failureAt(`https://127.0.0.1:${port}`)
    assert.deepEqual([fault, spent], ['provider_unavailable', false])
  })

  test('if the server does not finish the handshake', async () => {
    const port = await plainServer(() => {})
    const { fault, spent } = await failureAt(`https://127.0.0.1:${port}`, { idleMs: 200 })
    assert.deepEqual([fault, spent], ['provider_unavailable', false])
  })
})

suite('a call with a connection may cost something', () => {
  test('if the server breaks it without an answer', async () => {
    const port = await plainServer((socket) => socket.once('data', () => socket.destroy()))
    const { fault, spent } = await failureAt(`http://127.0.0.1:${port}`)
    assert.deepEqual([fault, spent], ['provider_unavailable', true])
  })
})
