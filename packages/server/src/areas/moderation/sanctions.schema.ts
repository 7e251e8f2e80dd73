import { type Static, Type } from 'typebox'
import { IdCursor } from '../../platform/http/id-page.ts'
import { Id } from '../../platform/http/schemas.ts'

const Kind = Type.Enum(['mute', 'ban'], {
  description:
    '`mute`: the user reads, but writes nothing that others see. `ban`: the user can neither connect nor act; in a group, the user is removed from it and banned.',
})

export const NewSanction = Type.Object({
  uid: Id('The user.'),
  kind: Kind,
  guid: Type.Optional(Id('Only in this group.')),
  until: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 9_999_999_999,
      description: 'Time when it ends, in Unix seconds. Without it, it lasts until you lift it.',
    }),
  ),
  reason: Type.String({
    'x-maxCharacters': 500,
    description: 'Why. The user sees it in the errors.',
  }),
})
export type NewSanction = Static<typeof NewSanction>

export const SanctionQuery = Type.Object({
  ...IdCursor('a sanction', 50),
  uid: Type.Optional(Id('Only sanctions of this user.')),
  kind: Type.Optional(Kind),
  guid: Type.Optional(Id('Only sanctions in this group.')),
})
export type SanctionQuery = Static<typeof SanctionQuery>

export const SanctionParams = Type.Object({
  sanctionId: Type.String({ pattern: '^[0-9]{1,16}$', description: 'Id of the sanction.' }),
})
