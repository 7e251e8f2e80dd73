/** Shows the devices of the asking user what an agent does, while it does it. Nothing of it is stored. */
import type { ServerBody } from '@loquat/protocol'
import { publishEphemeral } from '../../core/ephemeral.ts'
import { printedId } from '../../core/ids.ts'
import type { Deps } from '../../deps.ts'
import type { RunRow } from './runs.queries.ts'

/** Pieces of text that arrive within this time are one frame. */
const TOGETHER_MS = 50

type Shown = Pick<
  RunRow,
  'run_id' | 'agent_uid' | 'uid' | 'message_id' | 'thread_id' | 'kind' | 'one' | 'other'
>
type AgentEventType = ServerBody<'agent.event'>['type']
type Data = ServerBody<'agent.event'>['data']

/** Sends one event of a run. */
export function sendAgentEvent(
  { bus }: Pick<Deps, 'bus'>,
  appNo: number,
  run: Shown,
  event: { type: AgentEventType; attempt?: number; data?: Data },
): void {
  const { type, attempt, data = {} } = event
  const body: ServerBody<'agent.event'> = {
    ...{ type, conversationId: printedId(run), messageId: String(run.message_id) },
    ...(run.thread_id !== run.message_id && { parentMessageId: String(run.thread_id) }),
    ...{ runId: run.run_id, threadId: String(run.thread_id), timestamp: Date.now() },
    ...(attempt !== undefined && { attempt }),
    data,
  }
  const audience = { users: [run.uid], by: run.agent_uid }
  const frame = JSON.stringify({ type: 'agent.event', body })
  publishEphemeral(bus, appNo, { audience, frame })
}

/** The text of a run, piece by piece. */
export class RunStream {
  readonly #send: (type: AgentEventType, data?: Data) => void
  #attempt = 0
  /** How much of the text was sent, and what comes next. */
  #offset = 0
  #pending = ''
  #timer: NodeJS.Timeout | undefined

  constructor(deps: Pick<Deps, 'bus'>, appNo: number, run: Shown) {
    this.#send = (type, data) =>
      sendAgentEvent(deps, appNo, run, {
        type,
        ...(this.#attempt > 0 && { attempt: this.#attempt }),
        ...(data && { data }),
      })
  }

  started(): void {
    this.#send('run_started')
  }

  /** Devices forget the text of earlier attempts. */
  begin(attempt: number): void {
    this.stop()
    this.#attempt = attempt
    this.#offset = 0
    this.#send('text_message_start')
  }

  add(text: string): void {
    if (text === '') return
    this.#pending += text
    this.#timer ??= setTimeout(() => this.#flush(), TOGETHER_MS)
  }

  finished(answerId: number | undefined): void {
    this.#flush()
    this.#send('text_message_end')
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
