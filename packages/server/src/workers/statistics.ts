import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../platform/db/db.ts'
import { query } from '../platform/db/query.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 5_000

/**
 * Tables that hold more than twice the rows that their statistics tell of, and few enough to be read
 * in a moment. `reltuples` is what the last reading found, -1 before the first.
 */
const listOutgrown = query<{ rows: number }, { table: string }>(
  'statistics.listOutgrown',
  `select quote_ident(s.relname) as table
   from pg_stat_user_tables s join pg_class c on c.oid = s.relid
   where s.schemaname = 'public' and s.n_live_tup > 2 * greatest(c.reltuples, 25)
     and s.n_live_tup <= :rows`,
)
const MOST_ROWS = 1_000_000

/**
 * Keeps young tables known to the planner: it takes an empty one's statistics as they are, reads any
 * index that begins with the app, and a message costs ten times as much. Autovacuum looks once a
 * minute unless it is told otherwise, and a crowd is imported faster.
 */
export async function runStatistics({ cell, signal }: JobContext): Promise<void> {
  while (!signal.aborted) {
    await renewStatistics(cell.db)
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** One round; the tables that it read. */
export async function renewStatistics(db: Db): Promise<string[]> {
  const outgrown = await listOutgrown.many(db, { rows: MOST_ROWS })
  for (const { table } of outgrown) {
    // Autovacuum gives way to whoever waits for it, and would not come to its end.
    await db.query({
      ...{ name: '', label: 'statistics.renew', values: [] },
      text: `analyze (skip_locked) ${table}`,
    })
  }
  return outgrown.map(({ table }) => table)
}
