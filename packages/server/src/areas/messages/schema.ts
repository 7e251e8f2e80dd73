import { MessageRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { IdCursor } from '../../platform/http/id-page.ts'
import { Data, Id, Nullable, Outcome, Tags } from '../../platform/http/schemas.ts'
import { TARGET_ERRORS } from './errors.ts'

/** The whole message as JSON; DATA_BYTES limits `data` alone. */
export const MESSAGE_BYTES = 65_536
export const DATA_BYTES = 10_240
/** The most receivers per call. */
export const TARGETS = 25

// content.ts checks fields with error codes of their own, so the schema accepts anything there.
const Lenient = (description: string) => Type.Optional(Type.Unknown({ description }))

/** A number, or a number as a string. */
const MessageId = (description: string) =>
  Type.Union(
    [
      Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      Type.String({ pattern: '^[0-9]{1,16}$' }),
    ],
    { description },
  )

export const NewMessage = Type.Object(
  {
    receiver: Type.Optional(
      Type.String({
        ...{ 'x-lower': true, maxLength: 100, pattern: '^[A-Za-z0-9_-]*$' },
        description: 'UID or GUID of the receiver.',
      }),
    ),
    receiverType: Lenient('`user` or `group`. Required with `receiver`.'),
    multipleReceivers: Type.Optional(
      Type.Object(
        {
          uids: Type.Optional(Type.Array(Id('UID of a user.'), { maxItems: TARGETS })),
          guids: Type.Optional(Type.Array(Id('GUID of a group.'), { maxItems: TARGETS })),
        },
        {
          'x-component': 'MultipleReceivers',
          description: 'Further receivers, up to 25 in total. Each receives a message of its own.',
        },
      ),
    ),
    category: Lenient(
      '`message`, `custom` or `interactive`. Inferred from `data` and `type` when omitted.',
    ),
    type: Lenient(
      'For the category `message`: `text` (default), `image`, `file`, `audio` or `video`. For `custom`: any name. For `interactive`: `card` (default), `form`, `scheduler` or `customInteractive`.',
    ),
    data: Lenient(
      'The content, up to 10 KB: `text`, `attachments` (a list of `{url, name, mimeType, extension, size}`), `customData` or `interactiveData`. `metadata` and other fields are stored as they are.',
    ),
    muid: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'Message id of your choice. Sending again with the same id returns the first message.',
      }),
    ),
    parentMessageId: Type.Optional(
      MessageId(
        "Sends the message as a reply in this thread. The receiver defaults to the parent's receiver.",
      ),
    ),
    quotedMessageId: Type.Optional(MessageId('Id of a message of the same conversation to quote.')),
    tags: Type.Optional(Tags('Up to 25 tags.')),
    updateConversation: Type.Optional(
      Type.Boolean({
        description:
          "For custom messages: whether the message becomes the conversation's last message and counts as unread. Default: true.",
      }),
    ),
    skipModeration: Type.Optional(
      Type.Boolean({
        description:
          'Whether the message is sent without a check by the rules of moderation. Only for messages that the app itself sends, without `onBehalfOf`.',
      }),
    ),
  },
  { 'x-component': 'NewMessage' },
)
export type NewMessage = Static<typeof NewMessage>

const Sent = Type.Object(
  {
    ...Outcome([...TARGET_ERRORS, 'ERR_BAD_REQUEST', 'ERR_TOO_MANY_AT_ONCE', 'ERR_MISSION_FAILED'])
      .properties,
    data: Type.Optional(MessageRecord),
  },
  { additionalProperties: false, 'x-component': 'SendOutcome' },
)
export const SentToMany = Type.Object(
  { uids: Type.Record(Type.String(), Sent), guids: Type.Record(Type.String(), Sent) },
  {
    additionalProperties: false,
    'x-component': 'SentToMany',
    // The SDK has a method of its own for requests with this field.
    'x-with': 'multipleReceivers',
    description: 'With `multipleReceivers`: the result for each receiver.',
  },
)
export type SentToMany = Static<typeof SentToMany>

export const SendAnswer = Data(Type.Union([MessageRecord, SentToMany]))

export const MessageParams = Type.Object({
  id: Type.String({ pattern: '^[0-9]{1,16}$', description: 'Id of the message.' }),
})

export const MessageRemoval = Nullable(
  Type.Object({
    permanent: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether to delete the message permanently, so that the response only contains its ids. Otherwise the message stays in the conversation without its content.',
      }),
    ),
  }),
)

export const DATA_CHANGES =
  'Changes to the content. A field replaces its current value, and null removes it. For media messages only `attachments`, `text` and `metadata` can be changed.'

export const MessageEdit = Type.Object(
  {
    data: Lenient(DATA_CHANGES),
    tags: Type.Optional(Tags('Up to 25 tags. They replace the current ones.')),
  },
  { 'x-component': 'MessageChanges' },
)
export type MessageEdit = Static<typeof MessageEdit>

export const Interactions = Type.Object({
  interactions: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Ids of the elements.',
  }),
})

/** For pinned and saved messages. */
export const MarkedQuery = Type.Object(IdCursor('a message', 100))
