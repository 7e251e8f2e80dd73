import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../platform/db/db.ts'
import { query } from '../platform/db/query.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 5_000

/**
 * Tables with more than twice the rows in their statistics, and few enough to analyze quickly. `reltuples` is the
 * count at the last `analyze`, or -1 before the first.
 */
const listOutgrown = query<{ rows: number }, { table: string }>(
  'statistics.listOutgrown',
  `select s.relname::text as table
   from pg_stat_user_tables s join pg_class c on c.oid = s.relid
   where s.schemaname = 'public' and s.n_live_tup > 2 * greatest(c.reltuples, 25)
     and s.n_live_tup <= :rows`,
)
const MOST_ROWS = 1_000_000

const renewTable = query<{ table: string }>('statistics.renew', 'select analyze_table(:table)')

/**
 * Analyzes tables that grow fast while they are small. With the statistics of an empty table, the planner picks any
 * index that starts with the app, and sending a message costs ten times as much. Autovacuum only looks once a minute
 * by default, and a bulk import of users is faster than that.
 */
export async function runStatistics({ cell, signal }: JobContext): Promise<void> {
  while (!signal.aborted) {
    await renewStatistics(cell.db)
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** One round. Returns the tables that it analyzed. */
export async function renewStatistics(db: Db): Promise<string[]> {
  const outgrown = await listOutgrown.many(db, { rows: MOST_ROWS })
  for (const { table } of outgrown) {
    // Autovacuum's `analyze` is cancelled whenever another session waits for its lock; this one isn't.
    await renewTable.run(db, { table })
  }
  return outgrown.map(({ table }) => table)
}
