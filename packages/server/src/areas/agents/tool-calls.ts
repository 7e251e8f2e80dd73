/** Calls of tools in a run. Each is a step that is stored before the call and after it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCall } from '../../core/models/prompt.ts'
import { type Arguments, BadArguments, OutcomeUnknown, type ToolResult } from './api-tools.ts'
import { type ActiveRun, ATTEMPTS, Ended, inStep, PAUSE_MS, type Step } from './run.ts'
import { addToolCall, failToolCall, storeResult, type TrailRow } from './runs.queries.ts'
import type { Tool } from './tools.ts'
import { countSame, type NextStep } from './trail.ts'

/** So many calls of a tool with the same arguments mean that the model goes in circles. */
const SAME_CALLS = 3

const UNKNOWN: ToolResult = {
  text: 'Nobody knows whether this call took place. It was not repeated.',
  failed: true,
}

/** Makes the call that comes next, or an attempt of it. */
export async function callTool(
  run: ActiveRun,
  tools: Map<string, Tool>,
  { no, call, tried }: NextStep & { call: ToolCall },
  rows: TrailRow[],
): Promise<void> {
  const { job, stream } = run
  const { appNo, input } = job
  const tool = tools.get(call.name)
  if (countSame(rows, no, call) >= SAME_CALLS - 1) throw new Ended('failed', 'repeated_call')
  const attempt = (tried.at(-1)?.attempt ?? 0) + 1
  const step = { appNo, runId: input.runId, no, attempt }
  const early = earlyResult(tool, call, tried)
  await inStep(job, (tx) => addToolCall.run(tx, { ...step, ...shownOf(call) }))
  stream.toolCalled(call, tool?.displayName ?? call.name)
  const result = early ?? (tool && (await attemptCall(run, tool, call, step)))
  // It is called again.
  if (!result) return
  await endCall(run, step, call, result)
}

const shownOf = ({ id: callId, name, arguments: written }: ToolCall) => ({
  ...{ callId, tool: name, arguments: written },
})

/** The result of a call that isn't made. */
function earlyResult(tool: Tool | undefined, call: ToolCall, tried: TrailRow[]) {
  if (!tool) return { text: `There is no tool "${call.name}".`, failed: true }
  if (!argumentsOf(call)) return { text: 'The arguments are no JSON object.', failed: true }
  if (tried.length === 0) return undefined
  if (tool.idempotent) {
    const again = tried.filter(({ recent }) => recent).length < ATTEMPTS
    return again ? undefined : { text: 'The tool does not answer.', failed: true }
  }
  // A worker died in the middle of the call. Whoever retries the run wants it to go on without it.
  if (!tried.some(({ recent }) => recent)) return UNKNOWN
  throw new Ended('failed', 'outcome_unknown', `The call of "${call.name}" was cut off.`)
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

/** Undefined if the call has to be repeated. */
async function attemptCall(
  { job, signal }: ActiveRun,
  tool: Tool,
  call: ToolCall,
  step: Step,
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
  step: Step,
  { id }: ToolCall,
  { text, failed }: ToolResult,
): Promise<void> {
  const state = failed ? 'failed' : 'done'
  await inStep(job, (tx) => storeResult.run(tx, { ...step, state, result: text }))
  stream.toolAnswered(id, text)
}
