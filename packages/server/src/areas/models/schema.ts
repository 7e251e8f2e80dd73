import { type Static, Type } from 'typebox'
import { Id, Name, Nullable, Timestamp } from '../../platform/http/schemas.ts'

const fields = {
  name: Name(100, 'Display name.'),
  url: Type.String({
    maxLength: 255,
    description:
      'What comes before the names of its operations, such as `https://api.openai.com/v1`. It must use `https://` and a public address.',
  }),
  key: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: '^[\\x21-\\x7e]*$',
    description: 'API key, sent as a bearer token. It is never returned.',
  }),
}

export const ModelProvider = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    url: Type.String(),
    hasKey: Type.Boolean({ description: 'Whether a key is stored.' }),
    createdAt: Timestamp('Time of creation, in Unix seconds.'),
    updatedAt: Timestamp('Time of the last change, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'ModelProvider' },
)
export type ModelProvider = Static<typeof ModelProvider>

export const NewModelProvider = Type.Object(
  {
    id: Id("Id of your choice. Converted to lower case; it can't be changed later."),
    name: fields.name,
    url: fields.url,
    key: Type.Optional(fields.key),
  },
  { 'x-component': 'NewModelProvider' },
)
export type NewModelProvider = Static<typeof NewModelProvider>

export const ModelProviderChanges = Type.Partial(
  Type.Object({ name: fields.name, url: fields.url, key: Nullable(fields.key) }),
)
export type ModelProviderChanges = Static<typeof ModelProviderChanges>

export const ModelProviderParams = Type.Object({ providerId: Id('Id of the provider.') })
