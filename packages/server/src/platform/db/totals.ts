import type { Executor } from './query.ts'
import { query } from './query.ts'

const changeTotal = query<{ appNo: number; what: string; change: number }>(
  'totals.add',
  'select add_total(:appNo, :what, :change)',
)

const sumTotal = query<{ appNo: number; what: string }, { total: number }>(
  'totals.sum',
  `select coalesce(sum(total), 0)::bigint as total from totals
   where app_no = :appNo and what = :what`,
)

/** Changes a total of the app. In the lock order, it comes after all rows and before the event's body. */
export async function addToTotal(tx: Executor, appNo: number, what: string, change: number) {
  if (change !== 0) await changeTotal.run(tx, { appNo, what, change })
}

/** A total of the app: the sum of its rows. */
export const getTotal = async (db: Executor, appNo: number, what: string): Promise<number> =>
  (await sumTotal.one(db, { appNo, what })).total
