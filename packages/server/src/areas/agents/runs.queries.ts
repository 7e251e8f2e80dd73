import type { CellRows } from '../../../db/rows.gen.ts'
import type { ConversationKind } from '../../core/ids.ts'
import { SENDER_IS_THERE } from '../../core/visibility.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'

export type RunRow = Omit<
  CellRows['agent_runs'],
  'app_no' | 'guid' | 'waiting_since' | 'waited_ms'
> & {
  kind: ConversationKind
  one: string
  other: string
}
export type StepRow = Omit<
  CellRows['agent_steps'],
  | ('app_no' | 'run_id' | 'reserved_tokens' | 'reserved_money' | 'calls' | 'approved_at')
  | 'display_name'
> & {
  /** Only of runs: users don't see replays. */
  display_name?: string | null
}

type OneRun = { appNo: number; runId: string }

const COLUMNS = `r.run_id, r.agent_uid, r.uid, r.conversation, r.message_id, r.thread_id, r.job_id, r.revision, r.state,
  r.reason, r.error, r.answer_id, r.created_at, r.started_at, r.ended_at,
  case when r.guid is null then 'user' else 'group' end as kind, coalesce(r.guid, least(r.uid, r.agent_uid)) as one,
  case when r.guid is null then greatest(r.uid, r.agent_uid) else '' end as other`

const columns = new Sql([COLUMNS], [])

export const findRun = query<OneRun, RunRow>(
  'agents.findRun',
  `select ${COLUMNS} from agent_runs r where app_no = :appNo and run_id = :runId::uuid`,
)

export const listRunsById = query<{ appNo: number; ids: string[] }, RunRow>(
  'agents.listRunsById',
  `select ${COLUMNS} from agent_runs r where app_no = :appNo and run_id = any (:ids::uuid[])`,
)

/** Until the transaction ends, nobody else changes its state. */
export const lockRun = query<OneRun, RunRow>(
  'agents.lockRun',
  `select ${COLUMNS} from agent_runs r
   where app_no = :appNo and run_id = :runId::uuid for no key update`,
)

/** The same for all runs of a 1:1 conversation that aren't over. */
export const lockOpenRuns = query<{ appNo: number; agentUid: string; uid: string }, RunRow>(
  'agents.lockOpenRuns',
  `select ${COLUMNS} from agent_runs r
   where app_no = :appNo and uid = :uid and agent_uid = :agentUid and guid is null and ended_at is null
   order by run_id for no key update`,
)

export interface RunFilter {
  agentUid?: string | undefined
  uid?: string | undefined
  state?: string | undefined
  before?: string | undefined
  limit: number
}

/** Newest first. A filter by state looks at the other runs of the app, user or agent too, of which there are 30 days. */
export function listRunRows(
  db: Executor,
  appNo: number,
  { agentUid, uid, state, before, limit }: RunFilter,
): Promise<RunRow[]> {
  const conditions: Sql[] = [
    sql`r.app_no = ${appNo}`,
    ...(agentUid === undefined ? [] : [sql`r.agent_uid = ${agentUid}`]),
    ...(uid === undefined ? [] : [sql`r.uid = ${uid}`]),
    ...(state === undefined ? [] : [sql`r.state = ${state}`]),
    ...(before === undefined
      ? []
      : [
          sql`(r.created_at, r.run_id) < (
            select b.created_at, b.run_id from agent_runs b
            where b.app_no = ${appNo} and b.run_id = ${before}::uuid)`,
        ]),
  ]
  return runSql<RunRow>(
    db,
    'agents.listRuns',
    sql`select ${columns} from agent_runs r where ${joinSql(conditions, ' and ')}
        order by r.created_at desc, r.run_id desc limit ${limit}`,
  )
}

export const listSteps = query<OneRun, StepRow>(
  'agents.listSteps',
  `select no, attempt, kind, state, provider_id, model, text, tool, display_name, call_id, arguments, result, waits_for,
     input_tokens, output_tokens, charged_tokens, charged_money, error, started_at, ended_at
   from agent_steps where app_no = :appNo and run_id = :runId::uuid order by no, attempt`,
)

/**
 * What people see of the calls of a run, oldest first: the last attempt of each. Without the search that the service
 * makes by itself, and without tools that only the model believed in.
 */
export const listShownCalls = query<OneRun, { id: string; name: string; failed: boolean }>(
  'agents.listShownCalls',
  `select distinct on (no) call_id as id, display_name as name, state <> 'done' as failed
   from agent_steps
   where app_no = :appNo and run_id = :runId::uuid and kind = 'tool_call' and no > 0 and display_name is not null
   order by no, attempt desc`,
)

/**
 * Starts a run, or goes on with it after a crash or when it waited. No row if it is over. Its time counts from its first
 * start, but for the time that it waited. It keeps the revision of the agent that it was started with.
 */
export const beginRun = query<OneRun, RunRow & { elapsed_ms: number; resumed: boolean }>(
  'agents.beginRun',
  `with before as (
     select run_id, state from agent_runs
     where app_no = :appNo and run_id = :runId::uuid and ended_at is null for no key update
   )
   update agent_runs r set state = 'running', started_at = coalesce(started_at, clock_timestamp()), waiting_since = null,
     revision = coalesce(revision, (select g.revision from agents g where g.app_no = :appNo and g.uid = r.agent_uid)),
     waited_ms = waited_ms + coalesce(extract(epoch from clock_timestamp() - waiting_since)::float8 * 1000, 0)
   from before where r.app_no = :appNo and r.run_id = before.run_id
   returning ${COLUMNS}, before.state = 'waiting' as resumed,
     extract(epoch from clock_timestamp() - r.started_at)::float8 * 1000 - r.waited_ms as elapsed_ms`,
)

/** The run holds no worker from now on. */
export const letRunWait = query<OneRun>(
  'agents.letRunWait',
  `update agent_runs set state = 'waiting', waiting_since = clock_timestamp()
   where app_no = :appNo and run_id = :runId::uuid and ended_at is null`,
)

/** No row if it is over already. */
export const endRun = query<
  OneRun & { state: string; reason: string; error: string | null },
  { run_id: string }
>(
  'agents.endRun',
  `update agent_runs set state = :state, reason = :reason, error = :error, ended_at = clock_timestamp(), job_id = null
   where app_no = :appNo and run_id = :runId::uuid and ended_at is null
   returning run_id`,
)

/** The message has the text from now on. What the model wanted before it stays, for replays. */
export const storeAnswer = query<OneRun & { answerId: number }>(
  'agents.storeAnswer',
  `with answered as (
     update agent_runs set answer_id = :answerId
     where app_no = :appNo and run_id = :runId::uuid returning agent_uid
   ), stepped as (
     update agent_steps set text = null where app_no = :appNo and run_id = :runId::uuid
   )
   update agents a set last_message_at = now() from answered
   where a.app_no = :appNo and a.uid = answered.agent_uid`,
)

/** Sets a failed or cancelled run back. It is started with the agent as it is then: somebody may have mended it. */
export const requeueRun = query<OneRun, RunRow>(
  'agents.requeueRun',
  `update agent_runs r set state = 'queued', reason = null, error = null, started_at = null, ended_at = null,
     waiting_since = null, waited_ms = 0, revision = null
   where app_no = :appNo and run_id = :runId::uuid
   returning ${COLUMNS}`,
)

/** Until the transaction ends, nobody else starts runs of the user. After the run, before `hasManyRuns`. */
export const lockRunsOfUser = query<{ appNo: number; uid: string }>(
  'agents.lockRunsOfUser',
  'select lock_runs_of_user(:appNo, :uid)',
)

export const hasManyRuns = query<{ appNo: number; uid: string; open: number }, { many: boolean }>(
  'agents.hasManyRuns',
  'select has_many_runs(:appNo, :uid, :open::int) as many',
)

export const enqueueRun = query<OneRun>(
  'agents.enqueueRun',
  'select enqueue_agent_run(:appNo, :runId::uuid)',
)

export type QuestionRow = Pick<
  CellRows['agent_runs'],
  'agent_uid' | 'uid' | 'conversation' | 'guid' | 'message_id' | 'thread_id'
> & {
  text: string
  data: Record<string, unknown>
  name: string
  role: string
  metadata: unknown
  /** Whether a person answers instead. */
  handed_over: boolean
  /** Whether somebody has removed the agent from the group. */
  agent_left: boolean
}

/** The question and its sender. No row if the message was deleted, or the user is gone, or has left the group. */
export const findQuestion = query<OneRun, QuestionRow>(
  'agents.findQuestion',
  `select r.agent_uid, r.uid, r.conversation, r.guid, r.message_id, r.thread_id,
     coalesce(m.data ->> 'text', '') as text, m.data, u.name, u.metadata,
     case u.role when 'default' then u.role else shown_role(u.app_no, u.role) end as role,
     r.guid is null and exists (select from agent_handovers o where o.app_no = r.app_no and o.agent_uid = r.agent_uid
       and o.uid = r.uid and o.closed_at is null) as handed_over,
     r.guid is not null and not exists (select from inbox i where i.app_no = r.app_no and i.uid = r.agent_uid
       and i.kind = 'group' and i.with_id = r.guid and i.scope is not null) as agent_left
   from agent_runs r
   join messages m on m.app_no = r.app_no and m.id = r.message_id and m.deleted_at is null
   join users u on u.app_no = r.app_no and u.uid = r.uid and u.deactivated_at is null and u.removed_at is null
   where r.app_no = :appNo and r.run_id = :runId::uuid and (r.guid is null or exists (select from inbox i
     where i.app_no = r.app_no and i.uid = r.uid and i.kind = 'group' and i.with_id = r.guid and i.scope is not null))`,
)

/**
 * The messages of a thread before a question, newest first: those that the asking user sees, and answers to earlier
 * questions. In a group, all members may read them. Reads the thread's first message and its newest replies. A replay
 * leaves out answers from after the start of the run (`until`).
 */
export const listThread = query<
  {
    appNo: number
    conversation: number
    thread: number
    question: number
    agent: string
    guid: string | null
    uid: string
    until: Date | null
    limit: number
  },
  { id: number; sender: string; category: string; type: string; text: string }
>(
  'agents.listThread',
  `select m.id, m.sender, m.category, m.type, m.data ->> 'text' as text
   from (
     (select * from messages where app_no = :appNo and parent_id = :thread and id <> :question
        and (id < :question or sender = :agent and (:until::timestamptz is null or id_time(id) < :until))
      order by id desc limit :limit)
     union all
     (select * from messages where app_no = :appNo and id = :thread and id <> :question)
   ) m
   left join inbox i on i.app_no = :appNo and i.uid = :uid
     and i.kind = case when :guid::text is null then 'user' else 'group' end and i.with_id = coalesce(:guid, :agent)
   where m.conversation = :conversation and m.deleted_at is null
     and (m.category, m.type) in (('message', 'text'), ('agentic', 'assistant'))
     and m.id > coalesce(i.cleared_id, 0) and m.data ->> 'text' is not null and ${SENDER_IS_THERE}
     and not exists (select from blocks b where b.app_no = :appNo
       and (b.uid, b.blocked_uid) in ((:uid, m.sender), (m.sender, :uid)))
   order by m.id desc`,
)

/** Whether the run or replay still exists. If so, nobody removes it until the transaction ends. */
export const keepRun = query<OneRun, { kept: boolean }>(
  'agents.keepRun',
  'select keep_agent_run(:appNo, :runId::uuid) as kept',
)

type OneStep = OneRun & { no: number; attempt: number }

/** Steps that a crash or somebody cut off. Nobody knows what they cost, so it is all that was reserved. */
export const CUT = `state = 'cut', text = null, charged_tokens = reserved_tokens, charged_money = reserved_money,
     ended_at = clock_timestamp()`

export const cutSteps = query<OneRun>(
  'agents.cutSteps',
  `update agent_steps set ${CUT}
   where app_no = :appNo and run_id = :runId::uuid and state = 'running'`,
)

/** Ends the steps of a run that is over. Those that nobody approved were never made. */
export const closeSteps = query<OneRun>(
  'agents.closeSteps',
  `with skipped as (
     update agent_steps set state = 'skipped', ended_at = clock_timestamp()
     where app_no = :appNo and run_id = :runId::uuid and state in ('waiting', 'approved')
   )
   update agent_steps set ${CUT}
   where app_no = :appNo and run_id = :runId::uuid and state = 'running'`,
)

export type TrailRow = Pick<
  CellRows['agent_steps'],
  'no' | 'attempt' | 'kind' | 'state' | 'tool' | 'arguments' | 'result'
> & {
  calls: unknown
  approved: boolean
  /** How long ago it was started. */
  age_ms: number
  /** Whether it was started after the run was last started. */
  recent: boolean
}

/** What a run needs to know of its steps to go on. */
export const listTrail = query<OneRun, TrailRow>(
  'agents.listTrail',
  `select s.no, s.attempt, s.kind, s.state, s.calls, s.tool, s.arguments, s.result, s.approved_at is not null as approved,
     extract(epoch from clock_timestamp() - s.started_at)::float8 * 1000 as age_ms, s.started_at >= r.started_at as recent
   from agent_runs r
   join agent_steps s on s.app_no = r.app_no and s.run_id = r.run_id
   where r.app_no = :appNo and r.run_id = :runId::uuid
   order by s.no, s.attempt`,
)

/** Before the call, so that after a crash nobody thinks that it wasn't made. */
export const addToolCall = query<
  OneStep & {
    tool: string
    displayName: string | null
    callId: string
    arguments: string
    waitsFor: string | null
  }
>(
  'agents.addToolCall',
  `insert into agent_steps (app_no, run_id, no, attempt, kind, state, tool, display_name, call_id, arguments, waits_for)
   values (:appNo, :runId::uuid, :no, :attempt, 'tool_call',
     case when :waitsFor::text is null then 'running' else 'waiting' end, :tool, :displayName, :callId, :arguments,
     :waitsFor)`,
)

/** A call that was approved is made. */
export const startApproved = query<OneStep>(
  'agents.startApproved',
  `update agent_steps set state = 'running'
   where app_no = :appNo and run_id = :runId::uuid and no = :no and attempt = :attempt`,
)

type WaitingCall = OneRun & { callId: string; waitsFor: string }

/** No row if no call with this id waits for this, or somebody was faster. */
export const approveCall = query<WaitingCall, { no: number }>(
  'agents.approveCall',
  `update agent_steps set state = 'approved', approved_at = clock_timestamp()
   where app_no = :appNo and run_id = :runId::uuid and call_id = :callId and waits_for = :waitsFor and state = 'waiting'
   returning no`,
)

/** The same for a call that a person or a device answers. */
export const answerCall = query<WaitingCall & { state: string; result: string }, { no: number }>(
  'agents.answerCall',
  `update agent_steps set state = :state, result = :result, ended_at = clock_timestamp()
   where app_no = :appNo and run_id = :runId::uuid and call_id = :callId and waits_for = :waitsFor and state = 'waiting'
   returning no`,
)

export const storeResult = query<OneStep & { state: string; result: string; error: string | null }>(
  'agents.storeResult',
  `update agent_steps set state = :state, result = :result, error = :error, ended_at = clock_timestamp()
   where app_no = :appNo and run_id = :runId::uuid and no = :no and attempt = :attempt`,
)

/** Nobody knows what came of the call. */
export const failToolCall = query<OneStep & { error: string }>(
  'agents.failToolCall',
  `update agent_steps set state = 'failed', error = :error, ended_at = clock_timestamp()
   where app_no = :appNo and run_id = :runId::uuid and no = :no and attempt = :attempt`,
)

/** Reserves what a call may cost, and adds its step. A reason: it must not be made, and the caller rolls back. */
export const reserveCall = query<
  OneStep & {
    kind: string
    providerId: string | null
    model: string | null
    tokens: number
    money: number | null
  },
  { refusal: string | null }
>(
  'agents.reserveCall',
  `select reserve_agent_call(:appNo, :runId::uuid, :no, :attempt, :kind, :providerId, :model, :tokens::bigint,
     :money::float8) as refusal`,
)

export const storeText = query<OneStep & { text: string }>(
  'agents.storeText',
  `update agent_steps set text = :text
   where app_no = :appNo and run_id = :runId::uuid and no = :no and attempt = :attempt`,
)

/** How a call of a model ended. Without `tokens` and `money`, it cost all that was reserved. */
export type Settled = OneStep & {
  state: string
  error: string | null
  input: number | null
  output: number | null
  tokens: number | null
  money: number | null
  /** The calls of tools that it wants, as JSON. */
  calls: string | null
}

export const settleCall = query<Settled>(
  'agents.settleCall',
  `select settle_agent_call(:appNo, :runId::uuid, :no, :attempt, :state, :error, :input::int, :output::int,
     :tokens::bigint, :money::float8, :calls::jsonb)`,
)

/** Ends runs whose job can't run any more: somebody cancelled it, or its workers died again and again. */
export const endLostRuns = query<{ limit: number }, RunRow & { app_no: number }>(
  'agents.endLostRuns',
  `with lost as (
     update agent_runs set state = 'failed', reason = 'interrupted', ended_at = clock_timestamp(), job_id = null
     where ctid = any (array(
       select r.ctid from agent_runs r join working_apps() using (app_no)
       where r.ended_at is null and not exists (
         select from jobs j where j.app_no = r.app_no and j.id = r.job_id and j.ended_at is null)
       order by r.created_at limit :limit for no key update of r skip locked))
     returning *
   ), cut as (
     update agent_steps s set ${CUT} from lost
     where s.app_no = lost.app_no and s.run_id = lost.run_id and s.state in ('running', 'waiting', 'approved')
   )
   select r.app_no, ${COLUMNS} from lost r`,
)

/** Removes replays of runs that ended 30 days ago, before these runs: a run can have 50, with many steps each. */
export const removeOldReplays = query<{ limit: number }, { removed: number }>(
  'agents.removeOldReplays',
  `with gone as (
     delete from agent_replays where ctid = any (array(
       select p.ctid from agent_runs r join agent_replays p on p.app_no = r.app_no and p.run_id = r.run_id
       where r.ended_at is not null and r.ended_at < now() - interval '30 days' limit :limit))
     returning replay_id
   )
   select count(*) as removed from gone`,
)

/** Removes runs that ended 30 days ago, with their steps, ratings and replays. */
export const removeOldRuns = query<{ limit: number }, { removed: number }>(
  'agents.removeOldRuns',
  'select remove_old_agent_runs(:limit::int) as removed',
)

/** Sums of periods that no budget looks at any more. */
export const removeOldSpending = query<Record<string, never>>(
  'agents.removeOldSpending',
  `with calls as (delete from embedding_calls where started_at < now() - interval '62 days')
   delete from agent_spending where period < now() - interval '62 days'`,
)
