/**
 * A client of MCP servers over streamable HTTP: it lists tools and calls them. It offers servers nothing in return, and a
 * call never repeats itself.
 */
import { storableStart } from '../../platform/http/characters.ts'
import { type Outbound, Unsent } from '../../platform/net/outbound.ts'
import { InvalidStream, readEvents } from '../../platform/net/sse.ts'
import { ForbiddenTarget } from '../../platform/net/targets.ts'
import { cleaned } from './answer-text.ts'
import { OutcomeUnknown, RESULT_BYTES, shorten, type ToolResult } from './api-tools.ts'

const VERSION = '2025-06-18'
const ANSWER_BYTES = 1_000_000
/** A server may have more; the model doesn't see them. */
const TOOLS = 64
const PAGES = 10
const SCHEMA_LENGTH = 20_000
const DESCRIPTION_LENGTH = 1_000
/** What calls can be stored with. */
const NAME = /^[\x21-\x7e]{1,128}$/
/** Nobody waits longer for the end of a session. */
const GOODBYE_MS = 2_000

export interface McpTool {
  name: string
  title: string
  description: string
  parameters: object
  /** The server says so. */
  idempotent: boolean
  readOnly: boolean
}

export interface McpOptions {
  url: string
  headers: Record<string, string>
  timeoutMs: number
}

/** The server answered, but not with a result. */
class Refused extends Error {
  readonly status: number
  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

type Json = Record<string, unknown>

export class McpSession {
  readonly #outbound: Outbound
  readonly #options: McpOptions
  /** Undefined before the server has greeted us. */
  #session: Record<string, string> | undefined
  #ids = 0

  constructor(outbound: Outbound, options: McpOptions) {
    this.#outbound = outbound
    this.#options = options
  }

  /** Throws if the server doesn't answer as it should. */
  async listTools(signal: AbortSignal): Promise<McpTool[]> {
    const tools: McpTool[] = []
    let cursor: unknown
    for (let page = 0; page < PAGES && tools.length < TOOLS; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const listed = await this.#ask('tools/list', params, signal)
      if (Array.isArray(listed.tools)) tools.push(...listed.tools.flatMap(toTool))
      cursor = listed.nextCursor
      if (typeof cursor !== 'string') break
    }
    return tools.slice(0, TOOLS)
  }

  /** Throws `OutcomeUnknown`, or the reason of `signal`. */
  async callTool(name: string, args: Json, signal: AbortSignal): Promise<ToolResult> {
    try {
      return toResult(await this.#ask('tools/call', { name, arguments: args }, signal))
    } catch (error) {
      signal.throwIfAborted()
      const { message } = error as Error
      if (error instanceof Refused) return { text: shorten(message, RESULT_BYTES), failed: true }
      const unsent = error instanceof ForbiddenTarget || error instanceof Unsent
      if (unsent) return { text: `The server can't be reached: ${message}`, failed: true }
      throw new OutcomeUnknown(message)
    }
  }

  /** The server may forget us. Whether it hears of it doesn't matter. */
  async close(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    if (!session?.['mcp-session-id']) return
    const { url, headers, timeoutMs } = this.#options
    const signal = AbortSignal.timeout(Math.min(timeoutMs, GOODBYE_MS))
    const call = {
      method: 'DELETE',
      headers: { ...headers, ...session },
      idleMs: timeoutMs,
      signal,
    }
    try {
      for await (const _ of (await this.#outbound.stream(url, call)).chunks) break
    } catch {
      // It forgets us by itself.
    }
  }

  async #ask(method: string, params: Json, signal: AbortSignal): Promise<Json> {
    const greeted = this.#session !== undefined
    if (!greeted) await this.#greet(signal)
    try {
      return await this.#request(method, params, signal)
    } catch (error) {
      // The server has forgotten the session, and so has done nothing.
      if (!greeted || !(error instanceof Refused) || error.status !== 404) throw error
      await this.#greet(signal)
      return await this.#request(method, params, signal)
    }
  }

  async #greet(signal: AbortSignal): Promise<void> {
    this.#session = {}
    const clientInfo = { name: 'Loquat', version: '1' }
    const params = { protocolVersion: VERSION, capabilities: {}, clientInfo }
    try {
      const { protocolVersion } = await this.#request('initialize', params, signal)
      this.#session['mcp-protocol-version'] = ascii(protocolVersion) ?? VERSION
      await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' }, signal)
    } catch (error) {
      this.#session = undefined
      throw error
    }
  }

  async #request(method: string, params: Json, signal: AbortSignal): Promise<Json> {
    const id = ++this.#ids
    const answer = await this.#post({ jsonrpc: '2.0', id, method, params }, signal, id)
    const { result, error } = answer ?? {}
    if (isObject(result)) return result
    const { message = 'no result' } = isObject(error) ? error : {}
    throw new Refused(String(message), 200)
  }

  /** Sends a message, and returns the answer to the request with this id. */
  async #post(message: Json, signal: AbortSignal, id?: number): Promise<Json | undefined> {
    const { url, headers, timeoutMs } = this.#options
    const body = JSON.stringify(message)
    const timeout = AbortSignal.timeout(timeoutMs)
    const {
      status,
      headers: sent,
      chunks,
    } = await this.#outbound.stream(url, {
      headers: {
        ...{ accept: 'application/json, text/event-stream', 'user-agent': 'Loquat' },
        ...headers,
        ...{ 'content-type': 'application/json', ...this.#session },
        'content-length': String(Buffer.byteLength(body)),
      },
      ...{ body, idleMs: timeoutMs, signal: AbortSignal.any([signal, timeout]) },
    })
    const session = ascii(sent['mcp-session-id'])
    if (session !== undefined && this.#session) this.#session['mcp-session-id'] = session
    if (status < 200 || status > 299) throw new Refused(`Status ${status}`, status)
    const streams = sent['content-type']?.startsWith('text/event-stream') ?? false
    return id === undefined ? drain(chunks) : streams ? find(chunks, id) : parse(await read(chunks))
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value of a header. */
const ascii = (value: unknown) =>
  typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : undefined

async function drain(chunks: AsyncIterable<Buffer>): Promise<undefined> {
  for await (const _ of chunks) break
}

async function read(chunks: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    bytes += chunk.length
    if (bytes > ANSWER_BYTES) throw new InvalidStream('the answer is too large')
  }
  return Buffer.concat(parts).toString('utf8')
}

function parse(text: string): Json {
  try {
    const json: unknown = JSON.parse(text)
    if (isObject(json)) return json
  } catch {
    // Said below.
  }
  throw new InvalidStream('the answer is no JSON object')
}

/** The answer among the events. Requests and notifications of the server are left out. */
async function find(chunks: AsyncIterable<Buffer>, id: number): Promise<Json> {
  for await (const { data } of readEvents(chunks, {
    ...{ lineBytes: ANSWER_BYTES, totalBytes: ANSWER_BYTES },
  })) {
    if (data === '') continue
    const message = parse(data)
    if (message.id === id && message.method === undefined) return message
  }
  throw new Error('the answer was cut off')
}

function toTool(tool: unknown): McpTool[] {
  if (!isObject(tool) || typeof tool.name !== 'string' || !NAME.test(tool.name)) return []
  const { name, inputSchema, annotations } = tool
  if (!isObject(inputSchema) || JSON.stringify(inputSchema).length > SCHEMA_LENGTH) return []
  const hints = isObject(annotations) ? annotations : {}
  // People see it, and the server may be hostile.
  const title = cleaned(typeof tool.title === 'string' ? tool.title : name) || name
  const description = typeof tool.description === 'string' ? tool.description : title
  return [
    {
      ...{ name, title: storableStart(title, 100), parameters: inputSchema },
      description: storableStart(description, DESCRIPTION_LENGTH),
      idempotent: hints.readOnlyHint === true || hints.idempotentHint === true,
      readOnly: hints.readOnlyHint === true,
    },
  ]
}

/** Texts as they are; the model learns of the rest that it exists. */
function toResult({ content, structuredContent, isError }: Json): ToolResult {
  const parts = (Array.isArray(content) ? content : []).map((part) => {
    if (!isObject(part)) return ''
    if (typeof part.text === 'string') return part.text
    const { resource } = part
    if (isObject(resource) && typeof resource.text === 'string') return resource.text
    return `(${String(part.type).slice(0, 50)})`
  })
  const text = parts.length > 0 ? parts.join('\n') : JSON.stringify(structuredContent ?? {})
  return { text: shorten(text, RESULT_BYTES), failed: isError === true }
}
