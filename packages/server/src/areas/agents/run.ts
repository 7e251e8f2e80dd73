/** What the parts of a run have in common. */
import { type ChatEnd, ChatFailed } from '../../core/models/prompt.ts'
import type { JobDeps } from '../../deps.ts'
import type { Tx } from '../../platform/db/db.ts'
import { refusalOf } from '../../platform/http/refusal.ts'
import type { Run } from '../../platform/jobs/definition.ts'
import type { RunStream } from './run-stream.ts'
import { keepRun, type QuestionRow, type Settled } from './runs.queries.ts'
import type { EndReason, RunState } from './runs.schema.ts'

export type AgentJob = Run<{ runId: string }, object, JobDeps>

/** What the model wrote when it wanted nothing more. */
export interface Answered {
  question: QuestionRow
  settled: Settled
  text: string
  end: ChatEnd
}

/** A run that is under way. */
export interface ActiveRun {
  job: AgentJob
  stream: RunStream
  /** Ends the run with the answer. */
  finish(run: ActiveRun, answered: Answered): Promise<void>
  /** Aborts when the job must stop, or the run has taken too long. */
  signal: AbortSignal
  /** The names that people see of what an external agent has called by itself, by the id of the call. */
  ownCalls?: Map<string, string>
  /** Who is asked next; the first one unless a call has just failed. */
  answerer?: number
}

/** How often a model or a tool is called that fails, or whose answer is cut off. */
export const ATTEMPTS = 3
/** The first pause between attempts; the next one is twice as long. */
export const PAUSE_MS = 1_000

/** Which row a step is. */
export type Step = { appNo: number; runId: string; no: number; attempt: number }

/** How a run ended without an answer. */
export class Ended extends Error {
  readonly state: RunState
  readonly reason: EndReason
  readonly detail: string | null

  constructor(state: 'failed' | 'cancelled', reason: EndReason, detail: string | null = null) {
    super(reason)
    this.state = state
    this.reason = reason
    this.detail = detail
  }
}

/** Undefined for a failure of our own, after which the job runs again. */
export function endOf(error: unknown): Ended | undefined {
  if (error instanceof Ended) return error
  if (error instanceof ChatFailed) return new Ended('failed', error.fault, error.message)
  const refusal = refusalOf(error)
  return refusal && new Ended('failed', 'not_deliverable', refusal.code)
}

/** The run or replay was removed, for example with its user. Nothing is stored for it any more. */
export class Removed extends Error {}

/** The job of a run that was removed is done. */
export const untilRemoved = (work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    if (!(error instanceof Removed)) throw error
  })

/** A transaction that fails if the job was lost or cancelled, or the run was removed. */
export async function inStep<T>(
  { checkpoint, appNo, input }: AgentJob,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let result: T | undefined
  await checkpoint(async (tx) => {
    const { kept } = await keepRun.one(tx, { appNo, runId: input.runId })
    if (!kept) throw new Removed()
    result = await work(tx)
    return {}
  })
  return result as T
}
