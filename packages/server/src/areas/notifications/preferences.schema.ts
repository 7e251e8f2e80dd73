import { type Static, Type } from 'typebox'
import { Id } from '../../platform/http/schemas.ts'

/** Devices may only name their own user. */
export const OfUser = Type.Object({ uid: Id('UID of the user.') })

export const TimeZone = Type.Object(
  {
    timezone: Type.String({
      maxLength: 100,
      description: 'Name in the IANA database, such as `Europe/Paris`. Without one, UTC applies.',
    }),
  },
  { additionalProperties: false, 'x-component': 'TimeZone' },
)
export const NewTimeZone = Type.Object({ timezone: TimeZone.properties.timezone })

const other = {
  id: Id('UID of the other user, or GUID of the group.'),
  type: Type.Enum(['oneOnOne', 'group']),
}
const until = Type.Integer({
  minimum: 0,
  // The latest time that a Date has.
  maximum: 8_640_000_000_000_000,
  description: 'End of the mute, in Unix milliseconds.',
})

export const MutedConversation = Type.Object(
  { ...other, until },
  { additionalProperties: false, 'x-component': 'MutedConversation' },
)
export type MutedConversation = Static<typeof MutedConversation>

export const MutedConversations = Type.Object(
  { mutedConversations: Type.Array(MutedConversation) },
  { additionalProperties: false },
)

const MOST_AT_ONCE = 100

export const NewMutes = Type.Object({
  conversations: Type.Array(Type.Object({ ...other, until }), {
    minItems: 1,
    maxItems: MOST_AT_ONCE,
  }),
})
export type NewMutes = Static<typeof NewMutes>

export const LiftedMutes = Type.Object({
  conversations: Type.Array(Type.Object(other), { minItems: 1, maxItems: MOST_AT_ONCE }),
})
export type LiftedMutes = Static<typeof LiftedMutes>

const contact = {
  email: Type.String({
    maxLength: 254,
    pattern: '^[^\\s@]+@[^\\s@]+$',
    description: 'Email address. Check that it belongs to the user before you store it.',
  }),
  phno: Type.String({
    maxLength: 20,
    pattern: '^\\+[1-9][0-9]*$',
    description: 'Phone number with country code: `+` and digits.',
  }),
}

export const ContactDetails = Type.Object(
  { email: Type.Optional(contact.email), phno: Type.Optional(contact.phno) },
  { additionalProperties: false, 'x-component': 'ContactDetails' },
)
export type ContactDetails = Static<typeof ContactDetails>

export const ContactChanges = Type.Object({
  email: Type.Optional(contact.email),
  phno: Type.Optional(contact.phno),
})
export type ContactChanges = Static<typeof ContactChanges>
