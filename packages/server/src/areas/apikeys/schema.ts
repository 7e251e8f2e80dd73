import { type Static, Type } from 'typebox'
import { PageQuery, Timestamp } from '../../platform/http/schemas.ts'

const Name = Type.String({
  'x-maxCharacters': 100,
  description:
    'At most 100 characters; an emoji counts as two. Leading and trailing spaces are removed.',
})

const Scope = Type.Enum(['authOnly', 'fullAccess'], {
  description: '`fullAccess` allows every operation, `authOnly` only those on auth tokens.',
})

export const ApiKey = Type.Object(
  {
    apiKey: Type.String({
      description: 'The API key: 40 hexadecimal characters. Send it in the header `apikey`.',
    }),
    name: Type.String(),
    scope: Scope,
    createdAt: Timestamp('Time of creation, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'ApiKey' },
)
export type ApiKey = Static<typeof ApiKey>

export const NewApiKey = Type.Object({ name: Name, scope: Scope })
export type NewApiKey = Static<typeof NewApiKey>

export const ApiKeyChanges = Type.Object({
  name: Type.Optional(Name),
  scope: Type.Optional(Scope),
})
export type ApiKeyChanges = Static<typeof ApiKeyChanges>

export const ApiKeyParams = Type.Object({
  apiKey: Type.String({ description: 'Value of the key.' }),
})

export const ApiKeyListQuery = PageQuery({
  scope: Type.Optional(Scope),
  searchKey: Type.Optional(
    Type.String({ description: 'Only records whose name contains this text.' }),
  ),
})
export type ApiKeyListQuery = Static<typeof ApiKeyListQuery>
