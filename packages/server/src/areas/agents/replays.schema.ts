import { type Static, Type } from 'typebox'
import { UUID } from '../../core/uuid.ts'
import { Milliseconds } from '../../platform/http/schemas.ts'
import { LAST_REVISION } from './revisions.schema.ts'
import { AgentRunParams, END_REASONS, Step } from './runs.schema.ts'
import { AgentChanges } from './schema.ts'

const MODES = ['recorded', 'live'] as const
export type ReplayMode = (typeof MODES)[number]

const STATES = ['queued', 'running', 'finished', 'stopped', 'failed'] as const
/** Why a replay stopped where its record ends. */
const STOPPED = ['not_recorded', 'record_ends'] as const

const Mode = Type.Enum([...MODES], {
  description:
    '`recorded`: plays the run again from its record, and calls nothing. `live`: asks the model again, and answers calls of tools from the record.',
})

const { instruction, model, modelMetaData, providerId } = AgentChanges.properties
const changes = { instruction, model, modelMetaData, providerId }
const Changes = Type.Object(changes, {
  additionalProperties: false,
  description: 'Fields of the agent that differ from the revision.',
})

export const NewReplay = Type.Object(
  {
    mode: Mode,
    revision: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: LAST_REVISION },
        description:
          'The revision of the agent to use. Default: that of the run. Only for live replays.',
      }),
    ),
    changes: Type.Optional(
      Type.Object(changes, {
        description: 'Fields of the agent that differ from the revision. Only for live replays.',
      }),
    ),
  },
  { 'x-component': 'NewAgentReplay' },
)
export type NewReplay = Static<typeof NewReplay>

const Moderation = Type.Object(
  {
    status: Type.Enum(['approved', 'pending', 'disapproved'], {
      description: '`pending`: a check would follow.',
    }),
    ruleId: Type.Optional(Type.String({ description: 'The rule that disapproves it.' })),
    ruleName: Type.Optional(Type.String({ description: 'Its name.' })),
  },
  {
    additionalProperties: false,
    description:
      'What the rules of moderation say about the answer, as they are when the replay ends. Missing if no rule looks at it.',
  },
)
export type ReplayVerdict = Static<typeof Moderation>

const replay = {
  id: Type.String(),
  runId: Type.String({ description: 'Id of the run.' }),
  agentUid: Type.String({ description: 'UID of the agent.' }),
  mode: Mode,
  revision: Type.Optional(
    Type.Integer({ description: 'The revision of the agent that the replay uses.' }),
  ),
  changes: Type.Optional(Changes),
  state: Type.Enum([...STATES], {
    description:
      '`queued`: another replay of the app is under way, or no worker is free. `stopped`: the record ends here.',
  }),
  reason: Type.Optional(
    Type.Enum([...END_REASONS, ...STOPPED], {
      description:
        'Why it ended, as in runs. `not_recorded`: the model called a tool in a way that the run did not; the last step has the call. `record_ends`: the run ended here without an answer, or the answer was deleted.',
    }),
  ),
  error: Type.Optional(Type.String({ description: 'More about the reason.' })),
  moderation: Type.Optional(Moderation),
  createdAt: Milliseconds('When it was requested, in Unix milliseconds.'),
  startedAt: Type.Optional(Milliseconds('When it started, in Unix milliseconds.')),
  endedAt: Type.Optional(Milliseconds('When it ended, in Unix milliseconds.')),
}

export const AgentReplay = Type.Object(replay, {
  additionalProperties: false,
  'x-component': 'AgentReplay',
})
export type AgentReplay = Static<typeof AgentReplay>

const StepDifference = Type.Object(
  {
    change: Type.Enum(['same', 'changed', 'missing', 'added'], {
      description:
        '`changed`: the model wrote something else. `missing`: only the run has it. `added`: only the replay has it.',
    }),
    kind: Step.properties.kind,
    tool: Step.properties.tool,
    arguments: Type.Optional(
      Type.String({ description: '`tool_call`: what the model passed, in the run if it has it.' }),
    ),
    recordedNo: Type.Optional(Type.Integer({ description: '`no` of the step of the run.' })),
    replayedNo: Type.Optional(Type.Integer({ description: '`no` of the step of the replay.' })),
    recordedText: Type.Optional(Type.String({ description: 'What the model wrote in the run.' })),
    replayedText: Type.Optional(
      Type.String({ description: 'What the model wrote in the replay.' }),
    ),
  },
  { additionalProperties: false },
)

const TextDifference = Type.Object(
  { change: Type.Enum(['same', 'missing', 'added']), text: Type.String() },
  { additionalProperties: false },
)

const ReplayDifference = Type.Object(
  {
    same: Type.Boolean({
      description: 'Whether steps, answer and the reason of the end are the same.',
    }),
    steps: Type.Array(StepDifference, {
      description: 'The steps of both, side by side. Attempts that were repeated are left out.',
    }),
    answer: Type.Array(TextDifference, {
      description:
        'The words of both answers, in order. `missing`: only in the run. `added`: only in the replay.',
    }),
  },
  {
    additionalProperties: false,
    'x-component': 'ReplayDifference',
    description: 'What the replay did differently from the run, once it is over.',
  },
)
export type ReplayDifference = Static<typeof ReplayDifference>

export const AgentReplayDetails = Type.Object(
  {
    ...replay,
    text: Type.Optional(
      Type.String({ description: 'The answer. Nobody in the conversation gets it.' }),
    ),
    steps: Type.Array(Step, {
      description: 'As those of a run. Only calls of the model of a live replay have costs.',
    }),
    difference: Type.Optional(ReplayDifference),
  },
  { additionalProperties: false, 'x-component': 'AgentReplayDetails' },
)
export type AgentReplayDetails = Static<typeof AgentReplayDetails>

export const AgentReplayParams = Type.Object({
  ...AgentRunParams.properties,
  replayId: Type.String({ pattern: UUID, description: 'Id of the replay.' }),
})
