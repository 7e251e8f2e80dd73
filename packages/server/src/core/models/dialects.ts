/** The interfaces of OpenAI, Anthropic and external agents: how a prompt is written, and how an answer is read. */
import { lookupTable } from '../../platform/lookup-table.ts'
import { agUi } from './ag-ui.ts'
import type { Dialect } from './dialect.ts'
import { at, parsed, str, textIn } from './json.ts'
import {
  type AnswererKind,
  ChatFailed,
  type ChatTurn,
  type Finish,
  type OfferedTool,
} from './prompt.ts'

export const ERROR_LENGTH = 500

const finishIn = (reason: unknown, names: Record<string, Finish>) =>
  typeof reason === 'string' ? { finish: names[reason] ?? ('stop' as const) } : {}

/** More tokens than any call has, and more than can be stored. */
const NO_COUNT = 2 ** 31

const count = (name: 'input' | 'output', value: unknown) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < NO_COUNT
    ? { [name]: Number(value) }
    : {}

/** A piece of a call. Some servers repeat fields as empty texts. */
function callIn(index: unknown, id: unknown, name: unknown, written: unknown) {
  const call = { id: str(id) || undefined, name: str(name) || undefined, arguments: str(written) }
  return { index: Number.isSafeInteger(index) ? Number(index) : 0, ...call }
}

const OPENAI_FINISH = lookupTable<Finish>({ length: 'length', content_filter: 'filtered' })

/** Models that refuse `max_tokens`: those that think before they answer. */
const NAMES_COMPLETION = /^(o\d|gpt-[5-9])/

function openaiMessage(turn: ChatTurn): object {
  const { role, text: content } = turn
  if (role === 'tool') return { role, tool_call_id: turn.callId, content }
  if (role === 'user' || !turn.calls) return { role, content }
  const tool_calls = turn.calls.map(({ id, name, arguments: written }) => ({
    ...{ id, type: 'function', function: { name, arguments: written } },
  }))
  return { role, content: content || null, tool_calls }
}

const openaiTools = (tools: OfferedTool[] = []) =>
  tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }

const openaiCall = (call: unknown, nth: number) =>
  callIn(
    at(call, 'index') ?? nth,
    ...[at(call, 'id'), at(call, 'function', 'name'), at(call, 'function', 'arguments')],
  )

const openai: Dialect = {
  operation: 'chat/completions',
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  body: ({ model, system, turns, tools, maxTokens, temperature, renamed }) => ({
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...turns.map(openaiMessage),
    ],
    ...openaiTools(tools),
    ...(renamed || NAMES_COMPLETION.test(model)
      ? { max_completion_tokens: maxTokens }
      : { max_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    stream: true,
    stream_options: { include_usage: true },
  }),
  read({ data }) {
    if (data === '[DONE]') return { ends: true }
    const chunk = parsed(data)
    if (at(chunk, 'error')) throw failureIn(at(chunk, 'error'))
    const called = at(chunk, 'choices', 0, 'delta', 'tool_calls')
    return {
      ...textIn(at(chunk, 'choices', 0, 'delta', 'content')),
      ...(Array.isArray(called) && { calls: called.map(openaiCall) }),
      ...finishIn(at(chunk, 'choices', 0, 'finish_reason'), OPENAI_FINISH),
      ...count('input', at(chunk, 'usage', 'prompt_tokens')),
      ...count('output', at(chunk, 'usage', 'completion_tokens')),
    }
  },
}

const ANTHROPIC_FINISH = lookupTable<Finish>({ max_tokens: 'length', refusal: 'filtered' })

/** Results of one answer's calls are one turn of the user. */
function anthropicMessages(turns: ChatTurn[]): object[] {
  const messages: { role: string; content: unknown }[] = []
  let results: object[] = []
  for (const turn of turns) {
    if (turn.role !== 'tool') {
      results = []
      messages.push({ role: turn.role, content: anthropicContent(turn) })
      continue
    }
    if (results.length === 0) messages.push({ role: 'user', content: results })
    const { callId: tool_use_id, text: content, failed: is_error } = turn
    results.push({ type: 'tool_result', tool_use_id, content, ...(is_error && { is_error }) })
  }
  return messages
}

function anthropicContent(turn: Exclude<ChatTurn, { role: 'tool' }>): unknown {
  if (turn.role === 'user' || !turn.calls) return turn.text
  const { text, calls } = turn
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, arguments: written }) => ({
      ...{ type: 'tool_use', id, name, input: objectIn(written) },
    })),
  ]
}

const anthropicTools = (tools: OfferedTool[] = []) =>
  tools.length > 0 && {
    tools: tools.map(({ name, description, parameters }) => ({
      ...{ name, description, input_schema: parameters },
    })),
  }

/** Anthropic accepts only objects, also for a call whose arguments weren't one. */
function objectIn(json: string): object {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The result of the call says so.
  }
  return {}
}

const anthropic: Dialect = {
  operation: 'messages',
  headers: (key) => ({
    'anthropic-version': '2023-06-01',
    ...(key !== undefined && { 'x-api-key': key }),
  }),
  body: ({ model, system, turns, tools, maxTokens, temperature }) => ({
    model,
    ...(system !== undefined && { system }),
    messages: anthropicMessages(turns),
    ...anthropicTools(tools),
    max_tokens: maxTokens,
    ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    stream: true,
  }),
  read({ data }) {
    const event = parsed(data)
    switch (at(event, 'type')) {
      case 'message_start':
        return count('input', at(event, 'message', 'usage', 'input_tokens'))
      case 'content_block_start': {
        const block = at(event, 'content_block')
        if (at(block, 'type') !== 'tool_use') return {}
        return { calls: [callIn(at(event, 'index'), at(block, 'id'), at(block, 'name'), '')] }
      }
      case 'content_block_delta': {
        const written = at(event, 'delta', 'partial_json')
        if (written === undefined) return textIn(at(event, 'delta', 'text'))
        return { calls: [callIn(at(event, 'index'), undefined, undefined, written)] }
      }
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
        // Pings, the ends of blocks, and what later versions add.
        return {}
    }
  },
}

/** An error in the middle of the stream. */
function failureIn(error: unknown): ChatFailed {
  const shown = JSON.stringify(error ?? {}).slice(0, ERROR_LENGTH)
  return new ChatFailed('provider_unavailable', `the provider failed: ${shown}`, true)
}

export const DIALECTS: Record<AnswererKind, Dialect> = { openai, anthropic, 'ag-ui': agUi }
