import { type Static, Type } from 'typebox'
import { Name, Timestamp } from '../../platform/http/schemas.ts'

export const Email = (description: string) =>
  Type.String({
    maxLength: 254,
    pattern: '^[^\\s@]+@[^\\s@]+$',
    'x-lower': true,
    description,
  })

export const Password = (description: string) =>
  Type.String({ minLength: 1, maxLength: 200, description })

/** Required for changes to the account's security. */
export const Shown = Type.Object({ password: Password('Your current password.') })

const NewPassword = Type.String({
  minLength: 10,
  maxLength: 200,
  description: 'At least 10 characters.',
})

export const Operator = Type.Object(
  {
    id: Type.String({ description: 'Number of the account.' }),
    email: Type.String(),
    name: Type.String(),
    totp: Type.Boolean({ description: 'Whether signing in requires a one-time code.' }),
    createdAt: Timestamp('Time when the account was created, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'Operator' },
)
export type Operator = Static<typeof Operator>

export const NewOperator = Type.Object({
  email: Email('Email address to sign in with.'),
  name: Name(100, 'Your name as others see it.'),
  password: NewPassword,
  invitation: Type.Optional(
    Type.String({ maxLength: 100, description: 'Token of an invitation to an app.' }),
  ),
})
export type NewOperator = Static<typeof NewOperator>

export const OperatorChanges = Type.Object({
  name: Type.Optional(Name(100, 'Your name as others see it.')),
  password: Type.Optional(NewPassword),
  currentPassword: Type.Optional(Password('Your current password. Required to change it.')),
  endKeys: Type.Optional(
    Type.Boolean({ description: 'With a new password: whether to delete your keys too.' }),
  ),
})
export type OperatorChanges = Static<typeof OperatorChanges>
