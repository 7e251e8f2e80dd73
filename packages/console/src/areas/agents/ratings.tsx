import type { AgentRating, ListAgentRatingsQuery } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { DataTable } from '../../shared/data-table.tsx'
import { Empty } from '../../shared/empty.tsx'
import { FigureRow } from '../../shared/figure-row.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { hrefTo } from '../../shared/links.ts'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Problem } from '../../shared/problem.tsx'
import { type Filters, queryOf } from '../../shared/search.ts'
import { Status } from '../../shared/status.tsx'
import { useSteps } from '../../shared/steps.ts'
import { Time } from '../../shared/time.tsx'

const FILTERS = {
  rating: { label: 'Rating', kind: 'choice', options: { up: 'Good', down: 'Bad' } },
  commented: { label: 'Comment', kind: 'choice', options: { true: 'With', false: 'Without' } },
  revision: { label: 'Revision', kind: 'number', hint: 'Number of a revision.' },
} satisfies Filters

/** What users think of an agent's answers. */
export function AgentRatings({ agentUid }: { agentUid: string }) {
  const [search, setSearch] = useState<Record<string, string | undefined>>({})
  return (
    <div className="stack">
      <Figures agentUid={agentUid} />
      <div className="toolbar">
        <FilterBar
          filters={FILTERS}
          search={search}
          onChange={(changes) => setSearch((before) => ({ ...before, ...changes }))}
        />
      </div>
      <Rated query={{ ...queryOf(FILTERS, search), agentUid }} />
    </div>
  )
}

/** The last 30 days, and the last revision by itself: did the change help? */
function Figures({ agentUid }: { agentUid: string }) {
  const appId = useAppId()
  const figures = useQuery({
    queryKey: appKey(appId, 'agents', 'figures', agentUid),
    queryFn: () => manage.app(appId).agentFigures.get({ agentUid }),
  })
  if (!figures.data) return <Problem error={figures.error} retry={figures.refetch} />
  const { ratings } = figures.data
  const last = Math.max(0, ...ratings.map(({ revision }) => revision))
  return (
    <FigureRow
      figures={[
        { name: 'Good answers', ...shareOf(ratings), about: 'Of all ratings in 30 days' },
        {
          name: last === 0 ? 'Last revision' : `Revision ${last}`,
          ...shareOf(ratings.filter(({ revision }) => revision === last)),
          about: 'The last one that was rated',
        },
        {
          name: 'Ratings',
          value: ratings.reduce((all, { up, down }) => all + up + down, 0),
          about: 'In 30 days',
        },
      ]}
    />
  )
}

function shareOf(counts: { up: number; down: number }[]) {
  const up = counts.reduce((all, one) => all + one.up, 0)
  const all = counts.reduce((sum, one) => sum + one.up + one.down, 0)
  return { value: all === 0 ? '–' : `${Math.round((100 * up) / all)} %` }
}

function Rated({ query }: { query: ListAgentRatingsQuery }) {
  const appId = useAppId()
  const router = useRouter()
  const ratings = useSteps(
    appKey(appId, 'agents', 'ratings', query),
    (before: string | undefined) =>
      manage.app(appId).agentRatings.list({ limit: 50, ...query, ...(before && { before }) }),
  )
  return (
    <DataTable
      label="Ratings"
      list={ratings}
      id={({ id }) => id}
      text={({ question = '' }) => question}
      href={({ runId }) =>
        hrefTo(router, { to: '/apps/$appId/agents/runs/$runId', params: { appId, runId } })
      }
      columns={[
        { name: 'Rating', cell: Thumb, width: 90 },
        { name: 'Question', width: '2fr', cell: ({ question }) => <Said text={question} /> },
        { name: 'Answer', width: '2fr', cell: ({ answer }) => <Said text={answer} />, wide: true },
        { name: 'Comment', width: '2fr', cell: ({ comment }) => <Said text={comment} /> },
        { name: 'Revision', cell: ({ revision }) => revision, end: true, wide: true, width: 90 },
        {
          name: 'Rated',
          cell: ({ createdAt }) => <Time at={Math.floor(createdAt / 1000)} />,
          wide: true,
          width: 130,
        },
      ]}
      empty={
        Object.keys(query).length > 1 ? (
          <Empty title="No matching ratings">Remove a filter to see more.</Empty>
        ) : (
          <Empty title="No ratings yet">
            Users rate answers with a thumb up or down. Each rating appears here with question,
            answer and comment, for 30 days.
          </Empty>
        )
      }
    />
  )
}

const Thumb = ({ rating }: AgentRating) => (
  <Status tone={rating === 'up' ? 'good' : 'bad'}>{rating === 'up' ? 'Good' : 'Bad'}</Status>
)

const Said = ({ text }: { text: string | undefined }) => (
  <span className="clip" dir="auto">
    {text}
  </span>
)
