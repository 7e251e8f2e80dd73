/** Shows the devices of the asking user what an agent does, while it does it. Nothing of it is stored. */
import type { ServerBody } from '@loquat/protocol'
import { publishEphemeral } from '../../core/ephemeral.ts'
import { printedId } from '../../core/ids.ts'
import type { ToolCall } from '../../core/models/prompt.ts'
import type { Deps } from '../../deps.ts'
import type { RunRow } from './runs.queries.ts'

/** Pieces of text that arrive within this time are one frame. */
const TOGETHER_MS = 50
/** How much devices see of what a tool answered. */
const CONTENT_LENGTH = 2_000

type Shown = Pick<
  RunRow,
  'run_id' | 'agent_uid' | 'uid' | 'message_id' | 'thread_id' | 'kind' | 'one' | 'other'
>
type AgentEventType = ServerBody<'agent.event'>['type']
type Data = ServerBody<'agent.event'>['data']

type CalledTool = Pick<Data, 'name' | 'displayName' | 'executionText'>
type WaitingTool = Pick<Data, 'name' | 'displayName' | 'waitsFor'>

interface AgentEvent {
  type: AgentEventType
  attempt?: number
  data?: Data
}

/** Sends one event of a run. */
export function sendAgentEvent(
  { bus }: Pick<Deps, 'bus'>,
  appNo: number,
  run: Shown,
  event: AgentEvent,
): void {
  const { type, attempt, data = {} } = event
  const body: ServerBody<'agent.event'> = {
    ...{ type, agentUid: run.agent_uid, conversationId: printedId(run) },
    messageId: String(run.message_id),
    ...(run.thread_id !== run.message_id && { parentMessageId: String(run.thread_id) }),
    ...{ runId: run.run_id, threadId: String(run.thread_id), timestamp: Date.now() },
    ...(attempt !== undefined && { attempt }),
    data,
  }
  const audience = { users: [run.uid], by: run.agent_uid }
  const frame = JSON.stringify({ type: 'agent.event', body })
  // An agent writes to many users at once.
  publishEphemeral(bus, appNo, { audience, frame, share: `${run.agent_uid} ${run.uid}` })
}

/** The text of a run, piece by piece. */
export class RunStream {
  readonly #send: (type: AgentEventType, data?: Data) => void
  /** Whether arguments and results of tools stay hidden. Nobody has moderated them. */
  hidesCalls = false
  #attempt = 0
  /** Whether the text has begun. */
  #writes = false
  /** How much of the text was sent, and what comes next. */
  #offset = 0
  #pending = ''
  #timer: NodeJS.Timeout | undefined

  constructor(send: (event: AgentEvent) => void) {
    this.#send = (type, data) =>
      send({
        type,
        ...(this.#attempt > 0 && { attempt: this.#attempt }),
        ...(data && { data }),
      })
  }

  started(): void {
    this.#send('run_started')
  }

  /**
   * The model is asked. Devices forget the text of earlier calls as soon as there is a new one, and at once if the
   * call repeats one that failed.
   */
  begin(attempt: number, repeats: boolean): void {
    this.stop()
    this.#attempt = attempt
    this.#offset = 0
    this.#writes = false
    if (repeats) this.#beginText()
  }

  add(text: string): void {
    if (text === '') return
    this.#beginText()
    this.#pending += text
    this.#timer ??= setTimeout(() => this.#flush(), TOGETHER_MS)
  }

  /** The model wants something else now. */
  endText(): void {
    this.#flush()
    if (this.#writes) this.#send('text_message_end')
    this.#writes = false
  }

  toolCalled({ id: toolCallId, arguments: delta }: ToolCall, tool: CalledTool): void {
    this.#send('tool_call_start', { toolCallId, ...tool })
    if (!this.hidesCalls) this.#send('tool_call_args', { toolCallId, delta })
    this.#send('tool_call_end', { toolCallId })
  }

  /** Who decides has to see what about, so this isn't hidden. */
  waiting({ id: toolCallId, arguments: delta }: ToolCall, tool: WaitingTool): void {
    this.#send('run_waiting', { toolCallId, delta, ...tool })
  }

  toolAnswered(toolCallId: string, text: string): void {
    const content = this.hidesCalls ? {} : { content: text.slice(0, CONTENT_LENGTH) }
    this.#send('tool_call_result', { toolCallId, role: 'tool', ...content })
  }

  finished(answerId: number | undefined): void {
    this.#beginText()
    this.endText()
    this.#send('run_finished', answerId === undefined ? {} : { messageId: String(answerId) })
  }

  failed(reason: string): void {
    this.stop()
    this.#send('run_error', { reason })
  }

  /** Sends nothing more of the current text. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pending = ''
  }

  #beginText(): void {
    if (this.#writes) return
    this.#writes = true
    this.#send('text_message_start')
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#pending === '') return
    const delta = this.#pending
    this.#pending = ''
    this.#send('text_message_content', { delta, offset: this.#offset })
    this.#offset += delta.length
  }
}
