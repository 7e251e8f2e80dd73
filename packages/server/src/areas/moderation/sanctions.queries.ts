import type { CellRows } from '../../../db/rows.gen.ts'
import { SANCTION_IS_IN_FORCE } from '../../core/sanctions.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { SanctionQuery } from './sanctions.schema.ts'

export type SanctionRow = Omit<CellRows['sanctions'], 'app_no'>

const COLUMNS = 's.id, s.uid, s.kind, s.guid, s.until, s.reason, s.created_at, s.updated_at'

type OneSanction = { appNo: number; id: string }

/** A second one of the same kind for the same user and group replaces end and reason of the first. */
export const upsertSanction = query<
  {
    appNo: number
    uid: string
    kind: string
    guid: string
    until: number | null
    reason: string
  },
  SanctionRow
>(
  'sanctions.upsert',
  `insert into sanctions as s (app_no, id, uid, kind, guid, until, reason)
   values (:appNo, tick(), :uid, :kind, :guid, to_timestamp(:until::float8), :reason)
   on conflict (app_no, uid, kind, guid) do update
   set until = excluded.until, reason = excluded.reason, updated_at = excluded.updated_at
   returning ${COLUMNS}`,
)

export const findSanction = query<OneSanction, SanctionRow>(
  'sanctions.find',
  `select ${COLUMNS} from sanctions s where app_no = :appNo and id = :id and ${SANCTION_IS_IN_FORCE}`,
)

/** The same, whether or not it has ended. `left`: seconds until it ends, if it does. */
export const findEnding = query<OneSanction, SanctionRow & { left: number | null }>(
  'sanctions.findEnding',
  `select ${COLUMNS}, date_part('epoch', s.until - clock_timestamp()) as left from sanctions s
   where app_no = :appNo and id = :id`,
)

/** No row if it is gone, or has another end now. */
export const removeSanction = query<OneSanction & { until: Date | null }, SanctionRow>(
  'sanctions.remove',
  `delete from sanctions s
   where app_no = :appNo and id = :id and until is not distinct from :until returning ${COLUMNS}`,
)

/** Sorted by id. The statement depends on the filters, because each has an index of its own. */
export function listSanctionRows(
  db: Executor,
  appNo: number,
  { uid, kind, guid }: Pick<SanctionQuery, 'uid' | 'kind' | 'guid'>,
  range: { down: boolean; after: number; before: number; limit: number },
): Promise<SanctionRow[]> {
  const where = [
    sql`s.app_no = ${appNo} and s.id > ${range.after} and s.id < ${range.before}`,
    new Sql([SANCTION_IS_IN_FORCE], []),
    ...(uid === undefined ? [] : [sql`s.uid = ${uid}`]),
    ...(kind === undefined ? [] : [sql`s.kind = ${kind}`]),
    ...(guid === undefined ? [] : [sql`s.guid = ${guid} and s.guid <> ''`]),
  ]
  const order = new Sql([range.down ? 's.id desc' : 's.id'], [])
  return runSql<SanctionRow>(
    db,
    'sanctions.list',
    sql`select ${new Sql([COLUMNS], [])} from sanctions s where ${joinSql(where, ' and ')}
      order by ${order} limit ${range.limit}`,
  )
}
