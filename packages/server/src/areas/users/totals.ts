import type { Executor } from '../../platform/db/query.ts'
import { query } from '../../platform/db/query.ts'

/** Writers pick one of these rows at random: they seldom wait for each other. */
const SHARDS = 16

const upsertTotal = query<{ appNo: number; what: string; shard: number; change: number }>(
  'totals.upsert',
  `insert into totals as t (app_no, what, shard, total) values (:appNo, :what, :shard, :change)
   on conflict (app_no, what, shard) do update set total = t.total + excluded.total`,
)

const sumTotal = query<{ appNo: number; what: string }, { total: number }>(
  'totals.sum',
  `select coalesce(sum(total), 0)::bigint as total from totals
   where app_no = :appNo and what = :what`,
)

export type Total = 'users.active' | 'users.deactivated'

/** Changes a total of the app. Comes after all rows and before the outbox in the order of locks. */
export async function addToTotal(tx: Executor, appNo: number, what: Total, change: number) {
  if (change === 0) return
  const shard = Math.floor(Math.random() * SHARDS)
  await upsertTotal.many(tx, { appNo, what, shard, change })
}

export const getTotal = async (db: Executor, appNo: number, what: Total): Promise<number> =>
  (await sumTotal.one(db, { appNo, what })).total
