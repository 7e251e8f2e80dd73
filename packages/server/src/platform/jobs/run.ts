import { type Db, sqlState, type Tx } from '../db/db.ts'
import { storableStart } from '../http/characters.ts'
import { isLeaseLost } from '../leases/leases.ts'
import { type Job, Postponed, type Run, Unrecoverable } from './definition.ts'
import { type Claimed, type End, type Fence, findStep, storeCheckpoint } from './queue.ts'

/** Why a run is told to stop. */
export type StopReason = 'cancelled' | 'deadline' | 'lost' | 'draining'

const CANCELLED = 'LQ004'
const PROGRESS_MS = 1_000
const ERROR_LENGTH = 1_000
/** The first retry comes after one second. Each further one waits twice as long, up to an hour. */
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 3_600_000
/** setTimeout can't wait longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

class Stopped extends Error {
  readonly reason: StopReason
  constructor(reason: StopReason) {
    super(`stopped: ${reason}`)
    this.reason = reason
  }
}

/** Runs a claimed job once. */
export class JobRun<Context> {
  readonly claimed: Claimed
  readonly #job: Job<never, Context>
  readonly #db: () => Db
  readonly #fence: Fence
  readonly #stop = new AbortController()
  #storedAt = performance.now()
  /** Work under way that a worker which shuts down waits for. */
  #uncut = 0
  #draining = false

  constructor(claimed: Claimed, job: Job<never, Context>, workerId: string, db: () => Db) {
    const { appNo, id, epoch } = claimed
    this.claimed = claimed
    this.#job = job
    this.#db = db
    this.#fence = { appNo, id, workerId, epoch }
  }

  /** Asks the handler to stop. The first reason counts. */
  stop(reason: StopReason): void {
    if (reason === 'draining' && this.#uncut > 0) {
      this.#draining = true
      return
    }
    if (!this.#stop.signal.aborted) this.#stop.abort(new Stopped(reason))
  }

  async #finish<T>(work: () => Promise<T>): Promise<T> {
    this.#stop.signal.throwIfAborted()
    this.#uncut++
    try {
      return await work()
    } finally {
      this.#uncut--
      if (this.#draining && this.#uncut === 0) this.stop('draining')
    }
  }

  /** Runs the handler to its end. Undefined if the job belongs to another worker by now. */
  async end(context: Context): Promise<End | undefined> {
    const { appNo: app, id, epoch, tries, cancelling, leftMs } = this.claimed
    const { keep } = this.#job
    const end = { app, id, epoch, keep }
    if (cancelling) return { ...end, outcome: 'cancelled' }
    // Its worker died each time, or it passed its deadline while it waited.
    if (tries > this.#job.tries) return { ...end, outcome: 'failed', error: 'too many tries' }
    const timer =
      leftMs !== null && leftMs < LONGEST_TIMER_MS
        ? setTimeout(() => this.stop('deadline'), Math.max(leftMs, 0))
        : undefined
    try {
      if (leftMs !== null && leftMs <= 0) throw new Stopped('deadline')
      await this.#job.start(this.#runOf(context))
      return { ...end, outcome: 'done' }
    } catch (error) {
      const outcome = this.#outcomeOf(error)
      return outcome && { ...end, ...outcome }
    } finally {
      clearTimeout(timer)
      // What the handler left running must not write any more.
      this.stop('lost')
    }
  }

  #runOf(context: Context): Run<unknown, unknown, Context> {
    const { appNo, id, input } = this.claimed
    const signal = this.#stop.signal
    let saved: unknown = this.claimed.checkpoint ?? undefined
    let progress: [done: number | null, total: number | null] = [null, null]
    const store = async (tx: Pick<Tx, 'query'>, values: Partial<StoredValues> = {}) => {
      const [done, total] = progress
      const none = { checkpoint: null, step: null, result: null }
      await storeCheckpoint.run(tx, { ...this.#fence, ...none, done, total, ...values })
      this.#storedAt = performance.now()
    }
    const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      signal.throwIfAborted()
      const known = await findStep.maybeOne(this.#db(), { appNo, id, step: name })
      return known ? (known.result as T) : await work()
    }
    const storeStep = (tx: Pick<Tx, 'query'>, name: string, result: unknown) =>
      store(tx, { step: name, result: JSON.stringify(result ?? null) })
    return {
      appNo,
      id,
      input,
      get saved() {
        return saved
      },
      context,
      signal,
      checkpoint: async (work) => {
        signal.throwIfAborted()
        const next = await this.#db().tx(async (tx) => {
          const reached = await work(tx)
          // Last: it locks the job's row, which others must not wait for.
          await store(tx, { checkpoint: JSON.stringify(reached) })
          return reached
        })
        saved = next
        return next
      },
      uncut: (work) => this.#finish(work),
      progress: async (done, total) => {
        signal.throwIfAborted()
        progress = [done, total ?? progress[1]]
        if (performance.now() - this.#storedAt >= PROGRESS_MS) await store(this.#db())
      },
      step: (name, work) =>
        step(name, () =>
          this.#db().tx(async (tx) => {
            const result = await work(tx)
            await storeStep(tx, name, result)
            return result
          }),
        ),
      effect: (name, work) =>
        step(name, async () => {
          const result = await work()
          await storeStep(this.#db(), name, result)
          return result
        }),
    }
  }

  #outcomeOf(error: unknown): Pick<End, 'outcome' | 'error' | 'delay'> | undefined {
    const aborted: unknown = this.#stop.signal.aborted ? this.#stop.signal.reason : error
    const reason = aborted instanceof Stopped ? aborted.reason : undefined
    if (reason === 'lost' || isLeaseLost(error)) return undefined
    if (reason === 'draining') return { outcome: 'released' }
    if (reason === 'cancelled' || sqlState(error) === CANCELLED) return { outcome: 'cancelled' }
    if (reason === 'deadline') return { outcome: 'failed', error: 'the deadline passed' }
    if (error instanceof Postponed) return { outcome: 'released', delay: error.delayMs }
    const text = error instanceof Error ? error.message : String(error)
    const failed = { outcome: 'failed' as const, error: storableStart(text, ERROR_LENGTH) }
    const { tries } = this.claimed
    if (error instanceof Unrecoverable || tries >= this.#job.tries) return failed
    // A random part keeps jobs that failed together from coming back together.
    const delay = Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LONGEST_RETRY_MS)
    return { ...failed, delay: Math.round(delay * (0.75 + Math.random() / 2)) }
  }
}

interface StoredValues {
  checkpoint: string
  step: string
  result: string
}
