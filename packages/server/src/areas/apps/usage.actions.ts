import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { servedApp, unknownApp } from '../../gate/app-of-request.ts'
import { isDatabaseDown } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { listUsage, type UsageRow } from '../stats/queries.ts'
import { type Period, periodOf } from '../stats/record.ts'
import { toManagedApp } from './manage.actions.ts'
import type { ManagedAppRow } from './manage.queries.ts'
import type { NewUsageReport, Tenant, TenantListQuery, Usage, UsageReport } from './usage.schema.ts'

/** Midnight (UTC) at the start of a month: 0 is the current one, -1 the one before. */
function monthStart(nth: number): number {
  const today = new Date()
  return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + nth)
}

/** The end of a period until now. A period is never empty, even in a month's first millisecond. */
const now = () => Date.now() + 1

/** Answers at once what other services mail later. Billing cycles are months. */
export async function createUsageReport(
  { directory }: Deps,
  { managedApp: { id, archived } }: FastifyRequest,
  { usePreviousBillingCycle: previous = false }: NonNullable<NewUsageReport>,
): Promise<UsageReport> {
  if (archived) throw unknownApp(id)
  const { no, cell } = servedApp(await directory.find(id), id, undefined)
  const [fromDate, toDate] = previous ? [monthStart(-1), monthStart(0)] : [monthStart(0), now()]
  const period = periodOf({ fromDate, toDate })
  const found = await usageOf(cell.db, [no], period)
  const usage = found.get(no)
  if (!usage) throw unknownApp(id)
  return { success: true, message: `Usage from ${usage.from} to ${usage.to}.`, usage }
}

/** Adds the usage of a period to a page of apps: one statement for each cell. */
export async function addUsage(
  deps: Deps,
  apps: ManagedAppRow[],
  { fromDate = monthStart(0), toDate = now() }: Pick<TenantListQuery, 'fromDate' | 'toDate'>,
): Promise<Tenant[]> {
  const period = periodOf({ fromDate, toDate })
  const active = apps.filter(({ state }) => state === 'active')
  const found = await Promise.all(
    [...Map.groupBy(active, ({ cell_id }) => cell_id)].map(async ([cellId, here]) => {
      const cell = await deps.directory.findCell(cellId)
      const appNos = here.map(({ app_no }) => app_no)
      // One cell that is down mustn't hide the apps of all others.
      return (
        cell &&
        usageOf(cell.db, appNos, period).catch((error) => {
          if (!isDatabaseDown(error)) throw error
          deps.log.warn({ err: error, cell: cellId }, "couldn't read the usage of a cell's apps")
        })
      )
    }),
  )
  const usages = new Map(found.flatMap((part) => [...(part ?? [])]))
  return apps.map((row) => {
    const usage = usages.get(row.app_no)
    return { ...toManagedApp(deps, row), ...(usage && { usage }) }
  })
}

async function usageOf(db: Executor, appNos: number[], { from, to }: Period) {
  const rows = await listUsage.many(db, { appNos, from, to })
  return new Map(rows.map((row) => [row.app_no, toUsage(row, from, to)]))
}

const toUsage = (row: UsageRow, from: string, to: string): Usage => ({
  from,
  to,
  activeUsers: row.active_users,
  concurrentUsers: row.concurrent_users,
  messagesSent: row.messages,
  apiCalls: row.calls,
  apiErrors: row.errors,
  webhookCalls: row.delivered + row.failed,
  webhookFailures: row.failed,
  users: row.users,
  groups: row.groups,
})
