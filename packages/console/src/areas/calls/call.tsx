import type { CallParticipant, CallRecord } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Avatar } from '../../shared/avatar.tsx'
import { Copyable } from '../../shared/copyable.tsx'
import { durationText } from '../../shared/durations.ts'
import { JsonButton } from '../../shared/json.tsx'
import { appKey, manage } from '../../shared/manage.ts'
import { type Named, useGroupNames, useUserNames } from '../../shared/names.ts'
import { Facts, Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { type Moment, Timeline } from '../../shared/timeline.tsx'
import { CallKind, CallStatus } from './calls.tsx'
import { STATUSES } from './filters.ts'
import { isLive, kindOf, lengthOf, minutesText } from './words.ts'
import './calls.css'

const route = getRouteApi('/apps/$appId/calls/$sessionId')
const REFRESH_MS = 3_000

type NameOf = (uid: string) => Named

/** One call: who took part, and what happened. */
export function CallPage() {
  const { appId, sessionId } = route.useParams()
  const query = useQuery({
    queryKey: appKey(appId, 'calls', 'one', sessionId),
    queryFn: () => manage.app(appId).calls.get(sessionId),
    refetchInterval: ({ state }) => (state.data && !isLive(state.data) ? false : REFRESH_MS),
  })
  const call = query.data
  const userOf = useUserNames(
    call
      ? [
          ...[call.initiator, ...(call.receiverType === 'user' ? [call.receiver] : [])],
          ...call.participants.map(({ uid }) => uid),
        ]
      : [],
  )
  const groupOf = useGroupNames(call?.receiverType === 'group' ? [call.receiver] : [])
  if (!call) {
    return (
      <Page title="Call">
        {query.error ? <Problem error={query.error} retry={query.refetch} /> : <Skeleton />}
      </Page>
    )
  }
  const receiver = call.receiverType === 'group' ? groupOf(call.receiver) : userOf(call.receiver)
  const caller = userOf(call.initiator)
  return (
    <Page
      title={kindOf(call)}
      heading={
        <>
          <bdi>{caller.name}</bdi> to <bdi>{receiver.name}</bdi>
        </>
      }
      description={
        <>
          {kindOf(call)} <CallStatus call={call} />
        </>
      }
      actions={<JsonButton value={call} title={`Call ${sessionId}`} />}
    >
      <div className="call">
        <div className="stack">
          <Panel title="Summary">
            <CallFacts appId={appId} call={call} caller={caller} receiver={receiver} />
          </Panel>
          <Panel title="Timeline">
            <Timeline label="Timeline" moments={momentsOf(call, userOf)} />
          </Panel>
        </div>
        <div className="stack">
          <Panel
            title="Participants"
            about="Each line is one device; the bar shows when it was in the call."
          >
            <ul className="participants">
              {call.participants.map((participant, nth) => (
                <Participant
                  // biome-ignore lint/suspicious/noArrayIndexKey: the order of devices doesn't change
                  key={nth}
                  appId={appId}
                  call={call}
                  participant={participant}
                  user={userOf(participant.uid)}
                />
              ))}
            </ul>
          </Panel>
          <Panel title="Ids">
            <Copyable label="Session" value={call.sessionId} />
            <Copyable label="Meeting" value={call.mid} />
          </Panel>
        </div>
      </div>
    </Page>
  )
}

function CallFacts(props: { appId: string; call: CallRecord; caller: Named; receiver: Named }) {
  const { appId, call, caller, receiver } = props
  const { totalAudioMinutes: audio, totalVideoMinutes: video } = call
  return (
    <Facts
      facts={{
        Type: <CallKind call={call} />,
        Caller: (
          <Link to="/apps/$appId/users/$uid" params={{ appId, uid: call.initiator }}>
            <bdi>{caller.name}</bdi>
          </Link>
        ),
        Called:
          call.receiverType === 'group' ? (
            <Link to="/apps/$appId/groups/$guid" params={{ appId, guid: call.receiver }}>
              <bdi>{receiver.name}</bdi>
            </Link>
          ) : (
            <Link to="/apps/$appId/users/$uid" params={{ appId, uid: call.receiver }}>
              <bdi>{receiver.name}</bdi>
            </Link>
          ),
        Started: <Time at={call.initiatedAt} />,
        Length: lengthOf(call) || 'Not answered',
        Minutes: audio + video > 0 ? `${minutesText(audio + video)} over all devices` : undefined,
        Devices: call.totalParticipants,
      }}
    />
  )
}

const STATES: Record<CallParticipant['state'], string> = {
  ongoing: 'In the call',
  ended: 'Left',
  unanswered: 'No answer',
  rejected: 'Rejected',
}

function Participant(props: {
  appId: string
  call: CallRecord
  participant: CallParticipant
  user: Named
}) {
  const { appId, call, participant, user } = props
  const { uid, joinedAt, leftAt, state, deviceId } = participant
  const now = Math.floor(Date.now() / 1000)
  return (
    <li>
      <Link to="/apps/$appId/users/$uid" params={{ appId, uid }} className="named-avatar">
        <Avatar {...user} />
        <span>
          <span className="clip">
            <bdi>{user.name}</bdi>
          </span>
          <small className="clip">{deviceId ?? uid}</small>
        </span>
      </Link>
      <PresenceBar call={call} from={joinedAt} to={leftAt} />
      <span className="spent">
        {joinedAt === undefined || state === 'ongoing' ? (
          <Status tone={state === 'ongoing' ? 'good' : 'plain'}>{STATES[state]}</Status>
        ) : (
          durationText((leftAt ?? now) - joinedAt)
        )}
      </span>
    </li>
  )
}

function PresenceBar(props: {
  call: CallRecord
  from: number | undefined
  to: number | undefined
}) {
  const { call, from, to } = props
  const start = call.startedAt ?? call.initiatedAt
  const end = call.endedAt ?? Math.floor(Date.now() / 1000)
  const whole = Math.max(1, end - start)
  const percent = (at: number) => Math.min(100, Math.max(0, ((at - start) / whole) * 100))
  return (
    <span className="presence-bar" aria-hidden="true">
      {from !== undefined && (
        <span
          style={{
            insetInlineStart: `${percent(from)}%`,
            insetInlineEnd: `${100 - percent(to ?? end)}%`,
          }}
        />
      )}
    </span>
  )
}

/** The record has no log of its own: what happened follows from its times. */
function momentsOf(call: CallRecord, userOf: NameOf): Moment[] {
  const name = (uid: string) => <bdi>{userOf(uid).name}</bdi>
  const device = ({ deviceId }: CallParticipant) => deviceId && <code>{deviceId}</code>
  const started: Moment = {
    id: 'started',
    at: call.initiatedAt,
    title: (
      <>
        {name(call.initiator)} started the {kindOf(call).toLowerCase()}
      </>
    ),
  }
  const moments = call.participants.flatMap((participant, nth): Moment[] => {
    const { uid, joinedAt, leftAt } = participant
    return [
      ...(joinedAt === undefined
        ? []
        : [
            {
              id: `joined${nth}`,
              at: joinedAt,
              title: <>{name(uid)} joined</>,
              about: device(participant),
              tone: 'good' as const,
            },
          ]),
      ...(leftAt === undefined
        ? []
        : [
            {
              id: `left${nth}`,
              at: leftAt,
              title: <>{name(uid)} left</>,
              about: device(participant),
            },
          ]),
    ]
  })
  const { label, tone } = STATUSES[call.status]
  const last: Moment = isLive(call)
    ? { id: 'now', title: call.status === 'initiated' ? 'Ringing now' : 'Going on now', tone }
    : { id: 'end', at: call.endedAt, title: label, tone }
  return [started, ...moments.sort((one, other) => (one.at ?? 0) - (other.at ?? 0)), last]
}
