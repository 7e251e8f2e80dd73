import { CheckFault } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { FAILURE_OUTCOMES } from '../../core/moderation/rules.ts'
import { Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { NewCondition } from './rules.schema.ts'

const Use = (what: string) =>
  Type.Object(
    {
      providerId: Id('Id of a provider of models.'),
      model: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the model.' }),
    },
    { additionalProperties: false, description: what },
  )

const models = {
  classifier: Use('The model for conditions of the category `toxicity`.'),
  embeddings: Use('The model for conditions of the category `sentence-similarity`.'),
  prompts: Use('The model for conditions of the category `prompt`.'),
}

const fields = {
  url: Type.String({
    maxLength: 255,
    description:
      'URL of your own check, for conditions of the category `custom-api`. It must use `https://` and a public address.',
  }),
  basicAuthEnabled: Type.Boolean({
    description: 'Whether to send `username` and `password` as basic authentication.',
  }),
  username: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^:\\u0000-\\u001f]*$' }),
  password: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f]*$',
    description: 'It is never returned.',
  }),
  timeoutMs: Type.Integer({
    minimum: 100,
    maximum: 30_000,
    description: 'How long a check waits for an answer. Default: 2,000 milliseconds.',
  }),
  contextMessages: Type.Integer({
    minimum: 0,
    maximum: 20,
    description: 'How many earlier messages of the conversation your check gets. Default: 0.',
  }),
  onFailure: Type.Enum([...FAILURE_OUTCOMES], {
    description:
      'What becomes of a message whose checks fail, unless the condition says it. Default: `disapproved`.',
  }),
  deadlineSeconds: Type.Integer({
    minimum: 5,
    maximum: 3_600,
    description:
      'When the checks of a message have failed at the latest, even if they could not run. Default: 60 seconds.',
  }),
}

export const CheckSettings = Type.Object(
  {
    url: Type.Optional(fields.url),
    basicAuthEnabled: fields.basicAuthEnabled,
    username: Type.Optional(fields.username),
    signed: Type.Boolean({ description: 'Whether requests to your check are signed.' }),
    timeoutMs: fields.timeoutMs,
    contextMessages: fields.contextMessages,
    onFailure: fields.onFailure,
    deadlineSeconds: fields.deadlineSeconds,
    ...Type.Partial(Type.Object(models)).properties,
  },
  { additionalProperties: false, 'x-component': 'CheckSettings' },
)
export type CheckSettings = Static<typeof CheckSettings>

export const CheckSettingsChanges = Type.Partial(
  Type.Object({
    ...fields,
    url: Nullable(fields.url),
    username: Nullable(fields.username),
    password: Nullable(fields.password),
    classifier: Nullable(models.classifier),
    embeddings: Nullable(models.embeddings),
    prompts: Nullable(models.prompts),
  }),
)
export type CheckSettingsChanges = Static<typeof CheckSettingsChanges>

export const CheckSecret = Type.Object(
  {
    secret: Type.String({
      description:
        'Secret that signs each request as described by Standard Webhooks: `whsec_` and base64. It is not shown again.',
    }),
    oldSecretUntil: Type.Optional(
      Timestamp(
        'Until this time, in Unix seconds, requests are signed with the previous secret too.',
      ),
    ),
  },
  { additionalProperties: false, 'x-component': 'CheckSecret' },
)
export type CheckSecret = Static<typeof CheckSecret>

export const CheckTest = Type.Object({
  condition: NewCondition,
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
  attachmentUrl: Type.Optional(
    Type.String({ maxLength: 2_000, description: 'Of an image or video, for such a condition.' }),
  ),
})
export type CheckTest = Static<typeof CheckTest>

export const CheckTestResult = Type.Object(
  {
    hit: Type.Boolean({ description: 'Whether the condition applies.' }),
    found: Type.Optional(Type.String({ description: 'Why, as moderators would see it.' })),
    failure: Type.Optional(CheckFault),
  },
  { additionalProperties: false, 'x-component': 'CheckTestResult' },
)
export type CheckTestResult = Static<typeof CheckTestResult>
