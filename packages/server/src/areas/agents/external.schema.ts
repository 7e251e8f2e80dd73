import { type Static, Type } from 'typebox'
import { Name, Text } from '../../platform/http/schemas.ts'
import { SECRET } from '../../platform/http/secret-fields.ts'
import { PictureUrl } from '../files/schema.ts'
import { AgentMetadata, answering, BlockNames, Revision } from './schema.ts'

const Framework = Type.String({
  minLength: 1,
  maxLength: 50,
  pattern: '^[a-z0-9-]*$',
  description: 'What the agent was made with, such as `mastra`, `langgraph` or `ag-ui`.',
})

const Headers = Type.Record(
  Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }),
  Type.String({ maxLength: 2_000, pattern: '^[\\x20-\\x7e]*$' }),
  { ...SECRET, maxProperties: 20, description: 'Sent with every call. They are never returned.' },
)

const meta = {
  baseUrl: Type.String({
    maxLength: 1_000,
    description:
      'Where the agent is called, by the protocol AG-UI. It must use `https://` and a public address.',
  }),
  agentId: Type.Optional(
    Type.String({ maxLength: 200, description: 'Its name there. It is sent in `forwardedProps`.' }),
  ),
  idempotent: Type.Optional(
    Type.Boolean({
      description:
        'Whether a call can be repeated that was cut off. All attempts of a call have the same header `Idempotency-Key`.',
    }),
  ),
}

const fields = {
  name: Name(100, 'Display name.'),
  icon: PictureUrl,
  integrateWith: Framework,
  integrationType: Type.Enum(['agent']),
  isActive: Type.Boolean({ description: 'Whether it answers.' }),
  integrationMeta: Type.Object(
    { ...meta, headers: Type.Optional(Headers) },
    { description: 'How to reach it. A new `baseUrl` needs the headers again.' },
  ),
  tools: BlockNames('Names of tools that it may call.'),
  actions: BlockNames('Names of actions that the devices of users carry out for it.'),
  instruction: Text(20_000, 'What it is told before each conversation.'),
  suggestions: Type.Array(Type.String({ maxLength: 200 }), {
    maxItems: 10,
    description: 'Older name of `metaData.suggestedMessages`.',
  }),
  metaData: AgentMetadata,
  ...answering,
}

export const NewExternalAgent = Type.Object(
  {
    ...Type.Partial(Type.Object(fields)).properties,
    name: fields.name,
    icon: fields.icon,
    integrateWith: fields.integrateWith,
    integrationType: fields.integrationType,
    integrationMeta: fields.integrationMeta,
    isActive: Type.Optional(Type.Boolean({ ...fields.isActive, default: true })),
    answersMentions: Type.Optional(Type.Boolean({ ...answering.answersMentions, default: false })),
    answersAgents: Type.Optional(Type.Boolean({ ...answering.answersAgents, default: false })),
    handBackAfterSeconds: Type.Optional(
      Type.Integer({ ...answering.handBackAfterSeconds, default: 0 }),
    ),
  },
  { 'x-component': 'NewExternalAgent' },
)
export type NewExternalAgent = Static<typeof NewExternalAgent>

export const ExternalAgentChanges = Type.Partial(Type.Object(fields), {
  'x-component': 'ExternalAgentChanges',
})
export type ExternalAgentChanges = Static<typeof ExternalAgentChanges>

const Time = (description: string) => Type.String({ format: 'date-time', description })

export const ExternalAgent = Type.Object(
  {
    uid: Type.String({ description: 'UID of the agent, who is a user with the role `@agentic`.' }),
    appId: Type.String(),
    name: Type.String(),
    icon: Type.String(),
    isActive: fields.isActive,
    revision: Revision,
    ...answering,
    integrateWith: Type.String(),
    integrationType: fields.integrationType,
    integrationMeta: Type.Object(
      { ...meta, hasHeaders: Type.Boolean({ description: 'Whether headers are stored.' }) },
      { additionalProperties: false },
    ),
    tools: Type.Array(Type.String()),
    actions: Type.Array(Type.String()),
    instruction: Type.Optional(Type.String()),
    metaData: AgentMetadata,
    createdAt: Time('Time of creation.'),
    updatedAt: Time('Time of the last change.'),
  },
  { additionalProperties: false, 'x-component': 'ExternalAgent' },
)
export type ExternalAgent = Static<typeof ExternalAgent>

export const ExternalAgentParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100, description: 'UID of the agent.' }),
})
