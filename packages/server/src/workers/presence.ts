import { setTimeout as sleep } from 'node:timers/promises'
import { endGateways, type ReleasePlace, releaseGateway } from '../areas/presence/queries.ts'
import type { Db } from '../platform/db/db.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 1_000
/** Users that are let go in one transaction. */
const BATCH = 500

/** Lets go of the users of gateways that are gone, without a word or not. Repeating it does no harm. */
export async function runPresence({ cell, signal }: JobContext): Promise<void> {
  while (!signal.aborted) {
    for (const { gateway } of await endGateways.many(cell.db, {})) {
      await release(cell.db, gateway, signal)
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

async function release(db: Db, gateway: string, signal: AbortSignal): Promise<void> {
  let place: ReleasePlace | undefined = { app_no: 0, uid: '' }
  while (place && !signal.aborted) {
    const from = { gateway, appNo: place.app_no, uid: place.uid, limit: BATCH }
    place = await db.call(
      (tx): Promise<ReleasePlace | undefined> => releaseGateway.maybeOne(tx, from),
    )
  }
}
