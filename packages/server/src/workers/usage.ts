import { setTimeout as sleep } from 'node:timers/promises'
import { listLagging, rollUp, samplePeaks } from '../areas/stats/queries.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 5_000
const SAMPLE_MS = 60_000
/** Events counted per transaction. */
const BATCH = 1_000

/** Rolls up the usage of apps. No event is counted twice, even by two workers: see roll_up_usage. */
export async function runUsage({ cell, signal }: JobContext): Promise<void> {
  for (let sampledAt = Number.NEGATIVE_INFINITY; !signal.aborted; ) {
    for (const { app_no: appNo } of await listLagging.many(cell.db, {})) {
      for (let full = true; full && !signal.aborted; ) {
        full = (await rollUp.one(cell.db, { appNo, limit: BATCH })).events === BATCH
      }
    }
    if (performance.now() - sampledAt >= SAMPLE_MS) {
      sampledAt = performance.now()
      await samplePeaks.run(cell.db, {})
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}
