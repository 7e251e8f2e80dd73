import type { CellRows } from '../../../db/rows.gen.ts'
import { seconds } from '../../core/time.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, type Sql, sql } from '../../platform/db/sql.ts'
import type { Job, JobQuery } from './schema.ts'

export type JobRow = Omit<
  CellRows['jobs'],
  | 'priority'
  | 'epoch'
  | 'again'
  | 'stepped'
  | 'worker_id'
  | 'deadline'
  | 'dedupe_key'
  | 'serial_key'
  | 'checkpoint'
>

const COLUMNS = `app_no, id, name, state, cancelling, input, done, total, tries, error, created_at,
  run_at, ended_at`

/** Newest first. Without an app, those of all apps of the cell. */
export async function listJobs(
  db: Executor,
  appNo: number | undefined,
  { limit, before, state, name }: JobQuery,
): Promise<(JobRow & { app_id: string | null })[]> {
  const conditions: Sql[] = [
    ...(appNo === undefined ? [] : [sql`app_no = ${appNo}`]),
    ...(state === undefined ? [] : [sql`state = ${state}`]),
    ...(name === undefined ? [] : [sql`name = ${name}`]),
    ...(before === undefined ? [] : [sql`id < ${before}`]),
  ]
  return runSql<JobRow & { app_id: string | null }>(
    db,
    'jobs.list',
    sql`select (select app_id from apps a where a.app_no = jobs.app_no) as app_id, app_no, id, name, state, cancelling, input, done, total, tries, error, created_at,
          run_at, ended_at
        from jobs where ${joinSql([sql`true`, ...conditions], ' and ')}
        order by id desc limit ${limit}`,
  )
}

export const findJob = query<{ appNo: number; id: number }, JobRow>(
  'jobs.find',
  `select ${COLUMNS} from jobs where app_no = :appNo and id = :id`,
)

/** The state that it has now; null if there is no such job. */
export const cancelJob = query<{ appNo: number; id: number }, { state: string | null }>(
  'jobs.cancel',
  'select cancel_job(:appNo::int, :id::bigint) as state',
)

/** A job that waits starts; one that is about to wait starts again. */
export const wakeJob = query<{ appNo: number; id: number }>(
  'jobs.wake',
  'select wake_job(:appNo::int, :id::bigint)',
)

/** The state that it has now; `duplicate` or null as in `retry_job`. */
export const retryJob = query<{ appNo: number; id: number }, { state: string | null }>(
  'jobs.retry',
  'select retry_job(:appNo::int, :id::bigint) as state',
)

export const toJob = (row: JobRow): Job => ({
  id: String(row.id),
  name: row.name,
  state: row.state as Job['state'],
  cancelling: row.cancelling && row.state === 'running',
  input: row.input,
  ...(row.done !== null && {
    progress: { done: row.done, ...(row.total !== null && { total: row.total }) },
  }),
  tries: row.tries,
  ...(row.error !== null && { error: row.error }),
  createdAt: seconds(row.created_at),
  runAt: seconds(row.run_at),
  ...(row.ended_at !== null && { endedAt: seconds(row.ended_at) }),
})

/** Removes jobs that ended a while ago, with their steps: dead ones after a month, others after a week. */
export const removeOldJobs = query<{ limit: number }, { removed: number }>(
  'jobs.removeOld',
  `with gone as (
     delete from jobs where ctid = any (array(
       (select ctid from jobs where state in ('done', 'cancelled') and ended_at is not null
          and ended_at < now() - interval '7 days' limit :limit)
       union all
       (select ctid from jobs where state = 'dead' and ended_at is not null
          and ended_at < now() - interval '30 days' limit :limit)))
     returning app_no, id
   ), steps as (
     delete from job_steps s using gone where s.app_no = gone.app_no and s.job_id = gone.id
   )
   select count(*) as removed from gone`,
)
