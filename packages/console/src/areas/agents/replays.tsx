import type {
  AgentReplay,
  AgentReplayDetails,
  AgentRunDetails,
  ReplayDifference,
} from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { Button as AriaButton } from 'react-aria-components/Button'
import { differencesOf } from '../../shared/difference.ts'
import { Difference } from '../../shared/difference.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { useRevision } from './history.tsx'
import { CHANGES, fieldName, REPLAY_STATES, reasonText, tokensText } from './words.ts'

const REFRESH_MS = 1_000

/** The replays of a run, newest first, and how the chosen one differs from it. */
export function Replays(props: {
  run: AgentRunDetails
  chosen: string | undefined
  choose: (replayId: string) => void
}) {
  const { run, chosen, choose } = props
  const appId = useAppId()
  const replays = useQuery({
    queryKey: appKey(appId, 'agents', 'replays', run.id),
    queryFn: () => manage.app(appId).agentReplays.list(run.id),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) ? REFRESH_MS : false),
  })
  const rows = replays.data ?? []
  const shown = rows.find(({ id }) => id === chosen) ?? rows[0]
  if (replays.error) return <Problem error={replays.error} retry={replays.refetch} />
  if (!shown) return null
  return (
    <div className="chooser">
      <Panel title="Replays" about="Nobody in the conversation notices them.">
        <ul className="choices">
          {rows.map((replay) => (
            <li key={replay.id}>
              <AriaButton
                className="choice"
                aria-pressed={replay.id === shown.id}
                onPress={() => choose(replay.id)}
              >
                <span className="choice-head">
                  <strong>{replay.mode === 'live' ? 'Live' : 'Recorded'}</strong>
                  <Time at={Math.floor(replay.createdAt / 1000)} />
                </span>
                <small className="clip">{whatChanged(replay)}</small>
                <ReplayState replay={replay} />
              </AriaButton>
            </li>
          ))}
        </ul>
      </Panel>
      <Compared key={shown.id} run={run} replayId={shown.id} />
    </div>
  )
}

const isOpen = ({ endedAt }: AgentReplay) => endedAt === undefined

function whatChanged({ mode, revision, changes = {} }: AgentReplay): string {
  if (mode === 'recorded') return 'Nothing was called'
  const changed = Object.keys(changes).map(fieldName).join(', ')
  return changed || `As in revision ${revision}`
}

function ReplayState({ replay: { state } }: { replay: AgentReplay }) {
  const { label, tone } = REPLAY_STATES[state]
  return <Status tone={tone}>{label}</Status>
}

function Compared({ run, replayId }: { run: AgentRunDetails; replayId: string }) {
  const appId = useAppId()
  const query = useQuery({
    queryKey: appKey(appId, 'agents', 'replays', run.id, replayId),
    queryFn: () => manage.app(appId).agentReplays.get(run.id, replayId),
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data) ? false : REFRESH_MS),
  })
  const replay = query.data
  return (
    <Panel title="Compared with the run">
      <Problem error={query.error} retry={query.refetch} />
      {!replay && !query.error && <Skeleton />}
      {replay && (
        <div className="stack">
          <Outcome replay={replay} />
          {replay.changes && <Changed replay={replay} changes={replay.changes} />}
          {replay.difference && <SideBySide difference={replay.difference} />}
        </div>
      )}
    </Panel>
  )
}

/** How the replay ended, and what it cost. */
function Outcome({ replay }: { replay: AgentReplayDetails }) {
  const { reason, error, difference, moderation, steps } = replay
  const tokens = steps.reduce((sum, { chargedTokens = 0 }) => sum + chargedTokens, 0)
  return (
    <div className="outcome">
      <p>
        <ReplayState replay={replay} /> {reason && reasonText(reason)}{' '}
        {difference?.same && 'Steps and answer are the same.'}
      </p>
      {error && <p className="soft">{error}</p>}
      {moderation?.ruleName && (
        <p className="soft">
          The rule <bdi>{moderation.ruleName}</bdi> disapproves the answer.
        </p>
      )}
      {tokens > 0 && (
        <p className="soft">It cost {tokensText(tokens)} tokens of the app's budget.</p>
      )}
    </div>
  )
}

/** What the replay changed about the agent. */
function Changed(props: { replay: AgentReplayDetails; changes: object }) {
  const { replay, changes } = props
  const revision = useRevision(replay.agentUid, replay.revision ?? 1)
  if (revision.error) return null
  if (!revision.data) return <Skeleton lines={2} />
  const content: Record<string, unknown> = revision.data.content
  const before = Object.fromEntries(Object.keys(changes).map((field) => [field, content[field]]))
  return <Difference differences={differencesOf(before, { ...changes })} nameOf={fieldName} />
}

type StepDifference = ReplayDifference['steps'][number]

/** The steps and the answers of both. */
function SideBySide({ difference }: { difference: ReplayDifference }) {
  const { steps, answer } = difference
  const wordsOf = (side: 'missing' | 'added') =>
    answer.filter(({ change }) => change === 'same' || change === side)
  return (
    <table className="side-by-side">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Run</th>
          <th scope="col">Replay</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={`${step.recordedNo} ${step.replayedNo}`}>
            <th scope="row">
              <Status tone={CHANGES[step.change].tone}>{CHANGES[step.change].label}</Status>
            </th>
            <td>{step.recordedNo !== undefined && <StepCell step={step} side="recorded" />}</td>
            <td>{step.replayedNo !== undefined && <StepCell step={step} side="replayed" />}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">Answer</th>
          <td>
            <Words words={wordsOf('missing')} />
          </td>
          <td>
            <Words words={wordsOf('added')} />
          </td>
        </tr>
      </tbody>
    </table>
  )
}

/** What the model said, or which tool it called. */
function StepCell({ step, side }: { step: StepDifference; side: 'recorded' | 'replayed' }) {
  const [no, text] =
    side === 'recorded'
      ? [step.recordedNo, step.recordedText]
      : [step.replayedNo, step.replayedText]
  return (
    <>
      <small className="soft">
        {no}. {step.tool ?? 'Model'}
      </small>
      {step.arguments && <code className="called">{step.arguments}</code>}
      {text && (
        <div className="said" dir="auto">
          {text}
        </div>
      )}
    </>
  )
}

/** Words that only this side has are marked. */
const Words = ({ words }: { words: ReplayDifference['answer'] }) => (
  <div className="said" dir="auto">
    {words.map(({ change, text }, nth) => {
      const Mark = { same: 'span', missing: 'del', added: 'ins' }[change] as 'span' | 'del' | 'ins'
      // biome-ignore lint/suspicious/noArrayIndexKey: words have no other identity
      return <Mark key={nth}>{text}</Mark>
    })}
  </div>
)
