/**
 * New messages as OpenAPI and the SDK describe them: one schema for each kind. The server checks `NewMessage` and
 * content.ts instead, because each error has its own code.
 */
import {
  ByName,
  type Content,
  CustomType,
  customContent,
  type InteractiveType,
  interactiveContent,
  MEDIA_TYPES,
  mediaContent,
  NewAttachment,
  textContent,
} from '@loquat/protocol'
import { type TProperties, type TSchema, Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'
import { DATA_BYTES, DATA_CHANGES, MessageEdit, NewMessage } from './schema.ts'

const { category: _category, type: _type, data: _data, ...fields } = NewMessage.properties
const { updateConversation, ...common } = {
  ...fields,
  receiverType: Type.Optional(
    Type.Enum(['user', 'group'], { description: 'Required with `receiver`.' }),
  ),
}

const Category = (name: string) =>
  Type.Optional(
    Type.Literal(name, { description: 'Inferred from `data` and `type` when omitted.' }),
  )

const New = (name: string, kind: TProperties, { main, more }: Content) =>
  Type.Object(
    {
      ...common,
      ...kind,
      data: Type.Object(
        { ...main, ...more },
        {
          additionalProperties: true,
          'x-maxBytes': DATA_BYTES,
          description: 'The content, up to 10 KB as JSON. Fields of your own are stored too.',
        },
      ),
    },
    { 'x-component': name },
  )

const Interactive = (name: string, type: InteractiveType) => {
  const isDefault = type === 'card'
  const kind = {
    category: Category('interactive'),
    type: isDefault ? Type.Optional(Type.Literal(type)) : Type.Literal(type),
  }
  return New(name, kind, interactiveContent(type))
}

const AnyOf = (name: string, kinds: TSchema[], description: string) =>
  Type.Union(kinds, { 'x-component': name, description })

const AnyNewMessage = AnyOf(
  'NewMessage',
  [
    New(
      'NewTextMessage',
      { category: Category('message'), type: Type.Optional(Type.Literal('text')) },
      textContent,
    ),
    New(
      'NewMediaMessage',
      { category: Category('message'), type: Type.Enum([...MEDIA_TYPES]) },
      mediaContent(NewAttachment),
    ),
    New(
      'NewCustomMessage',
      { category: Category('custom'), type: CustomType, updateConversation },
      customContent,
    ),
    AnyOf(
      'NewInteractiveMessage',
      [
        Interactive('NewFormMessage', 'form'),
        Interactive('NewCardMessage', 'card'),
        Interactive('NewSchedulerMessage', 'scheduler'),
        Interactive('NewCustomInteractiveMessage', 'customInteractive'),
      ],
      'An interactive message.',
    ),
  ],
  'A new message: text, media, custom or interactive.',
)

const MessageChanges = Type.Object({
  ...MessageEdit.properties,
  data: Type.Optional(
    Type.Object(
      {
        text: Type.Optional(Nullable(Type.String())),
        attachments: Type.Optional(Type.Array(NewAttachment)),
        customData: Type.Optional(ByName(Type.Unknown())),
        interactiveData: Type.Optional(ByName(Type.Unknown())),
        metadata: Type.Optional(Nullable(ByName(Type.Unknown()))),
      },
      { additionalProperties: true, description: DATA_CHANGES },
    ),
  ),
})

/** Schemas of requests that OpenAPI describes in more detail than the server's validation, by name. */
export const documentedRequests: Record<string, TSchema> = {
  NewMessage: AnyNewMessage,
  MessageChanges,
}
