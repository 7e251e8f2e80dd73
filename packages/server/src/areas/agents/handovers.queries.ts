import type { CellRows } from '../../../db/rows.gen.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { Closer, HandoverState, Opener } from './handovers.schema.ts'

export type HandoverRow = Omit<CellRows['agent_handovers'], 'app_no' | 'upto_id' | 'hand_back_at'>

type OneHandover = { appNo: number; handoverId: string }
/** A 1:1 conversation with an agent. */
type OfAgent = { appNo: number; agentUid: string; uid: string }

const COLUMNS = `handover_id, agent_uid, uid, conversation, opened_by, reason, taken_by, opened_at, taken_at,
  answered_at, closed_at, closed_by`
const columns = new Sql([COLUMNS], [])

/** When a conversation that is handed over or taken now goes back to the agent. Null: never. */
const handBackAt = (agentUid: string) => `(
  select clock_timestamp() + nullif((g.definition ->> 'handBackAfterSeconds')::int, 0) * interval '1 second'
  from agents g where g.app_no = :appNo and g.uid = ${agentUid})`

export const findHandover = query<OneHandover, HandoverRow>(
  'agents.findHandover',
  `select ${COLUMNS} from agent_handovers where app_no = :appNo and handover_id = :handoverId::uuid`,
)

/** Until the transaction ends, nobody takes, answers or closes it. */
export const lockHandover = query<OneHandover, HandoverRow>(
  'agents.lockHandover',
  `select ${COLUMNS} from agent_handovers
   where app_no = :appNo and handover_id = :handoverId::uuid for no key update`,
)

/** Finds or makes the head, and locks it: until the transaction ends, nobody sends there, hands it over or back. */
export const openConversation = query<OfAgent, { no: number; last_id: number }>(
  'agents.openConversation',
  'select no, last_id from open_conversation(:appNo, :uid, :agentUid)',
)

/** The same for the conversation of a run, and whether it is handed over. */
export const lockHandedOver = query<OfAgent & { conversation: number }, { handed: boolean }>(
  'agents.lockHandedOver',
  'select lock_handed_over(:appNo, :conversation::bigint, :agentUid, :uid) as handed',
)

/** The caller holds the head. */
export const findOpenHandover = query<OfAgent, HandoverRow>(
  'agents.findOpenHandover',
  `select ${COLUMNS} from agent_handovers
   where app_no = :appNo and agent_uid = :agentUid and uid = :uid and closed_at is null`,
)

/** The caller holds the head, and no other handover of the conversation is open. */
export const insertHandover = query<
  OfAgent & { conversation: number; openedBy: Opener; reason: string | null },
  HandoverRow
>(
  'agents.insertHandover',
  `insert into agent_handovers (app_no, agent_uid, uid, conversation, opened_by, reason, hand_back_at)
   values (:appNo, :agentUid, :uid, :conversation, :openedBy, :reason, ${handBackAt(':agentUid')})
   returning ${COLUMNS}`,
)

/**
 * Opens the last handover of a user again if they took the conversation back in the last minute and nobody had taken it. Otherwise
 * a user could make as many rows as requests. The caller holds the head, and no other handover of the conversation is open.
 */
export const reopenHandover = query<
  OfAgent & { conversation: number; reason: string | null },
  HandoverRow
>(
  'agents.reopenHandover',
  `update agent_handovers set conversation = :conversation, reason = :reason, opened_at = clock_timestamp(),
     closed_at = null, closed_by = null, upto_id = null, hand_back_at = ${handBackAt('agent_uid')}
   where app_no = :appNo and handover_id = (
       select handover_id from agent_handovers
       where app_no = :appNo and agent_uid = :agentUid and uid = :uid
       order by upto_id desc, closed_at desc limit 1)
     and opened_by = 'user' and taken_at is null and closed_at > now() - interval '1 minute'
   returning ${COLUMNS}`,
)

/** Keeps the first time: it says how long the user waited. */
export const takeHandover = query<OneHandover & { by: string }, HandoverRow>(
  'agents.takeHandover',
  `update agent_handovers set taken_by = :by, taken_at = coalesce(taken_at, clock_timestamp()),
     hand_back_at = case when taken_at is null then ${handBackAt('agent_uid')} else hand_back_at end
   where app_no = :appNo and handover_id = :handoverId::uuid
   returning ${COLUMNS}`,
)

/** Only the first answer counts for the time that users wait. From then on, a person hands the conversation back. */
export const noteAnswer = query<OneHandover, HandoverRow>(
  'agents.noteAnswer',
  `update agent_handovers set answered_at = coalesce(answered_at, clock_timestamp()), hand_back_at = null
   where app_no = :appNo and handover_id = :handoverId::uuid
   returning ${COLUMNS}`,
)

/** The agent answers what comes after `uptoId`. The caller holds the head. */
export const closeHandover = query<OneHandover & { uptoId: number; closedBy: Closer }, HandoverRow>(
  'agents.closeHandover',
  `update agent_handovers set closed_at = clock_timestamp(), closed_by = :closedBy, upto_id = :uptoId
   where app_no = :appNo and handover_id = :handoverId::uuid
   returning ${COLUMNS}`,
)

/** Handovers that nobody has answered in time, in all apps. */
export const listOverdue = query<{ limit: number }, { app_no: number; handover_id: string }>(
  'agents.listOverdueHandovers',
  `select app_no, handover_id from agent_handovers join working_apps() using (app_no)
   where closed_at is null and hand_back_at <= clock_timestamp()
   order by hand_back_at limit :limit`,
)

/** Locks one of them. No row if somebody has taken, answered or closed it meanwhile. */
export const lockOverdue = query<OneHandover, HandoverRow>(
  'agents.lockOverdueHandover',
  `select ${COLUMNS} from agent_handovers
   where app_no = :appNo and handover_id = :handoverId::uuid and closed_at is null and hand_back_at <= clock_timestamp()
   for no key update`,
)

export interface HandoverFilter {
  agentUid?: string | undefined
  uid?: string | undefined
  state?: HandoverState | undefined
  sortOrder?: 'asc' | 'desc' | undefined
  before?: string | undefined
  limit: number
}

const IN_STATE: Record<HandoverState, Sql> = {
  open: sql`closed_at is null and taken_at is null`,
  taken: sql`closed_at is null and taken_at is not null`,
  closed: sql`closed_at is not null`,
}

/** Newest first, unless the order is ascending. */
export function listHandoverRows(
  db: Executor,
  appNo: number,
  { agentUid, uid, state, sortOrder, before, limit }: HandoverFilter,
): Promise<HandoverRow[]> {
  const [order, later] =
    sortOrder === 'asc'
      ? [sql`opened_at, handover_id`, sql`>`]
      : [sql`opened_at desc, handover_id desc`, sql`<`]
  const conditions: Sql[] = [
    sql`app_no = ${appNo}`,
    ...(agentUid === undefined ? [] : [sql`agent_uid = ${agentUid}`]),
    ...(uid === undefined ? [] : [sql`uid = ${uid}`]),
    ...(state === undefined ? [] : [IN_STATE[state]]),
    ...(before === undefined
      ? []
      : [
          sql`(opened_at, handover_id) ${later} (
            select b.opened_at, b.handover_id from agent_handovers b
            where b.app_no = ${appNo} and b.handover_id = ${before}::uuid)`,
        ]),
  ]
  return runSql<HandoverRow>(
    db,
    'agents.listHandovers',
    sql`select ${columns} from agent_handovers where ${joinSql(conditions, ' and ')}
        order by ${order} limit ${limit}`,
  )
}

interface HandedOverDay {
  day: string
  agent_uid: string
  opened: number
  taken: number
  answered: number
  seconds_to_take: number | null
  seconds_to_answer: number | null
}

/** Handovers by the day (UTC) on which they were opened, and how long half of the users waited at most. */
export const countHandovers = query<
  { appNo: number; agent: string | null; days: number },
  HandedOverDay
>(
  'agents.countHandovers',
  `select to_char(opened_at at time zone 'utc', 'YYYY-MM-DD') as day, agent_uid,
     count(*) as opened, count(taken_at) as taken, count(answered_at) as answered,
     percentile_cont(0.5) within group (order by extract(epoch from taken_at - opened_at)::float8) as seconds_to_take,
     percentile_cont(0.5) within group (order by extract(epoch from answered_at - opened_at)::float8) as seconds_to_answer
   from agent_handovers
   where app_no = :appNo and (:agent::text is null or agent_uid = :agent)
     and opened_at >= (date_trunc('day', now() at time zone 'utc') - (:days::int - 1) * interval '1 day') at time zone 'utc'
   group by 1, 2 order by 1, 2`,
)

/** Removes handovers that ended 30 days ago. */
export const removeOldHandovers = query<{ limit: number }, { removed: number }>(
  'agents.removeOldHandovers',
  `with gone as (
     delete from agent_handovers where ctid = any (array(
       select ctid from agent_handovers
       where closed_at is not null and closed_at < now() - interval '30 days' limit :limit))
     returning handover_id
   )
   select count(*) as removed from gone`,
)
