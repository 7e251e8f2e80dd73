/**
 * A real HTTP server with models, by the streaming protocols of both vendors. It checks keys, counts calls and tokens,
 * and misbehaves on command.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'
import { embedding } from './embedding.ts'

/** A request that it got. */
export interface ModelCall {
  vendor: 'openai' | 'anthropic'
  model: string
  system: string | undefined
  turns: { role: string; content: string }[]
  maxTokens: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read requests of both vendors
  json: any
  headers: Record<string, string>
  /** What it would charge for. */
  input: number
  output: number
  /** Whether the client has left before the end. */
  left: boolean
  /** Whether it got a status instead of an answer. */
  refused: boolean
}

/** Breaks the connection in the middle of a token. */
export const CUT = Symbol('cut')
/** Sends something that is no JSON. */
export const GARBAGE = Symbol('garbage')
/** Reports an error within the stream. */
export const ERROR = Symbol('error')

/** Calls a tool. */
export interface WantedCall {
  tool: string
  /** An object, or a text that is sent as it is. */
  args: unknown
  /** Unique unless given. */
  id?: string
}

type Token = string | symbol | WantedCall

/** Tokens, calls of tools, or one of the above; a number is a status instead of an answer. */
export type ModelReply = number | Iterable<Token> | AsyncIterable<Token>

/** The text of the last question; results of tools may follow it. */
export const questionIn = ({ turns }: ModelCall): string =>
  turns.findLast(({ role, content }) => role === 'user' && typeof content === 'string')?.content ??
  ''

/** What the model was told about its calls after the last question, oldest first. */
export function resultsIn({ turns }: ModelCall): string[] {
  const asked = turns.findLastIndex(
    ({ role, content }) => role === 'user' && typeof content === 'string',
  )
  return turns.slice(asked + 1).flatMap(({ role, content }) => {
    if (role === 'tool') return [content]
    const blocks: { type: string; content: string }[] = Array.isArray(content) ? content : []
    return blocks.filter(({ type }) => type === 'tool_result').map((block) => block.content)
  })
}

type Embedded = number[][] | number | undefined

export interface ModelServer {
  url: string
  key: string
  calls: ModelCall[]
  /** Can be replaced. */
  reply: (call: ModelCall) => ModelReply
  /** Can be replaced: vectors, a status, or undefined for no answer at all. */
  embed: (texts: string[]) => Embedded | Promise<Embedded>
  /** What it was asked to embed. */
  embedded: string[][]
  /** Cuts all connections. */
  cut(): void
}

/** Starts a server that ends with the test file. Call it at the top level of the file. */
export function useModelServer(reply: ModelServer['reply']): ModelServer {
  const { models, start, end } = modelServer(reply)
  before(() => start())
  after(end)
  return models
}

/** A server that the caller starts and ends. */
export function modelServer(reply: ModelServer['reply']) {
  const cut = () => server.closeAllConnections()
  const embed: ModelServer['embed'] = (texts) => texts.map(embedding)
  const models: ModelServer = {
    ...{ url: '', key: 'sk-secret', calls: [], reply, cut, embed, embedded: [] },
  }
  const server = createServer((request, response) => void serve(models, request, response))
  const start = async (port = 0) => {
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    models.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  }
  const end = () => {
    server.close()
    server.closeAllConnections()
  }
  return { models, start, end }
}

async function serve(models: ModelServer, request: IncomingMessage, response: ServerResponse) {
  let body = ''
  try {
    for await (const chunk of request.setEncoding('utf8')) body += chunk
  } catch {
    return
  }
  const vendor = request.url === '/v1/messages' ? 'anthropic' : 'openai'
  const headers = request.headers as Record<string, string>
  const key = vendor === 'anthropic' ? headers['x-api-key'] : headers.authorization?.slice(7)
  if (request.url === '/v1/embeddings') return serveEmbeddings(models, key, body, response)
  if (vendor === 'openai' && request.url !== '/v1/chat/completions') return refuse(response, 404)
  if (vendor === 'anthropic' && !headers['anthropic-version']) return refuse(response, 400)
  if (key !== models.key) return refuse(response, 401)
  const call = read(vendor, headers, body)
  models.calls.push(call)
  request.socket.once('close', () => {
    call.left = !response.writableEnded
  })
  // As newer models of OpenAI do.
  if (call.model.startsWith('thinking') && call.json.max_tokens !== undefined) {
    call.refused = true
    return refuse(response, 400, "Use 'max_completion_tokens' instead of 'max_tokens'.")
  }
  const reply = models.reply(call)
  if (typeof reply === 'number') {
    call.refused = true
    return refuse(response, reply)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  await DIALECTS[vendor](call, reply, response)
}

async function serveEmbeddings(
  models: ModelServer,
  key: string | undefined,
  body: string,
  response: ServerResponse,
) {
  if (key !== models.key) return refuse(response, 401)
  const { input, model, encoding_format: format } = JSON.parse(body)
  if (!Array.isArray(input) || input.length === 0 || !model || format !== 'float')
    return refuse(response, 400)
  models.embedded.push(input)
  const vectors = await models.embed(input)
  if (typeof vectors === 'number') return refuse(response, vectors)
  const data = vectors?.map((vector, index) => ({ object: 'embedding', index, embedding: vector }))
  const tokens = Math.ceil(Buffer.byteLength(input.join('')) / 4)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  if (data) response.end(JSON.stringify({ object: 'list', model, data, usage }))
}

const refuse = (response: ServerResponse, status: number, message = `status ${status}`) =>
  void response.writeHead(status).end(JSON.stringify({ error: { message } }))

function read(vendor: ModelCall['vendor'], headers: ModelCall['headers'], body: string): ModelCall {
  const json = JSON.parse(body)
  const systems = json.messages.filter(({ role }: { role: string }) => role === 'system')
  const turns = json.messages.filter(({ role }: { role: string }) => role !== 'system')
  return {
    ...{
      vendor,
      headers,
      json,
      turns,
      model: json.model,
      maxTokens: json.max_tokens ?? json.max_completion_tokens,
    },
    system: vendor === 'anthropic' ? json.system : systems[0]?.content,
    // Real tokenizers make no more tokens than there are bytes.
    input: Math.ceil(Buffer.byteLength(body) / 4),
    ...{ output: 0, left: false, refused: false },
  }
}

type Speak = (
  call: ModelCall,
  reply: Exclude<ModelReply, number>,
  to: ServerResponse,
) => Promise<void>

/** Sends the tokens, at most as many as asked for. Returns whether the model was done, or undefined if it broke off. */
async function speak(
  call: ModelCall,
  reply: Exclude<ModelReply, number>,
  to: ServerResponse,
  form: {
    token(text: string): string
    call(call: WantedCall, nth: number): string[]
    error: string
  },
): Promise<'stop' | 'tools' | 'length' | undefined> {
  let wanted = 0
  for await (const token of reply) {
    if (to.destroyed) return undefined
    if (token === CUT) {
      to.write(form.token('cut').slice(0, -9), () => to.destroy())
      return undefined
    }
    if (token === GARBAGE) to.write('data: <html>\n\n')
    else if (token === ERROR) to.write(form.error)
    else {
      if (call.output >= call.maxTokens) return 'length'
      call.output++
      if (typeof token !== 'object') to.write(form.token(String(token)))
      else for (const piece of form.call(token, wanted++)) to.write(piece)
    }
  }
  return wanted > 0 ? 'tools' : 'stop'
}

/** The arguments of a call arrive in pieces. */
const pieces = ({ args }: WantedCall) =>
  (typeof args === 'string' ? args : JSON.stringify(args)).match(/.{1,7}/gs) ?? []
let callIds = 0

const data = (json: object) => `data: ${JSON.stringify(json)}\n\n`
const event = (json: { type: string }) => `event: ${json.type}\n${data(json)}`

const DIALECTS: Record<ModelCall['vendor'], Speak> = {
  async openai(call, reply, to) {
    const chunk = (choice: object) => data({ id: 'c', choices: [{ index: 0, ...choice }] })
    to.write(chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null }))
    const calls = (call: object) => chunk({ delta: { tool_calls: [call] }, finish_reason: null })
    const ended = await speak(call, reply, to, {
      token: (content) => chunk({ delta: { content }, finish_reason: null }),
      call: (wanted, index) => [
        calls({
          ...{ index, id: wanted.id ?? `call_${callIds++}`, type: 'function' },
          function: { name: wanted.tool, arguments: '' },
        }),
        ...pieces(wanted).map((piece) => calls({ index, function: { arguments: piece } })),
      ],
      error: data({ error: { message: 'overloaded' } }),
    })
    if (!ended) return
    to.write(chunk({ delta: {}, finish_reason: ended === 'tools' ? 'tool_calls' : ended }))
    const usage = { prompt_tokens: call.input, completion_tokens: call.output }
    if (call.json.stream_options?.include_usage) to.write(data({ choices: [], usage }))
    to.end('data: [DONE]\n\n')
  },
  async anthropic(call, reply, to) {
    const usage = { input_tokens: call.input, output_tokens: 1 }
    to.write(event({ type: 'message_start', ...{ message: { id: 'm', usage } } }))
    to.write(event({ type: 'content_block_start', ...{ index: 0 } }))
    to.write(event({ type: 'ping' }))
    const ended = await speak(call, reply, to, {
      token: (text) =>
        event({
          type: 'content_block_delta',
          ...{ index: 0, delta: { type: 'text_delta', text } },
        }),
      call: (wanted, nth) => {
        const index = nth + 1
        const id = wanted.id ?? `toolu_${callIds++}`
        const content_block = { type: 'tool_use', id, name: wanted.tool }
        const input = (partial_json: string) =>
          event({
            type: 'content_block_delta',
            ...{ index, delta: { type: 'input_json_delta', partial_json } },
          })
        return [
          event({ type: 'content_block_start', ...{ index, content_block } }),
          ...pieces(wanted).map(input),
          event({ type: 'content_block_stop', ...{ index } }),
        ]
      },
      error: event({ type: 'error', ...{ error: { type: 'overloaded_error' } } }),
    })
    if (!ended) return
    const stop_reason = { stop: 'end_turn', tools: 'tool_use', length: 'max_tokens' }[ended]
    to.write(event({ type: 'content_block_stop', ...{ index: 0 } }))
    const delta = { delta: { stop_reason }, usage: { output_tokens: call.output } }
    to.write(event({ type: 'message_delta', ...delta }))
    to.end(event({ type: 'message_stop' }))
  },
}
