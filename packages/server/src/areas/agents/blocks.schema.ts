import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { Metadata, Milliseconds, Name, Text, Url } from '../../platform/http/schemas.ts'
import { SECRET } from '../../platform/http/secret-fields.ts'
import { CursorPage, CursorQuery } from './cursor.ts'

const JsonSchema = Metadata(20_000, 'Parameters as a JSON schema of an object.')

/** What the model sees of it. */
const Tool = Type.Object(
  { name: Type.String(), description: Type.String(), parameters: JsonSchema },
  { additionalProperties: false, description: 'What the model sees of it.' },
)

const generated = {
  _id: Type.String({ description: "The app's id, `_` and the name: the id in paths." }),
  appId: Type.String(),
  tool: Tool,
  createdAt: Milliseconds('Time of creation, in Unix milliseconds.'),
  updatedAt: Milliseconds('Time of the last change, in Unix milliseconds.'),
}

/** A record: what was sent, and what follows from it. */
const Block = <T extends TProperties>(component: string, fields: T) =>
  Type.Object(
    { ...fields, ...generated },
    { additionalProperties: false, 'x-component': component },
  )

const Slug = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9_-]*$',
  description: "Name of your choice, unique within the app. It can't be changed later.",
})

const Parameters = Type.Array(
  Type.Object({
    key: Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_.-]*$' }),
    type: Type.Enum(['string', 'number', 'integer', 'boolean', 'object', 'array']),
    description: Type.Optional(Text(500, 'What the model should pass.')),
    required: Type.Optional(Type.Boolean({ default: false })),
  }),
  { maxItems: 50, description: 'What the model passes.' },
)
export type Parameters = Static<typeof Parameters>

const HeaderText = Type.String({
  ...SECRET,
  maxLength: 5_000,
  description:
    'Headers of the calls as JSON text, such as `{"x-api-key": "…"}`. They are never returned.',
})
const HasHeaders = Type.Boolean({ description: 'Whether headers are stored.' })
const Icon = Url('Picture.')

const apiTool = {
  name: Type.Optional(Name(100, 'Display name.')),
  description: Name(1_000, 'When the model should use it.'),
  endpoint: Type.String({
    maxLength: 1_000,
    description:
      'URL that is called. It must use `https://` and a public address. `{{name}}` in its path or query stands for a parameter or a variable.',
  }),
  method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  enableBasicAuth: Type.Boolean({ description: 'Whether to send a user name and a password.' }),
  basicAuthUsername: Type.Optional(Text(100, 'User name.')),
  bodyTemplate: Type.Optional(
    Text(
      10_000,
      'Body of the call as JSON. `{{name}}` stands for a parameter, a variable, `uid`, `role` or a field of the metadata of the user who asks. Without it, the parameters are sent.',
    ),
  ),
  requiresApproval: Type.Optional(
    Type.Boolean({ description: 'Whether the user who asks has to approve each call.' }),
  ),
  idempotent: Type.Optional(
    Type.Boolean({
      description:
        'Whether a call can be repeated if nobody knows what came of it. `GET` always can.',
    }),
  ),
  allowAdditionalProperties: Type.Optional(
    Type.Boolean({ description: 'Whether the model may pass other parameters.' }),
  ),
  parameters: Type.Optional(Parameters),
  icon: Type.Optional(Icon),
}
const apiToolSecrets = {
  basicAuthPassword: Type.Optional(Text(200, 'Password. It is never returned.')),
  headers: Type.Optional(HeaderText),
}

/** What isn't given is false. A change has no defaults: what isn't given stays. */
const byDefaultFalse = (field: TSchema) => Type.Optional(Type.Boolean({ ...field, default: false }))

export const NewApiTool = Type.Object(
  {
    slug: Slug,
    ...apiTool,
    ...apiToolSecrets,
    allowAdditionalProperties: byDefaultFalse(apiTool.allowAdditionalProperties),
    idempotent: byDefaultFalse(apiTool.idempotent),
    requiresApproval: byDefaultFalse(apiTool.requiresApproval),
  },
  { 'x-component': 'NewApiTool' },
)
export type NewApiTool = Static<typeof NewApiTool>
export const ApiToolChanges = Type.Partial(Type.Object({ ...apiTool, ...apiToolSecrets }), {
  'x-component': 'ApiToolChanges',
  description: 'A new `endpoint` needs the password and the headers again.',
})
export type ApiToolChanges = Static<typeof ApiToolChanges>
export const ApiTool = Block('ApiTool', {
  slug: Type.String(),
  ...apiTool,
  hasBasicAuthPassword: Type.Boolean({ description: 'Whether a password is stored.' }),
  hasHeaders: HasHeaders,
})
export type ApiTool = Static<typeof ApiTool>

const frontendAction = {
  name: Name(100, 'Display name.'),
  description: Name(1_000, 'When the model should use it.'),
  parameters: Type.Optional(Parameters),
  icon: Type.Optional(Icon),
}
const TriggerFunction = Type.String({
  ...Slug,
  pattern: '^[A-Za-z_$][A-Za-z0-9_$-]*$',
  description: "Function that the user's device runs, unique within the app. It can't be changed.",
})
export const NewFrontendAction = Type.Object(
  { triggerFunction: TriggerFunction, ...frontendAction },
  { 'x-component': 'NewFrontendAction' },
)
export type NewFrontendAction = Static<typeof NewFrontendAction>
export const FrontendActionChanges = Type.Partial(Type.Object(frontendAction))
export type FrontendActionChanges = Static<typeof FrontendActionChanges>
export const FrontendAction = Block('FrontendAction', {
  triggerFunction: Type.String(),
  ...frontendAction,
})
export type FrontendAction = Static<typeof FrontendAction>

const mcpServer = {
  name: Name(100, 'Display name.'),
  url: Type.String({
    maxLength: 1_000,
    description: 'Where it accepts requests. It must use `https://` and a public address.',
  }),
  description: Type.Optional(Text(1_000, 'What it offers.')),
  requiresApproval: Type.Optional(
    Type.Boolean({
      description: 'Whether the user who asks has to approve each call of its tools.',
    }),
  ),
  icon: Type.Optional(Icon),
}
export const NewMcpServer = Type.Object(
  { slug: Slug, ...mcpServer, headers: Type.Optional(HeaderText) },
  { 'x-component': 'NewMcpServer' },
)
export type NewMcpServer = Static<typeof NewMcpServer>
export const McpServerChanges = Type.Partial(
  Type.Object({ ...mcpServer, headers: Type.Optional(HeaderText) }),
  { description: 'A new `url` needs the headers again.' },
)
export type McpServerChanges = Static<typeof McpServerChanges>
export const McpServer = Block('McpServer', {
  slug: Type.String(),
  ...mcpServer,
  hasHeaders: HasHeaders,
})
export type McpServer = Static<typeof McpServer>

export const NewAgentTool = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[a-zA-Z_$][a-zA-Z0-9_$-]*$',
      description: 'Name of your choice, unique within the app.',
    }),
    displayName: Name(100, 'Name that people see.'),
    executionText: Name(200, 'What people see while it runs.'),
    description: Type.Optional(
      Text(1_000, 'When to use it. Required unless `doNotExecute` is true.'),
    ),
    doNotExecute: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'True: the agent carries it out itself (type `tool`). False: the devices of users do (type `action`).',
      }),
    ),
    parameters: Type.Optional(JsonSchema),
  },
  { 'x-component': 'NewAgentTool' },
)
export type NewAgentTool = Static<typeof NewAgentTool>

const Time = (description: string) => Type.String({ format: 'date-time', description })
export const AgentTool = Type.Object(
  {
    _id: generated._id,
    appId: Type.String(),
    name: Type.String(),
    type: Type.Enum(['tool', 'action']),
    displayName: Type.String(),
    executionText: Type.String(),
    doNotExecute: Type.Boolean(),
    tool: Tool,
    createdAt: Time('Time of creation.'),
    updatedAt: Time('Time of the last change.'),
  },
  { additionalProperties: false, 'x-component': 'AgentTool' },
)
export type AgentTool = Static<typeof AgentTool>

const variable = {
  name: Type.String({
    minLength: 1,
    maxLength: 50,
    pattern: '^[a-zA-Z][a-zA-Z0-9_.]*$',
    description:
      'Name of your choice, unique within the app. Texts refer to it as `@var-custom:name`.',
  }),
  sourceType: Type.Enum(['message_metadata', 'user_metadata', 'constant'], {
    description: "Where the value is: in the message's metadata, in its sender's, or here.",
  }),
  description: Type.Optional(Text(200, 'What it is for.')),
  sourcePath: Type.Optional(
    Text(100, 'Fields that lead to the value, separated by dots. Required for metadata.'),
  ),
  constantValue: Type.Optional(Text(500, 'The value. Required for a constant.')),
  defaultValue: Type.Optional(Text(200, 'The value if there is none in the metadata.')),
}
export const NewAgentVariable = Type.Object(variable, { 'x-component': 'NewAgentVariable' })
export type NewAgentVariable = Static<typeof NewAgentVariable>
const { name: _name, ...changeable } = variable
export const AgentVariableChanges = Type.Partial(Type.Object(changeable), {
  description: 'What you leave out stays.',
})
export type AgentVariableChanges = Static<typeof AgentVariableChanges>
export const AgentVariable = Type.Object(
  {
    _id: generated._id,
    appId: Type.String(),
    ...variable,
    category: Type.Literal('custom'),
    createdAt: generated.createdAt,
    updatedAt: generated.updatedAt,
  },
  { additionalProperties: false, 'x-component': 'AgentVariable' },
)
export type AgentVariable = Static<typeof AgentVariable>

export const BlockParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200, description: 'Its `_id`, or its name.' }),
})
export const ToolParams = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the tool.' }),
})
export const BlockQuery = Type.Object(CursorQuery)
export const ApiToolPage = CursorPage(ApiTool)
export const FrontendActionPage = CursorPage(FrontendAction)
export const McpServerPage = CursorPage(McpServer)
