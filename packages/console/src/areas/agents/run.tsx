import type { AgentRunDetails, AgentStep } from '@loquat/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Copyable } from '../../shared/copyable.tsx'
import { durationText } from '../../shared/durations.ts'
import { FigureRow } from '../../shared/figure-row.tsx'
import { JsonButton } from '../../shared/json.tsx'
import { appKey, manage, useApp } from '../../shared/manage.ts'
import { useUserNames } from '../../shared/names.ts'
import { Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { type Moment, Timeline } from '../../shared/timeline.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged } from './data.ts'
import { Replays } from './replays.tsx'
import { RunState, tookOf } from './runs.tsx'
import { StartReplay } from './start-replay.tsx'
import { moneyText, RUN_STATES, reasonText, stepTitle, stepTone, tokensText } from './words.ts'
import './agents.css'

const route = getRouteApi('/apps/$appId/agents/runs/$runId')
const REFRESH_MS = 1_000

/** One answer: how it came about, step by step, and what it cost. */
export function RunPage() {
  const { appId, runId } = route.useParams()
  const { role } = useApp()
  const query = useQuery({
    queryKey: appKey(appId, 'agents', 'runs', 'one', runId),
    queryFn: () => manage.app(appId).agentRuns.get(runId),
    refetchInterval: ({ state }) => (state.data?.endedAt === undefined ? REFRESH_MS : false),
  })
  const [replay, chooseReplay] = useState<string>()
  const run = query.data
  const nameOf = useUserNames(run ? [run.uid, run.agentUid] : [])
  if (!run) {
    return (
      <Page title="Run">
        {query.error ? <Problem error={query.error} retry={query.refetch} /> : <Skeleton />}
      </Page>
    )
  }
  // A live replay costs money.
  const canReplay = run.endedAt !== undefined && role !== undefined && role !== 'moderator'
  const agent = <bdi>{nameOf(run.agentUid).name}</bdi>
  return (
    <Page
      title="Run"
      heading={
        <>
          <Link
            to="/apps/$appId/users/$uid"
            params={{ appId, uid: run.uid }}
            className="plain-link"
          >
            <bdi>{nameOf(run.uid).name}</bdi>
          </Link>{' '}
          asked{' '}
          {role === 'moderator' ? (
            agent
          ) : (
            <Link
              to="/apps/$appId/agents/$uid"
              params={{ appId, uid: run.agentUid }}
              className="plain-link"
            >
              {agent}
            </Link>
          )}
        </>
      }
      description={
        <>
          <RunState run={run} /> {run.reason && reasonText(run.reason)}
        </>
      }
      actions={
        <>
          {canReplay && <StartReplay run={run} onStarted={chooseReplay} />}
          <Actions run={run} />
        </>
      }
    >
      <Figures run={run} />
      <div className="run">
        <div className="stack">
          <Said title="Question" messageId={run.messageId} />
          {run.answerId ? (
            <Said title="Answer" messageId={run.answerId} />
          ) : (
            run.text && (
              <Panel title={run.endedAt === undefined ? 'Answer so far' : 'What it had written'}>
                <div className="said" dir="auto">
                  {run.text}
                </div>
              </Panel>
            )
          )}
          {run.error && !run.steps.some(({ error }) => error === run.error) && (
            <Panel title="Error">
              <div className="said">{run.error}</div>
            </Panel>
          )}
        </div>
        <div className="stack">
          <Panel title="Steps">
            <Timeline label="Steps" moments={momentsOf(run)} />
          </Panel>
          <Panel title="Ids">
            <Copyable label="Run" value={run.id} />
            <Copyable label="Conversation" value={run.conversationId} />
          </Panel>
        </div>
      </div>
      {canReplay && <Replays run={run} chosen={replay} choose={chooseReplay} />}
    </Page>
  )
}

function Actions({ run }: { run: AgentRunDetails }) {
  const { appId, runId } = route.useParams()
  const changed = useAgentsChanged()
  const change = useMutation({
    mutationFn: (action: 'cancel' | 'retry') => manage.app(appId).agentRuns[action](runId),
    onSuccess: async (_, action) => {
      await changed()
      toast(action === 'cancel' ? 'Cancelled' : 'Queued again')
    },
  })
  const canRetry = run.state === 'failed' || run.state === 'cancelled'
  return (
    <>
      <Problem error={change.error} />
      <Link
        className="button"
        to="/apps/$appId/conversations"
        params={{ appId }}
        search={{ open: run.conversationId, thread: run.threadId }}
      >
        View conversation
      </Link>
      <JsonButton value={run} title={`Run ${runId}`} />
      {run.endedAt === undefined && (
        <Button isDisabled={change.isPending} onPress={() => change.mutate('cancel')}>
          Cancel run
        </Button>
      )}
      {canRetry && (
        <Button look="main" isDisabled={change.isPending} onPress={() => change.mutate('retry')}>
          Retry
        </Button>
      )}
    </>
  )
}

const sum = (steps: AgentStep[], name: 'chargedTokens' | 'chargedMoney') =>
  steps.reduce((all, step) => all + (step[name] ?? 0), 0)

function Figures({ run }: { run: AgentRunDetails }) {
  const { steps } = run
  const waited = ((run.startedAt ?? Date.now()) - run.createdAt) / 1000
  return (
    <FigureRow
      figures={[
        {
          name: 'Took',
          value: tookOf(run) || '–',
          about: `Waited ${durationText(waited)} before`,
        },
        {
          name: 'Tokens',
          value: tokensText(sum(steps, 'chargedTokens')),
          about: 'As charged to budgets',
        },
        {
          name: 'Cost',
          value: moneyText(sum(steps, 'chargedMoney')),
          about: "By the provider's prices",
        },
      ]}
    />
  )
}

function momentsOf(run: AgentRunDetails): Moment[] {
  const { state, reason } = run
  const asked = { id: 'asked', at: Math.floor(run.createdAt / 1000), title: 'Question noticed' }
  const steps = run.steps.map(
    (step): Moment => ({
      id: `${step.no}.${step.attempt}`,
      at: Math.floor(step.startedAt / 1000),
      title: stepTitle(step),
      about: <StepFacts step={step} />,
      tone: stepTone(step),
    }),
  )
  const { label, tone } = RUN_STATES[state]
  const end: Moment = {
    id: 'end',
    at: run.endedAt && Math.floor(run.endedAt / 1000),
    title: run.endedAt === undefined ? `${label}…` : label,
    about: reason && reasonText(reason),
    tone,
  }
  return [asked, ...steps, end]
}

function StepFacts({ step }: { step: AgentStep }) {
  const { inputTokens: read, outputTokens: written, chargedMoney: cost } = step
  const facts = [
    [step.providerId, step.model].filter(Boolean).join(' · '),
    read === undefined ? '' : `${tokensText(read)} tokens read`,
    written === undefined ? '' : `${tokensText(written)} written`,
    cost ? `cost ${moneyText(cost)}` : '',
    step.endedAt === undefined ? '' : durationText((step.endedAt - step.startedAt) / 1000),
  ]
  return (
    <>
      {facts.filter(Boolean).join(', ')}
      {step.arguments && <StepText name="Passed" text={step.arguments} />}
      {step.result && <StepText name="Result" text={step.result} />}
      {step.error && <p className="step-error">{step.error}</p>}
    </>
  )
}

/** What a tool got or returned: often long, so it is folded. */
const StepText = ({ name, text }: { name: string; text: string }) => (
  <details className="step-text">
    <summary>{name}</summary>
    <pre>{text}</pre>
  </details>
)

/** A message of the conversation, as it is now. */
function Said({ title, messageId }: { title: string; messageId: string }) {
  const { appId } = route.useParams()
  const message = useQuery({
    queryKey: appKey(appId, 'messages', messageId),
    queryFn: () => manage.app(appId).messages.get(messageId),
  })
  const text = (message.data?.data as { text?: string } | undefined)?.text
  return (
    <Panel title={title}>
      {message.isPending && <Skeleton lines={1} />}
      <Problem error={message.error} retry={message.refetch} />
      {message.data && (
        <div className="said" dir="auto">
          {text ?? 'This message was deleted.'}
        </div>
      )}
    </Panel>
  )
}
