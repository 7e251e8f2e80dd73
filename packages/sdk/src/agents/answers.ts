import type { AgentRun, AgentRunsMethods, AgentStep } from '../operations.gen.ts'
import { type CalledTool, calledTools } from './steps.ts'

/** An answer that an agent is writing, or failed to write. */
export interface RunningAnswer {
  runId: string
  /** UID of the agent. */
  agentUid: string
  conversationId: string
  /** Id of the first message of the thread. */
  threadId: string
  /** Id of the message with the question. */
  messageId: string
  state: 'running' | 'waiting' | 'failed'
  /** What the agent has written so far. */
  text: string
  /** Starts again with each attempt. */
  attempt: number
  /** Tools that the agent has called, oldest first. */
  tools: CalledTool[]
  /** What it waits for: approve, refuse or continue the run. */
  waiting?: WaitingCall
  /** Why it failed. */
  reason?: string
}

/** A call of a tool that the user has to approve, or that a device has to make. */
export interface WaitingCall {
  toolCallId: string
  name: string
  /** The name that people see. */
  displayName: string
  /** JSON text. */
  arguments: string
  waitsFor: 'approval' | 'device'
}

export interface AgentEvent {
  type: string
  runId: string
  agentUid: string
  conversationId: string
  threadId: string
  messageId: string
  attempt?: number
  data: {
    delta?: string
    offset?: number
    reason?: string
    messageId?: string
    toolCallId?: string
    name?: string
    displayName?: string
    executionText?: string
    waitsFor?: 'approval' | 'device'
  }
}

/** A person answers instead of the agent. That is no failure. */
const HANDED_OVER = 'handed_over'

/** How long to wait before a run is read again, in milliseconds. */
const AGAIN_MS = 1_000
/** If nothing is heard of a running answer for so long, it is read. */
const SILENT_MS = 5_000
/** How many of a user's last questions to an agent can be unanswered. */
const RUNS = 20

/** A piece of an answer's text. */
interface Piece {
  attempt: number
  offset: number
  delta: string
}

/**
 * Tracks the answers that agents are writing to this user, until their messages arrive. The server doesn't repeat events: after
 * a gap or a silence, the run is read.
 */
export class Answers {
  #answers: Record<string, RunningAnswer> = {}
  /** Pieces that came after a gap, by run. */
  readonly #ahead = new Map<string, Piece[]>()
  /** Timers of running answers, which end with the next news. */
  readonly #silences = new Map<string, ReturnType<typeof setTimeout>>()
  readonly #reading = new Set<string>()
  readonly #runs: Pick<AgentRunsMethods, 'get' | 'list'>
  readonly #changed: (answers: Record<string, RunningAnswer>) => void

  constructor(
    runs: Pick<AgentRunsMethods, 'get' | 'list'>,
    changed: (answers: Record<string, RunningAnswer>) => void,
  ) {
    this.#runs = runs
    this.#changed = changed
  }

  /** Reads which of the user's last questions the agent is answering, or failed to answer. */
  async load(agentUid: string): Promise<void> {
    const { data } = await this.#runs.list({ agentUid, limit: RUNS })
    for (const run of data) this.#note(run)
  }

  apply({ type, data, attempt = 0, ...ids }: AgentEvent): void {
    const { runId, agentUid, conversationId, threadId, messageId } = ids
    const known = this.#answers[runId]
    // A worker that lost the run may still send a moment long.
    if (known && attempt < known.attempt && type.startsWith('text_')) return
    const place = { runId, agentUid, conversationId, threadId, messageId }
    const fresh = { ...place, attempt, text: '', state: 'running' as const }
    const empty: RunningAnswer = { ...fresh, tools: ended(known?.tools) }
    // Pieces of the text before don't continue this one.
    if (type === 'run_started' || type === 'text_message_start') this.#ahead.delete(runId)
    if (type === 'run_finished') {
      // The message says the rest. A held one comes later, or never.
      if (data.messageId === undefined) this.end(runId)
    } else if (type === 'run_error' && data.reason === HANDED_OVER) this.end(runId)
    else if (type === 'run_error') {
      this.#set(failedWith(known ?? empty, data.reason))
    } else if (type === 'run_started') this.#set({ ...fresh, tools: [] })
    else if (type === 'text_message_start') this.#set(empty)
    else if (type.startsWith('tool_call_')) this.#set(withTool(known ?? empty, type, data))
    else if (type === 'run_waiting') this.#set(waitingFor(known ?? empty, data))
    else if (type === 'run_resumed') this.#resume(runId)
    else if (type === 'text_message_content') {
      const continues = known?.attempt === attempt && known.state === 'running'
      this.#add(continues ? known : empty, data)
    }
  }

  /** The message of the answer has arrived, or nobody waits for it. */
  end(runId: string): void {
    if (!this.#answers[runId]) return
    const { [runId]: _, ...others } = this.#answers
    this.#answers = others
    this.#forget(runId)
    this.#changed(others)
  }

  /** A run that this client hasn't heard of, for example because it has just started. */
  #note({ id: runId, state, reason, ...run }: AgentRun): void {
    if (state === 'finished' || reason === HANDED_OVER || this.#answers[runId]) return
    const { agentUid, conversationId, threadId, messageId } = run
    const place = { runId, agentUid, conversationId, threadId, messageId }
    const empty = { ...place, text: '', attempt: 0, tools: [] }
    const isOver = state === 'failed' || state === 'cancelled'
    this.#set(
      isOver ? { ...empty, state: 'failed', reason: reason ?? '' } : { ...empty, state: 'running' },
    )
    if (!isOver) void this.#fetch(runId)
  }

  /** Events may have been lost. */
  reload(): void {
    for (const { runId, state } of Object.values(this.#answers)) {
      if (state !== 'failed') void this.#fetch(runId)
    }
  }

  clear(): void {
    const runs = Object.keys(this.#answers)
    if (runs.length === 0) return
    for (const runId of runs) this.#forget(runId)
    this.#answers = {}
    this.#changed({})
  }

  #add(answer: RunningAnswer, { delta = '', offset = 0 }: AgentEvent['data']): void {
    const { runId, attempt } = answer
    const ahead = [...(this.#ahead.get(runId) ?? []), { attempt, offset, delta }]
    if (!this.#join(answer, ahead)) void this.#fetch(runId)
  }

  /** Shows the answer with the pieces that continue it, and keeps those after a gap. Returns whether there is none. */
  #join(answer: RunningAnswer, pieces: Piece[]): boolean {
    const { runId, attempt } = answer
    let { text } = answer
    const ahead = pieces.filter((piece) => {
      if (piece.attempt !== attempt) return false
      if (piece.offset > text.length) return true
      text = text.slice(0, piece.offset) + piece.delta
      return false
    })
    if (ahead.length > 0) this.#ahead.set(runId, ahead)
    else this.#ahead.delete(runId)
    this.#set({ ...answer, text })
    return ahead.length === 0
  }

  #forget(runId: string): void {
    clearTimeout(this.#silences.get(runId))
    this.#silences.delete(runId)
    this.#ahead.delete(runId)
  }

  #resume(runId: string): void {
    const known = this.#answers[runId]
    if (known?.state !== 'waiting') return
    const { waiting: _, ...answer } = known
    this.#set({ ...answer, state: 'running' })
  }

  #set(answer: RunningAnswer): void {
    const { runId, state } = answer
    this.#answers = { ...this.#answers, [runId]: answer }
    clearTimeout(this.#silences.get(runId))
    if (state === 'running') {
      this.#silences.set(
        runId,
        setTimeout(() => void this.#fetch(runId), SILENT_MS),
      )
    }
    this.#changed(this.#answers)
  }

  /** The stored text is up to a second old. If it doesn't reach the pieces after the gap, the next piece has it read again. */
  async #fetch(runId: string): Promise<void> {
    if (this.#reading.has(runId)) return
    this.#reading.add(runId)
    setTimeout(() => this.#reading.delete(runId), AGAIN_MS)
    const run = await this.#runs.get(runId).catch(() => undefined)
    const known = this.#answers[runId]
    if (!known) return
    if (!run) return this.#set(known)
    if (run.state === 'finished' || run.reason === HANDED_OVER) return this.end(runId)
    if (run.state === 'failed' || run.state === 'cancelled') {
      this.#set(failedWith(known, run.reason))
      return
    }
    const tools = newerTools(run.steps, known.tools)
    const { text = '', attempt = 0 } = run
    const newer =
      attempt > known.attempt || (attempt === known.attempt && text.length > known.text.length)
    const answer = { ...known, tools, ...(newer && { attempt, text }) }
    if (run.state === 'waiting') {
      const step = run.steps.filter(({ state }) => state === 'waiting').at(-1)
      if (!step) return
      const { tool: name = '', toolCallId = '', arguments: delta = '' } = step
      const { displayName = name, waitsFor = 'approval' } = step
      this.#set(waitingFor(answer, { toolCallId, name, displayName, delta, waitsFor }))
      return
    }
    this.#join(answer, this.#ahead.get(runId) ?? [])
    this.#resume(runId)
  }
}

/** The answer with what an event says about a call of a tool. */
function withTool(answer: RunningAnswer, type: string, data: AgentEvent['data']): RunningAnswer {
  const { toolCallId = '', name = '', displayName = name, executionText } = data
  if (type === 'tool_call_start') {
    const others = ended(answer.tools).filter((tool) => tool.toolCallId !== toolCallId)
    const called = { toolCallId, name, displayName, ...(executionText && { executionText }) }
    return { ...answer, tools: [...others, { ...called, done: false }] }
  }
  if (type !== 'tool_call_result') return answer
  const tools = answer.tools.map((tool) =>
    tool.toolCallId === toolCallId ? { ...tool, done: true } : tool,
  )
  return { ...answer, tools }
}

/** Whatever it waited for, nobody is asked any more. */
const failedWith = ({ waiting: _, ...answer }: RunningAnswer, reason = ''): RunningAnswer => ({
  ...answer,
  state: 'failed',
  reason,
})

/** Calls are made one after the other, so what came before the next call or text is over. Refused calls have no result. */
const ended = (tools: CalledTool[] = []) => tools.map((tool) => ({ ...tool, done: true }))

/** The calls among the steps of a run, unless the steps are older than the last event. */
function newerTools(steps: AgentStep[], known: CalledTool[]): CalledTool[] {
  const tools = calledTools(steps)
  return tools.length < known.length ? known : tools
}

function waitingFor(answer: RunningAnswer, data: AgentEvent['data']): RunningAnswer {
  const { toolCallId = '', name = '', delta = '', waitsFor = 'approval' } = data
  const { displayName = name } = data
  const waiting = { toolCallId, name, displayName, arguments: delta, waitsFor }
  return { ...answer, state: 'waiting', waiting }
}
