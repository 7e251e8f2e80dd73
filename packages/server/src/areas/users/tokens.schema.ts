import { ByName } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Id, Metadata, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

export const AuthToken = Type.Object(
  {
    uid: Type.String({ description: 'Whose it is.' }),
    authToken: Type.String({ description: 'The value with which the user signs in.' }),
    createdAt: Timestamp('When it was issued, in Unix seconds.'),
    platform: Type.Optional(Type.String()),
    userAgent: Type.Optional(Type.String()),
    appInfo: Type.Optional(ByName(Type.Unknown())),
  },
  { additionalProperties: false },
)
export type AuthToken = Static<typeof AuthToken>

export const NewAuthToken = Nullable(
  Type.Object({
    force: Type.Optional(
      Type.Boolean({
        description: 'Always issue a new one; else the newest that is on no device is given again.',
      }),
    ),
  }),
)

export const TokenUse = Type.Object({
  platform: Type.Optional(
    Type.String({ minLength: 1, maxLength: 50, description: 'The platform.' }),
  ),
  userAgent: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  appInfo: Type.Optional(Metadata(5_120, 'Free data of the client.')),
})
export type TokenUse = Static<typeof TokenUse>

export const TokenParams = Type.Object({
  uid: Id('The user.'),
  authToken: Type.String({ description: 'The value of the token.' }),
})

export const TokenListQuery = PageQuery({})
