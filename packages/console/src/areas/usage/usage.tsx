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
const RANGES = {
  7: 'Last 7 days',
  30: 'Last 30 days',
  90: 'Last 90 days',
  365: 'Last year',
} as const
type Range = `${keyof typeof RANGES}`
const DAY_MS = 86_400_000

/** The app's usage by UTC day. */
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
      description="Daily usage of this app in UTC, updated every few seconds."
      actions={
        <Choice
          label="Time range"
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
  const valuesOf = (name: Exclude<keyof (typeof each)[number], 'day'>) =>
    each.map((day) => day[name])
  return (
    <div className="charts">
      <Chart
        title="Active users"
        total={`${users.toLocaleString('en')} unique users`}
        days={days}
        lines={[{ name: 'users', values: valuesOf('activeUsers') }]}
      />
      <Chart
        title="Concurrent users"
        total={`Peak of ${mostText(valuesOf('concurrentUsers'))}`}
        days={days}
        lines={[{ name: 'users', values: valuesOf('concurrentUsers') }]}
      />
      <Chart
        title="Messages"
        total={`${sumText(valuesOf('messagesSent'))} sent`}
        days={days}
        lines={[{ name: 'messages', values: valuesOf('messagesSent') }]}
      />
      <Chart
        title="API requests"
        total={`${sumText(valuesOf('apiCalls'))} requests, ${sumText(valuesOf('apiErrors'))} failed`}
        days={days}
        lines={[
          { name: 'requests', values: valuesOf('apiCalls') },
          { name: 'errors', values: valuesOf('apiErrors'), isFailure: true },
        ]}
      />
      <Chart
        title="Webhook calls"
        total={`${sumText(valuesOf('webhookCalls'))} calls, ${sumText(valuesOf('webhookFailures'))} failed`}
        days={days}
        lines={[
          { name: 'calls', values: valuesOf('webhookCalls') },
          { name: 'failures', values: valuesOf('webhookFailures'), isFailure: true },
        ]}
      />
      <Chart
        title="Call minutes"
        total={`${sumText(valuesOf('audioMinutes'))} audio, ${sumText(valuesOf('videoMinutes'))} video`}
        days={days}
        lines={[
          { name: 'audio', values: valuesOf('audioMinutes') },
          { name: 'video', values: valuesOf('videoMinutes') },
        ]}
      />
    </div>
  )
}
