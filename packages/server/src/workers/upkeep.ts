import { setTimeout as sleep } from 'node:timers/promises'
import { thinMarks } from '../areas/conversations/queries.ts'
import { removeOldFormerMembers } from '../areas/groups/queries.ts'
import { removeOldSteps } from '../areas/stats/queries.ts'
import { removeOldDeadLetters } from '../areas/webhooks/deliveries.queries.ts'
import { removeOldIdempotency } from '../gate/queries.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { removeOldRevocations } from '../platform/cells/revocations.ts'
import { type Query, query } from '../platform/db/query.ts'
import { keepLogs } from '../platform/events/partitions.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 3_600_000
/** Short enough to keep no lock for long, and to stop between two. */
const BATCH = 10_000
/** Batches of marks that are looked at in a round: 24 million marks a day, a few seconds an hour. */
const MARK_BATCHES = 100

/** Workers that did not leave in order; by then nobody holds anything in their name. */
const removeDeadWorkers = query<Record<string, never>>(
  'leases.removeDeadWorkers',
  `delete from workers where expires_at < now() - interval '1 day'`,
)

/** Upkeep of a cell, each hour. */
export async function runUpkeep(context: JobContext): Promise<void> {
  const { signal } = context
  while (!signal.aborted) {
    await keepCell(context)
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** One round: partitions of the event log, workers that are gone, rows that are past their use. */
export async function keepCell({ deps, cell, signal }: Omit<JobContext, 'lease'>): Promise<void> {
  const days = deps.config.service.eventRetentionDays
  const { made, dropped } = await keepLogs(cell.url, days)
  if (made.length + dropped.length > 0) {
    deps.log.info({ cell: cell.id, made, dropped }, 'event partitions')
  }
  await removeDeadWorkers.run(cell.db, {})
  await removeAll(removeOldIdempotency, cell, signal)
  await removeAll(removeOldRevocations, cell, signal)
  await removeAll(removeOldDeadLetters, cell, signal)
  await removeAll(removeOldSteps, cell, signal)
  await removeAll(removeOldFormerMembers, cell, signal, { days })
  for (let batch = 0; batch < MARK_BATCHES && !signal.aborted; batch++) {
    if (!(await thinMarks.one(cell.db, { limit: BATCH })).more) break
  }
}

type Removal<P> = Query<P & { limit: number }, { removed: number }>

async function removeAll<P extends object>(
  removal: Removal<P>,
  { db }: Cell,
  signal: AbortSignal,
  bounds: P = {} as P,
): Promise<void> {
  while (!signal.aborted) {
    const { removed } = await removal.one(db, { ...bounds, limit: BATCH })
    if (removed < BATCH) return
  }
}
