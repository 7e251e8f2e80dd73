import type { DailyStats } from '@loquat/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Choice } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Chart, mostText, sumText } from './chart.tsx'
import './usage.css'

const route = getRouteApi('/apps/$appId/usage')
const RANGES = { 7: '7 days', 30: '30 days', 90: '90 days', 365: 'a year' } as const
type Range = `${keyof typeof RANGES}`
const DAY_MS = 86_400_000

/** What the app used, day by day; days are those of UTC. */
export function Usage() {
  const appId = useAppId()
  const { days = '30' } = route.useSearch()
  const navigate = route.useNavigate()
  const range: Range = days in RANGES ? (days as Range) : '30'
  const usage = useQuery({
    queryKey: appKey(appId, 'usage', range),
    queryFn: async () => {
      const { stats } = manage.app(appId)
      const toDate = Date.now()
      const window = { fromDate: toDate - (Number(range) - 1) * DAY_MS, toDate }
      const [{ days: each }, { metrics }] = await Promise.all([
        stats.getDaily(window),
        stats.get(window),
      ])
      return { each, users: metrics.active_users }
    },
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  return (
    <Page
      title="Usage"
      description="Counted from the event log some seconds behind, by days of UTC."
      actions={
        <Choice
          label="Range"
          value={range}
          options={RANGES}
          onChange={(chosen) => void navigate({ search: { days: chosen }, replace: true })}
        />
      }
    >
      <Problem error={usage.error} retry={usage.refetch} />
      {usage.isPending && <Skeleton />}
      {usage.data && <Charts {...usage.data} />}
    </Page>
  )
}

function Charts({ each, users }: { each: DailyStats['days']; users: number }) {
  const days = each.map(({ day }) => day)
  const of = (name: Exclude<keyof (typeof each)[number], 'day'>) => each.map((day) => day[name])
  return (
    <div className="charts">
      <Chart
        title="Active users"
        total={`${users.toLocaleString('en')} different users`}
        days={days}
        lines={[{ name: 'users', values: of('activeUsers') }]}
      />
      <Chart
        title="Online at the same time"
        total={`${mostText(of('concurrentUsers'))} at most`}
        days={days}
        lines={[{ name: 'users', values: of('concurrentUsers') }]}
      />
      <Chart
        title="Messages"
        total={`${sumText(of('messagesSent'))} sent`}
        days={days}
        lines={[{ name: 'messages', values: of('messagesSent') }]}
      />
      <Chart
        title="API requests"
        total={`${sumText(of('apiCalls'))} requests, ${sumText(of('apiErrors'))} of them refused or failed`}
        days={days}
        lines={[
          { name: 'requests', values: of('apiCalls') },
          { name: 'errors', values: of('apiErrors') },
        ]}
      />
      <Chart
        title="Webhook calls"
        total={`${sumText(of('webhookCalls'))} calls, ${sumText(of('webhookFailures'))} of them failed`}
        days={days}
        lines={[
          { name: 'calls', values: of('webhookCalls') },
          { name: 'failures', values: of('webhookFailures') },
        ]}
      />
    </div>
  )
}
