import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Bus } from '../bus/bus.ts'
import { Wakes } from '../bus/wakes.ts'
import type { Db } from '../db/db.ts'
import type { Worker } from '../leases/leases.ts'
import type { Logger } from '../log/log.ts'
import type { Job, Schedule } from './definition.ts'
import { type Claimed, type End, removeSchedules, scheduleJob, turnJobs } from './queue.ts'
import { JobRun } from './run.ts'

/** How often to look for jobs without being woken, and for jobs of workers that died. */
const POLL_MS = 1_000
const RETRY_MS = 500
/** How long to leave a job that only newer versions know. */
const UNKNOWN_MS = 10_000

export interface RunnerOptions<Context> {
  jobs: readonly Job<never, Context>[]
  /** Jobs that had a schedule in an earlier version. An older worker doesn't know newer jobs, so it can't tell which are gone. */
  unscheduled: readonly string[]
  worker: Worker
  db: () => Db
  bus: Bus
  /** The subject that wakes it. */
  subject: string
  log: Logger
  /** How many jobs it runs at a time. */
  slots: number
  /** How many jobs of an app may run at a time, in all workers. */
  perApp: number
  /** How long running jobs may take to stop. */
  drainMs: number
  context(job: Claimed): Context
  /** Called when a job starts and when it ends, for metrics. */
  onStart?(job: Claimed): void
  onEnd?(job: Claimed, outcome: End['outcome'] | 'lost'): void
}

/** Runs the jobs of a cell, as many at a time as it has slots. Any number of runners share a cell. */
export class Runner<Context> {
  readonly #options: RunnerOptions<Context>
  readonly #jobs: Map<string, Job<never, Context>>
  readonly #wakes = new Wakes()
  readonly #runs = new Map<string, { run: JobRun<Context>; ended: Promise<void> }>()
  /** The ends that the database doesn't know yet. */
  #ends: End[] = []
  /** The app where the last walk ended. */
  #after = -1
  #tendAt = Number.NEGATIVE_INFINITY

  constructor(options: RunnerOptions<Context>) {
    this.#options = options
    this.#jobs = new Map(options.jobs.map((job) => [job.name, job]))
  }

  /** Runs until the signal aborts. Then it stops the running jobs and hands them back. */
  async run(signal: AbortSignal): Promise<void> {
    const { bus, subject, log, worker } = this.#options
    const wake = () => this.#wakes.wake()
    const unsubscribe = bus.subscribe(subject, wake)
    signal.addEventListener('abort', wake)
    // Work outside the database has to stop before another worker may begin.
    const watch = setInterval(() => worker.alive || this.#stopAll('lost'), POLL_MS / 2)
    try {
      let scheduled = false
      while (!signal.aborted) {
        try {
          if (!scheduled) await this.#schedule()
          scheduled = true
          await this.#work(signal)
        } catch (error) {
          log.warn({ err: error }, "couldn't reach the queue of jobs; retrying")
          await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
        }
      }
      await this.#drain()
    } finally {
      clearInterval(watch)
      signal.removeEventListener('abort', wake)
      unsubscribe()
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { slots, worker } = this.#options
    while (!signal.aborted) {
      if (!worker.alive) {
        // What ran until now is another worker's, or is found as unknown in the next turn.
        this.#stopAll('lost')
        await worker.renew()
      }
      const free = slots - this.#runs.size
      const claimed = await this.#turn(free)
      for (const job of claimed) this.#start(job)
      // Jobs that end at once share a turn.
      await setImmediate()
      const more = claimed.length === free && free > 0
      if (!more && this.#ends.length === 0) {
        await this.#wakes.wait(Math.max(this.#tendAt - performance.now(), 1))
      }
    }
  }

  async #turn(free: number): Promise<Claimed[]> {
    const { worker, db, perApp } = this.#options
    const ends = this.#ends
    this.#ends = []
    const tends = performance.now() >= this.#tendAt
    const known = [...this.#runs.values()].map(({ run: { claimed } }) => ({
      app: claimed.appNo,
      id: claimed.id,
    }))
    try {
      const turn = await turnJobs.one(db(), {
        workerId: worker.id,
        ends: ends.length > 0 ? JSON.stringify(ends) : null,
        known: tends ? JSON.stringify(known) : null,
        ...{ free, perApp, after: this.#after },
      })
      this.#after = turn.last
      for (const { app, id } of turn.cancelled ?? []) {
        this.#runs.get(`${app} ${id}`)?.run.stop('cancelled')
      }
      if (tends) {
        const dueMs = Math.min(POLL_MS, Math.max(turn.due_ms ?? POLL_MS, 0))
        this.#tendAt = performance.now() + dueMs
      }
      return turn.claimed ?? []
    } catch (error) {
      // Whether they were recorded or not: recording them twice changes nothing.
      this.#ends.unshift(...ends)
      throw error
    }
  }

  #start(claimed: Claimed): void {
    const { worker, db, onStart } = this.#options
    const { appNo: app, id, epoch, name } = claimed
    const job = this.#jobs.get(name)
    if (!job) {
      this.#ends.push({ app, id, epoch, outcome: 'released', keep: false, delay: UNKNOWN_MS })
      return
    }
    onStart?.(claimed)
    const run = new JobRun(claimed, job, worker.id, db)
    this.#runs.set(`${app} ${id}`, { run, ended: this.#finish(run) })
  }

  async #finish(run: JobRun<Context>): Promise<void> {
    const { log, context, onEnd } = this.#options
    const { claimed } = run
    const key = `${claimed.appNo} ${claimed.id}`
    const end = await run.end(context(claimed))
    // The job may run again already: a run that lost it can end later than the next one starts.
    if (this.#runs.get(key)?.run === run) this.#runs.delete(key)
    if (end) this.#ends.push(end)
    onEnd?.(claimed, end?.outcome ?? 'lost')
    const { name, id, appId, tries } = claimed
    const about = { job: name, id, app: appId ?? undefined, tries, err: end?.error }
    if (!end) log.warn(about, 'job lost to another worker')
    else if (end.outcome === 'failed' && end.delay === undefined) log.error(about, 'job is dead')
    else if (end.outcome === 'failed') log.warn(about, 'job failed; retrying')
    this.#wakes.wake()
  }

  #stopAll(reason: 'lost' | 'draining'): void {
    for (const { run } of this.#runs.values()) run.stop(reason)
  }

  async #drain(): Promise<void> {
    const { drainMs, log } = this.#options
    this.#stopAll('draining')
    const late = new AbortController()
    const timeout = sleep(drainMs, undefined, { signal: late.signal }).catch(() => {})
    await Promise.race([Promise.all([...this.#runs.values()].map(({ ended }) => ended)), timeout])
    late.abort()
    // Without this, the next worker would find them a moment later.
    if (this.#ends.length > 0) {
      await this.#turn(0).catch((error) => log.warn({ err: error }, "couldn't hand back jobs"))
    }
  }

  /** Gives the cell the schedules of the definitions. */
  async #schedule(): Promise<void> {
    const { jobs, unscheduled: keys } = this.#options
    const db = this.#options.db()
    if (keys.length > 0) await removeSchedules.run(db, { keys })
    for (const { name, schedule } of jobs) {
      if (!schedule) continue
      await scheduleJob.run(db, { appNo: 0, key: name, name, input: '{}', ...toRow(schedule) })
    }
  }
}

/** The columns of a schedule. */
export const toRow = (schedule: Schedule) =>
  'at' in schedule
    ? { every: null, at: schedule.at, zone: schedule.zone, days: schedule.days ?? null }
    : { every: schedule.everySeconds, at: null, zone: null, days: null }
