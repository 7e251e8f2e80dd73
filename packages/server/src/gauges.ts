import { performance } from 'node:perf_hooks'
import type { Deps } from './deps.ts'
import { query } from './platform/db/query.ts'
import type { Readings } from './platform/metrics/metrics.ts'

const outboxAge = query<Record<string, never>, { value: number }>(
  'gauges.outboxAge',
  `select coalesce((select extract(epoch from clock_timestamp() - at)::float8
     from outbox order by id limit 1), 0) as value`,
)

const waitingWebhooks = query<Record<string, never>, { value: number }>(
  'gauges.waitingWebhooks',
  'select count(*)::int as value from webhook_progress where waits_until is not null',
)

/** By app and priority, because the index begins with them: each step of the walk reads one entry. */
const oldestJob = query<Record<string, never>, { value: number }>(
  'gauges.oldestJob',
  `with recursive heads as (
     (select app_no, priority, run_at from jobs where state = 'ready'
      order by app_no, priority desc, run_at limit 1)
     union all
     select next.* from heads, lateral (
       select app_no, priority, run_at from jobs
       where state = 'ready' and (app_no > heads.app_no
         or app_no = heads.app_no and priority < heads.priority)
       order by app_no, priority desc, run_at limit 1) next
   )
   select coalesce(extract(epoch from job_clock() - min(run_at)), 0)::float8 as value from heads`,
)

const deadJobs = query<Record<string, never>, { value: number }>(
  'gauges.deadJobs',
  `select count(*)::int as value from jobs where state = 'dead' and ended_at is not null`,
)

/** Gauges of this process: connections, memory and the load of its event loop. */
export function addProcessGauges({ metrics, directory }: Deps): void {
  metrics.gauge(
    'loquat_db_connections',
    'Connections by database and state. "waiting" counts requests that wait for a connection.',
    () => {
      const pools = [
        ['directory', directory.db] as const,
        ...directory.cells().map(({ id, db }) => [id, db] as const),
      ]
      return pools.flatMap(([db, pool]): [number, { db: string; state: string }][] =>
        Object.entries(pool.connections()).map(([state, count]) => [count, { db, state }]),
      )
    },
  )
  metrics.gauge('loquat_memory_bytes', 'Resident memory of the process.', () => [
    [process.memoryUsage.rss()],
  ])
  let last = performance.eventLoopUtilization()
  metrics.gauge(
    'loquat_event_loop_utilization',
    'Share of the time since the last scrape in which the event loop was busy, from 0 to 1.',
    () => {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, last)
      last = now
      return [[utilization]]
    },
  )
}

/** Gauges of the work that waits in each cell. A cell that doesn't answer has no value; other metrics raise that alarm. */
export function addBacklogGauges({ metrics, directory, log }: Deps): void {
  const perCell = (statement: typeof outboxAge) => async (): Promise<Readings> => {
    const readings = await Promise.allSettled(
      directory.cells().map(async ({ id, db }): Promise<[number, { cell: string }]> => {
        const { value } = await statement.one(db, {})
        return [value, { cell: id }]
      }),
    )
    return readings.flatMap((reading) => {
      if (reading.status === 'fulfilled') return [reading.value]
      log.warn({ err: reading.reason }, "couldn't read the metrics of a cell")
      return []
    })
  }
  metrics.gauge(
    'loquat_outbox_oldest_seconds',
    'Age of the oldest event that has no position yet, by cell.',
    perCell(outboxAge),
  )
  metrics.gauge(
    'loquat_webhooks_waiting',
    'Webhooks that are only probed because their receivers failed too often, by cell.',
    perCell(waitingWebhooks),
  )
  metrics.gauge(
    'loquat_jobs_oldest_seconds',
    'Age of the background job that has been ready for the longest time, by cell.',
    perCell(oldestJob),
  )
  metrics.gauge(
    'loquat_jobs_dead',
    'Background jobs that failed for good and were neither retried nor removed, by cell.',
    perCell(deadJobs),
  )
}
