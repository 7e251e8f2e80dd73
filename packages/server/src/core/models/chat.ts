/** Answers of chat models, piece by piece, from providers with an interface like OpenAI's or Anthropic's. */
import { IdleTimeout, type Outbound, Unsent } from '../../platform/net/outbound.ts'
import { InvalidStream, readEvents, type SentEvent } from '../../platform/net/sse.ts'
import { ForbiddenTarget } from '../../platform/net/targets.ts'

export const PROVIDER_KINDS = ['openai', 'anthropic'] as const
export type ProviderKind = (typeof PROVIDER_KINDS)[number]

export interface ChatTurn {
  role: 'user' | 'assistant'
  text: string
}

export interface ChatRequest extends ChatPrompt {
  outbound: Outbound
  /** What comes before the name of an operation, such as `https://api.example.com/v1`. */
  url: string
  key: string | undefined
  idleMs: number
  signal: AbortSignal
}

/** Which model to ask what. */
export interface ChatPrompt {
  kind: ProviderKind
  model: string
  system: string | undefined
  turns: ChatTurn[]
  /** The longest answer, in tokens. */
  maxTokens: number
  temperature: number | undefined
}

/** Why there is no complete answer. */
export type ChatFault =
  /** The provider refuses so many requests; again later. */
  | 'provider_limited'
  /** It failed, or the connection did; again later. */
  | 'provider_unavailable'
  /** It refuses this request. */
  | 'provider_refused'
  /** It sent something that isn't an answer. */
  | 'provider_invalid'
  /** It sent nothing for too long. */
  | 'provider_silent'
  /** Its URL must not be called. */
  | 'provider_forbidden'

export class ChatFailed extends Error {
  readonly fault: ChatFault
  /** Whether the provider may have worked for it, and so may want to be paid. */
  readonly spent: boolean

  constructor(fault: ChatFault, message: string, spent: boolean) {
    super(message)
    this.fault = fault
    this.spent = spent
  }
}

export interface Usage {
  input: number
  output: number
}

/** Why the model stopped: it was done, the answer got too long, or the provider suppressed the rest. */
export type Finish = 'stop' | 'length' | 'filtered'

export interface ChatEnd {
  finish: Finish
  /** What the provider counted; undefined if it doesn't say. */
  usage: Usage | undefined
}

/** What one event of the stream says. */
interface Piece {
  text?: string
  finish?: Finish
  input?: number
  output?: number
  /** The provider says that nothing follows. */
  ends?: boolean
}

interface Dialect {
  operation: string
  headers(key: string | undefined): Record<string, string>
  body(prompt: ChatPrompt): object
  /** Throws if the event isn't one that the interface has. */
  read(event: SentEvent): Piece
}

const LINE_BYTES = 1_000_000
const TOTAL_BYTES = 16_000_000
const ERROR_BYTES = 2_000
const ERROR_LENGTH = 500

/** The most tokens that a call can cost: no tokenizer makes more tokens than there are bytes. */
export const mostTokens = (prompt: ChatPrompt): Usage => ({
  input: Buffer.byteLength(JSON.stringify(DIALECTS[prompt.kind].body(prompt))),
  output: prompt.maxTokens,
})

/**
 * Sends the request once, and yields the answer's text as it arrives. Throws `ChatFailed`, or the reason of `signal`.
 */
export async function* streamChat(request: ChatRequest): AsyncGenerator<string, ChatEnd> {
  const { outbound, url, key, idleMs, signal } = request
  const dialect = DIALECTS[request.kind]
  const body = JSON.stringify(dialect.body(request))
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    accept: 'text/event-stream',
    'user-agent': 'Loquat',
    ...dialect.headers(key),
  }
  let answered = false
  try {
    const target = `${url.replace(/\/+$/, '')}/${dialect.operation}`
    const { status, chunks } = await outbound.stream(target, { headers, body, idleMs, signal })
    if (status !== 200) throw await refusalOf(status, chunks)
    answered = true
    return yield* readAnswer(dialect, chunks)
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof ChatFailed ? error : failureOf(error as Error, answered)
  }
}

async function* readAnswer(
  dialect: Dialect,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<string, ChatEnd> {
  let finish: Finish | undefined
  let [input, output]: (number | undefined)[] = []
  const limits = { lineBytes: LINE_BYTES, totalBytes: TOTAL_BYTES }
  for await (const event of readEvents(chunks, limits)) {
    const piece = dialect.read(event)
    if (piece.text) yield piece.text
    finish = piece.finish ?? finish
    input = piece.input ?? input
    output = piece.output ?? output
    if (piece.ends) break
  }
  if (finish === undefined) {
    throw new ChatFailed('provider_unavailable', 'the answer was cut off', true)
  }
  const usage = input === undefined || output === undefined ? undefined : { input, output }
  return { finish, usage }
}

async function refusalOf(status: number, chunks: AsyncIterable<Buffer>): Promise<ChatFailed> {
  let text = ''
  try {
    for await (const chunk of chunks) {
      text += chunk.toString('utf8')
      if (text.length > ERROR_BYTES) break
    }
  } catch {
    // The status is enough.
  }
  const shown = text.replaceAll('\0', '').toWellFormed().slice(0, ERROR_LENGTH)
  const message = `answered with status ${status}: ${shown}`
  if (status === 429) return new ChatFailed('provider_limited', message, false)
  const refused = status >= 400 && status <= 499 && status !== 408 && status !== 409
  if (refused) return new ChatFailed('provider_refused', message, false)
  // A success without an answer, a redirect, or a failure in the middle of the work.
  return new ChatFailed(status < 400 ? 'provider_invalid' : 'provider_unavailable', message, true)
}

function failureOf(error: Error, answered: boolean): ChatFailed {
  if (error instanceof ForbiddenTarget) {
    return new ChatFailed('provider_forbidden', error.message, false)
  }
  const fault =
    error instanceof IdleTimeout
      ? 'provider_silent'
      : error instanceof InvalidStream
        ? 'provider_invalid'
        : 'provider_unavailable'
  const spent = answered || !(error instanceof Unsent)
  return new ChatFailed(fault, error.message.slice(0, ERROR_LENGTH), spent)
}

/** The JSON of an event, of which nothing is known yet. */
function parsed(data: string): object {
  try {
    const json: unknown = JSON.parse(data)
    if (typeof json === 'object' && json !== null) return json
  } catch {
    // Said below.
  }
  throw new ChatFailed('provider_invalid', `not JSON: ${data.slice(0, 100)}`, true)
}

/** A value inside of JSON; undefined if it has another shape. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<string | number, unknown>)[name]
  }
  return found
}

const finishIn = (reason: unknown, names: Record<string, Finish>) =>
  typeof reason === 'string' ? { finish: names[reason] ?? ('stop' as const) } : {}

const textIn = (value: unknown) => (typeof value === 'string' ? { text: value } : {})
const count = (name: 'input' | 'output', value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? { [name]: Number(value) } : {}

const OPENAI_FINISH: Record<string, Finish> = { length: 'length', content_filter: 'filtered' }

const openai: Dialect = {
  operation: 'chat/completions',
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  body: ({ model, system, turns, maxTokens, temperature }) => ({
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...turns.map(({ role, text }) => ({ role, content: text })),
    ],
    max_tokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    stream: true,
    stream_options: { include_usage: true },
  }),
  read({ data }) {
    if (data === '[DONE]') return { ends: true }
    const chunk = parsed(data)
    if (at(chunk, 'error')) throw failureIn(at(chunk, 'error'))
    return {
      ...textIn(at(chunk, 'choices', 0, 'delta', 'content')),
      ...finishIn(at(chunk, 'choices', 0, 'finish_reason'), OPENAI_FINISH),
      ...count('input', at(chunk, 'usage', 'prompt_tokens')),
      ...count('output', at(chunk, 'usage', 'completion_tokens')),
    }
  },
}

const ANTHROPIC_FINISH: Record<string, Finish> = { max_tokens: 'length', refusal: 'filtered' }

const anthropic: Dialect = {
  operation: 'messages',
  headers: (key) => ({
    'anthropic-version': '2023-06-01',
    ...(key !== undefined && { 'x-api-key': key }),
  }),
  body: ({ model, system, turns, maxTokens, temperature }) => ({
    model,
    ...(system !== undefined && { system }),
    messages: turns.map(({ role, text }) => ({ role, content: text })),
    max_tokens: maxTokens,
    ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    stream: true,
  }),
  read({ data }) {
    const event = parsed(data)
    switch (at(event, 'type')) {
      case 'message_start':
        return count('input', at(event, 'message', 'usage', 'input_tokens'))
      case 'content_block_delta':
        return textIn(at(event, 'delta', 'text'))
      case 'message_delta':
        return {
          ...finishIn(at(event, 'delta', 'stop_reason'), ANTHROPIC_FINISH),
          ...count('output', at(event, 'usage', 'output_tokens')),
        }
      case 'message_stop':
        return { ends: true }
      case 'error':
        throw failureIn(at(event, 'error'))
      default:
        // Pings, the bounds of blocks, and what later versions add.
        return {}
    }
  },
}

/** An error in the middle of the stream. */
function failureIn(error: unknown): ChatFailed {
  const shown = JSON.stringify(error ?? {}).slice(0, ERROR_LENGTH)
  return new ChatFailed('provider_unavailable', `the provider failed: ${shown}`, true)
}

const DIALECTS: Record<ProviderKind, Dialect> = { openai, anthropic }
