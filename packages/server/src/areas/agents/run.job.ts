import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import {
  type ChatEnd,
  ChatFailed,
  type ChatPrompt,
  mostTokens,
  type ProviderKind,
  streamChat,
  type Usage,
} from '../../core/models/chat.ts'
import { moderate } from '../../core/moderation/moderate.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import { defineJob, type JobDeps } from '../../deps.ts'
import { refusalOf } from '../../platform/http/refusal.ts'
import type { Run } from '../../platform/jobs/definition.ts'
import { insertMessage } from '../messages/queries.ts'
import { findProvider } from '../models/queries.ts'
import type { Definition } from './actions.ts'
import { AnswerText } from './answer-text.ts'
import { readInstruction, readTurns } from './prompt.ts'
import { findAgent, findModeration } from './queries.ts'
import { RunStream } from './run-stream.ts'
import {
  beginRun,
  countAttempts,
  cutSteps,
  endLostRuns,
  endRun,
  findQuestion,
  type QuestionRow,
  removeOldRuns,
  removeOldSpending,
  reserveCall,
  settleCall,
  storeAnswer,
  storeText,
} from './runs.queries.ts'
import type { EndReason, RunState } from './runs.schema.ts'
import { DEFAULT_MODEL } from './schema.ts'

/** How often a model is asked that fails, or whose answer is cut off. */
const ATTEMPTS = 3
/** The first pause between attempts; the next one is twice as long. */
const PAUSE_MS = 1_000
const STORE_MS = 1_000
/** How often the rules of moderation look at a text that is being written. */
const CHECK_MS = 500
const DEFAULT_TOKENS = 1_024
/** Prices are for so many tokens. */
const PRICED_TOKENS = 1_000_000
/** The only step so far. */
const STEP = 1
const BATCH = 1_000

type AgentJob = Run<{ runId: string }, Record<string, never>, JobDeps>

/** Lets an agent answer. Every write is a checkpoint, so a worker that lost the job, or a cancelled run, stores nothing. */
export const runAgentJob = defineJob({
  name: 'agents.run',
  summary: 'Lets an agent answer a message.',
  input: Type.Object({ runId: Type.String() }),
  checkpoint: Type.Object({}),
  run: answer,
})

export const sweepAgentRunsJob = defineJob({
  name: 'agents.sweepRuns',
  summary: 'Ends runs of agents that have lost their job, and deletes old ones.',
  input: Type.Object({}),
  schedule: { everySeconds: 60 },
  async run({ signal, context: { cell } }) {
    const limit = BATCH
    while (!signal.aborted && (await endLostRuns.many(cell.db, { limit })).length === limit);
    while (!signal.aborted && (await removeOldRuns.one(cell.db, { limit })).removed === limit);
    await removeOldSpending.run(cell.db, {})
  },
})

/** How a run ended without an answer. */
class Ended extends Error {
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

async function answer(job: AgentJob): Promise<void> {
  const { appNo, input, signal, context } = job
  const { runId } = input
  const { runSeconds } = context.deps.config.agents
  const begun = await inStep(job, async (tx) => {
    const row = await beginRun.maybeOne(tx, { appNo, runId })
    if (row) await cutSteps.run(tx, { appNo, runId })
    return row
  })
  // It was cancelled or deleted meanwhile, or a worker ended it just before it died.
  if (!begun) return
  const stream = new RunStream(context.deps, appNo, begun)
  stream.started()
  const deadline = AbortSignal.timeout(
    Math.max(Math.round(runSeconds * 1_000 - begun.elapsed_ms), 0),
  )
  try {
    await tryToAnswer(job, stream, AbortSignal.any([signal, deadline]))
  } catch (error) {
    stream.stop()
    signal.throwIfAborted()
    const ended = deadline.aborted ? new Ended('failed', 'timed_out') : endOf(error)
    if (!ended) throw error
    const { state, reason, detail } = ended
    await inStep(job, async (tx) => {
      await cutSteps.run(tx, { appNo, runId })
      await endRun.run(tx, { appNo, runId, state, reason, error: detail })
    })
    stream.failed(reason)
  }
}

/** Undefined for a failure of our own, after which the job runs again. */
function endOf(error: unknown): Ended | undefined {
  if (error instanceof Ended) return error
  if (error instanceof ChatFailed) return new Ended('failed', error.fault, error.message)
  const refusal = refusalOf(error)
  return refusal && new Ended('failed', 'not_deliverable', refusal.code)
}

/** A transaction that fails if the job was lost or cancelled. */
async function inStep<T>(
  { checkpoint }: AgentJob,
  work: (tx: Parameters<Parameters<AgentJob['checkpoint']>[0]>[0]) => Promise<T>,
): Promise<T> {
  let result: T | undefined
  await checkpoint(async (tx) => {
    result = await work(tx)
    return {}
  })
  return result as T
}

async function tryToAnswer(job: AgentJob, stream: RunStream, signal: AbortSignal): Promise<void> {
  const asked = await prepare(job)
  const { appNo, input } = job
  const { runId } = input
  const { db } = job.context.cell
  for (;;) {
    const { last, recent } = await countAttempts.one(db, { appNo, runId, no: STEP })
    if (recent >= ATTEMPTS) throw new Ended('failed', 'interrupted')
    const step = { appNo, runId, no: STEP, attempt: last + 1 }
    const { providerId, prompt, most } = asked
    await inStep(job, async (tx) => {
      const call = { ...step, providerId, model: prompt.model, ...most }
      const { refusal } = await reserveCall.one(tx, call)
      if (refusal !== null) throw new Ended('failed', refusal as EndReason)
    })
    try {
      stream.begin(step.attempt)
      return await callModel({ job, stream, signal }, asked, step)
    } catch (error) {
      if (!(error instanceof ChatFailed)) throw error
      const cost = error.spent ? { tokens: null, money: null } : { tokens: 0, money: 0 }
      const none = { input: null, output: null }
      await inStep(job, (tx) =>
        settleCall.run(tx, { ...step, ...none, ...cost, state: 'failed', error: error.message }),
      )
      if (!REPEATED.includes(error.fault) || recent + 1 >= ATTEMPTS) throw error
    }
    await sleep(PAUSE_MS * 2 ** recent, undefined, { signal })
  }
}

const REPEATED: string[] = ['provider_limited', 'provider_unavailable', 'provider_invalid']

interface Prepared {
  question: QuestionRow
  providerId: string
  url: string
  key: string | undefined
  prompt: ChatPrompt
  /** What a call costs at most. */
  most: Cost
  costOf(usage: Usage): Cost
}

/** Money is null without prices. */
interface Cost {
  tokens: number
  money: number | null
}

async function prepare({ appNo, input: { runId }, context }: AgentJob): Promise<Prepared> {
  const { deps, cell } = context
  const { db } = cell
  const question = await findQuestion.maybeOne(db, { appNo, runId })
  if (!question) throw new Ended('cancelled', 'question_deleted')
  const agent = await findAgent.maybeOne(db, { appNo, kind: 'built', uid: question.agent_uid })
  if (!agent?.active) throw new Ended('failed', 'agent_inactive')
  const definition = agent.definition as Definition
  const { providerId, model = DEFAULT_MODEL, modelMetaData, instruction } = definition
  const provider =
    providerId === undefined
      ? undefined
      : await findProvider.maybeOne(db, { appNo, id: providerId })
  if (!provider) throw new Ended('failed', 'not_configured', 'The agent has no model provider.')
  const { provider_id: id, key_sealed: sealed } = provider
  const prompt: ChatPrompt = {
    ...{ kind: provider.kind as ProviderKind, model },
    system: await readInstruction(db, appNo, instruction, question),
    turns: await readTurns(db, appNo, question),
    maxTokens: modelMetaData?.maxTokens ?? DEFAULT_TOKENS,
    temperature: modelMetaData?.temperature,
  }
  const costOf = ({ input, output }: Usage): Cost => {
    const { input_price: read, output_price: written } = provider
    const priced = read !== null && written !== null
    return {
      tokens: input + output,
      money: priced ? (input * read + output * written) / PRICED_TOKENS : null,
    }
  }
  return {
    ...{ question, providerId: id, url: provider.url, prompt },
    key: sealed ? deps.secrets.open(['model_providers.key', appNo, id], sealed) : undefined,
    ...{ most: costOf(mostTokens(prompt)), costOf },
  }
}

type Step = { appNo: number; runId: string; no: number; attempt: number }

interface Calling {
  job: AgentJob
  stream: RunStream
  signal: AbortSignal
}

async function callModel({ job, stream: shown, signal }: Calling, asked: Prepared, step: Step) {
  const { outbound, config } = job.context.deps
  const { question, url, key, prompt } = asked
  const idleMs = config.agents.idleSeconds * 1_000
  const stream = streamChat({ ...prompt, url, key, outbound, idleMs, signal })
  const answer = new AnswerText()
  const show = await shower(job, question, shown)
  let end: ChatEnd = { finish: 'length', usage: undefined }
  let storedAt = performance.now()
  for (;;) {
    const next = await stream.next()
    if (next.done) {
      end = next.value
      break
    }
    answer.add(next.value)
    const visible = await show(answer.text)
    // The rest isn't read; this closes the connection.
    if (answer.full) {
      await stream.return(end)
      break
    }
    if (performance.now() - storedAt >= STORE_MS) {
      // The asking user can read it, so it is no more than devices were shown.
      await inStep(job, (tx) => storeText.run(tx, { ...step, text: visible }))
      storedAt = performance.now()
    }
  }
  answer.end()
  await show(answer.text)
  await finish(job, shown, { asked, step, text: answer.text.trim(), end })
}

/** Sends the answer and ends the run in one transaction, so there is never more than one. */
async function finish(
  job: AgentJob,
  stream: RunStream,
  { asked, step, text, end }: { asked: Prepared; step: Step; text: string; end: ChatEnd },
): Promise<void> {
  const { appNo, input, context } = job
  const { runId } = input
  const { question, costOf } = asked
  const { input: inputTokens = null, output: outputTokens = null } = end.usage ?? {}
  const cost = end.usage ? costOf(end.usage) : { tokens: null, money: null }
  const done = { ...step, ...cost, input: inputTokens, output: outputTokens, error: null }
  const { agent_uid: sender, uid: receiver, thread_id: thread } = question
  const data = { text, runId, threadId: String(thread) }
  const refused =
    text === '' ? (end.finish === 'filtered' ? 'filtered' : 'empty_answer') : undefined
  const verdict = refused ? undefined : await judge(context, appNo, question, data)
  const reason = refused ?? (verdict?.status === 'disapproved' ? 'disapproved' : undefined)
  if (reason) {
    await inStep(job, async (tx) => {
      await endRun.run(tx, { appNo, runId, state: 'failed', reason, error: null })
      await settleCall.run(tx, { ...done, state: 'done' })
    })
    stream.failed(reason)
    return
  }
  const held = verdict?.status === 'pending'
  const judged = verdict?.status === 'approved' ? { moderation: { status: 'approved' } } : {}
  const ended: EndReason = held ? 'held' : end.finish === 'stop' ? 'answered' : 'cut_short'
  const sent = await inStep(job, async (tx) => {
    const over = { appNo, runId, state: 'finished', reason: ended, error: null }
    if (!(await endRun.maybeOne(tx, over))) return undefined
    tx.announced = true
    tx.enqueued = held
    const { message_id: answerId } = await insertMessage.one(tx, {
      ...{ appNo, kind: 'user', sender, receiver, category: 'agentic', type: 'assistant' },
      ...{ data: JSON.stringify({ ...data, ...judged }), tags: [], muid: runId, target: '' },
      ...{ credential: Buffer.alloc(0), key: null, requestHash: null, clock: Date.now() },
      ...{ parent: String(thread), quoted: null, mentions: null, shows: true, files: null },
      verdict: held ? JSON.stringify(verdict) : null,
    })
    await storeAnswer.run(tx, { appNo, runId, answerId })
    // Last, because other calls of the app wait for its sum.
    await settleCall.run(tx, { ...done, state: 'done' })
    return answerId
  })
  stream.finished(held ? undefined : sent)
}

/**
 * Shows devices the text so far, and returns what they were shown of it. With rules of moderation, these are only whole
 * words that they approve, and nothing more after a text that they don't approve, or that has to wait for a check.
 */
async function shower(
  { appNo, context }: AgentJob,
  question: QuestionRow,
  stream: RunStream,
): Promise<(text: string) => Promise<string>> {
  const { moderation } = await findModeration.one(context.cell.db, { appNo })
  let [shown, checkedAt, muted] = [0, 0, false]
  /** How much of a text may be shown now. */
  const approvedIn = async (text: string): Promise<number> => {
    if (moderation === null) return text.length
    const now = performance.now()
    if (muted || now - checkedAt < CHECK_MS) return shown
    checkedAt = now
    const upto = text.search(/\S*$/)
    if (upto <= shown) return shown
    const verdict = await judge(context, appNo, question, { text: text.slice(0, upto) })
    muted = verdict !== undefined && verdict.status !== 'approved'
    return muted ? shown : upto
  }
  return async (text) => {
    const upto = await approvedIn(text)
    stream.add(text.slice(shown, upto))
    shown = upto
    return text.slice(0, shown)
  }
}

/** What the app's rules of moderation say about an answer. */
async function judge(
  { cell }: JobDeps,
  appNo: number,
  { agent_uid: sender, uid: receiver }: QuestionRow,
  data: { text: string },
): Promise<Verdict | undefined> {
  const { app_id: id, moderation } = await findModeration.one(cell.db, { appNo })
  const app = { cell, no: appNo, id }
  const message = { sender, kind: 'user' as const, receiver, data }
  // Rules about texts look at the categories that users write.
  return moderate(
    { app, moderation: moderation ?? undefined },
    { ...message, category: 'message', type: 'text' },
  )
}
