/** A real MCP server over streamable HTTP, which asks for a key and forgets sessions on command. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'

export interface McpServer {
  url: string
  key: string
  /** How many requests it got, of any kind. */
  requests: number
  /** Calls of tools, with their arguments. */
  calls: { name: string; arguments: unknown }[]
  /** What it offers. Can be replaced. */
  tools: object[]
  /** Sessions that it knows. */
  sessions: Set<string>
  /** Answers a call; undefined breaks the connection. Can be replaced. */
  answer: (name: string) => object | undefined
}

const inputSchema = { type: 'object', properties: { day: { type: 'string' } } }
const TOOLS = [
  { name: 'find', title: 'Find', description: 'Finds', inputSchema },
  { name: 'read.all', inputSchema, annotations: { readOnlyHint: true } },
]

/** Starts a server that ends with the test file. Call it at the top level of the file. */
export function useMcpServer(answer: McpServer['answer']): McpServer {
  const mcp: McpServer = {
    ...{ url: '', key: 'open-sesame', requests: 0, calls: [], tools: TOOLS },
    ...{ sessions: new Set(), answer },
  }
  const server = createServer((request, response) => {
    mcp.requests++
    void serve(mcp, request, response)
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    mcp.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return mcp
}

async function serve(mcp: McpServer, request: IncomingMessage, response: ServerResponse) {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { headers, method } = request
  const end = (status: number) => void response.writeHead(status).end()
  if (headers.authorization !== `Bearer ${mcp.key}`) return end(401)
  const session = headers['mcp-session-id'] as string | undefined
  if (method === 'DELETE') return end(mcp.sessions.delete(session ?? '') ? 200 : 404)
  const { id, method: asked, params } = JSON.parse(body)
  if (asked === 'initialize') {
    const made = randomUUID()
    mcp.sessions.add(made)
    response.setHeader('mcp-session-id', made)
    const { protocolVersion } = params
    const serverInfo = { name: 'Ours', version: '1' }
    return json(response, { id, result: { protocolVersion, capabilities: {}, serverInfo } })
  }
  if (!mcp.sessions.has(session ?? '')) return end(404)
  if (!headers['mcp-protocol-version'] && id !== undefined) return end(400)
  if (id === undefined) return end(202)
  if (asked === 'tools/list') {
    // Two pages.
    const tools = params.cursor === undefined ? mcp.tools.slice(0, 1) : mcp.tools.slice(1)
    const next = params.cursor === undefined ? { nextCursor: 'more' } : {}
    return json(response, { id, result: { tools, ...next } })
  }
  mcp.calls.push(params)
  const result = mcp.answer(params.name)
  if (!result) return void response.socket?.destroy()
  // As a stream, with something else before the answer.
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
  response.write(event({ method: 'notifications/message', params: {} }))
  response.end(event({ id, ...result }))
}

const json = (response: ServerResponse, message: object) =>
  void response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', ...message }))
