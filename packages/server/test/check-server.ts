/** A real HTTP server of an app that decides about messages, and can misbehave. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'

/** A request that it got. */
export interface Asked {
  path: string
  headers: Record<string, string>
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read requests of many shapes
  json: any
}

/** An answer, or how to go wrong: never answer, break off, or answer with something else. */
export type Reply = object | 'hang' | 'break' | 'garbage' | 'huge' | number

export interface CheckServer {
  url: string
  asked: Asked[]
  /** Can be replaced. */
  reply: (asked: Asked) => Reply | Promise<Reply>
}

const HUGE = 4_000_000

/** Starts a server that ends with the test file. Call it at the top level of the file. */
export function useCheckServer(reply: CheckServer['reply']): CheckServer {
  const checks: CheckServer = { url: '', asked: [], reply }
  const server = createServer((request, response) => void answer(checks, request, response))
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    checks.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return checks
}

async function answer(checks: CheckServer, request: IncomingMessage, response: ServerResponse) {
  let body = ''
  try {
    for await (const chunk of request.setEncoding('utf8')) body += chunk
  } catch {
    return
  }
  const headers = request.headers as Record<string, string>
  const asked = { path: request.url ?? '', headers, body, json: JSON.parse(body) }
  checks.asked.push(asked)
  const reply = await checks.reply(asked)
  if (reply === 'hang') return
  if (reply === 'break') return request.socket.destroy()
  if (typeof reply === 'number') return response.writeHead(reply).end('no')
  if (reply === 'garbage') return response.writeHead(200).end('<html>')
  if (reply === 'huge') return response.writeHead(200).end(`"${'x'.repeat(HUGE)}"`)
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
}

/** Whether a request is signed with the secret, as Standard Webhooks describes it. */
export function isSigned({ headers, body }: Asked, secret: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const wanted = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return (headers['webhook-signature'] ?? '').split(' ').includes(wanted)
}
