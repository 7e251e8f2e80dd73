import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { getProviderRow } from '../models/actions.ts'
import { findAnyAgent } from './queries.ts'
import { differenceOf } from './replay-difference.ts'
import {
  enqueueReplay,
  findRecorded,
  findReplay,
  insertReplay,
  listPlayed,
  listReplays,
  type ReplayRow,
  removeOldestReplays,
} from './replays.queries.ts'
import type {
  AgentReplay,
  AgentReplayDetails,
  NewReplay,
  ReplayMode,
  ReplayVerdict,
} from './replays.schema.ts'
import { findRevision } from './revisions.queries.ts'
import { toStep } from './runs.actions.ts'
import { findRun, lockRun, type RunRow } from './runs.queries.ts'

type Changes = NonNullable<NewReplay['changes']>

/** How many replays of a run are kept. */
const KEPT = 50

const toReplay = (row: ReplayRow): AgentReplay => ({
  ...{ id: row.replay_id, runId: row.run_id, agentUid: row.agent_uid },
  mode: row.mode as ReplayMode,
  ...(row.revision !== null && { revision: row.revision }),
  ...(row.changes !== null && { changes: row.changes as NonNullable<AgentReplay['changes']> }),
  state: row.state as AgentReplay['state'],
  ...(row.reason !== null && { reason: row.reason as NonNullable<AgentReplay['reason']> }),
  ...(row.error !== null && { error: row.error }),
  ...(row.verdict !== null && { moderation: row.verdict as ReplayVerdict }),
  createdAt: row.created_at.getTime(),
  ...(row.started_at && { startedAt: row.started_at.getTime() }),
  ...(row.ended_at && { endedAt: row.ended_at.getTime() }),
})

/** Starts a replay of a run that is over. It takes its turn after other replays of the app. */
export function startAgentReplay(
  deps: Deps,
  actor: Actor,
  runId: string,
  wanted: NewReplay,
): Promise<AgentReplay> {
  const appNo = actor.app.no
  const { mode } = wanted
  return write(deps, actor, async (tx) => {
    const run = await lockRun.maybeOne(tx, { appNo, runId })
    if (!run) throw fail('ERR_AGENT_RUN_NOT_FOUND', { runId })
    if (!run.ended_at) throw fail('ERR_AGENT_RUN_NOT_OVER', { runId, state: run.state })
    const live = mode === 'live'
    const revision = live
      ? await liveRevision(tx, appNo, run, wanted)
      : recordedRevision(run, wanted)
    const changes = wanted.changes ? JSON.stringify(known(wanted.changes)) : null
    const row = await insertReplay.one(tx, { appNo, runId, mode, revision, changes })
    await removeOldestReplays.run(tx, { appNo, runId, kept: KEPT })
    await enqueueReplay.run(tx, { appNo, replayId: row.replay_id })
    tx.enqueued = true
    return toReplay(row)
  })
}

/** Unknown fields of requests are ignored. */
const known = ({ instruction, model, modelMetaData, providerId }: Changes): Changes => ({
  ...(instruction !== undefined && { instruction }),
  ...(model !== undefined && { model }),
  ...(modelMetaData !== undefined && { modelMetaData }),
  ...(providerId !== undefined && { providerId }),
})

/** Nothing of the agent is used but what the record says. */
function recordedRevision(run: RunRow, { revision, changes }: NewReplay): number | null {
  const only = ['is only for live replays']
  if (revision !== undefined) throw badRequest({ revision: only })
  if (changes !== undefined) throw badRequest({ changes: only })
  return run.revision
}

/** The revision that is asked for or that the run had; the last one if that isn't kept any more. */
async function liveRevision(
  tx: Tx,
  appNo: number,
  run: RunRow,
  { revision: wanted, changes }: NewReplay,
): Promise<number> {
  const { agent_uid: uid } = run
  const agent = await findAnyAgent.maybeOne(tx, { appNo, uid })
  if (!agent) throw fail('ERR_AGENT_NOT_FOUND', { uid })
  // Its server does things by itself, and would do them again.
  if (agent.kind === 'external') {
    throw badRequest({ mode: ['must be recorded, because the agent runs elsewhere'] })
  }
  if (changes?.providerId !== undefined) await getProviderRow(tx, appNo, changes.providerId)
  const no = wanted ?? run.revision ?? agent.revision
  if (await findRevision.maybeOne(tx, { appNo, uid, no })) return no
  if (wanted !== undefined) throw fail('ERR_AGENT_REVISION_NOT_FOUND', { uid, no })
  return agent.revision
}

export async function listAgentReplays({ app }: Actor, runId: string): Promise<AgentReplay[]> {
  const one = { appNo: app.no, runId }
  if (!(await findRun.maybeOne(app.cell.db, one))) throw fail('ERR_AGENT_RUN_NOT_FOUND', { runId })
  return (await listReplays.many(app.cell.db, one)).map(toReplay)
}

export async function getAgentReplay(
  actor: Actor,
  runId: string,
  replayId: string,
): Promise<AgentReplayDetails> {
  const { db } = actor.app.cell
  const appNo = actor.app.no
  const run = await findRecorded.maybeOne(db, { appNo, runId })
  if (!run) throw fail('ERR_AGENT_RUN_NOT_FOUND', { runId })
  const row = await findReplay.maybeOne(db, { appNo, runId, replayId })
  if (!row) throw fail('ERR_AGENT_REPLAY_NOT_FOUND', { replayId })
  const steps = await listPlayed.many(db, { appNo, runId: replayId })
  // The message has the text of a recorded one, so that deleting the message deletes it here, too.
  const text = row.mode === 'live' ? row.answer : row.state === 'finished' ? run.answer : null
  return {
    ...toReplay(row),
    ...(text !== null && { text }),
    steps: steps.map((step) => toStep(actor, step)),
    ...(row.ended_at && {
      difference: differenceOf(
        { ...run, rows: await listPlayed.many(db, { appNo, runId }) },
        { rows: steps, reason: row.reason, answer: text },
      ),
    }),
  }
}
