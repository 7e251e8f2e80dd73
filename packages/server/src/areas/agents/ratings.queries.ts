import type { CellRows } from '../../../db/rows.gen.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, type Sql, sql } from '../../platform/db/sql.ts'

export type RatingRow = Pick<
  CellRows['agent_ratings'],
  | ('rating_id' | 'run_id' | 'uid' | 'agent_uid' | 'revision' | 'up' | 'comment')
  | ('created_at' | 'updated_at')
>

type OneRating = { appNo: number; runId: string; uid: string }

/**
 * The run, locked, if this user may rate its answer: the user who asked, or in a group every member who sees the answer.
 * `answered` says whether there is an answer. Until the transaction ends, nobody removes the run or the user.
 */
export const lockRated = query<
  OneRating,
  { agent_uid: string; revision: number | null; answered: boolean }
>(
  'agents.lockRated',
  `select r.agent_uid, r.revision, m.id is not null as answered
   from agent_runs r
   join users u on u.app_no = r.app_no and u.uid = :uid and u.removed_at is null
   left join messages m on m.app_no = r.app_no and m.id = r.answer_id and m.deleted_at is null
   where r.app_no = :appNo and r.run_id = :runId::uuid and r.agent_uid <> :uid
     and case when r.guid is null then r.uid = :uid
       else exists (select from inbox i where i.app_no = r.app_no and i.uid = :uid and i.kind = 'group'
         and i.with_id = r.guid and i.scope is not null and coalesce(r.answer_id, 0) > coalesce(i.cleared_id, 0)) end
   for key share of r for share of u`,
)

const COLUMNS = 'rating_id, run_id, uid, agent_uid, revision, up, comment, created_at, updated_at'

export const putRating = query<
  OneRating & { agent: string; revision: number | null; up: boolean; comment: string | null },
  RatingRow
>(
  'agents.putRating',
  `insert into agent_ratings (app_no, run_id, uid, agent_uid, revision, up, comment)
   values (:appNo, :runId::uuid, :uid, :agent, :revision::int, :up, :comment)
   on conflict (app_no, run_id, uid) do update
     set up = excluded.up, comment = excluded.comment, updated_at = now()
   returning ${COLUMNS}`,
)

export const removeRating = query<OneRating, { run_id: string }>(
  'agents.removeRating',
  `delete from agent_ratings where app_no = :appNo and run_id = :runId::uuid and uid = :uid
   returning run_id`,
)

export interface RatingFilter {
  agentUid?: string | undefined
  uid?: string | undefined
  rating?: 'up' | 'down' | undefined
  revision?: number | undefined
  commented?: boolean | undefined
  since?: number | undefined
  until?: number | undefined
  runIds?: string[] | undefined
  before?: string | undefined
  limit: number
}

export type RatedRow = RatingRow & {
  message_id: number
  answer_id: number | null
  question: string | null
  answer: string | null
}

/** Newest first, of the last 30 days. Texts of messages that were deleted since are left out. */
export function listRatingRows(
  db: Executor,
  appNo: number,
  { limit, ...filter }: RatingFilter,
): Promise<RatedRow[]> {
  const { agentUid, uid, rating, revision, commented, since, until, runIds, before } = filter
  const conditions: Sql[] = [
    sql`g.app_no = ${appNo}`,
    ...(agentUid === undefined ? [] : [sql`g.agent_uid = ${agentUid}`]),
    ...(uid === undefined ? [] : [sql`g.uid = ${uid}`]),
    ...(rating === undefined ? [] : [sql`g.up = ${rating === 'up'}`]),
    ...(revision === undefined ? [] : [sql`g.revision = ${revision}`]),
    ...(commented === undefined ? [] : [sql`(g.comment is not null) = ${commented}`]),
    ...(since === undefined ? [] : [sql`g.created_at >= to_timestamp(${since}::float8 / 1000)`]),
    ...(until === undefined ? [] : [sql`g.created_at < to_timestamp(${until}::float8 / 1000)`]),
    ...(runIds === undefined ? [] : [sql`g.run_id = any (${runIds}::uuid[])`]),
    ...(before === undefined
      ? []
      : [
          sql`(g.created_at, g.rating_id) < (
            select b.created_at, b.rating_id from agent_ratings b
            where b.app_no = ${appNo} and b.rating_id = ${before}::uuid)`,
        ]),
  ]
  return runSql<RatedRow>(
    db,
    'agents.listRatings',
    sql`select g.rating_id, g.run_id, g.uid, g.agent_uid, g.revision, g.up, g.comment, g.created_at, g.updated_at,
          r.message_id, r.answer_id, q.data ->> 'text' as question, a.data ->> 'text' as answer
        from agent_ratings g
        join agent_runs r on r.app_no = g.app_no and r.run_id = g.run_id
        left join messages q on q.app_no = g.app_no and q.id = r.message_id and q.deleted_at is null
        left join messages a on a.app_no = g.app_no and a.id = r.answer_id and a.deleted_at is null
        where ${joinSql(conditions, ' and ')}
        order by g.created_at desc, g.rating_id desc limit ${limit}`,
  )
}

export const findRating = query<{ appNo: number; ratingId: string }, { rating_id: string }>(
  'agents.findRating',
  'select rating_id from agent_ratings where app_no = :appNo and rating_id = :ratingId::uuid',
)

/** Ratings by day (UTC), agent and revision. */
export const countRatings = query<
  { appNo: number; agent: string | null; days: number },
  { day: string; agent_uid: string; revision: number | null; up: number; down: number }
>(
  'agents.countRatings',
  `select to_char(created_at at time zone 'utc', 'YYYY-MM-DD') as day, agent_uid, revision,
     count(*) filter (where up) as up, count(*) filter (where not up) as down
   from agent_ratings
   where app_no = :appNo and (:agent::text is null or agent_uid = :agent)
     and created_at >= (date_trunc('day', now() at time zone 'utc') - (:days::int - 1) * interval '1 day') at time zone 'utc'
   group by 1, 2, 3 order by 1, 2, 3`,
)
