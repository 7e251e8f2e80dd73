import { Type } from 'typebox'
import { Id } from '../../../platform/http/schemas.ts'

export const NewMailTest = Type.Object({
  uid: Id('UID of a user with a stored email address or phone number.'),
})

export const MailTestOutcome = Type.Object(
  {
    provider: Type.Enum(['smtp', 'sendgrid', 'twilio', 'custom'], {
      description: 'The provider that sends: the first one that is enabled.',
    }),
    outcome: Type.Enum(['delivered', 'gone', 'retry', 'refused'], {
      description:
        '`delivered`: the provider has accepted it. `gone`: the address does not exist. `retry`: it may work later. `refused`: the credentials or the content are wrong.',
    }),
    reason: Type.Optional(Type.String({ description: 'What the provider answered.' })),
  },
  { additionalProperties: false, 'x-component': 'MailTestOutcome' },
)

export const EmailPreview = Type.Object(
  { subject: Type.String(), html: Type.String(), text: Type.String() },
  { additionalProperties: false, 'x-component': 'EmailPreview' },
)
