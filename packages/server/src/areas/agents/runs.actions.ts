import type { Actor } from '../../core/actor.ts'
import { printedId } from '../../core/ids.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { fail } from '../../platform/http/fail.ts'
import { cancelJob, wakeJob } from '../jobs/queries.ts'
import { sendAgentEvent } from './run-stream.ts'
import {
  answerCall,
  approveCall,
  closeSteps,
  endRun,
  enqueueRun,
  findRun,
  hasManyRuns,
  listRunRows,
  listSteps,
  lockRun,
  lockRunsOfUser,
  type RunRow,
  requeueRun,
  type StepRow,
} from './runs.queries.ts'
import {
  type AgentRun,
  type AgentRunDetails,
  type AgentRunQuery,
  type DeviceResult,
  type EndReason,
  OPEN_RUNS,
} from './runs.schema.ts'

const isApp = ({ uid }: Actor) => uid === undefined

function toRun(actor: Actor, row: RunRow): AgentRun {
  const { reason, error, answer_id: answerId } = row
  return {
    ...{ id: row.run_id, agentUid: row.agent_uid, uid: row.uid, conversationId: printedId(row) },
    ...{ messageId: String(row.message_id), threadId: String(row.thread_id) },
    ...(row.revision !== null && isApp(actor) && { revision: row.revision }),
    state: row.state as AgentRun['state'],
    ...(reason !== null && { reason: reason as EndReason }),
    ...(error !== null && isApp(actor) && { error }),
    ...(answerId !== null && { answerId: String(answerId) }),
    createdAt: row.created_at.getTime(),
    ...(row.started_at && { startedAt: row.started_at.getTime() }),
    ...(row.ended_at && { endedAt: row.ended_at.getTime() }),
  }
}

type Step = AgentRunDetails['steps'][number]

export const toStep = (actor: Actor, row: StepRow): Step => ({
  ...{ no: row.no, attempt: row.attempt, kind: row.kind as Step['kind'] },
  state: row.state as Step['state'],
  // A tool without a name for people is one that the model made up.
  ...(row.tool !== null && (isApp(actor) || row.display_name) && { tool: row.tool }),
  ...(row.display_name && { displayName: row.display_name }),
  ...(row.call_id !== null && { toolCallId: row.call_id }),
  ...(row.waits_for !== null && { waitsFor: row.waits_for as 'approval' | 'device' }),
  ...(row.arguments !== null &&
    (isApp(actor) || row.state === 'waiting') && { arguments: row.arguments }),
  ...(isApp(actor) && {
    ...(row.result !== null && { result: row.result }),
    ...(row.provider_id !== null && { providerId: row.provider_id }),
    ...(row.model !== null && { model: row.model }),
    ...(row.input_tokens !== null && { inputTokens: row.input_tokens }),
    ...(row.output_tokens !== null && { outputTokens: row.output_tokens }),
    ...(row.charged_tokens !== null && { chargedTokens: row.charged_tokens }),
    ...(row.charged_money !== null && { chargedMoney: row.charged_money }),
    ...(row.error !== null && { error: row.error }),
  }),
  startedAt: row.started_at.getTime(),
  ...(row.ended_at && { endedAt: row.ended_at.getTime() }),
})

/** A run of the app; users have only those that answer them. */
async function getRow(
  db: Executor,
  { app, uid }: Actor,
  find: typeof findRun,
  runId: string,
): Promise<RunRow> {
  const row = await find.maybeOne(db, { appNo: app.no, runId })
  if (!row || (uid !== undefined && row.uid !== uid)) {
    throw fail('ERR_AGENT_RUN_NOT_FOUND', { runId })
  }
  return row
}

export async function listAgentRuns(actor: Actor, query: AgentRunQuery) {
  const { app } = actor
  const { limit, uid = actor.uid, ...filter } = query
  // Others' runs look as if they didn't exist.
  if (actor.uid !== undefined && uid !== actor.uid) return { data: [], meta: {} }
  const rows = await listRunRows(app.cell.db, app.no, { ...filter, uid, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { data: shown.map((row) => toRun(actor, row)), meta: last ? { next: last.run_id } : {} }
}

export async function getAgentRun(actor: Actor, runId: string): Promise<AgentRunDetails> {
  const { db } = actor.app.cell
  const row = await getRow(db, actor, findRun, runId)
  const steps = await listSteps.many(db, { appNo: actor.app.no, runId })
  const calls = steps.filter(({ kind }) => kind !== 'tool_call')
  const text = calls.at(-1)?.text ?? null
  return {
    ...toRun(actor, row),
    ...(calls.length > 0 && { attempt: calls.length }),
    ...(text !== null && { text }),
    steps: steps.map((step) => toStep(actor, step)),
  }
}

/** The worker stops within about a second. Nothing that it writes meanwhile is stored. The caller has locked the run. */
export async function stopRun(
  tx: Tx,
  deps: Deps,
  appNo: number,
  row: RunRow,
  reason: EndReason,
): Promise<void> {
  const { run_id: runId, job_id: jobId } = row
  await closeSteps.run(tx, { appNo, runId })
  await endRun.run(tx, { appNo, runId, state: 'cancelled', reason, error: null })
  if (jobId !== null) await cancelJob.run(tx, { appNo, id: jobId })
  tx.enqueued = true
  tx.afterCommit(() => sendAgentEvent(deps, appNo, row, { type: 'run_error', data: { reason } }))
}

export function cancelAgentRun(deps: Deps, actor: Actor, runId: string): Promise<AgentRun> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const row = await getRow(tx, actor, lockRun, runId)
    if (row.ended_at) throw fail('ERR_AGENT_RUN_OVER', { runId, state: row.state })
    const reason = isApp(actor) ? 'cancelled_by_app' : 'cancelled_by_user'
    await stopRun(tx, deps, appNo, row, reason)
    return toRun(actor, await findRun.one(tx, { appNo, runId }))
  })
}

/** The run goes to the end of its thread's queue. */
export function retryAgentRun(deps: Deps, actor: Actor, runId: string): Promise<AgentRun> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const { state, uid } = await getRow(tx, actor, lockRun, runId)
    if (state !== 'failed' && state !== 'cancelled') {
      throw fail('ERR_AGENT_RUN_NOT_FAILED', { runId, state })
    }
    await lockRunsOfUser.run(tx, { appNo, uid })
    const { many } = await hasManyRuns.one(tx, { appNo, uid, open: OPEN_RUNS })
    if (many) throw fail('ERR_AGENT_TOO_MANY_RUNS', { limit: OPEN_RUNS })
    const row = await requeueRun.one(tx, { appNo, runId })
    await enqueueRun.run(tx, { appNo, runId })
    tx.enqueued = true
    return toRun(actor, row)
  })
}

/** Lets a run go on that waits. The first device wins. */
function answerWaiting(
  deps: Deps,
  actor: Actor,
  { runId, toolCallId }: { runId: string; toolCallId: string },
  change: (tx: Tx, call: { appNo: number; runId: string; callId: string }) => Promise<unknown>,
): Promise<AgentRun> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const row = await getRow(tx, actor, lockRun, runId)
    const { state, job_id: jobId } = row
    // A worker may have just taken it over from one that died, so the call's state decides.
    const waits = (state === 'waiting' || state === 'running') && jobId !== null
    if (!waits || !(await change(tx, { appNo, runId, callId: toolCallId }))) {
      throw fail('ERR_AGENT_RUN_NOT_WAITING', { runId, state })
    }
    await wakeJob.run(tx, { appNo, id: jobId })
    tx.enqueued = true
    tx.afterCommit(() =>
      sendAgentEvent(deps, appNo, row, { type: 'run_resumed', data: { toolCallId } }),
    )
    return toRun(actor, row)
  })
}

export const approveAgentRun = async (
  deps: Deps,
  actor: Actor,
  runId: string,
  toolCallId: string,
): Promise<AgentRun> =>
  answerWaiting(deps, actor, { runId, toolCallId }, (tx, call) =>
    approveCall.maybeOne(tx, { ...call, waitsFor: 'approval' }),
  )

/** The model is told, and may go on without the call. */
export const refuseAgentRun = async (
  deps: Deps,
  actor: Actor,
  runId: string,
  toolCallId: string,
): Promise<AgentRun> =>
  answerWaiting(deps, actor, { runId, toolCallId }, (tx, call) =>
    answerCall.maybeOne(tx, {
      ...{ ...call, waitsFor: 'approval', state: 'failed' },
      result: 'The user refused this call.',
    }),
  )

/** A device has done what the model wanted. */
export const continueAgentRun = async (
  deps: Deps,
  actor: Actor,
  runId: string,
  { toolCallId, content, failed = false }: DeviceResult,
): Promise<AgentRun> =>
  answerWaiting(deps, actor, { runId, toolCallId }, (tx, call) =>
    answerCall.maybeOne(tx, {
      ...{ ...call, waitsFor: 'device', state: failed ? 'failed' : 'done', result: content },
    }),
  )
