import { ByName, WebhookRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Data, Name, Nullable, Outcome, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

export const Webhook = WebhookRecord
export type Webhook = Static<typeof Webhook>

const Plain = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9]*$', description })

const Secret = Type.String({
  description: 'Signs each delivery, as Standard Webhooks has it: `whsec_` and base64.',
})

/** Only here, and when it is changed, is the secret shown. */
export const CreatedWebhook = Type.Object(
  { ...WebhookRecord.properties, secret: Secret },
  { additionalProperties: false },
)
export type CreatedWebhook = Static<typeof CreatedWebhook>

const fields = {
  name: Name(50, 'What people call it.'),
  webhookURL: Type.String({
    maxLength: 255,
    description: 'Where events are sent: `https://`, and no private address.',
  }),
  useBasicAuth: Type.Boolean({ description: 'Whether to send `username` and `password`.' }),
  username: Plain(50, 'Letters and digits.'),
  password: Plain(100, 'Letters and digits. Never shown.'),
  enabled: Type.Boolean({ description: 'Whether events are sent; true unless given.' }),
  retryOnFailure: Type.Boolean({
    description: 'Whether what failed is tried again, for three days; true unless given.',
  }),
}

export const WebhookChanges = Type.Partial(
  Type.Object({
    ...fields,
    username: Nullable(fields.username),
    password: Nullable(fields.password),
  }),
)
export type WebhookChanges = Static<typeof WebhookChanges>

export const NewWebhook = Type.Object({
  id: Plain(50, 'Chosen by the caller; letters and digits, unique within the app.'),
  ...Type.Partial(Type.Object(fields)).properties,
  name: fields.name,
  webhookURL: fields.webhookURL,
})
export type NewWebhook = Static<typeof NewWebhook>

export const WebhookParams = Type.Object({
  webhookId: Type.String({ maxLength: 50, description: 'The id of the webhook.' }),
})

export const WebhookListQuery = PageQuery({
  searchKey: Type.Optional(Type.String({ description: 'Text to look for in the name.' })),
})

export const TriggerIds = Type.Object({
  triggerIds: Type.Array(Type.String({ maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Names of triggers: docs/events.md.',
  }),
})
export type TriggerIds = Static<typeof TriggerIds>

/** What came of each trigger. */
export const TriggerOutcomes = Data(ByName(Outcome(['ERR_TRIGGER_NOT_FOUND'])))

export const Trigger = Type.Object(
  { id: Type.String(), description: Type.String() },
  { additionalProperties: false },
)

export const TriggerListQuery = PageQuery({})

export const NewSecret = Type.Object(
  {
    secret: Secret,
    oldSecretUntil: Timestamp('Until when the one before it signs too, in Unix seconds.'),
  },
  { additionalProperties: false },
)
export type NewSecret = Static<typeof NewSecret>
