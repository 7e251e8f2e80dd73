/** A real HTTP server whose paths are tools, and what it was asked. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'

export interface ToolRequest {
  method: string
  /** With the query. */
  path: string
  headers: Record<string, string>
  body: string
}

export interface ToolServer {
  url: string
  requests: ToolRequest[]
  /** Can be replaced. */
  answer: (request: ToolRequest, response: ServerResponse) => void
}

/** Starts a server that ends with the test file. Call it at the top level of the file. */
export function useToolServer(answer: ToolServer['answer']): ToolServer {
  const tools: ToolServer = { url: '', requests: [], answer }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { method = '', url: path = '' } = request
    const asked = { method, path, headers: request.headers as Record<string, string>, body }
    tools.requests.push(asked)
    tools.answer(asked, response)
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    tools.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return tools
}
