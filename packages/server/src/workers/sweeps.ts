import { setTimeout as sleep } from 'node:timers/promises'
import { listPurging, sweepPurged } from '../areas/conversations/queries.ts'
import { listRemovedGroups, sweepGroup } from '../areas/groups/queries.ts'
import { listGoneMessages, sweepGoneMessage } from '../areas/reactions/queries.ts'
import { listRemovedRoles, sweepRole } from '../areas/roles/queries.ts'
import { listRemoved, sweepUser } from '../areas/users/queries.ts'
import { listRemovedWebhooks, sweepWebhook } from '../areas/webhooks/queries.ts'
import type { Db } from '../platform/db/db.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 1_000
/** Rows a statement: it holds their locks for some ten milliseconds. */
const BATCH = 1_000
const AT_ONCE = 100

/** Finishes removals that were too large for one transaction, in batches. */
export async function runSweeps({ cell, signal }: JobContext): Promise<void> {
  while (!signal.aborted) {
    const finished = await sweepOnce(cell.db)
    if (finished) await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** One batch of each removal; returns whether none is left. */
async function sweepOnce(db: Db): Promise<boolean> {
  const limit = { limit: AT_ONCE }
  const swept: { gone: boolean }[] = []
  for (const { app_no: appNo, uid } of await listRemoved.many(db, limit)) {
    swept.push(await db.call((tx) => sweepUser.one(tx, { appNo, uid, limit: BATCH })))
  }
  for (const { app_no: appNo, role } of await listRemovedRoles.many(db, limit)) {
    swept.push(await db.call((tx) => sweepRole.one(tx, { appNo, role, limit: BATCH })))
  }
  for (const { app_no: appNo, guid } of await listRemovedGroups.many(db, limit)) {
    swept.push(await db.call((tx) => sweepGroup.one(tx, { appNo, guid, limit: BATCH })))
  }
  for (const { app_no: appNo, no } of await listPurging.many(db, limit)) {
    swept.push(await db.call((tx) => sweepPurged.one(tx, { appNo, no, limit: BATCH })))
  }
  const left = await listGoneMessages.many(db, { limit: BATCH })
  for (const { app_no: appNo, id } of left) {
    swept.push(await db.call((tx) => sweepGoneMessage.one(tx, { appNo, id, limit: BATCH })))
  }
  // A removed group leaves as many as it had messages: more may be waiting.
  swept.push({ gone: left.length < BATCH })
  for (const { app_no: appNo, no } of await listRemovedWebhooks.many(db, limit)) {
    swept.push(await sweepWebhook.one(db, { appNo, no, limit: BATCH }))
  }
  return swept.every(({ gone }) => gone)
}
