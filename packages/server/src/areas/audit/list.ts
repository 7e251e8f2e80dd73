import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { storable } from '../../core/time.ts'
import type { Executor } from '../../platform/db/query.ts'
import { joinSql, runSql, sql } from '../../platform/db/sql.ts'
import type { AppAuditQuery, AuditEntry } from './schema.ts'

type Row = Omit<DirectoryRows['audit'], 'app_no'> & { status: number | null }

/** The entries of an app, or of an operator. */
export type Whose = { appNo: number } | { operatorNo: number }

/** Newest first, by an index that starts with the app or the operator and ends with the id. */
export async function listAudit(db: Executor, whose: Whose, query: AppAuditQuery) {
  const { limit, before, action, operator, from, to } = query
  const conditions = [
    'appNo' in whose ? sql`app_no = ${whose.appNo}` : sql`operator_no = ${whose.operatorNo}`,
    ...(operator === undefined ? [] : [sql`operator_no = ${operator}`]),
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(before === undefined ? [] : [sql`a.id < ${before}`]),
    ...(from === undefined ? [] : [sql`at >= to_timestamp(${storable(from)})`]),
    ...(to === undefined ? [] : [sql`at < to_timestamp(${storable(to)})`]),
  ]
  const rows = await runSql<Row>(
    db,
    'audit.list',
    sql`select a.id, at, operator_no, email, via, app_id, action, target, before, after, address,
          user_agent, status
        from audit a left join audit_outcomes o on o.id = a.id
        where ${joinSql(conditions, ' and ')}
        order by a.id desc limit ${limit + 1}`,
  )
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { data: shown.map(toEntry), meta: last ? { next: last.id } : {} }
}

const toEntry = (row: Row): AuditEntry => ({
  id: String(row.id),
  at: Math.floor(row.at.getTime() / 1000),
  via: row.via as AuditEntry['via'],
  ...(row.operator_no !== null && {
    operator: { id: String(row.operator_no), email: row.email ?? '' },
  }),
  ...(row.app_id !== null && { appId: row.app_id }),
  action: row.action,
  target: row.target as Record<string, unknown>,
  ...(row.before !== null && { before: row.before }),
  ...(row.after !== null && { after: row.after }),
  ...(row.status !== null && { status: row.status }),
  ...(row.address !== null && { address: row.address }),
  ...(row.user_agent !== null && { userAgent: row.user_agent }),
})
