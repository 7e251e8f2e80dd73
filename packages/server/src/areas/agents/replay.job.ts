/**
 * Plays runs again. The record answers every call of a tool, and in a recorded replay every call of the model. Nobody is
 * shown anything, and nothing is sent.
 */
import { Type } from 'typebox'
import type { ToolCall } from '../../core/models/prompt.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import { defineJob, type JobDeps } from '../../deps.ts'
import type { Run } from '../../platform/jobs/definition.ts'
import { cleaned } from './answer-text.ts'
import { type Asked, type Replayed, readReplayed } from './asked.ts'
import { askModel } from './model-calls.ts'
import {
  addReplayedCall,
  beginReplay,
  copyModelCall,
  endReplay,
  findRecorded,
  listPlayed,
  type PlayedRow,
  type RecordedRun,
  type ReplayRow,
} from './replays.queries.ts'
import type { ReplayVerdict } from './replays.schema.ts'
import {
  type ActiveRun,
  type AgentJob,
  type Answered,
  Ended,
  endOf,
  inStep,
  untilRemoved,
} from './run.ts'
import { RunStream } from './run-stream.ts'
import {
  closeSteps,
  cutSteps,
  type QuestionRow,
  settleCall,
  type TrailRow,
} from './runs.queries.ts'
import { judge } from './shown-text.ts'
import { handedOver, type LastWords } from './tool-calls.ts'
import { canonical, nextStep } from './trail.ts'

const NO_ANSWER = { answer: null, verdict: null }

/** A run that is played again, with its steps. */
interface Recording {
  runId: string
  run: RecordedRun
  rows: PlayedRow[]
}

/** As in a run, every write is a checkpoint, and the rows say what comes next. */
export const replayAgentJob = defineJob({
  name: 'agents.replay',
  summary: 'Plays a run of an agent again.',
  input: Type.Object({ replayId: Type.String() }),
  checkpoint: Type.Object({}),
  run: (own) => untilRemoved(replay(own)),
})

async function replay(own: Run<{ replayId: string }, object, JobDeps>) {
  const { appNo, input, signal, context } = own
  const { replayId } = input
  // Its steps are stored like those of a run.
  const job: AgentJob = { ...own, input: { runId: replayId } }
  const begun = await inStep(job, async (tx) => {
    const row = await beginReplay.maybeOne(tx, { appNo, replayId })
    if (row) await cutSteps.run(tx, { appNo, runId: replayId })
    return row
  })
  // A worker ended it just before it died.
  if (!begun) return
  const { runSeconds } = context.deps.config.agents
  const deadline = AbortSignal.timeout(
    Math.max(Math.round(runSeconds * 1_000 - begun.elapsed_ms), 0),
  )
  const stream = new RunStream(() => {})
  try {
    const stopped = AbortSignal.any([signal, deadline])
    await takeSteps({ job, stream, finish: endWithAnswer, signal: stopped }, begun)
  } catch (error) {
    stream.stop()
    signal.throwIfAborted()
    const ended = deadline.aborted ? new Ended('failed', 'timed_out') : endOf(error)
    if (!ended) throw error
    const { reason, detail } = ended
    await inStep(job, async (tx) => {
      await endReplay.run(tx, {
        ...{ appNo, replayId, state: 'failed', reason, error: detail, ...NO_ANSWER },
      })
      await closeSteps.run(tx, { appNo, runId: replayId })
    })
  }
}

async function takeSteps(run: ActiveRun, replay: ReplayRow): Promise<void> {
  const { job, signal } = run
  const { appNo, input, context } = job
  const { db } = context.cell
  const { run_id: runId } = replay
  const recorded = await findRecorded.maybeOne(db, { appNo, runId })
  // A replay goes with its run.
  if (!recorded) return
  const recording = { runId, run: recorded, rows: await listPlayed.many(db, { appNo, runId }) }
  const asked =
    replay.mode === 'live'
      ? await readReplayed(context, appNo, replayedOf(replay, recorded), signal)
      : undefined
  const first = asked?.searches === false ? [] : recording.rows.filter(({ no }) => no === 0)
  for (;;) {
    const rows = await listPlayed.many(db, { appNo, runId: input.runId })
    const trail = [...first, ...rows].map(toTrail)
    const handed = asked && handedOver(asked.toolbox.tools, trail)
    if (handed) return await endHandedOver(run, asked.question, handed)
    const { call, ...next } = nextStep(trail)
    const over = call
      ? await answerFromRecord(run, recording, { rows, asked, no: next.no, call })
      : asked
        ? await askModel(run, asked, { ...next, call }, trail)
        : await repeatAnswer(run, recording, next.no)
    if (over) return
  }
}

const replayedOf = (
  { run_id: runId, revision, changes }: ReplayRow,
  run: RecordedRun,
): Replayed => ({
  ...{ runId, startedAt: run.started_at ?? new Date(), revision },
  changes: (changes ?? {}) as Replayed['changes'],
})

const toTrail = (row: PlayedRow): TrailRow => ({ ...row, approved: false, age_ms: 0, recent: true })

interface Calling {
  /** The steps of the replay so far. */
  rows: PlayedRow[]
  asked: Asked | undefined
  no: number
  call: ToolCall
}

/** Answers a call from the record. Returns whether the replay is over, because there is no answer. */
async function answerFromRecord(
  { job }: ActiveRun,
  recording: Recording,
  { rows, asked, no, call }: Calling,
): Promise<boolean> {
  const { appNo, input } = job
  const replayId = input.runId
  const same = recording.rows.find((row) => row.no === no && row.kind === 'tool_call')
  // The record knows a tool by its own name, and models know it by another one.
  const tool = (asked ? asked.toolbox.tools.get(call.name)?.name : same?.tool) ?? call.name
  const found = asked
    ? findRecordedCall(recording.rows, rows, tool, call.arguments)
    : recording.rows.find((row) => row.no === no && row.result !== null)
  const step = { appNo, replayId, no, tool, callId: call.id, arguments: call.arguments }
  await inStep(job, async (tx) => {
    const { state = 'skipped', result = null } = found ?? {}
    await addReplayedCall.run(tx, { ...step, state, result })
    if (found) return
    const stop = asked
      ? {
          reason: 'not_recorded',
          error: `The run did not make the call of "${tool}" in step ${no}.`,
        }
      : endOfRecord(recording)
    await endReplay.run(tx, { appNo, replayId, state: 'stopped', ...stop, ...NO_ANSWER })
  })
  return !found
}

/** Each answer of the record is used once, in order. */
function findRecordedCall(
  recorded: PlayedRow[],
  replayed: PlayedRow[],
  tool: string,
  written: string,
): PlayedRow | undefined {
  const wanted = canonical(written)
  const isSame = ({ no, result, ...row }: PlayedRow) =>
    no > 0 && result !== null && row.tool === tool && canonical(row.arguments ?? '') === wanted
  return recorded.filter(isSame)[replayed.filter(isSame).length]
}

const endOfRecord = ({ run }: Recording) => ({
  reason: 'record_ends',
  error:
    run.state === 'finished'
      ? 'The answer was deleted.'
      : `The run was ${run.state} here: ${run.reason}.`,
})

/** Lets the model say again what it said in the run. Returns whether the replay is over. */
async function repeatAnswer(
  { job }: ActiveRun,
  recording: Recording,
  no: number,
): Promise<boolean> {
  const { appNo, input, context } = job
  const { runId, run, rows } = recording
  const replayId = input.runId
  const said = rows.findLast(
    (row) => row.no === no && row.kind !== 'tool_call' && row.state === 'done',
  )
  const step = { appNo, replayId, runId, no }
  if (said?.calls) {
    await inStep(job, (tx) => copyModelCall.run(tx, step))
    return false
  }
  if (run.answer === null) {
    const stop =
      run.reason === 'handed_over'
        ? { state: 'finished', reason: run.reason, error: null, ...NO_ANSWER }
        : { state: 'stopped', ...endOfRecord(recording), ...NO_ANSWER }
    await inStep(job, (tx) => endReplay.run(tx, { appNo, replayId, ...stop }))
    return true
  }
  const verdict = await judge(context, appNo, run, { text: run.answer })
  const reason =
    run.reason === 'handed_over' ? run.reason : reasonOf(verdict, run.reason === 'cut_short')
  const end = { state: 'finished', reason, error: null, answer: null, verdict: toVerdict(verdict) }
  await inStep(job, async (tx) => {
    await copyModelCall.run(tx, step)
    await endReplay.run(tx, { appNo, replayId, ...end })
  })
  return true
}

/** The end of a live replay: what `finish` does for a run, but nothing is sent. */
async function endWithAnswer(
  { job }: ActiveRun,
  { question, settled, text, end }: Answered,
): Promise<void> {
  const { appNo, input, context } = job
  const empty = text === ''
  const verdict = empty ? undefined : await judge(context, appNo, question, { text })
  const nothing = end.finish === 'filtered' ? 'filtered' : 'empty_answer'
  await inStep(job, async (tx) => {
    await endReplay.run(tx, {
      ...{ appNo, replayId: input.runId, state: empty ? 'failed' : 'finished', error: null },
      reason: empty ? nothing : reasonOf(verdict, end.finish !== 'stop'),
      ...{ answer: empty ? null : text, verdict: toVerdict(verdict) },
    })
    // Last, because other calls of the app wait for its sum.
    await settleCall.run(tx, settled)
  })
}

/** The agent would have handed the conversation to a person with these words. */
async function endHandedOver(
  { job }: ActiveRun,
  question: QuestionRow,
  { message }: LastWords,
): Promise<void> {
  const { appNo, input, context } = job
  const answer = cleaned(message)
  const verdict = toVerdict(await judge(context, appNo, question, { text: answer }))
  const end = { state: 'finished', reason: 'handed_over', error: null, answer, verdict }
  await inStep(job, (tx) => endReplay.run(tx, { appNo, replayId: input.runId, ...end }))
}

/** How a run with this answer would end. */
function reasonOf(verdict: Verdict | undefined, cutShort: boolean): string {
  if (verdict?.status === 'disapproved') return 'disapproved'
  if (verdict?.status === 'pending') return 'held'
  return cutShort ? 'cut_short' : 'answered'
}

function toVerdict(verdict: Verdict | undefined): string | null {
  if (!verdict) return null
  const { status } = verdict
  const shown: ReplayVerdict =
    status === 'disapproved'
      ? { status, ruleId: verdict.rule.id, ruleName: verdict.rule.name }
      : { status }
  return JSON.stringify(shown)
}
