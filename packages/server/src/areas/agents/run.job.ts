import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { Postponed } from '../../platform/jobs/definition.ts'
import { readAsked } from './asked.ts'
import { removeOldHandovers } from './handovers.queries.ts'
import { searchFirst } from './knowledge/first-search.ts'
import { askModel } from './model-calls.ts'
import { endLostReplays } from './replays.queries.ts'
import {
  type ActiveRun,
  type AgentJob,
  Ended,
  endOf,
  inStep,
  Removed,
  untilRemoved,
} from './run.ts'
import { finish, finishHandedOver } from './run-end.ts'
import { RunStream, sendAgentEvent } from './run-stream.ts'
import {
  beginRun,
  closeSteps,
  cutSteps,
  endLostRuns,
  endRun,
  listTrail,
  removeOldReplays,
  removeOldRuns,
  removeOldSpending,
} from './runs.queries.ts'
import { callTool, handedOver } from './tool-calls.ts'
import { nextStep } from './trail.ts'

const BATCH = 1_000

/** Lets an agent answer. Every write is a checkpoint, so a worker that lost the job, or a cancelled run, stores nothing. */
export const runAgentJob = defineJob({
  name: 'agents.run',
  summary: 'Lets an agent answer a message.',
  input: Type.Object({ runId: Type.String() }),
  checkpoint: Type.Object({}),
  run: (job) => untilRemoved(answer(job)),
})

export const sweepAgentRunsJob = defineJob({
  name: 'agents.sweepRuns',
  summary: 'Ends runs of agents that have lost their job, and deletes old runs and handovers.',
  input: Type.Object({}),
  schedule: { everySeconds: 60 },
  async run({ signal, context: { cell, deps } }) {
    const limit = BATCH
    for (let lost = limit; lost === limit && !signal.aborted; ) {
      const rows = await endLostRuns.many(cell.db, { limit })
      for (const { app_no: appNo, ...run } of rows) {
        const reason = 'interrupted'
        sendAgentEvent(deps, appNo, run, { type: 'run_error', data: { reason } })
      }
      lost = rows.length
    }
    await endLostReplays.run(cell.db, { limit })
    while (!signal.aborted && (await removeOldReplays.one(cell.db, { limit })).removed === limit);
    while (!signal.aborted && (await removeOldRuns.one(cell.db, { limit })).removed === limit);
    while (!signal.aborted && (await removeOldHandovers.one(cell.db, { limit })).removed === limit);
    await removeOldSpending.run(cell.db, {})
  },
})

async function answer(job: AgentJob): Promise<void> {
  const { appNo, input, signal, context } = job
  const { runId } = input
  const { runSeconds } = context.deps.config.agents
  const begun = await inStep(job, async (tx) => {
    const row = await beginRun.maybeOne(tx, { appNo, runId })
    if (row) await cutSteps.run(tx, { appNo, runId })
    return row
  })
  // It was cancelled meanwhile, or a worker ended it just before it died.
  if (!begun) return
  const stream = new RunStream((event) => sendAgentEvent(context.deps, appNo, begun, event))
  if (!begun.resumed) stream.started()
  const deadline = AbortSignal.timeout(
    Math.max(Math.round(runSeconds * 1_000 - begun.elapsed_ms), 0),
  )
  try {
    await takeSteps({ job, stream, finish, signal: AbortSignal.any([signal, deadline]) })
  } catch (error) {
    stream.stop()
    signal.throwIfAborted()
    if (error instanceof Postponed) throw error
    if (error instanceof Removed) stream.failed('question_deleted')
    const ended = deadline.aborted ? new Ended('failed', 'timed_out') : endOf(error)
    if (!ended) throw error
    const { state, reason, detail } = ended
    await inStep(job, async (tx) => {
      await endRun.run(tx, { appNo, runId, state, reason, error: detail })
      await closeSteps.run(tx, { appNo, runId })
    })
    stream.failed(reason)
  }
}

/** The rows say what comes next, so a run goes on after a crash as if nothing had happened. */
async function takeSteps(run: ActiveRun): Promise<void> {
  const { job, stream, signal } = run
  const { appNo, input, context } = job
  const asked = await readAsked(job, signal)
  const { tools, close } = asked.toolbox
  stream.hidesCalls = asked.moderated
  try {
    const readTrail = () => listTrail.many(context.cell.db, { appNo, runId: input.runId })
    // Once the model has called something, it has read what was found.
    const searches = asked.searches && !(await readTrail()).some(({ calls }) => calls)
    if (searches) await searchFirst(run, asked.question)
    for (;;) {
      const trail = await readTrail()
      const rows = asked.searches ? trail : trail.filter(({ no }) => no > 0)
      const handed = handedOver(tools, rows)
      if (handed) return await finishHandedOver(run, asked.question, handed)
      const { call, ...next } = nextStep(rows)
      if (call) await callTool(run, tools, { ...next, call }, rows)
      else {
        const ask = () => askModel(run, asked, { ...next, call }, rows)
        if (await (asked.idempotent ? ask() : job.uncut(ask))) return
      }
    }
  } finally {
    await close()
  }
}
