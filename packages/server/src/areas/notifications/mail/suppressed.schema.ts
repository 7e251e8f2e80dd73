import { type Static, Type } from 'typebox'
import { IdCursor } from '../../../platform/http/id-page.ts'
import { Timestamp } from '../../../platform/http/schemas.ts'
import { SUPPRESSED_FOR } from './suppressed.queries.ts'

const suppressionId = Type.String({ pattern: '^[0-9]{1,16}$' })
export const SuppressionParams = Type.Object({ suppressionId })

export const Suppression = Type.Object(
  {
    id: Type.String(),
    channel: Type.Enum(['email', 'sms']),
    address: Type.String({ description: 'Email address in lower case, or phone number.' }),
    reason: Type.Enum([...SUPPRESSED_FOR], {
      description:
        '`bounce`: it doesn’t exist. `complaint`: its owner reported an email as spam. `unsubscribed`: its owner wants no emails.',
    }),
    details: Type.Optional(Type.String({ description: 'What the provider said.' })),
    createdAt: Timestamp('When it was added.'),
  },
  { additionalProperties: false, 'x-component': 'Suppression' },
)
export type Suppression = Static<typeof Suppression>

export const NewSuppressed = Type.Object({
  channel: Suppression.properties.channel,
  address: Type.String({
    ...{ minLength: 3, maxLength: 254, pattern: '^[!-~]*$' },
    description: 'Email address or phone number.',
  }),
  reason: Type.Optional(
    Type.Enum([...SUPPRESSED_FOR], { description: 'Default: `unsubscribed`.' }),
  ),
})
export type NewSuppressed = Static<typeof NewSuppressed>

export const SuppressedQuery = Type.Object({
  ...IdCursor('a suppressed address', 100),
  address: Type.Optional(
    Type.String({ maxLength: 254, description: 'Only this email address or phone number.' }),
  ),
})
export type SuppressedQuery = Static<typeof SuppressedQuery>
