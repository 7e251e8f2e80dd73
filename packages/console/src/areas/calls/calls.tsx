import type { CallRecord, ListCallsQuery } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { Avatar } from '../../shared/avatar.tsx'
import { useCurl } from '../../shared/curl.ts'
import { DataTable } from '../../shared/data-table.tsx'
import { Empty } from '../../shared/empty.tsx'
import { FigureRow } from '../../shared/figure-row.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { Icon } from '../../shared/icons.tsx'
import { hrefTo } from '../../shared/links.ts'
import { appKey, manage } from '../../shared/manage.ts'
import { type Named, useGroupNames, useUserNames } from '../../shared/names.ts'
import { Page } from '../../shared/page.tsx'
import { useRecords } from '../../shared/records.ts'
import { queryOf, type Search } from '../../shared/search.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { CALL_FILTERS, STATUSES } from './filters.ts'
import { useMediaServers } from './media-servers.tsx'
import { isLive, kindOf, lengthOf, minutesText } from './words.ts'
import './calls.css'

const route = getRouteApi('/apps/$appId/calls')
const REFRESH_MS = 5_000
const DAYS = 30
const DAY_MS = 86_400_000

/** The app's calls: those of this moment first, then the newest. */
export function Calls() {
  const { appId } = route.useParams()
  const search: Search = route.useSearch()
  const navigate = route.useNavigate()
  const router = useRouter()
  const isFiltered = Object.values(search).some(Boolean)
  const live = useLiveCalls(appId)
  const calls = useRecords(appKey(appId, 'calls', 'list', search), (page) => {
    const query = queryOf(CALL_FILTERS, search) as ListCallsQuery
    return manage.app(appId).calls.list({ perPage: 50, ...query, ...page })
  })
  const over = calls.rows.filter((call) => !isLive(call))
  const rows = isFiltered ? calls.rows : [...live, ...over]
  const userOf = useUserNames(
    rows.flatMap(({ initiator, receiver, receiverType }) =>
      receiverType === 'user' ? [initiator, receiver] : [initiator],
    ),
  )
  const groupOf = useGroupNames(
    rows.flatMap(({ receiver, receiverType }) => (receiverType === 'group' ? [receiver] : [])),
  )
  const receiverOf = ({ receiver, receiverType }: CallRecord) =>
    receiverType === 'group' ? groupOf(receiver) : userOf(receiver)
  return (
    <Page
      title="Calls"
      description="Who called whom, for how long, and what became of calls that nobody answered."
    >
      <Figures appId={appId} live={live} />
      <div className="toolbar">
        <FilterBar
          filters={CALL_FILTERS}
          search={search}
          onChange={(changes) =>
            void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
          }
        />
      </div>
      <DataTable
        label="Calls"
        list={{ ...calls, rows }}
        id={({ sessionId }) => sessionId}
        text={(call) => `${userOf(call.initiator).name}, ${receiverOf(call).name}`}
        href={({ sessionId }) =>
          hrefTo(router, { to: '/apps/$appId/calls/$sessionId', params: { appId, sessionId } })
        }
        columns={[
          {
            name: 'Call',
            width: '3fr',
            cell: (call) => <Parties from={userOf(call.initiator)} to={receiverOf(call)} />,
          },
          { name: 'Status', cell: (call) => <CallStatus call={call} />, width: 125, narrow: 110 },
          { name: 'Type', cell: (call) => <CallKind call={call} />, wide: true, width: 175 },
          { name: 'Length', cell: lengthOf, wide: true, end: true, width: 120 },
          {
            name: 'Minutes',
            cell: ({ totalDurationInMinutes: minutes }) =>
              minutes > 0 ? minutesText(minutes) : '',
            wide: true,
            end: true,
            width: 110,
          },
          {
            name: 'Started',
            cell: ({ initiatedAt }) => <Time at={initiatedAt} />,
            wide: true,
            width: 130,
          },
        ]}
        depends={[userOf, groupOf]}
        empty={<NoCalls isFiltered={isFiltered} />}
      />
    </Page>
  )
}

/** Calls that ring or go on now. */
function useLiveCalls(appId: string): CallRecord[] {
  const live = useQuery({
    queryKey: appKey(appId, 'calls', 'live'),
    queryFn: async () => {
      const { calls } = manage.app(appId)
      const pages = await Promise.all(
        (['ongoing', 'initiated'] as const).map((status) => calls.list({ status, perPage: 100 })),
      )
      return pages.flatMap(({ data }) => data)
    },
    refetchInterval: REFRESH_MS,
  })
  return live.data ?? []
}

function Figures({ appId, live }: { appId: string; live: CallRecord[] }) {
  const usage = useQuery({
    queryKey: appKey(appId, 'calls', 'minutes'),
    queryFn: () => {
      const toDate = Date.now()
      return manage.app(appId).stats.getDaily({ fromDate: toDate - (DAYS - 1) * DAY_MS, toDate })
    },
    staleTime: 60_000,
  })
  const sum = (name: 'audioMinutes' | 'videoMinutes') =>
    Math.round(usage.data?.days.reduce((all, day) => all + day[name], 0) ?? 0)
  const people = live.flatMap(({ participants }) =>
    participants.filter(({ state }) => state === 'ongoing').map(({ uid }) => uid),
  )
  const inCalls = new Set(people).size
  const shown = (minutes: number) => (usage.data ? minutes.toLocaleString('en') : '–')
  const usageLink = (
    <Link to="/apps/$appId/usage" params={{ appId }}>
      Minutes of each day
    </Link>
  )
  return (
    <FigureRow
      figures={[
        {
          name: 'Live now',
          value: live.length === 1 ? '1 call' : `${live.length} calls`,
          about: inCalls === 1 ? '1 person' : `${inCalls} people`,
        },
        {
          name: `Audio minutes, ${DAYS} days`,
          value: shown(sum('audioMinutes')),
          about: 'Added up over all devices',
        },
        {
          name: `Video minutes, ${DAYS} days`,
          value: shown(sum('videoMinutes')),
          about: usageLink,
        },
        { name: 'Media servers', ...useMediaServers(appId) },
      ]}
    />
  )
}

const Parties = ({ from, to }: { from: Named; to: Named }) => (
  <span className="named-avatar call-parties">
    <Avatar {...from} />
    <span>
      <span className="clip">
        <bdi>{from.name}</bdi>
      </span>
      <small className="clip">
        to <bdi>{to.name}</bdi>
      </small>
    </span>
  </span>
)

export function CallStatus({ call }: { call: CallRecord }) {
  const { label, tone } = STATUSES[call.status]
  return (
    <Status tone={tone}>
      {call.status === 'ongoing' && <span className="live-dot" />}
      {label}
    </Status>
  )
}

export const CallKind = ({ call }: { call: CallRecord }) => (
  <span className="call-kind">
    <Icon name={call.type === 'video' ? 'video' : 'phone'} />
    {kindOf(call)}
  </span>
)

function NoCalls({ isFiltered }: { isFiltered: boolean }) {
  const curl = useCurl()
  if (isFiltered) return <Empty title="No matching calls">Remove a filter to see more.</Empty>
  const call = { receiver: 'ben', receiverType: 'user', type: 'video' }
  return (
    <Empty title="No calls yet" curl={curl('/calls', call, 'amira')}>
      Users call each other and their groups. Loquat decides who rings and keeps a record of each
      call. Start one from an app, or with this command on behalf of a user.
    </Empty>
  )
}
