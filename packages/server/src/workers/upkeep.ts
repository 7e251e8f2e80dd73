import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../platform/db/query.ts'
import { keepPartitions } from '../platform/events/partitions.ts'
import type { JobContext } from './jobs.ts'

const EVERY_MS = 3_600_000

/** Workers that did not leave in order; by then nobody holds anything in their name. */
const removeDeadWorkers = query<Record<string, never>>(
  'leases.removeDeadWorkers',
  `delete from workers where expires_at < now() - interval '1 day'`,
)

/** Upkeep of a cell, each hour: partitions of the event log, rows of workers that are gone. */
export async function runUpkeep({ deps, cell, signal }: JobContext): Promise<void> {
  const { eventRetentionDays } = deps.config.service
  while (!signal.aborted) {
    const { made, dropped } = await keepPartitions(cell.url, eventRetentionDays)
    if (made.length + dropped.length > 0) {
      deps.log.info({ cell: cell.id, made, dropped }, 'event partitions')
    }
    await removeDeadWorkers.many(cell.db, {})
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}
