import type { Tx } from '../db/db.ts'
import { query } from '../db/query.ts'
import type { Job } from './definition.ts'

export interface EnqueueOptions {
  delaySeconds?: number
  /** Higher ones first, within the app. */
  priority?: number
  /** A job with the same name and key that isn't over stands for this one. If it is running, it runs once more. */
  dedupeKey?: string
  /** Jobs with the same key run one at a time, in order. */
  serialKey?: string
  /** From now on. A job that isn't done by then is dead. */
  deadlineSeconds?: number
}

interface NewJob extends Record<string, unknown> {
  appNo: number
  name: string
  input: string
  delay: number
  priority: number
  dedupeKey: string | null
  serialKey: string | null
  deadline: number | null
}

const insertJob = query<NewJob, { id: number }>(
  'jobs.enqueue',
  `select enqueue_job(:appNo::int, :name, :input::jsonb, make_interval(secs => :delay::float8),
     :priority::int, :dedupeKey, :serialKey,
     job_clock() + make_interval(secs => :deadline::float8)) as id`,
)

/** Adds a job that exists once the transaction commits, and returns its id. App 0 stands for the cell. */
export async function enqueue<Input>(
  tx: Tx,
  appNo: number,
  { name }: Job<Input, never>,
  input: Input,
  options: EnqueueOptions = {},
): Promise<number> {
  const { delaySeconds = 0, priority = 0, dedupeKey, serialKey, deadlineSeconds } = options
  const { id } = await insertJob.one(tx, {
    appNo,
    name,
    input: JSON.stringify(input),
    delay: delaySeconds,
    priority,
    dedupeKey: dedupeKey ?? null,
    serialKey: serialKey ?? null,
    deadline: deadlineSeconds ?? null,
  })
  tx.enqueued = true
  return id
}

/** A claimed job. */
export interface Claimed {
  appNo: number
  /** Null for work of the cell. */
  appId: string | null
  id: number
  name: string
  epoch: number
  tries: number
  input: unknown
  checkpoint: unknown
  cancelling: boolean
  waitedMs: number
  /** The time until its deadline. */
  leftMs: number | null
}

/** How a run ended: see `end_jobs`. */
export interface End {
  app: number
  id: number
  epoch: number
  outcome: 'done' | 'failed' | 'released' | 'cancelled'
  keep: boolean
  error?: string
  delay?: number
}

/** A turn of a runner: see `turn_jobs`. */
export const turnJobs = query<
  {
    workerId: string
    ends: string | null
    known: string | null
    free: number
    perApp: number
    after: number
  },
  {
    claimed: Claimed[] | null
    last: number
    cancelled: { app: number; id: number }[] | null
    due_ms: number | null
  }
>(
  'jobs.turn',
  `select claimed, last, cancelled, due_ms
   from turn_jobs(:workerId::uuid, :ends::jsonb, :known::jsonb, :free::int, :perApp::int, :after::int)`,
)

/** The place of a run in the queue, which proves that it still owns the job. */
export interface Fence extends Record<string, unknown> {
  appNo: number
  id: number
  workerId: string
  epoch: number
}

/** Fails if the job was taken over or cancelled: see `checkpoint_job`. Nulls change nothing. */
export const storeCheckpoint = query<
  Fence & {
    checkpoint: string | null
    done: number | null
    total: number | null
    step: string | null
    result: string | null
  }
>(
  'jobs.checkpoint',
  `select checkpoint_job(:appNo::int, :id::bigint, :workerId::uuid, :epoch::int, :checkpoint::jsonb,
     :done::bigint, :total::bigint, :step, :result::jsonb)`,
)

export const findStep = query<{ appNo: number; id: number; step: string }, { result: unknown }>(
  'jobs.findStep',
  `select result from job_steps where app_no = :appNo and job_id = :id and step = :step`,
)

/** Adds a schedule of the cell or of an app, or changes the one with this key. */
export const scheduleJob = query<{
  appNo: number
  key: string
  name: string
  input: string
  every: number | null
  at: string | null
  zone: string | null
  days: number[] | null
}>(
  'jobs.schedule',
  `select schedule_job(:appNo::int, :key, :name, :input::jsonb, :every::int, :at::time, :zone,
     :days::smallint[])`,
)

/** Removes schedules of the cell. */
export const removeSchedules = query<{ keys: readonly string[] }>(
  'jobs.removeSchedules',
  'delete from job_schedules where app_no = 0 and key = any (:keys::text[])',
)
