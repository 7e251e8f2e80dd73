import { setTimeout as sleep } from 'node:timers/promises'
import { listRemovedRoles, sweepRole } from '../areas/roles/queries.ts'
import { listRemoved, sweepUser } from '../areas/users/queries.ts'
import type { Cell } from '../platform/cells/directory.ts'
import type { JobContext } from './jobs.ts'

const EVERY_MS = 1_000
/** Rows a statement: it holds their locks for some ten milliseconds. */
const BATCH = 1_000
const AT_ONCE = 100

/** Finishes removals that were too large for one transaction, in batches. */
export async function runSweeps({ cell, signal }: JobContext): Promise<void> {
  while (!signal.aborted) {
    const finished = await sweepOnce(cell)
    if (finished) await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** One batch of each removal; returns whether none is left. */
async function sweepOnce({ db }: Cell): Promise<boolean> {
  const swept: { gone: boolean }[] = []
  for (const { app_no: appNo, uid } of await listRemoved.many(db, { limit: AT_ONCE })) {
    swept.push(await sweepUser.one(db, { appNo, uid, limit: BATCH }))
  }
  for (const { app_no: appNo, role } of await listRemovedRoles.many(db, { limit: AT_ONCE })) {
    swept.push(await sweepRole.one(db, { appNo, role, limit: BATCH }))
  }
  return swept.every(({ gone }) => gone)
}
