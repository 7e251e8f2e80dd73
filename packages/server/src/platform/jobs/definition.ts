import type { Static, TSchema } from 'typebox'
import type { Tx } from '../db/db.ts'
import { matcher } from '../matcher.ts'

/** One run of a job: what it works on, and how it records what it has reached. */
export interface Run<Input, Checkpoint, Context> {
  /** The app; 0 for work of the cell itself. */
  readonly appNo: number
  readonly id: number
  readonly input: Input
  /** The last checkpoint, of this run or an earlier one. */
  readonly saved: Checkpoint | undefined
  readonly context: Context
  /**
   * Aborts when the job is cancelled, its deadline passes, its worker shuts down, or another worker may have taken it
   * over. `checkpoint`, `step` and `effect` check it; other work should, if it takes more than seconds.
   */
  readonly signal: AbortSignal
  /**
   * Stores how far the job has come, in one transaction with the writes of `work`, which returns it. If the job was
   * cancelled or taken over, it throws, and nothing is stored. A later run continues from there.
   */
  checkpoint(work: (tx: Tx) => Promise<Checkpoint>): Promise<Checkpoint>
  /**
   * Does something that should end once it has begun, such as a call that can't be repeated. A worker that shuts down
   * waits for it, for as long as it waits for requests, and aborts `signal` afterwards.
   */
  uncut<T>(work: () => Promise<T>): Promise<T>
  /** Shows operators how far the job is, about once a second. */
  progress(done: number, total?: number): Promise<void>
  /** Runs a named step in a transaction that also stores its result. A later run gets that result instead. */
  step<T>(name: string, work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * The same for work outside the database, such as a request. If the process dies before the result is stored, a
   * later run repeats it.
   */
  effect<T>(name: string, work: () => Promise<T>): Promise<T>
}

/** Either a time between two runs, or a time of day in a time zone: see `schedule_job`. */
export type Schedule =
  | { everySeconds: number }
  | { at: string; zone: string /** 1 is Monday. */; days?: number[] }

/** A kind of job, as data plus a handler. */
export interface Definition<Input extends TSchema, Checkpoint extends TSchema, Context> {
  /** Two words, as in `users.remove`. Stored in every job: a new name is a new kind. */
  name: string
  summary: string
  input: Input
  checkpoint?: Checkpoint
  /** Runs without a new checkpoint, until the job is a dead letter. */
  tries?: number
  /** Keep the row for a week after the job is done. */
  keep?: boolean
  /** Enqueue one for every cell, with an empty input. */
  schedule?: Schedule
  /** Returns when the job is done, and throws if it has to be retried. */
  run(run: Run<Static<Input>, Static<Checkpoint>, Context>): Promise<void>
}

/** A definition whose types are checked where it is written, and whose values are checked when it runs. */
export interface Job<Input = never, Context = never> {
  readonly name: string
  readonly summary: string
  readonly tries: number
  readonly keep: boolean
  readonly schedule: Schedule | undefined
  /** Throws `Unrecoverable` if a stored input or checkpoint isn't what the definition says. */
  start(run: Run<unknown, unknown, Context>): Promise<void>
  /** Only a type: what `enqueue` accepts. */
  readonly accepts?: (input: Input) => void
}

/** A failure that a retry can't change. The job becomes a dead letter at once. */
export class Unrecoverable extends Error {}

/** Not a failure: the job waits, without a slot, until somebody wakes it (`wake_job`) or the time is over. */
export class Postponed extends Error {
  readonly delayMs: number
  constructor(delayMs: number) {
    super('postponed')
    this.delayMs = delayMs
  }
}

const TRIES = 10

/** Makes a job of its definition. */
export function defineJob<Input extends TSchema, Checkpoint extends TSchema, Context>(
  definition: Definition<Input, Checkpoint, Context>,
): Job<Static<Input>, Context> {
  const { name, summary, input, checkpoint, tries = TRIES, keep = false, schedule } = definition
  const isInput = matcher(input)
  const isCheckpoint = checkpoint && matcher(checkpoint)
  return {
    name,
    summary,
    tries,
    keep,
    schedule,
    async start(run) {
      if (!isInput(run.input)) throw new Unrecoverable('the input is invalid')
      if (run.saved !== undefined && !isCheckpoint?.(run.saved)) {
        throw new Unrecoverable('the checkpoint is invalid')
      }
      await definition.run(run as Run<Static<Input>, Static<Checkpoint>, Context>)
    },
  }
}
