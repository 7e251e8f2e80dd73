import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { wakeSubject } from '../platform/cells/directory.ts'
import { connectionConfig } from '../platform/db/db.ts'
import { query } from '../platform/db/query.ts'
import { publishEvents } from '../platform/events/live.ts'
import type { Lease } from '../platform/leases/leases.ts'
import type { JobContext } from './job.ts'
import { type IdRanges, OutboxProgress, type Step } from './outbox-progress.ts'

/** Rows per step. Larger batches gain little and hold the counters' locks longer. */
export const SEQUENCER_BATCH = 1_000
const POLL_MS = 50
/** Events that arrive within this time share a step. A step for each event would cost as much as sending it. */
const GATHER_MS = 5
/** A safety net: even if the state in memory is wrong, no event waits longer than this. */
const START_OVER_MS = 60_000

const lastOutboxId = query<Record<string, never>, { last: number }>(
  'sequencer.lastId',
  'select last_value - (not is_called)::int as last from outbox_id_seq',
)

const drawXid = query<Record<string, never>, { xid: number }>(
  'sequencer.drawXid',
  'select pg_current_xact_id()::text::bigint as xid',
)

interface StepParams extends IdRanges, Record<string, unknown> {
  workerId: string
  epoch: number
  limit: number
}

/** The result of a step. `live` contains its events in the form in which they are published; null if there were none. */
interface LiveStep extends Step {
  live: string | null
}

/** Returns the ids as JSON: the client parses 1,000 of them in 0.04 ms, but a PostgreSQL array in 1 ms. */
const sequenceEvents = query<StepParams, LiveStep>(
  'sequencer.step',
  `select array_to_json(taken) as taken, horizon, live from sequence_events(
     :workerId::uuid, :epoch::bigint,
     :from::bigint, :old::bigint, :after::bigint, :gaps::bigint[], :limit::int)`,
)

/**
 * Assigns a position to every committed event of a cell. It uses its own connection, because its state in memory is
 * only valid for the server it was read from: after a failover, the sequence may have gone back.
 */
export async function runSequencer(context: JobContext): Promise<void> {
  const { deps, cell, signal } = context
  const { url } = cell
  const client = new pg.Client({ ...connectionConfig(url), query_timeout: 10_000 })
  // Without a listener, a broken connection would end the process. The next query reports the error.
  client.on('error', () => {})
  const wakes = new Wakes()
  const wake = () => wakes.wake()
  const unsubscribe = deps.bus.subscribe(wakeSubject(cell.id), wake)
  signal.addEventListener('abort', wake)
  try {
    await client.connect()
    // After the cell has moved, the old database may keep running without an error.
    while (!signal.aborted && cell.url === url) await sequence(client, context, wakes)
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wake)
    await client.end()
  }
}

/** Sequences events until the state in memory has to be rebuilt. */
async function sequence(client: pg.Client, context: JobContext, wakes: Wakes) {
  const { deps, cell, lease, signal } = context
  const { url } = cell
  const progress = await startProgress(client)
  const deadline = Date.now() + START_OVER_MS
  while (!signal.aborted && cell.url === url && Date.now() < deadline) {
    const step = await sequenceStep(client, lease, progress)
    if (step.live) publishEvents(deps, cell.id, step.live)
    deps.metrics.events.add(step.taken.length, { cell: cell.id })
    const complete = step.taken.length < SEQUENCER_BATCH
    const verdict = progress.record(step, complete)
    if (verdict === 'start over') return
    if (verdict === 'stamp') progress.stamp(await newXid(client))
    if (step.taken.length > 0 && complete) await sleep(GATHER_MS)
    if (complete) await wakes.wait(POLL_MS)
  }
}

/** Starts with an unknown outbox. The transaction id must be drawn after the last id is read. */
export async function startProgress(client: pg.Client): Promise<OutboxProgress> {
  const { last } = await lastOutboxId.one(client, {})
  return new OutboxProgress(last, await newXid(client))
}

export function sequenceStep(
  client: pg.Client,
  { workerId, epoch }: Lease,
  progress: OutboxProgress,
): Promise<LiveStep> {
  const limit = SEQUENCER_BATCH
  return sequenceEvents.one(client, { workerId, epoch, ...progress.ranges, limit })
}

const newXid = async (client: pg.Client) => (await drawXid.one(client, {})).xid

/** Ends a wait early. A wake-up while nothing waits is kept for the next wait. */
class Wakes {
  #pending = false
  #resume: (() => void) | undefined

  wake(): void {
    this.#pending = true
    this.#resume?.()
  }

  async wait(ms: number): Promise<void> {
    if (!this.#pending) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#resume = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#pending = false
    this.#resume = undefined
  }
}
