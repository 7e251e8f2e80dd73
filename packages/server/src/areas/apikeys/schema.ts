import { type Static, Type } from 'typebox'
import { PageQuery, Timestamp } from '../../platform/http/schemas.ts'

const Name = Type.String({
  'x-maxCharacters': 100,
  description: 'At most 100 characters of any language; an emoji counts as two. Trimmed.',
})

const Scope = Type.Enum(['authOnly', 'fullAccess'], {
  description: '`fullAccess` may do everything, `authOnly` handle auth tokens.',
})

export const ApiKey = Type.Object(
  {
    apiKey: Type.String({
      description: 'The value for the header `apikey`: 40 hexadecimal characters.',
    }),
    name: Type.String(),
    scope: Scope,
    createdAt: Timestamp('When it was created, in Unix seconds.'),
  },
  { additionalProperties: false },
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
  apiKey: Type.String({ description: 'The value of the key.' }),
})

export const ApiKeyListQuery = PageQuery({
  scope: Type.Optional(Scope),
  searchKey: Type.Optional(Type.String({ description: 'Text to look for in the name.' })),
})
export type ApiKeyListQuery = Static<typeof ApiKeyListQuery>
