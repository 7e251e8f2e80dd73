import { type Static, Type } from 'typebox'
import { Id, Metadata, Milliseconds, Name, Text, Url } from '../../platform/http/schemas.ts'
import { PictureUrl } from '../files/schema.ts'
import { CursorPage, CursorQuery } from './cursor.ts'

export const DEFAULT_MODEL = 'gpt-4o-mini'

/** The name of a tool, an API tool, an MCP server or a frontend action. */
const BlockName = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_$.-]*$' })
export const BlockNames = (description: string) =>
  Type.Array(BlockName, { maxItems: 25, uniqueItems: true, description })

export const Revision = Type.Integer({
  description: 'Number of its last revision, which counts changes of the agent.',
})

export const AgentMetadata = Metadata(
  4_096,
  'Your own data, which users see in the metadata of the agent, such as `greetingMessage`, `introductoryMessage` and `suggestedMessages`.',
)

const ModelMetadata = Type.Object(
  {
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Longest answer of the model.' }),
    ),
  },
  { additionalProperties: true, description: 'Settings of the model.' },
)

/** Whom an agent answers besides users who write to it, and when it answers again after a handover. */
export const answering = {
  answersMentions: Type.Boolean({
    description: 'Whether it answers in groups whose member it is, if a message mentions it.',
  }),
  answersAgents: Type.Boolean({ description: 'Whether it answers other agents.' }),
  handBackAfterSeconds: Type.Integer({
    ...{ minimum: 0, maximum: 2_592_000 },
    description:
      'Seconds without an answer from a person, after a conversation was handed over or somebody took it, until the agent answers again. 0: never.',
  }),
}

/** Hands the conversation to a person, and ends the run. */
export const HAND_OVER = 'hand_over_to_a_person'

const SERVICE_TOOL_NAMES = [
  ...(['search_messages', 'list_members', 'send_message', HAND_OVER] as const),
] as const
export type ServiceToolName = (typeof SERVICE_TOOL_NAMES)[number]

const ServiceTool = Type.Object({
  name: Type.Enum([...SERVICE_TOOL_NAMES]),
  requiresApproval: Type.Optional(
    Type.Boolean({
      description:
        'Whether the user who asks has to approve each call. Without it, `send_message` needs approval.',
    }),
  ),
})
export type ServiceTool = Static<typeof ServiceTool>

const ServiceTools = Type.Array(ServiceTool, {
  maxItems: SERVICE_TOOL_NAMES.length,
  description:
    'Tools of this service, which act as the user who asks, with the rights of that user. They are not offered in groups.',
})

const fields = {
  name: Name(100, 'Display name.'),
  icon: PictureUrl,
  description: Text(500, 'What the agent is for.'),
  tools: BlockNames('Names of tools.'),
  apiTools: BlockNames('Slugs of API tools.'),
  mcpServers: BlockNames('Slugs of MCP servers.'),
  serviceTools: ServiceTools,
  frontendActions: BlockNames('Functions that the devices of users run, by `triggerFunction`.'),
  instruction: Text(20_000, 'What the model is told before each conversation.'),
  metaData: AgentMetadata,
  model: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the model.' }),
  modelMetaData: ModelMetadata,
  providerId: Id('Id of the provider of the model. An agent without one fails to answer.'),
  isActive: Type.Boolean({ description: 'Whether it answers.' }),
  ...answering,
}

export const NewAgent = Type.Object(
  {
    ...Type.Partial(Type.Object(fields)).properties,
    name: fields.name,
    model: Type.Optional(Type.String({ ...fields.model, default: DEFAULT_MODEL })),
    isActive: Type.Optional(Type.Boolean({ ...fields.isActive, default: true })),
    answersMentions: Type.Optional(Type.Boolean({ ...answering.answersMentions, default: false })),
    answersAgents: Type.Optional(Type.Boolean({ ...answering.answersAgents, default: false })),
    handBackAfterSeconds: Type.Optional(
      Type.Integer({ ...answering.handBackAfterSeconds, default: 0 }),
    ),
  },
  { 'x-component': 'NewAgent' },
)
export type NewAgent = Static<typeof NewAgent>

export const AgentChanges = Type.Partial(Type.Object(fields), { 'x-component': 'AgentChanges' })
export type AgentChanges = Static<typeof AgentChanges>

const Names = Type.Array(Type.String())
const Nothing = (description: string) => Type.Array(Type.Unknown(), { maxItems: 0, description })

export const Agent = Type.Object(
  {
    uid: Type.String({ description: 'UID of the agent, who is a user with the role `@agentic`.' }),
    appId: Type.String(),
    name: Type.String(),
    icon: Type.Optional(Url('Picture.')),
    isActive: fields.isActive,
    revision: Revision,
    ...answering,
    description: Type.Optional(Type.String()),
    tools: Names,
    apiTools: Names,
    mcpServers: Names,
    frontendActions: Names,
    serviceTools: ServiceTools,
    files: Type.Array(Type.String(), { description: 'Ids of texts and files that it knows.' }),
    websites: Type.Array(Type.String(), { description: 'Ids of websites that it knows.' }),
    otherKbIntegrations: Nothing('Always empty.'),
    lastMessageAt: Type.Optional(Milliseconds('Time of its last answer, in Unix milliseconds.')),
    instruction: Type.Optional(Type.String()),
    formattedInstruction: Type.Optional(Type.String({ description: 'The same as `instruction`.' })),
    metaData: AgentMetadata,
    model: Type.Optional(Type.String()),
    modelMetaData: ModelMetadata,
    providerId: Type.Optional(Type.String({ description: 'Id of the provider of the model.' })),
    createdAt: Milliseconds('Time of creation, in Unix milliseconds.'),
    updatedAt: Milliseconds('Time of the last change, in Unix milliseconds.'),
  },
  { additionalProperties: false, 'x-component': 'Agent' },
)
export type Agent = Static<typeof Agent>

export const AgentListQuery = Type.Object({
  ...CursorQuery,
  search: Type.Optional(
    Type.String({ maxLength: 100, description: 'Part of the name, the description or the UID.' }),
  ),
})
export type AgentListQuery = Static<typeof AgentListQuery>
export const AgentPage = CursorPage(Agent)

export const AgentParams = Type.Object({
  uid: Type.String({ minLength: 1, maxLength: 100, description: 'UID of the agent.' }),
})

export const AddedServers = Type.Object({ mcps: BlockNames('Slugs of MCP servers.') })
