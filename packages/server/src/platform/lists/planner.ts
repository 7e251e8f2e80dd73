import type { Db } from '../db/db.ts'
import { type Executor, query } from '../db/query.ts'

/**
 * How a read must be planned, whatever the statistics say. No plan scans a whole table;
 * `filterIndexes` uses only the indexes of the conditions, `orderIndex` follows the list order.
 */
export const anyIndex = query<Record<string, never>>(
  'lists.useIndexes',
  `select set_config('enable_seqscan', 'off', true)`,
)
export const filterIndexes = query<Record<string, never>>(
  'lists.useFilterIndexes',
  `select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
     set_config('enable_indexonlyscan', 'off', true)`,
)
export const orderIndex = query<Record<string, never>>(
  'lists.useOrderIndex',
  `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
     set_config('enable_sort', 'off', true)`,
)

/** Runs a read with planner settings that apply to it alone. */
export function planned<T>(
  db: Db,
  settings: typeof anyIndex,
  work: (tx: Executor) => Promise<T>,
): Promise<T> {
  return db.tx(async (tx) => {
    await settings.run(tx, {})
    return work(tx)
  })
}
