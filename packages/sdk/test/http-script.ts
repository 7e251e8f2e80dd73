/** A real HTTP server that responds to each request as the test says, including faults. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

/** A request that the server received. */
export interface Received {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: string
  /** When it arrived, by `performance.now()`. */
  at: number
}

export type Step = (request: Received, response: ServerResponse) => unknown

export interface Script {
  baseUrl: string
  received: Received[]
}

/** Handles each request with the next step. The last step also handles all requests after it. */
export function play(...steps: [Step, ...Step[]]): Promise<Script> {
  const received: Received[] = []
  return listen((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const { method, url, headers } = request
      const entry = { method, url, headers, body, at: performance.now() }
      const step = steps[received.length] ?? steps.at(-1)
      received.push(entry)
      step?.(entry, response)
    })
  }).then((baseUrl) => ({ baseUrl, received }))
}

/** Starts a server that stops with the test file, and returns its URL. */
async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Step =>
  (_request, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body))

export const refuse = (status: number, code: string, headers: Record<string, string> = {}) =>
  answer(status, { error: { code, message: 'Refused.' } }, headers)

/** Closes the connection without a response. */
export const cutConnection: Step = (_request, response) => response.destroy()

/** Never responds. */
export const hang: Step = () => undefined

/** Closes the connection in the middle of the body, which has a length, is chunked, or neither. */
export const cutBody =
  (framing: 'length' | 'chunks' | 'close'): Step =>
  (_request, response) => {
    if (framing === 'length') response.setHeader('content-length', 100)
    if (framing === 'close') response.useChunkedEncodingByDefault = false
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"data": {"uid": ', () => response.destroy())
  }
