import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'
import { Email, Operator, Password } from './schema.ts'

export const Session = Type.Object(
  {
    id: Type.String(),
    current: Type.Boolean({ description: 'Whether this is the session of the request.' }),
    address: Type.String({ description: 'Network address at sign-in.' }),
    userAgent: Type.String(),
    createdAt: Timestamp('Time of the sign-in, in Unix seconds.'),
    seenAt: Timestamp('Time of the last use, in Unix seconds, accurate to the minute.'),
    expiresAt: Timestamp(
      'Latest end of the session, in Unix seconds. A session that is not used for twelve hours ends earlier.',
    ),
  },
  { additionalProperties: false, 'x-component': 'Session' },
)
export type Session = Static<typeof Session>

export const SignedIn = Type.Object(
  { operator: Operator, session: Session },
  { additionalProperties: false, 'x-component': 'SignedIn' },
)
export type SignedIn = Static<typeof SignedIn>

export const SignIn = Type.Object({
  email: Email('Email address of the account.'),
  password: Password('Password of the account.'),
  code: Type.Optional(
    Type.String({ maxLength: 20, description: 'One-time code, for accounts that require one.' }),
  ),
  recoveryCode: Type.Optional(
    Type.String({ maxLength: 50, description: 'Recovery code, instead of a one-time code.' }),
  ),
})
export type SignIn = Static<typeof SignIn>

export const SessionParams = Type.Object({
  sessionId: Type.String({ maxLength: 100, description: 'Id of the session.' }),
})
