/** Calls of the model or the external agent in a run. Each is a step, and reserves what it may cost before it is made. */
import { setTimeout as sleep } from 'node:timers/promises'
import { mostTokens, streamChat } from '../../core/models/chat.ts'
import {
  type ChatEnd,
  ChatFailed,
  type ChatPiece,
  type ChatPrompt,
  type ToolCall,
  type Usage,
} from '../../core/models/prompt.ts'
import { AnswerText, cleaned } from './answer-text.ts'
import type { Answerer, Asked } from './asked.ts'
import { type ActiveRun, ATTEMPTS, Ended, inStep, PAUSE_MS, type Step } from './run.ts'
import { reserveCall, settleCall, storeText, type TrailRow } from './runs.queries.ts'
import type { EndReason } from './runs.schema.ts'
import { shower } from './shown-text.ts'
import type { ShownTool } from './tools.ts'
import { type Called, type NextStep, withOwnIds } from './trail.ts'

const STORE_MS = 1_000
/** Prices are for so many tokens. */
const PRICED_TOKENS = 1_000_000
/** How many steps a run has at most. */
const STEPS = 50
const REPEATED: string[] = ['provider_limited', 'provider_unavailable', 'provider_invalid']
/** How many models a process remembers that refuse the usual name of the limit. Apps choose their names. */
const RENAMED = 1_000
/** Another provider may do better at once. */
const PASSED_ON: string[] = ['provider_limited', 'provider_unavailable']

/** Money is null without prices. */
interface Cost {
  tokens: number
  money: number | null
}

function costOf({ kind, prices }: Answerer, { input, output }: Usage): Cost {
  // External agents pay for their models themselves. Their calls are counted instead.
  if (kind === 'ag-ui') return { tokens: 0, money: 0 }
  const money = prices && (input * prices.input + output * prices.output) / PRICED_TOKENS
  return { tokens: input + output, money: money ?? null }
}

const keyOf = ({ url, model }: Answerer) => `${url} ${model}`

/** Asks the model once. Returns whether the run is over. */
export async function askModel(
  run: ActiveRun,
  asked: Asked,
  { no, turns, tried }: NextStep,
  rows: TrailRow[],
): Promise<boolean> {
  const { job, stream, signal } = run
  const { appNo, input } = job
  const recent = tried.filter((row) => row.recent).length
  if (recent >= ATTEMPTS) throw new Ended('failed', 'interrupted')
  if (no > STEPS) throw new Ended('failed', 'too_many_steps')
  const cutOff = tried.some((row) => row.recent && row.state === 'cut')
  if (cutOff && !asked.idempotent) {
    throw new Ended('failed', 'outcome_unknown', 'The call of the agent was cut off.')
  }
  const nth = run.answerer ?? 0
  const answerer = asked.answerers[nth] ?? asked.answerers[0]
  const { providerId, model } = answerer
  const { renamed } = job.context.deps.models
  const prompt: ChatPrompt = {
    ...{ ...asked.prompt, kind: answerer.kind, model, renamed: renamed.has(keyOf(answerer)) },
    turns: [...asked.prompt.turns, ...turns],
  }
  const step = { appNo, runId: input.runId, no, attempt: (tried.at(-1)?.attempt ?? 0) + 1 }
  await inStep(job, async (tx) => {
    const most = costOf(answerer, mostTokens(prompt))
    const call = { ...step, kind: asked.kind, providerId, model: model || null, ...most }
    const { refusal } = await reserveCall.one(tx, call)
    if (refusal !== null) throw new Ended('failed', refusal as EndReason)
  })
  try {
    const before = rows.filter(({ kind }) => kind !== 'tool_call').length
    stream.begin(before + 1, step.attempt > 1)
    run.answerer = 0
    return await callModel(run, asked, { answerer, prompt, step, rows })
  } catch (error) {
    if (!(error instanceof ChatFailed)) throw error
    const cost = error.spent ? { tokens: null, money: null } : { tokens: 0, money: 0 }
    const none = { input: null, output: null, calls: null }
    await inStep(job, (tx) =>
      settleCall.run(tx, { ...step, ...none, ...cost, state: 'failed', error: error.message }),
    )
    const again = REPEATED.includes(error.fault) && (asked.idempotent || !error.spent)
    if (!(again || error.renames) || recent + 1 >= ATTEMPTS) throw error
    if (error.renames) {
      if (renamed.size >= RENAMED) renamed.clear()
      renamed.add(keyOf(answerer))
      run.answerer = nth
      return false
    }
    if (nth + 1 < asked.answerers.length && !error.begun && PASSED_ON.includes(error.fault)) {
      run.answerer = nth + 1
      return false
    }
  }
  await sleep(PAUSE_MS * 2 ** recent, undefined, { signal })
  return false
}

interface ModelCall {
  answerer: Answerer
  prompt: ChatPrompt
  step: Step
  /** The steps of the run so far. */
  rows: TrailRow[]
}

async function callModel(
  run: ActiveRun,
  asked: Asked,
  { answerer, prompt, step, rows }: ModelCall,
): Promise<boolean> {
  const { job, stream } = run
  const { text, end } = await readAnswer(run, asked, answerer, prompt, step)
  const { usage, calls } = end
  const called: Called | undefined =
    calls.length > 0 ? { text, calls: withOwnIds(calls, rows) } : undefined
  const settled = {
    ...{ ...step, state: 'done', error: null, calls: called ? JSON.stringify(called) : null },
    ...(usage ? costOf(answerer, usage) : { tokens: null, money: null }),
    ...{ input: usage?.input ?? null, output: usage?.output ?? null },
  }
  if (!called) {
    await run.finish(run, { question: asked.question, settled, text: text.trim(), end })
    return true
  }
  await inStep(job, (tx) => settleCall.run(tx, settled))
  stream.endText()
  return false
}

/**
 * Shows calls that an external agent makes by itself. The app has described some of its tools; the names of others are as
 * hostile as the text of the agent.
 */
function callShower(
  { stream }: ActiveRun,
  { toolbox: { own }, moderated }: Asked,
  called: Map<string, string>,
) {
  const hidden = new Set<string>()
  const shownAs = ({ name: written }: ToolCall): ShownTool | undefined => {
    const name = moderated ? '' : cleaned(written)
    return own.get(written) ?? (name === '' ? undefined : { name, displayName: name })
  }
  return (piece: Exclude<ChatPiece, string>) => {
    if ('result' in piece) {
      if (!hidden.has(piece.callId)) stream.toolAnswered(piece.callId, piece.result)
      return
    }
    const { id, name } = piece.call
    const tool = own.get(name)
    // Names that the app doesn't know aren't stored.
    if (tool) called.set(id, tool.displayName)
    const shown = shownAs(piece.call)
    if (shown) stream.toolCalled(piece.call, shown)
    else hidden.add(id)
  }
}

/** Reads the answer as it arrives, shows it to devices, and stores it once a second. */
async function readAnswer(
  run: ActiveRun,
  asked: Asked,
  { url, key }: Answerer,
  prompt: ChatPrompt,
  step: Step,
): Promise<{ text: string; end: ChatEnd }> {
  const { job, signal } = run
  const { outbound: guarded, models, config } = job.context.deps
  const outbound = asked.kind === 'agent_call' ? guarded : models.outbound
  const idleMs = config.agents.idleSeconds * 1_000
  const { question, moderated } = asked
  const headers = asked.kind === 'agent_call' && {
    headers: { 'idempotency-key': `${step.runId}-${step.no}`, ...asked.headers },
  }
  const pieces = streamChat({ ...prompt, ...headers, url, key, outbound, idleMs, signal })
  const answer = new AnswerText()
  const show = shower(run, question, moderated)
  const called = new Map<string, string>()
  const showCall = callShower(run, asked, called)
  let end: ChatEnd = { finish: 'length', usage: undefined, calls: [] }
  let storedAt = performance.now()
  for (;;) {
    const next = await pieces.next()
    if (next.done) {
      end = next.value
      break
    }
    if (typeof next.value !== 'string') {
      showCall(next.value)
      continue
    }
    answer.add(next.value)
    const visible = await show(answer.text)
    // The rest isn't read; this closes the connection.
    if (answer.full) {
      await pieces.return(end)
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
  // Only now: what an attempt called that failed isn't part of the answer.
  run.ownCalls = new Map([...(run.ownCalls ?? []), ...called])
  return { text: answer.text, end }
}
