import type { RuleFigure } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { Empty } from '../../shared/empty.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Chart } from '../usage/chart.tsx'
import '../usage/usage.css'

const DAYS = 30
const DAY_MS = 86_400_000

/** The days up to today, in UTC. */
const lastDays = () =>
  Array.from({ length: DAYS }, (_, n) =>
    new Date(Date.now() - (DAYS - 1 - n) * DAY_MS).toISOString().slice(0, 10),
  )

/** What each rule blocked in the last 30 days. */
export function Figures() {
  const appId = useAppId()
  const figures = useQuery({
    queryKey: appKey(appId, 'moderation', 'figures'),
    queryFn: () => manage.app(appId).reviewItems.listFigures({}),
  })
  if (figures.isPending) return <Skeleton lines={4} />
  if (figures.error) return <Problem error={figures.error} retry={figures.refetch} />
  const rows = figures.data
  if (rows.length === 0) {
    return (
      <Empty title="Nothing blocked">
        No rule blocked a message in the last 30 days, and no flags hid one.
      </Empty>
    )
  }
  const days = lastDays()
  const byRule = Map.groupBy(rows, ({ ruleId }) => ruleId ?? '')
  return (
    <div className="stack">
      {[...byRule].map(([ruleId, own]) => (
        <RuleChart key={ruleId} ruleId={ruleId} figures={own} days={days} />
      ))}
    </div>
  )
}

function RuleChart(props: { ruleId: string; figures: RuleFigure[]; days: string[] }) {
  const { ruleId, figures, days } = props
  const sum = (of: 'blocked' | 'approved' | 'rejected') =>
    figures.reduce((all, figure) => all + figure[of], 0)
  const values = days.map((day) => figures.find((figure) => figure.day === day)?.blocked ?? 0)
  const name = figures.at(-1)?.ruleName ?? (ruleId || 'Flags of users')
  const [blocked, approved, rejected] = [sum('blocked'), sum('approved'), sum('rejected')]
  return (
    <Chart
      title={name}
      total={`${blocked} blocked in 30 days, of which moderators approved ${approved} and rejected ${rejected}`}
      days={days}
      lines={[{ name: 'blocked', values }]}
    />
  )
}
