/** Runners of test jobs, in this process or in one of their own. */
import { type Static, type TSchema, Type } from 'typebox'
import type { Deps } from '../src/deps.ts'
import type { Cell } from '../src/platform/cells/directory.ts'
import { jobsSubject } from '../src/platform/cells/directory.ts'
import { type Definition, defineJob, type Job } from '../src/platform/jobs/definition.ts'
import type { Claimed, EnqueueOptions } from '../src/platform/jobs/queue.ts'
import { enqueue } from '../src/platform/jobs/queue.ts'
import { Runner, type RunnerOptions } from '../src/platform/jobs/runner.ts'
import { Worker } from '../src/platform/leases/leases.ts'
import { runQueue } from '../src/workers/queue.ts'
import { queryAt } from './databases.ts'
import { rows } from './log-writers.ts'
import { until } from './until.ts'

export interface TestContext {
  cell: Cell
  job: Claimed
}
export type TestJob = Job<never, TestContext>

/** A job of this file's context. */
export const testJob = <I extends TSchema, C extends TSchema>(
  definition: Omit<Definition<I, C, TestContext>, 'summary'>,
) => defineJob<I, C, TestContext>({ summary: 'A job of a test.', ...definition })

type Options = Partial<
  Pick<RunnerOptions<TestContext>, 'slots' | 'perApp' | 'drainMs' | 'onEnd' | 'unscheduled'>
>

export interface StartedRunner {
  workerId: string
  /** Drains it, like a process that is asked to end. */
  stop(): Promise<void>
}

const running = new Set<StartedRunner>()

/** Stops all runners that are still running: a failed test must not keep its file from ending. */
export const stopRunners = () => Promise.all([...running].map((runner) => runner.stop()))

export function startRunner(
  deps: Deps,
  cell: Cell,
  jobs: readonly TestJob[],
  options: Options = {},
): StartedRunner {
  const worker = new Worker(() => cell.db, deps.log)
  worker.start()
  const stop = new AbortController()
  const jobRunner = new Runner<TestContext>({
    ...{ jobs, worker, log: deps.log, bus: deps.bus, slots: 8, perApp: 8, drainMs: 60_000 },
    unscheduled: [],
    subject: jobsSubject(cell.id),
    db: () => cell.db,
    context: (job) => ({ cell, job }),
    ...options,
  })
  const ended = jobRunner.run(stop.signal)
  const runner = {
    workerId: worker.id,
    async stop() {
      running.delete(runner)
      stop.abort()
      await ended
      await worker.close()
    },
  }
  running.add(runner)
  return runner
}

/** Runs the cell's queue, with all jobs of the service, until none of this name is left. */
export async function runQueued(deps: Deps, cell: Cell, name: string): Promise<void> {
  const worker = new Worker(() => cell.db, deps.log)
  worker.start()
  const stop = new AbortController()
  const ended = runQueue({ deps, cell, worker, signal: stop.signal })
  const left = () => rows(cell.db, 'select from jobs where name = $1 and ended_at is null', [name])
  await until(`no ${name} is left`, async () => (await left()).length === 0)
  stop.abort()
  await ended
  await worker.close()
}

/** Adds a job in a transaction of its own. */
export const add = <Input>(
  { db }: Cell,
  appNo: number,
  job: Job<Input, never>,
  input: Input,
  options?: EnqueueOptions,
) => db.tx((tx) => enqueue(tx, appNo, job, input, options))

export interface JobRow {
  id: number
  state: string
  tries: number
  epoch: number
  error: string | null
  checkpoint: unknown
  done: number | null
  total: number | null
  run_at: Date
}

/** The jobs of an app that are in the table, oldest first. */
export const jobsOf = ({ db }: Cell, appNo: number) =>
  rows<JobRow>(db, 'select * from jobs where app_no = $1 order by id', [appNo])

/** Writes the numbers from 0, one for each checkpoint. */
const Count = Type.Object({ to: Type.Integer() })
export const countJob = testJob({
  name: 'test.count',
  input: Count,
  checkpoint: Type.Integer(),
  async run({ appNo, id, input, saved = 0, checkpoint }) {
    for (let n = saved; n < (input as Static<typeof Count>).to; n++) {
      await checkpoint(async (tx) => {
        await rows(tx, 'insert into counted values ($1, $2, $3)', [appNo, id, n])
        return n + 1
      })
    }
  },
})

/** Creates the table of `countJob`. It has no key, so that a number can be there twice. */
export const makeCounted = ({ url }: Cell) =>
  queryAt(
    url,
    `create table if not exists counted (app_no int, job_id bigint, n int);
     grant all on counted to loquat_service`,
  )
