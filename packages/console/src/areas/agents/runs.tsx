import type { AgentRun, ListAgentRunsQuery } from '@loquat/sdk'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { DataTable } from '../../shared/data-table.tsx'
import { durationText } from '../../shared/durations.ts'
import { Empty } from '../../shared/empty.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { hrefTo } from '../../shared/links.ts'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { useUserNames } from '../../shared/names.ts'
import { queryOf } from '../../shared/search.ts'
import { Status } from '../../shared/status.tsx'
import { useSteps } from '../../shared/steps.ts'
import { Time } from '../../shared/time.tsx'
import { RUN_FILTERS } from './filters.ts'
import { RUN_STATES, shortReason } from './words.ts'

const route = getRouteApi('/apps/$appId/agents')
const REFRESH_MS = 3_000

/** All runs of the app, with filters. */
export function AppRuns() {
  const { tab: _tab, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <div className="toolbar">
        <FilterBar
          filters={RUN_FILTERS}
          search={search}
          onChange={(changes) =>
            void navigate({
              search: (before) => ({ ...before, ...changes, tab: 'runs' }),
              replace: true,
            })
          }
        />
      </div>
      <Runs query={queryOf(RUN_FILTERS, search)} />
    </>
  )
}

export const AgentRuns = ({ agentUid }: { agentUid: string }) => <Runs query={{ agentUid }} />

/** Answers that agents wrote or write, newest first. */
function Runs({ query }: { query: ListAgentRunsQuery }) {
  const appId = useAppId()
  const router = useRouter()
  const runs = useSteps(
    appKey(appId, 'agents', 'runs', query),
    (before: string | undefined) =>
      manage.app(appId).agentRuns.list({ limit: 50, ...query, ...(before && { before }) }),
    REFRESH_MS,
  )
  const nameOf = useUserNames(runs.rows.flatMap(({ agentUid, uid }) => [agentUid, uid]))
  return (
    <DataTable
      label="Runs"
      list={runs}
      id={({ id }) => id}
      text={({ agentUid, uid }) => `${nameOf(agentUid).name}, ${nameOf(uid).name}`}
      href={({ id }) =>
        hrefTo(router, { to: '/apps/$appId/agents/runs/$runId', params: { appId, runId: id } })
      }
      depends={[nameOf]}
      columns={[
        {
          name: 'Asked by',
          width: '2fr',
          cell: ({ uid }) => <NamedAvatar {...nameOf(uid)} />,
        },
        {
          name: 'Agent',
          cell: ({ agentUid }) => <bdi className="clip">{nameOf(agentUid).name}</bdi>,
          wide: true,
        },
        { name: 'State', cell: (run) => <RunState run={run} />, width: 115, narrow: 104 },
        {
          name: 'Result',
          cell: ({ reason }) => <span className="clip">{reason && shortReason(reason)}</span>,
          width: '2fr',
          wide: true,
        },
        { name: 'Took', cell: tookOf, end: true, wide: true, width: 100 },
        {
          name: 'Asked',
          cell: ({ createdAt }) => <Time at={Math.floor(createdAt / 1000)} />,
          wide: true,
          width: 130,
        },
      ]}
      empty={<NoRuns isFiltered={Object.keys(query).some((name) => name !== 'agentUid')} />}
    />
  )
}

export function RunState({ run: { state } }: { run: AgentRun }) {
  const { label, tone } = RUN_STATES[state]
  return <Status tone={tone}>{label}</Status>
}

export const tookOf = ({ startedAt, endedAt }: Pick<AgentRun, 'startedAt' | 'endedAt'>) =>
  startedAt === undefined ? '' : durationText(((endedAt ?? Date.now()) - startedAt) / 1000)

const NoRuns = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No matching runs">Remove a filter to see more.</Empty>
  ) : (
    <Empty title="No runs yet">
      A run answers one message. Write to an agent from your app, and the run appears here with its
      steps, its tokens and the reason why it ended. Runs are kept for 30 days.
    </Empty>
  )
