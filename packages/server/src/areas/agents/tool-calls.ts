/** Calls of tools in a run. Each is a step that is stored before the call and after it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCall } from '../../core/models/prompt.ts'
import { Postponed } from '../../platform/jobs/definition.ts'
import { type Arguments, BadArguments, OutcomeUnknown, type ToolResult } from './api-tools.ts'
import { type ActiveRun, ATTEMPTS, Ended, inStep, PAUSE_MS, type Step } from './run.ts'
import {
  addToolCall,
  failToolCall,
  letRunWait,
  startApproved,
  storeResult,
  type TrailRow,
} from './runs.queries.ts'
import { HAND_OVER } from './schema.ts'
import type { Tool } from './tools.ts'
import { countSame, type NextStep } from './trail.ts'

/** So many calls of a tool with the same arguments mean that the model goes in circles. */
const SAME_CALLS = 3

const UNKNOWN: ToolResult = {
  text: 'Nobody knows whether this call took place. It was not repeated.',
  failed: true,
}

/** The arguments of a handover, which were checked before. */
export interface LastWords {
  message: string
  reason?: string
}

/** The call that comes next. */
interface Calling {
  call: ToolCall
  step: Step
  tool: Tool | undefined
  /** Its attempts so far. */
  tried: TrailRow[]
}

/** Makes the call that comes next, or an attempt of it. Throws `Postponed` if it has to wait for a person. */
export async function callTool(
  run: ActiveRun,
  tools: Map<string, Tool>,
  { no, call, tried }: NextStep & { call: ToolCall },
  rows: TrailRow[],
): Promise<void> {
  const { appNo, input } = run.job
  const tool = tools.get(call.name)
  const last = tried.at(-1)
  if (countSame(rows, no, nameOf(tool, call), call.arguments) >= SAME_CALLS - 1) {
    throw new Ended('failed', 'repeated_call')
  }
  const step = { appNo, runId: input.runId, no, attempt: last?.attempt ?? 0 }
  const calling = { call, step, tool, tried }
  if (last?.state === 'waiting') return waitOn(run, calling, last)
  // Otherwise a new version of the service would leave calls behind whose outcome nobody knows.
  return run.job.uncut(async () => {
    if (last?.state === 'approved' && tool) {
      await inStep(run.job, (tx) => startApproved.run(tx, step))
      return makeCall(run, calling, tool)
    }
    return startCall(run, { ...calling, step: { ...step, attempt: step.attempt + 1 } })
  })
}

/** What an agent said when it handed the conversation to a person. Only our own tool can: others may have its name. */
export function handedOver(tools: Map<string, Tool>, rows: TrailRow[]): LastWords | undefined {
  if (!tools.get(HAND_OVER)?.handsOver) return undefined
  const call = rows.find(({ tool, state }) => tool === HAND_OVER && state === 'done')
  return call && (JSON.parse(call.arguments ?? '{}') as LastWords)
}

const nameOf = (tool: Tool | undefined, { name }: ToolCall) => tool?.name ?? name

async function startCall(run: ActiveRun, calling: Calling): Promise<void> {
  const { job, stream } = run
  const { tool, call, step } = calling
  const early = earlyResult(calling)
  const approved = calling.tried.some((row) => row.recent && row.approved)
  const waitsFor = early || approved ? null : (tool?.waitsFor ?? null)
  await inStep(job, async (tx) => {
    const { id: callId, arguments: written } = call
    const names = { tool: nameOf(tool, call), displayName: tool?.displayName ?? null }
    await addToolCall.run(tx, { ...step, ...names, callId, arguments: written, waitsFor })
    if (waitsFor) await letRunWait.run(tx, step)
  })
  if (tool) {
    const { name, displayName, executionText } = tool
    stream.toolCalled(call, { name, displayName, ...(executionText && { executionText }) })
  }
  if (early) return endCall(run, calling, early)
  if (!tool) return
  if (!tool.waitsFor || approved) return makeCall(run, calling, tool)
  showWaiting(run, call, tool, tool.waitsFor)
  throw new Postponed(job.context.deps.config.agents.waitSeconds * 1_000)
}

const showWaiting = (
  { stream }: ActiveRun,
  call: ToolCall,
  { name, displayName }: Tool,
  waitsFor: NonNullable<Tool['waitsFor']>,
) => stream.waiting(call, { name, displayName, waitsFor })

/** Nobody has answered yet. A worker may have died before it asked. */
async function waitOn(run: ActiveRun, { step, tool, call }: Calling, { age_ms: age }: TrailRow) {
  const { job } = run
  const left = job.context.deps.config.agents.waitSeconds * 1_000 - age
  if (left <= 0) throw new Ended('failed', 'unanswered')
  await inStep(job, (tx) => letRunWait.run(tx, step))
  if (tool?.waitsFor) showWaiting(run, call, tool, tool.waitsFor)
  throw new Postponed(Math.ceil(left))
}

/** The result of a call that isn't made. */
function earlyResult({ tool, call, tried }: Calling): ToolResult | undefined {
  if (!tool) return { text: `There is no tool "${call.name}".`, failed: true }
  const args = argumentsOf(call)
  if (!args) return { text: 'The arguments are no JSON object.', failed: true }
  const fault = faultOf(tool, args)
  if (fault !== undefined) return { text: fault, failed: true }
  const made = tried.filter(({ state }) => state !== 'skipped')
  if (made.length === 0) return undefined
  if (tool.idempotent) {
    const again = made.filter(({ recent }) => recent).length < ATTEMPTS
    return again ? undefined : { text: 'The tool does not answer.', failed: true }
  }
  // A worker died in the middle of the call. Whoever retries the run wants it to go on without it.
  if (!made.some(({ recent }) => recent)) return UNKNOWN
  throw new Ended('failed', 'outcome_unknown', `The call of "${call.name}" was cut off.`)
}

/** Why a tool doesn't take these arguments. Nobody is asked to approve them then. */
function faultOf(tool: Tool, args: Arguments): string | undefined {
  try {
    tool.check(args)
    return undefined
  } catch (error) {
    if (error instanceof BadArguments) return error.message
    throw error
  }
}

function argumentsOf(call: ToolCall): Arguments | undefined {
  try {
    const value: unknown = JSON.parse(call.arguments || '{}')
    const object = typeof value === 'object' && value !== null && !Array.isArray(value)
    return object ? (value as Arguments) : undefined
  } catch {
    return undefined
  }
}

async function makeCall(run: ActiveRun, calling: Calling, tool: Tool): Promise<void> {
  const result = await attemptCall(run, calling, tool)
  // Otherwise it is called again.
  if (result) await endCall(run, calling, result)
}

/** Undefined if the call has to be repeated. */
async function attemptCall(
  { job, signal }: ActiveRun,
  { call, step }: Calling,
  tool: Tool,
): Promise<ToolResult | undefined> {
  const key = `${step.runId}-${step.no}`
  try {
    return await tool.call(argumentsOf(call) ?? {}, { key, signal })
  } catch (error) {
    if (error instanceof BadArguments) return { text: error.message, failed: true }
    if (!(error instanceof OutcomeUnknown)) throw error
    const { message } = error
    await inStep(job, (tx) => failToolCall.run(tx, { ...step, error: message }))
    if (!tool.idempotent) throw new Ended('failed', 'outcome_unknown', message)
    await sleep(PAUSE_MS * 2 ** (step.attempt - 1), undefined, { signal })
    return undefined
  }
}

async function endCall(
  { job, stream }: ActiveRun,
  { step, call, tool }: Calling,
  { text, failed, note }: ToolResult,
): Promise<void> {
  const state = failed ? 'failed' : 'done'
  const ended = { state, result: text, error: note ?? null }
  await inStep(job, (tx) => storeResult.run(tx, { ...step, ...ended }))
  // The model made up the name of a tool that doesn't exist, and nobody has moderated it: devices never learn of the call.
  if (tool) stream.toolAnswered(call.id, text)
}
