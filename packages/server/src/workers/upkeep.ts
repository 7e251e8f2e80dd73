import { setTimeout as sleep } from 'node:timers/promises'
import { thinMarks } from '../areas/conversations/queries.ts'
import { removeOldFormerMembers } from '../areas/groups/queries.ts'
import { removeOldJobs } from '../areas/jobs/queries.ts'
import { removeExpired, removeOldShown } from '../areas/notifications/upkeep.queries.ts'
import { removeOldSteps } from '../areas/stats/queries.ts'
import { removeOldDeadLetters } from '../areas/webhooks/deliveries.queries.ts'
import { maintainLogs } from '../core/logs.ts'
import { removeOldIdempotency } from '../gate/queries.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { removeOldRevocations } from '../platform/cells/revocations.ts'
import { type Query, query } from '../platform/db/query.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 3_600_000
/** Small enough to hold no lock for long, and to stop soon after an abort. */
const BATCH = 10_000
/** Batches of marks per round: 24 million marks a day, at a few seconds per hour. */
const MARK_BATCHES = 100

/** Removes workers that crashed. After a day, no lease refers to them. */
const removeDeadWorkers = query<Record<string, never>>(
  'leases.removeDeadWorkers',
  `delete from workers where expires_at < now() - interval '1 day'`,
)

/** Maintains a cell once an hour. */
export async function runUpkeep(context: JobContext): Promise<void> {
  const { signal } = context
  while (!signal.aborted) {
    await maintainCell(context)
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** One round: maintains log partitions, and removes crashed workers and rows that are no longer needed. */
export async function maintainCell({
  deps,
  cell,
  signal,
}: Omit<JobContext, 'lease'>): Promise<void> {
  const days = deps.config.service.eventRetentionDays
  const { made, dropped } = await maintainLogs(cell.url, days)
  if (made.length + dropped.length > 0) {
    deps.log.info({ cell: cell.id, made, dropped }, 'log partitions changed')
  }
  await removeDeadWorkers.run(cell.db, {})
  await removeAll(removeOldIdempotency, cell, signal)
  await removeAll(removeOldRevocations, cell, signal)
  await removeAll(removeOldDeadLetters, cell, signal)
  await removeAll(removeOldSteps, cell, signal)
  await removeAll(removeOldJobs, cell, signal)
  await removeAll(removeExpired, cell, signal)
  await removeAll(removeOldShown, cell, signal)
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
