import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Wakes } from '../platform/bus/wakes.ts'
import { wakeSubject } from '../platform/cells/directory.ts'
import { connectionConfig } from '../platform/db/db.ts'
import { query } from '../platform/db/query.ts'
import { publishEvents } from '../platform/events/live.ts'
import type { Lease } from '../platform/leases/leases.ts'
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

interface Step {
  /** For the next step: where the sequencer's state is. Null: unknown. */
  place: string | null
  taken: number
  /** The events in the form in which they are published; null if there were none. */
  live: string | null
}

const sequenceEvents = query<
  { workerId: string; epoch: number; limit: number; place: string | null },
  Step
>(
  'sequencer.step',
  `select place, taken, live
   from sequence_events(:workerId::uuid, :epoch::bigint, :limit::int, :place::tid)`,
)

/**
 * Assigns a position to every committed event of a cell. It uses its own connection, so that it never waits for one.
 * Its state is in the database: see sequence_events.
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
    let place: string | null = null
    // After the cell has moved, the old database may keep running without an error.
    while (!signal.aborted && cell.url === url) {
      place = await sequence(client, context, wakes, place)
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wake)
    await client.end()
  }
}

/** Runs a step, publishes its events, and waits until there may be more. */
async function sequence(
  client: pg.Client,
  { deps, cell, lease }: JobContext,
  wakes: Wakes,
  last: string | null,
): Promise<string | null> {
  const startedAt = performance.now()
  const { place, taken, live } = await sequenceStep(client, lease, last)
  const tookMs = performance.now() - startedAt
  if (live) publishEvents(deps, cell.id, live)
  deps.metrics.events.add(taken, { cell: cell.id })
  if (taken === SEQUENCER_BATCH) return place
  if (taken > 0) await sleep(Math.min(tookMs * PAUSE_IN_STEPS, LONGEST_PAUSE_MS))
  await wakes.wait(POLL_MS)
  return place
}

export function sequenceStep(
  client: pg.Client,
  { workerId, epoch }: Lease,
  place: string | null,
): Promise<Step> {
  return sequenceEvents.one(client, { workerId, epoch, limit: SEQUENCER_BATCH, place })
}
