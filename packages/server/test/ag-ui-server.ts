/** A real external agent: it speaks AG-UI over server-sent events, asks for a key, and misbehaves on command. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'

/** What it was sent. */
export interface AgUiCall {
  threadId: string
  runId: string
  messages: {
    id: string
    role: string
    content: string
    toolCallId?: string
    toolCalls?: object[]
  }[]
  tools: { name: string; description: string; parameters: object }[]
  context: { description: string; value: string }[]
  forwardedProps: Record<string, unknown>
  headers: Record<string, string>
}

/** Breaks the connection in the middle of an event. */
export const CUT = Symbol('cut')
/** Sends something that is no JSON. */
export const GARBAGE = Symbol('garbage')

/** A text is a piece of the answer, an object any other event. */
type Said = string | symbol | ({ type: string } & Record<string, unknown>)
/** What the agent says between the events of the run; a number is a status instead of an answer. */
export type AgUiReply = number | Iterable<Said> | AsyncIterable<Said>

export interface AgUiServer {
  url: string
  key: string
  calls: AgUiCall[]
  /** Can be replaced. */
  reply: (call: AgUiCall) => AgUiReply
}

/** The text of the question. */
export const questionOf = ({ messages }: AgUiCall): string =>
  messages.findLast(({ role }) => role === 'user')?.content ?? ''

/** Starts a server that ends with the test file. Call it at the top level of the file. */
export function useAgUiServer(reply: AgUiServer['reply']): AgUiServer {
  const agents: AgUiServer = { url: '', key: 'Bearer open-sesame', calls: [], reply }
  const server = createServer((request, response) => void serve(agents, request, response))
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    agents.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return agents
}

async function serve(agents: AgUiServer, request: IncomingMessage, response: ServerResponse) {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const headers = request.headers as Record<string, string>
  const end = (status: number) => void response.writeHead(status).end()
  if (request.method !== 'POST' || request.url !== '/agent') return end(404)
  if (headers.authorization !== agents.key) return end(401)
  if (headers.accept !== 'text/event-stream') return end(406)
  const call: AgUiCall = { ...JSON.parse(body), headers }
  agents.calls.push(call)
  const reply = agents.reply(call)
  if (typeof reply === 'number') return end(reply)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const { threadId, runId } = call
  const send = (event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`)
  send({ type: 'RUN_STARTED', threadId, runId })
  let messageId: string | undefined
  for await (const said of reply) {
    if (said === CUT) return void response.write('data: {"type":"TEXT', () => response.destroy())
    if (said === GARBAGE) response.write('data: <html>\n\n')
    else if (typeof said === 'object') send(said)
    else if (typeof said === 'string') {
      if (!messageId) send({ type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' })
      messageId = 'm1'
      send({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: said })
    }
  }
  if (messageId) send({ type: 'TEXT_MESSAGE_END', messageId })
  send({ type: 'RUN_FINISHED', threadId, runId })
  response.end()
}
