import { ByName } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Id, Metadata, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

export const AuthToken = Type.Object(
  {
    uid: Type.String({ description: 'UID of the user.' }),
    authToken: Type.String({ description: 'The token. Send it in the header `authToken`.' }),
    createdAt: Timestamp('Time of creation, in Unix seconds.'),
    platform: Type.Optional(Type.String()),
    userAgent: Type.Optional(Type.String()),
    appInfo: Type.Optional(ByName(Type.Unknown())),
    auditId: Type.Optional(
      Type.String({
        description: "Id of the app's audit entry that says which operator created the token.",
      }),
    ),
  },
  { additionalProperties: false, 'x-component': 'AuthToken' },
)
export type AuthToken = Static<typeof AuthToken>

export const NewAuthToken = Nullable(
  Type.Object({
    force: Type.Optional(
      Type.Boolean({
        description:
          'Whether to always create a new token. Otherwise the newest token that no device uses is returned again.',
      }),
    ),
  }),
)

export const TokenUse = Type.Object({
  platform: Type.Optional(
    Type.String({ minLength: 1, maxLength: 50, description: 'Platform of the device.' }),
  ),
  userAgent: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  appInfo: Type.Optional(Metadata(5_120, 'Data about the client app, as an object.')),
})
export type TokenUse = Static<typeof TokenUse>

export const TokenParams = Type.Object({
  uid: Id('UID of the user.'),
  authToken: Type.String({ description: 'Value of the auth token.' }),
})

export const TokenListQuery = PageQuery({})
