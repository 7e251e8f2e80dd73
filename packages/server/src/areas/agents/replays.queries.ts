import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'
import { CUT, type StepRow } from './runs.queries.ts'

export type ReplayRow = Omit<
  CellRows['agent_replays'],
  'app_no' | 'job_id' | 'changes' | 'verdict'
> & { agent_uid: string; changes: unknown; verdict: unknown }

type OneRun = { appNo: number; runId: string }
type OneReplay = { appNo: number; replayId: string }

const COLUMNS = `p.replay_id, p.run_id, p.mode, p.revision, p.changes, p.state, p.reason, p.error, p.answer, p.verdict,
  p.created_at, p.started_at, p.ended_at,
  (select r.agent_uid from agent_runs r where r.app_no = p.app_no and r.run_id = p.run_id) as agent_uid`

/** The caller holds the lock of the run, so it isn't removed meanwhile. */
export const insertReplay = query<
  OneRun & { mode: string; revision: number | null; changes: string | null },
  ReplayRow
>(
  'agents.insertReplay',
  `insert into agent_replays as p (app_no, run_id, mode, revision, changes, created_at)
   values (:appNo, :runId::uuid, :mode, :revision, :changes::jsonb, clock_timestamp())
   returning ${COLUMNS}`,
)

/** Replays of an app take turns, so they never delay more than one answer. */
export const enqueueReplay = query<OneReplay>(
  'agents.enqueueReplay',
  `update agent_replays set job_id = enqueue_job(:appNo, 'agents.replay', jsonb_build_object('replayId', replay_id),
     p_priority => -1, p_serial_key => 'agent replay')
   where app_no = :appNo and replay_id = :replayId::uuid`,
)

/** Removes all but the newest replays of a run. The job of one that is under way finds nothing any more. */
export const removeOldestReplays = query<OneRun & { kept: number }>(
  'agents.removeOldestReplays',
  `delete from agent_replays where app_no = :appNo and replay_id = any (array(
     select replay_id from agent_replays where app_no = :appNo and run_id = :runId::uuid
     order by created_at desc, replay_id desc offset :kept))`,
)

/** Newest first. */
export const listReplays = query<OneRun, ReplayRow>(
  'agents.listReplays',
  `select ${COLUMNS} from agent_replays p where p.app_no = :appNo and p.run_id = :runId::uuid
   order by p.created_at desc, p.replay_id desc`,
)

export const findReplay = query<OneReplay & OneRun, ReplayRow>(
  'agents.findReplay',
  `select ${COLUMNS} from agent_replays p
   where p.app_no = :appNo and p.replay_id = :replayId::uuid and p.run_id = :runId::uuid`,
)

/** Starts a replay, or goes on with it after a crash. No row if it is over. */
export const beginReplay = query<OneReplay, ReplayRow & { elapsed_ms: number }>(
  'agents.beginReplay',
  `update agent_replays p set state = 'running', started_at = coalesce(started_at, clock_timestamp())
   where app_no = :appNo and replay_id = :replayId::uuid and ended_at is null
   returning ${COLUMNS}, extract(epoch from clock_timestamp() - started_at)::float8 * 1000 as elapsed_ms`,
)

export const endReplay = query<
  OneReplay & {
    state: string
    reason: string
    error: string | null
    answer: string | null
    verdict: string | null
  }
>(
  'agents.endReplay',
  `update agent_replays set state = :state, reason = :reason, error = :error, answer = :answer,
     verdict = :verdict::jsonb, ended_at = clock_timestamp(), job_id = null
   where app_no = :appNo and replay_id = :replayId::uuid and ended_at is null`,
)

/** Ends replays whose job can't run any more, as `endLostRuns` does. */
export const endLostReplays = query<{ limit: number }>(
  'agents.endLostReplays',
  `with lost as (
     update agent_replays set state = 'failed', reason = 'interrupted', ended_at = clock_timestamp(), job_id = null
     where ctid = any (array(
       select p.ctid from agent_replays p join working_apps() using (app_no)
       where p.ended_at is null and not exists (
         select from jobs j where j.app_no = p.app_no and j.id = p.job_id and j.ended_at is null)
       order by p.created_at limit :limit for no key update of p skip locked))
     returning app_no, replay_id
   )
   update agent_steps s set ${CUT} from lost
   where s.app_no = lost.app_no and s.run_id = lost.replay_id and s.state = 'running'`,
)

export type PlayedRow = StepRow & { calls: unknown }

/** The steps of a run or a replay, with what the model wanted. */
export const listPlayed = query<OneRun, PlayedRow>(
  'agents.listPlayed',
  `select no, attempt, kind, state, provider_id, model, text, calls, tool, call_id, arguments, result, waits_for,
     input_tokens, output_tokens, charged_tokens, charged_money, error, started_at, ended_at
   from agent_steps where app_no = :appNo and run_id = :runId::uuid order by no, attempt`,
)

export type RecordedRun = Pick<
  CellRows['agent_runs'],
  'agent_uid' | 'uid' | 'guid' | 'state' | 'reason' | 'started_at'
> & {
  /** Null if there is none, or it was deleted. */
  answer: string | null
}

/** The run of a replay, with its answer. */
export const findRecorded = query<OneRun, RecordedRun>(
  'agents.findRecorded',
  `select r.agent_uid, r.uid, r.guid, r.state, r.reason, r.started_at, m.data ->> 'text' as answer
   from agent_runs r
   left join messages m on m.app_no = r.app_no and m.id = r.answer_id and m.deleted_at is null
   where r.app_no = :appNo and r.run_id = :runId::uuid`,
)

/** Takes over what the model answered in this step of the run. */
export const copyModelCall = query<OneReplay & OneRun & { no: number }>(
  'agents.copyModelCall',
  `insert into agent_steps (app_no, run_id, no, attempt, kind, state, provider_id, model, calls, ended_at)
   select app_no, :replayId::uuid, no, 1, kind, 'done', provider_id, model, calls, clock_timestamp()
   from agent_steps
   where app_no = :appNo and run_id = :runId::uuid and no = :no and kind <> 'tool_call' and state = 'done'
   order by attempt desc limit 1`,
)

/** A call of a tool that the record answers. Without a result, the replay stops there. */
export const addReplayedCall = query<
  OneReplay & {
    no: number
    state: string
    tool: string
    callId: string
    arguments: string
    result: string | null
  }
>(
  'agents.addReplayedCall',
  `insert into agent_steps (app_no, run_id, no, attempt, kind, state, tool, call_id, arguments, result, ended_at)
   values (:appNo, :replayId::uuid, :no, 1, 'tool_call', :state, :tool, :callId, :arguments, :result, clock_timestamp())`,
)
