import { type Static, Type } from 'typebox'
import { UUID } from '../../core/uuid.ts'
import { Id, Milliseconds } from '../../platform/http/schemas.ts'
import { Limit, NextPage } from './cursor.ts'

export const RUN_STATES = [
  ...(['queued', 'running', 'waiting', 'finished', 'failed', 'cancelled'] as const),
] as const
export type RunState = (typeof RUN_STATES)[number]

/** Why a run ended. */
export const END_REASONS = [
  // Finished.
  ...(['answered', 'cut_short', 'held'] as const),
  // Finished, if the agent did it; cancelled, if somebody else did.
  'handed_over',
  // Cancelled.
  ...(['cancelled_by_user', 'cancelled_by_app', 'question_deleted'] as const),
  // Failed.
  ...(['agent_inactive', 'not_configured', 'timed_out', 'interrupted', 'empty_answer'] as const),
  ...(['disapproved', 'not_deliverable', 'filtered'] as const),
  ...(['outcome_unknown', 'repeated_call', 'too_many_steps', 'unanswered'] as const),
  'too_many_runs',
  ...(['budget_run', 'budget_user', 'budget_app', 'budget_unpriced'] as const),
  ...(['provider_limited', 'provider_unavailable', 'provider_refused'] as const),
  ...(['provider_invalid', 'provider_silent', 'provider_forbidden', 'agent_failed'] as const),
] as const
export type EndReason = (typeof END_REASONS)[number]

const State = Type.Enum([...RUN_STATES], {
  description:
    '`queued`: an earlier question in the thread is being answered, or no worker is free. `waiting`: for a person.',
})

const STEP_STATES = [
  ...(['running', 'done', 'failed', 'cut', 'waiting', 'approved', 'skipped'] as const),
] as const

export const Step = Type.Object(
  {
    no: Type.Integer({
      description:
        'Place in the run, from 1. 0: the search for the question in the knowledge base.',
    }),
    attempt: Type.Integer({
      description: 'From 1. A step that failed or was cut off is repeated.',
    }),
    kind: Type.Enum(['model_call', 'agent_call', 'tool_call'], {
      description: '`agent_call`: of an external agent.',
    }),
    state: Type.Enum([...STEP_STATES], {
      description:
        '`cut`: its process ended before it did. `waiting`: for a person. `approved`: it runs soon. `skipped`: it never ran, because nobody approved it, or because a replay stopped there.',
    }),
    waitsFor: Type.Optional(
      Type.Enum(['approval', 'device'], {
        description:
          'Whether the user has to approve the call, or a device of the user has to make it.',
      }),
    ),
    tool: Type.Optional(Type.String({ description: '`tool_call`: name of the tool.' })),
    displayName: Type.Optional(
      Type.String({
        description: '`tool_call`: name of the tool that people see. Not in replays.',
      }),
    ),
    toolCallId: Type.Optional(
      Type.String({ description: '`tool_call`: id of the call. It is unique within the run.' }),
    ),
    arguments: Type.Optional(
      Type.String({
        description: '`tool_call`: what the model passed. Users see it while the call waits.',
      }),
    ),
    result: Type.Optional(
      Type.String({ description: '`tool_call`: what the model was told. Only for the app.' }),
    ),
    providerId: Type.Optional(Type.String({ description: 'Only for the app.' })),
    model: Type.Optional(Type.String({ description: 'Only for the app.' })),
    inputTokens: Type.Optional(
      Type.Integer({ description: 'What the provider counted. Only for the app.' }),
    ),
    outputTokens: Type.Optional(Type.Integer({ description: 'Likewise.' })),
    chargedTokens: Type.Optional(
      Type.Integer({ description: 'What counts for budgets. Only for the app.' }),
    ),
    chargedMoney: Type.Optional(Type.Number({ description: 'Likewise.' })),
    error: Type.Optional(Type.String({ description: 'What went wrong. Only for the app.' })),
    startedAt: Milliseconds('When it started, in Unix milliseconds.'),
    endedAt: Type.Optional(Milliseconds('When it ended, in Unix milliseconds.')),
  },
  { additionalProperties: false, 'x-component': 'AgentStep' },
)

/** How many questions of a user may wait for an answer. */
export const OPEN_RUNS = 20

const run = {
  id: Type.String({ description: "Also the `muid` of the answer's message." }),
  agentUid: Type.String({ description: 'UID of the agent.' }),
  uid: Type.String({ description: 'UID of the user who asked.' }),
  conversationId: Type.String(),
  messageId: Type.String({ description: 'Id of the message with the question.' }),
  threadId: Type.String({ description: 'Id of the first message of the thread.' }),
  revision: Type.Optional(
    Type.Integer({
      description:
        'The revision of the agent that the run uses, from when it starts. Only for the app.',
    }),
  ),
  state: State,
  reason: Type.Optional(
    Type.Enum([...END_REASONS], {
      description: `Why it ended. \`cut_short\`: the answer reached its longest length. \`held\`: moderation checks the answer. \`handed_over\`: a person answers from now on. \`not_deliverable\`: for example, the user has blocked the agent. \`outcome_unknown\`: nobody knows whether a call of a tool or an external agent took place. \`agent_failed\`: the external agent reported an error. \`repeated_call\`: the model wanted to call a tool with the same arguments for the third time. \`unanswered\`: it waited too long for a person. \`too_many_runs\`: ${OPEN_RUNS} other questions of the user waited for an answer.`,
    }),
  ),
  error: Type.Optional(Type.String({ description: 'More about a failure. Only for the app.' })),
  answerId: Type.Optional(Type.String({ description: 'Id of the message with the answer.' })),
  createdAt: Milliseconds('When the question was noticed, in Unix milliseconds.'),
  startedAt: Type.Optional(Milliseconds('When the agent started, in Unix milliseconds.')),
  endedAt: Type.Optional(Milliseconds('When it ended, in Unix milliseconds.')),
}

export const AgentRun = Type.Object(run, {
  additionalProperties: false,
  'x-component': 'AgentRun',
})
export type AgentRun = Static<typeof AgentRun>

export const AgentRunDetails = Type.Object(
  {
    ...run,
    attempt: Type.Optional(
      Type.Integer({
        description: 'How often the model was called. The text is of the last call.',
      }),
    ),
    text: Type.Optional(
      Type.String({
        description:
          'What the agent has written so far, at most a second old, or when it failed. A finished run has `answerId` instead.',
      }),
    ),
    steps: Type.Array(Step, { description: 'In order, with repeated attempts.' }),
  },
  { additionalProperties: false, 'x-component': 'AgentRunDetails' },
)
export type AgentRunDetails = Static<typeof AgentRunDetails>

export const AgentRunParams = Type.Object({
  runId: Type.String({
    pattern: UUID,
    description: 'Id of the run.',
  }),
})

const toolCallId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The call that waits, by `toolCallId` of the step.',
})
export const WaitingCall = Type.Object({ toolCallId })
export const DeviceResult = Type.Object({
  toolCallId,
  content: Type.String({ maxLength: 20_000, description: 'What the model is told.' }),
  failed: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether the device could not do it.' }),
  ),
})
export type DeviceResult = Static<typeof DeviceResult>

export const AgentRunQuery = Type.Object({
  limit: Limit(20),
  before: Type.Optional(
    Type.String({
      ...AgentRunParams.properties.runId,
      description: 'Only runs older than this one. Pass `meta.next` of the previous page.',
    }),
  ),
  agentUid: Type.Optional(Id('Only runs of this agent.')),
  uid: Type.Optional(Id('Only questions of this user.')),
  state: Type.Optional(Type.Enum([...RUN_STATES], { description: 'Only runs in this state.' })),
})
export type AgentRunQuery = Static<typeof AgentRunQuery>

export const AgentRunList = NextPage(AgentRun, Type.String)
