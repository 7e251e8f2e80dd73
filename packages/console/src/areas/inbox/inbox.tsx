/** Conversations with agents that were handed to people: those that wait on the left, one with its messages on the right. */
import type { AgentHandover } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { Button } from '../../shared/button.tsx'
import { Empty } from '../../shared/empty.tsx'
import { inboxKey } from '../../shared/handovers.ts'
import { manage, useAppId } from '../../shared/manage.ts'
import { type Named, useUserNames } from '../../shared/names.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import type { Records } from '../../shared/records.ts'
import { Status } from '../../shared/status.tsx'
import { useSteps } from '../../shared/steps.ts'
import { Tabs } from '../../shared/tabs.tsx'
import { Time } from '../../shared/time.tsx'
import { OpenHandover } from './open-handover.tsx'
import { stateOf } from './words.ts'
import '../../shared/queue.css'
import './inbox.css'

const route = getRouteApi('/apps/$appId/inbox')
const REFRESH_MS = 3_000

export function Inbox() {
  const { tab = 'open' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page
      title="Inbox"
      description="Conversations with agents that were handed to people. You answer as the agent."
    >
      <Tabs
        label="Inbox"
        open={tab}
        onOpen={(id) => void navigate({ search: { tab: id }, replace: true })}
        tabs={[
          { id: 'open', name: 'Open', content: <OpenOnes /> },
          { id: 'closed', name: 'Handed back', content: <ClosedOnes /> },
        ]}
      />
    </Page>
  )
}

/** Those that nobody has taken in the order in which they wait, others newest first. */
function useHandovers(state: AgentHandover['state']): Records<AgentHandover> {
  const appId = useAppId()
  const isQueue = state === 'open'
  return useSteps(
    inboxKey(appId, 'list', state),
    (next: string | undefined) =>
      manage.app(appId).agentHandovers.list({
        ...{ state, limit: 50, sortOrder: isQueue ? 'asc' : 'desc' },
        ...(next && { before: next }),
      }),
    REFRESH_MS,
  )
}

/** Those that nobody has taken come first, and of these the ones that have waited longest. */
function OpenOnes() {
  const waiting = useHandovers('open')
  const taken = useHandovers('taken')
  return (
    <Handovers
      lists={[waiting, taken]}
      rows={[...waiting.rows, ...taken.rows]}
      empty={
        <Empty title="Nobody waits for a person">
          Users can ask for a person, agents can hand over if they have the tool
          hand_over_to_a_person, and you can hand over any conversation through the API.
        </Empty>
      }
    />
  )
}

function ClosedOnes() {
  const closed = useHandovers('closed')
  return (
    <Handovers
      lists={[closed]}
      rows={closed.rows}
      empty={
        <Empty title="Nothing yet">
          Conversations that were handed back to their agent stay here for 30 days.
        </Empty>
      }
    />
  )
}

function Handovers(props: {
  lists: Records<AgentHandover>[]
  rows: AgentHandover[]
  empty: ReactNode
}) {
  const { lists, rows, empty } = props
  const { open: wanted } = route.useSearch()
  const navigate = route.useNavigate()
  const open = useOpen(rows, wanted)
  const nameOf = useUserNames(
    [...rows, ...(open ? [open] : [])].flatMap(({ uid, agentUid }) => [uid, agentUid]),
  )
  const show = (id: string) =>
    void navigate({ search: (before) => ({ ...before, open: id }), replace: true })
  const first = wanted === undefined ? open?.id : undefined
  // It stays open, whatever becomes of it: nobody should answer in the conversation that takes its place.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is open matters
  useEffect(() => {
    if (first !== undefined) show(first)
  }, [first])
  const failed = lists.find(({ error }) => error)
  const more = lists.find((list) => list.more)
  if (lists.some(({ isPending }) => isPending)) return <Skeleton lines={5} />
  return (
    <>
      <Problem error={failed?.error} retry={failed?.retry} />
      {!open && !failed && empty}
      {open && (
        <div className="queue">
          <nav aria-label="Conversations">
            <ul className="queue-list">
              {rows.map((handover) => (
                <li key={handover.id}>
                  <button
                    type="button"
                    className="queue-entry"
                    aria-current={handover.id === open.id}
                    onClick={() => show(handover.id)}
                  >
                    <Entry handover={handover} nameOf={nameOf} />
                  </button>
                </li>
              ))}
            </ul>
            {more && <Button onPress={more.loadMore}>Show more</Button>}
          </nav>
          <OpenHandover
            key={open.id}
            handover={open}
            user={nameOf(open.uid)}
            agent={nameOf(open.agentUid)}
          />
        </div>
      )}
    </>
  )
}

/**
 * The one in the address, or else the first one. It is read by itself: between two lists, it may be in neither for a moment, and
 * what the operator writes must stay.
 */
function useOpen(rows: AgentHandover[], wanted: string | undefined): AgentHandover | undefined {
  const appId = useAppId()
  const one = useQuery({
    queryKey: inboxKey(appId, 'one', wanted),
    queryFn: () => manage.app(appId).agentHandovers.get(wanted ?? ''),
    enabled: wanted !== undefined,
    refetchInterval: REFRESH_MS,
  })
  if (wanted === undefined) return rows[0]
  return one.data ?? rows.find(({ id }) => id === wanted)
}

function Entry(props: { handover: AgentHandover; nameOf: (uid: string) => Named }) {
  const { handover, nameOf } = props
  const { uid, agentUid, reason, openedAt } = handover
  const { label, tone } = stateOf(handover)
  return (
    <>
      <span className="row">
        <strong className="clip">
          <bdi>{nameOf(uid).name}</bdi>
        </strong>
        <small className="row-end">
          <Time at={Math.floor(openedAt / 1000)} />
        </small>
      </span>
      {reason && (
        <span className="clip soft" dir="auto">
          {reason}
        </span>
      )}
      <span className="tags">
        <Status tone={tone}>{label}</Status>
        <Status>{nameOf(agentUid).name}</Status>
      </span>
    </>
  )
}
