import { ByName, WebhookRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Data, Name, Nullable, Outcome, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

export const Webhook = WebhookRecord
export type Webhook = Static<typeof Webhook>

const Plain = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9]*$', description })

const Secret = Type.String({
  description:
    'Secret that signs each delivery as described by Standard Webhooks: `whsec_` and base64.',
})

/** The secret is only shown here and when it is replaced. */
export const CreatedWebhook = Type.Object(
  { ...WebhookRecord.properties, secret: Secret },
  { additionalProperties: false, 'x-component': 'CreatedWebhook' },
)
export type CreatedWebhook = Static<typeof CreatedWebhook>

const fields = {
  name: Name(50, 'Display name.'),
  webhookURL: Type.String({
    maxLength: 255,
    description: 'URL that receives the events. It must use `https://` and a public address.',
  }),
  useBasicAuth: Type.Boolean({
    description: 'Whether to send `username` and `password` as basic authentication.',
  }),
  username: Plain(50, 'Letters and digits.'),
  password: Plain(100, 'Letters and digits. It is never returned.'),
  enabled: Type.Boolean({
    description:
      'Whether events are sent. Default: true. A webhook that is enabled again continues where it stopped.',
  }),
  retryOnFailure: Type.Boolean({
    description: 'Whether failed deliveries are retried, for up to three days. Default: true.',
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
  id: Plain(50, 'Id of your choice: letters and digits, unique within the app.'),
  ...Type.Partial(Type.Object(fields)).properties,
  name: fields.name,
  webhookURL: fields.webhookURL,
  useBasicAuth: Type.Optional(Type.Boolean({ ...fields.useBasicAuth, default: false })),
  enabled: Type.Optional(Type.Boolean({ ...fields.enabled, default: true })),
  retryOnFailure: Type.Optional(Type.Boolean({ ...fields.retryOnFailure, default: true })),
})
export type NewWebhook = Static<typeof NewWebhook>

export const WebhookParams = Type.Object({
  webhookId: Type.String({ maxLength: 50, description: 'Id of the webhook.' }),
})

export const WebhookListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({ description: 'Only records whose name contains this text.' }),
  ),
})

export const TriggerIds = Type.Object({
  triggerIds: Type.Array(Type.String({ maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Names of triggers; see docs/events.md.',
  }),
})
export type TriggerIds = Static<typeof TriggerIds>

/** The result for each trigger. */
export const TriggerOutcomes = Data(ByName(Outcome(['ERR_TRIGGER_NOT_FOUND'])))

export const Trigger = Type.Object(
  { id: Type.String(), description: Type.String() },
  { additionalProperties: false, 'x-component': 'Trigger' },
)

export const TriggerListQuery = PageQuery({})

export const NewSecret = Type.Object(
  {
    secret: Secret,
    oldSecretUntil: Timestamp(
      'Until this time, in Unix seconds, deliveries are signed with the previous secret too.',
    ),
  },
  { additionalProperties: false },
)
export type NewSecret = Static<typeof NewSecret>
