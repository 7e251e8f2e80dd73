import { type Static, Type } from 'typebox'
import { PROVIDER_KINDS } from '../../core/models/prompt.ts'
import { Id, Name, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { SECRET } from '../../platform/http/secret-fields.ts'

const Kind = Type.Enum([...PROVIDER_KINDS], {
  description:
    'Whose interface the provider has. `openai`: also most other services and model servers. Only agents can use `anthropic`.',
})
const Price = (description: string) =>
  Type.Number({
    minimum: 0,
    maximum: 1_000_000,
    description: `${description} In the currency of your choice, the same for all providers.`,
  })

const FALLBACK =
  "Id of the provider that agents ask if this one is busy, fails or can't be reached before it has written anything."

const fields = {
  name: Name(100, 'Display name.'),
  url: Type.String({
    maxLength: 255,
    description:
      'What comes before the names of its operations, such as `https://api.openai.com/v1`. It must use `https://` and a public address, or be one that the operator of the installation allows.',
  }),
  key: Type.String({
    ...SECRET,
    minLength: 1,
    maxLength: 500,
    pattern: '^[\\x21-\\x7e]*$',
    description: 'API key. It is never returned.',
  }),
  inputPrice: Price('Price of a million tokens that the model reads.'),
  outputPrice: Price('Price of a million tokens that the model writes.'),
  embeddingModel: Type.String({
    minLength: 1,
    maxLength: 100,
    description:
      'The model of this provider that says what texts mean, such as `text-embedding-3-small`. With it, agents also find knowledge that says the same in other words. Of several providers with one, the first by its id counts.',
  }),
  fallbackId: Id(FALLBACK),
  fallbackModel: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The model that is asked there. Without it, the same one.',
  }),
}

export const ModelProvider = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    kind: Kind,
    url: Type.String(),
    inputPrice: Type.Optional(fields.inputPrice),
    outputPrice: Type.Optional(fields.outputPrice),
    fallbackId: Type.Optional(Type.String({ description: FALLBACK })),
    fallbackModel: Type.Optional(fields.fallbackModel),
    embeddingModel: Type.Optional(fields.embeddingModel),
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
    kind: Type.Optional(Type.Enum([...PROVIDER_KINDS], { ...Kind, default: 'openai' })),
    url: fields.url,
    key: Type.Optional(fields.key),
    inputPrice: Type.Optional(fields.inputPrice),
    outputPrice: Type.Optional(fields.outputPrice),
    fallbackId: Type.Optional(fields.fallbackId),
    fallbackModel: Type.Optional(fields.fallbackModel),
    embeddingModel: Type.Optional(fields.embeddingModel),
  },
  { 'x-component': 'NewModelProvider' },
)
export type NewModelProvider = Static<typeof NewModelProvider>

export const ModelProviderChanges = Type.Partial(
  Type.Object({
    name: fields.name,
    url: fields.url,
    key: Nullable(fields.key),
    inputPrice: Nullable(fields.inputPrice),
    outputPrice: Nullable(fields.outputPrice),
    fallbackId: Nullable(fields.fallbackId),
    fallbackModel: Nullable(fields.fallbackModel),
    embeddingModel: Nullable(fields.embeddingModel),
  }),
)
export type ModelProviderChanges = Static<typeof ModelProviderChanges>

export const ModelProviderParams = Type.Object({ providerId: Id('Id of the provider.') })
