import type { Db } from '../../platform/db/db.ts'
import { listSegmentsAt } from './indexing.queries.ts'
import { rebuildSegment } from './indexing.ts'

/** Builds segments of the search index as if they had never been. `ends` are where they ended: they may have been split since. */
export async function rebuildSegments(
  db: Db,
  appNo: number,
  ends: number[],
  signal: AbortSignal,
): Promise<void> {
  for (const segment of await listSegmentsAt.many(db, { appNo, ends })) {
    signal.throwIfAborted()
    await rebuildSegment(db, appNo, segment)
  }
}
