/** Answers of chat models and external agents, piece by piece. */
import { randomUUID } from 'node:crypto'
import { IdleTimeout, type Outbound, Unsent } from '../../platform/net/outbound.ts'
import { InvalidStream, readEvents } from '../../platform/net/sse.ts'
import { ForbiddenTarget } from '../../platform/net/targets.ts'
import type { Dialect, Piece } from './dialect.ts'
import { DIALECTS, ERROR_LENGTH } from './dialects.ts'
import {
  type ChatEnd,
  ChatFailed,
  type ChatPiece,
  type ChatPrompt,
  type Finish,
  type OfferedTool,
  type ToolCall,
  type Usage,
} from './prompt.ts'

export interface ChatRequest extends ChatPrompt {
  outbound: Outbound
  /** What comes before the name of an operation, such as `https://api.example.com/v1`. */
  url: string
  key: string | undefined
  /** More headers, with names in lower case. */
  headers?: Record<string, string> | undefined
  idleMs: number
  signal: AbortSignal
}

const LINE_BYTES = 1_000_000
const TOTAL_BYTES = 16_000_000
const ERROR_BYTES = 2_000
/** The most calls of tools in one answer, and how long their arguments are. */
const CALLS = 16
const ARGUMENTS_LENGTH = 20_000
const NAME_LENGTH = 128
/** The most calls and results that an external agent shows in one answer. */
const SHOWN = 200

/** The most tokens that a call can cost: no tokenizer makes more tokens than there are bytes. */
export const mostTokens = (prompt: ChatPrompt): Usage => ({
  input: Buffer.byteLength(JSON.stringify(DIALECTS[prompt.kind].body(prompt))),
  output: prompt.maxTokens,
})

/** Sends the request once, and yields the answer as it arrives. Throws `ChatFailed`, or the reason of `signal`. */
export async function* streamChat(request: ChatRequest): AsyncGenerator<ChatPiece, ChatEnd> {
  const { outbound, url, key, idleMs, signal } = request
  const dialect = DIALECTS[request.kind]
  const body = JSON.stringify(dialect.body(request))
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    accept: 'text/event-stream',
    'user-agent': 'Loquat',
    ...dialect.headers(key),
    ...request.headers,
  }
  const progress = { answered: false, begun: false }
  try {
    const target = dialect.operation ? `${url.replace(/\/+$/, '')}/${dialect.operation}` : url
    const { status, chunks } = await outbound.stream(target, { headers, body, idleMs, signal })
    if (status !== 200) {
      const refusal = await refusalOf(status, chunks)
      refusal.renames = !request.renamed && wantsOtherName(refusal)
      throw refusal
    }
    progress.answered = true
    return yield* readAnswer(dialect, request.tools ?? [], chunks, progress)
  } catch (error) {
    signal.throwIfAborted()
    const failed =
      error instanceof ChatFailed ? error : failureOf(error as Error, progress.answered)
    failed.begun = progress.begun
    throw failed
  }
}

const wantsOtherName = ({ fault, message }: ChatFailed) =>
  fault === 'provider_refused' && message.includes('max_completion_tokens')

async function* readAnswer(
  dialect: Dialect,
  tools: OfferedTool[],
  chunks: AsyncIterable<Buffer>,
  progress: { begun: boolean },
): AsyncGenerator<ChatPiece, ChatEnd> {
  let finish: Finish | undefined
  let [input, output]: (number | undefined)[] = []
  const calls = new CallPieces()
  const offered = new Set(tools.map(({ name }) => name))
  /** External agents make all other calls by themselves. */
  const isWanted = ({ name }: ToolCall) => !dialect.callsTools || offered.has(name)
  let wrote = false
  let shown = 0
  const limits = { lineBytes: LINE_BYTES, totalBytes: TOTAL_BYTES }
  for await (const event of readEvents(chunks, limits)) {
    const piece = dialect.read(event)
    for (const call of piece.calls ?? []) calls.add(call)
    if (piece.text || piece.calls) progress.begun = true
    if (piece.begins && wrote) yield '\n\n'
    if (piece.text) {
      yield piece.text
      wrote = true
    }
    if (piece.called !== undefined) {
      const call = calls.find(piece.called)
      if (call && !isWanted(call)) {
        if (++shown > SHOWN) throw tooMany()
        calls.forget(piece.called)
        yield { call }
      }
    }
    if (piece.result) {
      const { callId, text } = piece.result
      if (++shown > SHOWN || callId.length > NAME_LENGTH) throw tooMany()
      calls.forget(callId)
      yield { callId: storable(callId), result: storable(text) }
    }
    finish = piece.finish ?? finish
    input = piece.input ?? input
    output = piece.output ?? output
    if (piece.ends) break
  }
  if (finish === undefined) {
    throw new ChatFailed('provider_unavailable', 'the answer was cut off', true)
  }
  const usage = input === undefined || output === undefined ? undefined : { input, output }
  return { finish, usage, calls: finish === 'stop' ? calls.all(isWanted) : [] }
}

const tooMany = () => new ChatFailed('provider_invalid', 'too many calls of tools', true)

const storable = (text: string) => text.replaceAll('\0', '').toWellFormed()

/** Puts calls of tools together, which arrive in pieces like texts. */
class CallPieces {
  readonly #calls = new Map<number | string, ToolCall>()

  add({ index, id, name, arguments: written = '' }: NonNullable<Piece['calls']>[number]): void {
    // An id of our own is like no other of the run: people approve calls by their ids.
    const call = this.#calls.get(index) ?? { id: `call_${randomUUID()}`, name: '', arguments: '' }
    this.#calls.set(index, {
      ...{ id: id ?? call.id, name: name ?? call.name, arguments: call.arguments + written },
    })
  }

  /** Throws if one is larger than a model may make it. */
  find(index: number | string): ToolCall | undefined {
    const call = this.#calls.get(index)
    return call && checked([call])[0]
  }

  forget(index: number | string): void {
    this.#calls.delete(index)
  }

  all(isWanted: (call: ToolCall) => boolean): ToolCall[] {
    return checked([...this.#calls.values()].filter(isWanted))
  }
}

function checked(calls: ToolCall[]): ToolCall[] {
  const all = calls.map(({ id, name, arguments: written }) => ({
    ...{ id: storable(id), name: storable(name), arguments: storable(written) },
  }))
  const wrong =
    all.length > CALLS ||
    all.some(
      ({ id, name, arguments: written }) =>
        name === '' ||
        name.length > NAME_LENGTH ||
        id.length > NAME_LENGTH ||
        written.length > ARGUMENTS_LENGTH,
    )
  if (wrong) throw new ChatFailed('provider_invalid', 'calls of tools that are too large', true)
  return all
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
  const shown = storable(text).slice(0, ERROR_LENGTH)
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
