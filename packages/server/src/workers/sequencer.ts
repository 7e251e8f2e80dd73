import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Wakes } from '../platform/bus/wakes.ts'
import { wakeSubject } from '../platform/cells/directory.ts'
import { connectionConfig, isDatabaseDown } from '../platform/db/db.ts'
import { query } from '../platform/db/query.ts'
import {
  checkLog,
  findWitness,
  type LogAccess,
  rememberLog,
  type Witness,
} from '../platform/events/breaks.ts'
import { publishEvents } from '../platform/events/live.ts'
import type { Lease } from '../platform/leases/leases.ts'
import type { Logger } from '../platform/log/log.ts'
import type { JobContext } from './job.ts'

/** Rows per step. Larger batches gain little and hold the counters' locks longer. */
export const SEQUENCER_BATCH = 1_000
const POLL_MS = 50
/**
 * A step costs as much as 40 events, so events that arrive soon after each other share one. The pause after a step is
 * this many times as long as the step was: it grows with the load of the machine, but no event waits for long.
 */
const PAUSE_IN_STEPS = 8
const LONGEST_PAUSE_MS = 8
/** How often the directory is told how far the log has come, if it has grown. */
const WITNESS_MS = 1_000
const RECHECK_MS = 1_000

interface Step {
  /** For the next step: where the sequencer's state is. Null: unknown. */
  place: string | null
  taken: number
  /** The events in the form in which they are published; null if there were none. */
  live: string | null
}

const sequenceEvents = query<
  {
    workerId: string
    epoch: number
    limit: number
    place: string | null
    started: string | undefined
  },
  Step
>(
  'sequencer.step',
  `select place, taken, live from sequence_events(
     :workerId::uuid, :epoch::bigint, :limit::int, :place::tid, :started::timestamptz)`,
)

/**
 * Assigns a position to every committed event of a cell. It uses its own connection, so that it never waits for one.
 * Its state is in the database: see sequence_events. First it checks that the database is the one that it was.
 */
export async function runSequencer(context: JobContext): Promise<void> {
  const { deps, cell, signal } = context
  const client = new pg.Client({ ...connectionConfig(cell.url), query_timeout: 10_000 })
  // Without a listener, a broken connection would end the process. The next query reports the error.
  client.on('error', () => {})
  const wakes = new Wakes()
  const wake = () => wakes.wake()
  const unsubscribe = deps.bus.subscribe(wakeSubject(cell.id), wake)
  signal.addEventListener('abort', wake)
  try {
    await client.connect()
    const log = { cellId: cell.id, database: client, directory: deps.directory.db }
    const started = await check(log, context)
    const witness = new WitnessReport(log, deps.log)
    let place: string | null = null
    while (!signal.aborted) {
      place = await sequence(client, context, { wakes, witness, started }, place)
    }
    await witness.end()
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wake)
    await client.end()
  }
}

/**
 * Returns when the server started whose log may be continued. While the directory is down, nobody knows whether this
 * database has lost events: they wait for their positions, and sends go on.
 */
async function check(log: LogAccess, { deps, cell, signal }: JobContext): Promise<string> {
  let witness: Witness | undefined
  for (let failures = 0; !witness; failures++) {
    witness = await findWitness(log).catch(async (error) => {
      if (signal.aborted || !isDatabaseDown(error)) throw error
      const problem = { err: error, cell: cell.id }
      if (failures === 0) deps.log.error(problem, 'no directory; events wait for their positions')
      await sleep(RECHECK_MS, undefined, { signal }).catch(() => {})
      return undefined
    })
  }
  const { started, cause } = await checkLog(log, witness)
  if (cause) deps.log.warn({ cell: cell.id, cause }, 'the event log has a break')
  return started
}

interface CheckedRun {
  wakes: Wakes
  witness: WitnessReport
  started: string
}

/** Runs a step, publishes its events, and waits until there may be more. */
async function sequence(
  client: pg.Client,
  { deps, cell, lease }: JobContext,
  { wakes, witness, started }: CheckedRun,
  last: string | null,
): Promise<string | null> {
  const startedAt = performance.now()
  const { place, taken, live } = await sequenceStep(client, lease, last, started)
  const tookMs = performance.now() - startedAt
  if (live) publishEvents(deps, cell.id, live)
  deps.metrics.events.add(taken, { cell: cell.id })
  witness.grew(taken)
  if (taken === SEQUENCER_BATCH) return place
  if (taken > 0) await sleep(Math.min(tookMs * PAUSE_IN_STEPS, LONGEST_PAUSE_MS))
  await wakes.wait(POLL_MS)
  return place
}

export function sequenceStep(
  client: pg.Client,
  { workerId, epoch }: Lease,
  place: string | null,
  started?: string,
): Promise<Step> {
  return sequenceEvents.one(client, { workerId, epoch, limit: SEQUENCER_BATCH, place, started })
}

/** Tells the directory how far the log has come, in the background: the directory may hang. */
class WitnessReport {
  readonly #access: LogAccess
  readonly #log: Logger
  #writing: Promise<void> = Promise.resolve()
  #busy = false
  #grown = false
  #dueAt = performance.now() + WITNESS_MS

  constructor(access: LogAccess, log: Logger) {
    this.#access = access
    this.#log = log
  }

  grew(events: number): void {
    this.#grown ||= events > 0
    if (!this.#grown || this.#busy || performance.now() < this.#dueAt) return
    this.#writing = this.#write()
  }

  /** Nothing was lost if the database stays as it is now. */
  async end(): Promise<void> {
    await this.#writing
    if (this.#grown) await this.#write()
  }

  async #write(): Promise<void> {
    this.#grown = false
    this.#busy = true
    await rememberLog(this.#access).catch((error) =>
      this.#log.warn({ err: error }, "couldn't tell the directory how far the log has come"),
    )
    this.#busy = false
    this.#dueAt = performance.now() + WITNESS_MS
  }
}
