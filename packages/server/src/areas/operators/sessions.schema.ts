import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'
import { Email, Operator, Password } from './schema.ts'

export const Session = Type.Object(
  {
    id: Type.String(),
    current: Type.Boolean({ description: 'Whether this request is part of it.' }),
    address: Type.String({ description: 'Where it began.' }),
    userAgent: Type.String(),
    createdAt: Timestamp('When it began, in Unix seconds.'),
    seenAt: Timestamp('When it was last used, to the minute.'),
    expiresAt: Timestamp('When it ends at the latest; unused it ends after twelve hours.'),
  },
  { additionalProperties: false },
)
export type Session = Static<typeof Session>

export const SignedIn = Type.Object(
  { operator: Operator, session: Session },
  { additionalProperties: false },
)
export type SignedIn = Static<typeof SignedIn>

export const SignIn = Type.Object({
  email: Email('The address of the account.'),
  password: Password('Its password.'),
  code: Type.Optional(
    Type.String({ maxLength: 20, description: 'The one-time code, of accounts that have them.' }),
  ),
  recoveryCode: Type.Optional(
    Type.String({ maxLength: 50, description: 'A recovery code, in place of the one-time code.' }),
  ),
})
export type SignIn = Static<typeof SignIn>

export const SessionParams = Type.Object({
  sessionId: Type.String({ maxLength: 100, description: 'The id of the session.' }),
})
