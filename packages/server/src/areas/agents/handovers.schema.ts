import { type Static, Type } from 'typebox'
import { UUID } from '../../core/uuid.ts'
import { Id, Milliseconds, Nullable, Text } from '../../platform/http/schemas.ts'
import { Limit, NextPage } from './cursor.ts'

const HANDOVER_STATES = ['open', 'taken', 'closed'] as const
export type HandoverState = (typeof HANDOVER_STATES)[number]

const OPENERS = ['agent', 'user', 'operator', 'app'] as const
export type Opener = (typeof OPENERS)[number]

const CLOSERS = ['user', 'operator', 'app', 'timeout'] as const
export type Closer = (typeof CLOSERS)[number]

const handover = {
  id: Type.String({ description: 'Id of the handover.' }),
  agentUid: Type.String({ description: 'UID of the agent, in whose name a person answers.' }),
  uid: Type.String({ description: 'UID of the user who talks to the agent.' }),
  conversationId: Type.String(),
  state: Type.Enum([...HANDOVER_STATES], {
    description:
      '`open`: nobody has taken it. `taken`: a person answers. `closed`: the agent answers again.',
  }),
  openedBy: Type.Enum([...OPENERS], { description: 'Who handed the conversation over.' }),
  reason: Type.Optional(Type.String({ description: 'Why. Only for the app.' })),
  takenBy: Type.Optional(
    Type.String({
      description:
        'Email address of the operator who has taken it, or `app` if it was an API key. Only for the app.',
    }),
  ),
  openedAt: Milliseconds('When it was handed over, in Unix milliseconds.'),
  takenAt: Type.Optional(Milliseconds('When somebody took it, in Unix milliseconds.')),
  answeredAt: Type.Optional(Milliseconds('When a person first answered, in Unix milliseconds.')),
  closedAt: Type.Optional(Milliseconds('When it was handed back, in Unix milliseconds.')),
  closedBy: Type.Optional(
    Type.Enum([...CLOSERS], {
      description:
        'Who handed it back. `timeout`: nobody answered in time (`handBackAfterSeconds` of the agent).',
    }),
  ),
}

export const AgentHandover = Type.Object(handover, {
  additionalProperties: false,
  'x-component': 'AgentHandover',
})
export type AgentHandover = Static<typeof AgentHandover>

export const AnsweredHandover = Type.Object(
  { ...handover, messageId: Type.String({ description: 'Id of the message with the answer.' }) },
  { additionalProperties: false, 'x-component': 'AnsweredHandover' },
)
export type AnsweredHandover = Static<typeof AnsweredHandover>

export const NewHandover = Type.Object(
  {
    agentUid: Id('UID of the agent.'),
    uid: Type.Optional(
      Id('UID of the user who talks to the agent. Users leave it out: they hand over their own.'),
    ),
    reason: Type.Optional(Text(1_000, 'Why. Only the app sees it.')),
  },
  { 'x-component': 'NewAgentHandover' },
)
export type NewHandover = Static<typeof NewHandover>

export const HandoverAnswer = Type.Object(
  {
    text: Type.String({
      ...{ minLength: 1, maxLength: 5_000 },
      description: 'What the user reads, from the agent.',
    }),
  },
  { 'x-component': 'HandoverAnswer' },
)
export type HandoverAnswer = Static<typeof HandoverAnswer>

export const HandoverParams = Type.Object({
  handoverId: Type.String({ pattern: UUID, description: 'Id of the handover.' }),
})

/** In the body: URLs, which logs contain, have no email addresses. */
export const TakeRequest = Nullable(
  Type.Object({
    from: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 320 },
        description: 'Take it over from this person: `takenBy` of the handover.',
      }),
    ),
  }),
)
export type TakeRequest = Static<typeof TakeRequest>

export const HandoverQuery = Type.Object({
  limit: Limit(20),
  before: Type.Optional(
    Type.String({
      pattern: UUID,
      description:
        'Only handovers that come after this one in the order asked for. Pass `meta.next` of the previous page.',
    }),
  ),
  sortOrder: Type.Optional(
    Type.Enum(['asc', 'desc'], {
      description:
        'By when conversations were handed over. `asc`: users who have waited longest come first. Default: descending.',
    }),
  ),
  agentUid: Type.Optional(Id('Only handovers of this agent.')),
  uid: Type.Optional(Id('Only conversations of this user.')),
  state: Type.Optional(
    Type.Enum([...HANDOVER_STATES], { description: 'Only handovers in this state.' }),
  ),
})
export type HandoverQuery = Static<typeof HandoverQuery>

export const HandoverList = NextPage(AgentHandover, Type.String)
