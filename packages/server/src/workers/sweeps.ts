import { setTimeout as sleep } from 'node:timers/promises'
import { listRemovedRoles, sweepRole } from '../areas/roles/queries.ts'
import { listRemoved, sweepUser } from '../areas/users/queries.ts'
import type { JobContext } from './jobs.ts'

const EVERY_MS = 1_000
/** Rows a statement: it holds their locks for some ten milliseconds. */
const BATCH = 1_000
const AT_ONCE = 100

/** Finishes removals that were too large for one transaction, in batches. */
export async function runSweeps({ cell, signal }: JobContext): Promise<void> {
  while (!signal.aborted) {
    for (const { app_no: appNo, uid } of await listRemoved.many(cell.db, { limit: AT_ONCE })) {
      await sweepUser.one(cell.db, { appNo, uid, limit: BATCH })
    }
    for (const { app_no: appNo, role } of await listRemovedRoles.many(cell.db, {
      limit: AT_ONCE,
    })) {
      await sweepRole.one(cell.db, { appNo, role, limit: BATCH })
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}
