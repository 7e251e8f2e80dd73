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
/** Rows per statement. A statement holds their locks for about ten milliseconds. */
const BATCH = 1_000
/** Deletions of each kind per round. */
const PER_ROUND = 100

/** Finishes deletions that were too large for one transaction, in batches. */
export async function runSweeps({ cell, signal }: JobContext): Promise<void> {
  while (!signal.aborted) {
    const finished = await sweepOnce(cell.db)
    if (finished) await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** Removes one batch of each deletion. Returns whether none is left. */
async function sweepOnce(db: Db): Promise<boolean> {
  const limit = { limit: PER_ROUND }
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
  // A deleted group leaves as many of these as it had messages, so more may be waiting.
  swept.push({ gone: left.length < BATCH })
  for (const { app_no: appNo, no } of await listRemovedWebhooks.many(db, limit)) {
    swept.push(await sweepWebhook.one(db, { appNo, no, limit: BATCH }))
  }
  return swept.every(({ gone }) => gone)
}
