/** The open protocol between agents and users (AG-UI): how an external agent is asked, and how its events are read. */
import type { Dialect, Piece } from './dialect.ts'
import { at, parsed, str, textIn } from './json.ts'
import { ChatFailed, type ChatTurn } from './prompt.ts'

const ERROR_LENGTH = 500

/** Agents that keep threads know messages by their ids. */
function message(turn: ChatTurn, nth: number): object {
  const { role, text: content } = turn
  if (role === 'tool')
    return { id: `result-${turn.callId}`, role, toolCallId: turn.callId, content }
  const id = turn.id ?? `turn-${nth}`
  if (role === 'user' || !turn.calls) return { id, role, content }
  const toolCalls = turn.calls.map(({ id: callId, name, arguments: written }) => ({
    ...{ id: callId, type: 'function', function: { name, arguments: written } },
  }))
  return { id, role, content, toolCalls }
}

/** The beginning of a call, or more of its arguments. */
function callIn(event: object, written: unknown): Piece {
  const id = str(at(event, 'toolCallId'))
  if (id === undefined) return {}
  const call = { id, name: str(at(event, 'toolCallName')), arguments: str(written) }
  return { calls: [{ index: id, ...call }] }
}

export const agUi: Dialect = {
  operation: '',
  callsTools: true,
  headers: () => ({}),
  body: ({ system, turns, tools = [], run }) => ({
    ...{ threadId: run?.threadId, runId: run?.runId, state: {} },
    messages: [
      ...(system === undefined ? [] : [{ id: 'instruction', role: 'system', content: system }]),
      ...turns.map(message),
    ],
    ...{ tools, context: run?.context ?? [], forwardedProps: run?.forwardedProps ?? {} },
  }),
  read({ data }) {
    const event = parsed(data)
    switch (at(event, 'type')) {
      case 'TEXT_MESSAGE_START':
        return { begins: true }
      case 'TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_CHUNK':
        return textIn(at(event, 'delta'))
      case 'TOOL_CALL_START':
        return callIn(event, '')
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_CHUNK':
        return callIn(event, at(event, 'delta'))
      case 'TOOL_CALL_END':
        return { called: str(at(event, 'toolCallId')) }
      case 'TOOL_CALL_RESULT': {
        const callId = str(at(event, 'toolCallId')) ?? ''
        return { result: { callId, text: str(at(event, 'content')) ?? '' } }
      }
      case 'RUN_FINISHED':
        return { finish: 'stop', ends: true }
      case 'RUN_ERROR': {
        const shown = (str(at(event, 'message')) ?? '').replaceAll('\0', '').toWellFormed()
        throw new ChatFailed('agent_failed', shown.slice(0, ERROR_LENGTH), true)
      }
      case undefined:
        throw new ChatFailed('provider_invalid', `no event: ${data.slice(0, 100)}`, true)
      default:
        // States, steps, thoughts, and what later versions add.
        return {}
    }
  },
}
