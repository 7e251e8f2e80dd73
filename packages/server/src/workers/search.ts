import { setTimeout as sleep } from 'node:timers/promises'
import { Indexer } from '../areas/history/indexing.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 2_000

/** Adds the texts of messages to the search index. */
export async function runSearchIndex({ cell, signal }: JobContext): Promise<void> {
  const indexer = new Indexer(cell.db)
  while (!signal.aborted) {
    const done = await indexer.round(signal)
    if (done === 0) await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}
