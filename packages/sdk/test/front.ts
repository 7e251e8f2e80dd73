/** What stands before a service: it passes requests on, and fails as real ones do. */
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
  /** 429, with a time to come back. */
  'busy',
  /** 503, as a page of a proxy. */
  'down',
  /** The connection ends before the service hears of it, … */
  'lostRequest',
  /** … or after it has answered, … */
  'lostAnswer',
  /** … or in the middle of the answer. */
  'cutAnswer',
  /** The answer does not come: the client gives up first. */
  'slow',
] as const
export type Fault = (typeof FAULTS)[number]

export interface Front {
  port: number
  /** Where the service is now. */
  target: number
  /** How many faults were met. */
  readonly met: number
  /** The next requests fail, each in one of these ways. */
  fail(...faults: Fault[]): void
  /** Nothing fails from now on. */
  heal(): void
  /** Ends the connections of devices. */
  drop(): void
  close(): void
}

export async function openFront(target: number): Promise<Front> {
  const sockets = new Set<Socket>()
  let faults: Fault[] = []
  let met = 0
  const server = createServer((request, response) => {
    const fault = faults.shift()
    if (fault) met++
    // Whoever asked may be gone.
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
  const front: Front = {
    port: (server.address() as AddressInfo).port,
    target,
    get met() {
      return met
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
  // The connection stays open until the other side ends it.
  if (fault === 'slow') return
  response.writeHead(status, headers)
  if (fault !== 'cutAnswer') return void response.end(body)
  response.write(body.subarray(0, body.length / 2), () => response.destroy())
}

async function forward({ method, url, headers }: IncomingMessage, port: number, sent: Buffer) {
  const passing = requestOf({ host: '127.0.0.1', port, method, path: url, headers })
  passing.end(sent)
  const [answer] = (await once(passing, 'response')) as [IncomingMessage]
  const { 'transfer-encoding': _, ...own } = answer.headers
  const body = await buffer(answer)
  return {
    status: answer.statusCode ?? 502,
    headers: { ...own, 'content-length': body.length },
    body,
  }
}
