/** A proxy in front of a server that injects faults as they occur in real networks. */
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  request as requestOf,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { join } from './proxy.ts'

export const FAULTS = [
  /** 429 with `Retry-After`. */
  'busy',
  /** 503 as an HTML page, as proxies send it. */
  'down',
  /** The connection closes before the request reaches the server. */
  'lostRequest',
  /** The connection closes after the server has handled the request. */
  'lostAnswer',
  /** The connection closes in the middle of the response. */
  'cutAnswer',
  /** No response: the client times out. */
  'slow',
] as const
export type Fault = (typeof FAULTS)[number]

export interface FaultyProxy {
  port: number
  /** The port of the server. */
  target: number
  /** How many faults have occurred. */
  readonly faultCount: number
  /** Makes the next requests fail, one fault each. */
  fail(...faults: Fault[]): void
  /** Stops injecting faults. */
  heal(): void
  /** Closes the WebSocket connections of devices. */
  drop(): void
  close(): void
}

export async function openFaultyProxy(target: number): Promise<FaultyProxy> {
  const sockets = new Set<Socket>()
  let faults: Fault[] = []
  let faultCount = 0
  const server = createServer((request, response) => {
    const fault = faults.shift()
    if (fault) faultCount++
    // The client may have closed the connection.
    void answer(request, response, front.target, fault).catch(() => response.destroy())
  })
  server.on('upgrade', (request, near: Socket, head) => {
    const far = connect(front.target, '127.0.0.1')
    far.write(headOf(request))
    far.write(head)
    join(near, far, sockets)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  const front: FaultyProxy = {
    port: (server.address() as AddressInfo).port,
    target,
    get faultCount() {
      return faultCount
    },
    fail: (...more) => void faults.push(...more),
    heal: () => {
      faults = []
    },
    drop,
    close() {
      drop()
      server.close()
      server.closeAllConnections()
    },
  }
  return front
}

const headOf = ({ method, url, rawHeaders }: IncomingMessage) => {
  const lines = rawHeaders.flatMap((name, nth) =>
    nth % 2 === 0 ? [`${name}: ${rawHeaders[nth + 1]}`] : [],
  )
  return `${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
  fault: Fault | undefined,
): Promise<void> {
  const sent = await buffer(request)
  if (fault === 'lostRequest') return void response.destroy()
  if (fault === 'busy') {
    const headers = { 'content-type': 'application/json', 'retry-after': '0' }
    const error = { code: 'ERR_TOO_MANY_REQUESTS', message: 'Too many requests.' }
    return void response.writeHead(429, headers).end(JSON.stringify({ error }))
  }
  if (fault === 'down') {
    return void response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Down</h1>')
  }
  const { status, headers, body } = await forward(request, port, sent)
  if (fault === 'lostAnswer') return void response.destroy()
  // Keep the connection open until the client closes it.
  if (fault === 'slow') return
  response.writeHead(status, headers)
  if (fault !== 'cutAnswer') return void response.end(body)
  response.write(body.subarray(0, body.length / 2), () => response.destroy())
}

async function forward({ method, url, headers }: IncomingMessage, port: number, sent: Buffer) {
  const forwarded = requestOf({ host: '127.0.0.1', port, method, path: url, headers })
  forwarded.end(sent)
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage]
  const { 'transfer-encoding': _, ...own } = answer.headers
  const body = await buffer(answer)
  return {
    status: answer.statusCode ?? 502,
    headers: { ...own, 'content-length': body.length },
    body,
  }
}
