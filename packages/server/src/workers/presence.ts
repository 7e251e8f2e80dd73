import { setTimeout as sleep } from 'node:timers/promises'
import { endGateways, type ReleaseCursor, releaseGateway } from '../areas/presence/queries.ts'
import type { Db } from '../platform/db/db.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 1_000
/** Users set offline per transaction. */
const BATCH = 500

/** Sets the users of stopped gateways offline, whether the gateway shut down or crashed. Repeating it does no harm. */
export async function runPresence({ cell, signal }: JobContext): Promise<void> {
  while (!signal.aborted) {
    for (const { gateway } of await endGateways.many(cell.db, {})) {
      await release(cell.db, gateway, signal)
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

async function release(db: Db, gateway: string, signal: AbortSignal): Promise<void> {
  let cursor: ReleaseCursor | undefined = { app_no: 0, uid: '' }
  while (cursor && !signal.aborted) {
    const from = { gateway, appNo: cursor.app_no, uid: cursor.uid, limit: BATCH }
    cursor = await db.call(
      (tx): Promise<ReleaseCursor | undefined> => releaseGateway.maybeOne(tx, from),
    )
  }
}
