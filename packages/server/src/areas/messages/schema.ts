import { MessageRecord } from '@loquat/protocol'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { Data, Id, Nullable, Outcome, Tags } from '../../platform/http/schemas.ts'
import { TARGET_ERRORS } from './errors.ts'

/** Whole message as JSON; `data` alone is held to DATA_BYTES. */
export const MESSAGE_BYTES = 65_536
export const DATA_BYTES = 10_240
/** Receivers of one call. */
export const TARGETS = 25

// What has an error code of its own is checked by content.ts: the schema lets it through.
const Lenient = (description: string) => Type.Optional(Type.Unknown({ description }))

/** A number, or one spelled out. */
const MessageId = (description: string) =>
  Type.Union(
    [
      Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }),
      Type.String({ pattern: '^[0-9]{1,15}$' }),
    ],
    { description },
  )

export const NewMessage = Type.Object({
  receiver: Type.Optional(
    Type.String({
      ...{ 'x-lower': true, maxLength: 100, pattern: '^[A-Za-z0-9_-]*$' },
      description: 'UID or GUID of the receiver.',
    }),
  ),
  receiverType: Lenient('`user` or `group`; required with `receiver`.'),
  multipleReceivers: Type.Optional(
    Type.Object(
      {
        uids: Type.Optional(Type.Array(Id('A user.'), { maxItems: TARGETS })),
        guids: Type.Optional(Type.Array(Id('A group.'), { maxItems: TARGETS })),
      },
      { description: 'Further receivers, up to 25 in all; each gets a message of its own.' },
    ),
  ),
  category: Lenient(
    '`message`, `custom` or `interactive`. Unless given, what `data` holds: `interactiveData` or `customData` without `text` and `attachments`, or beside a type of no message.',
  ),
  type: Lenient(
    'Of a message: `text` (so unless given), `image`, `file`, `audio`, `video`. Of a custom one: any name. Of an interactive one: `card` (so unless given), `form`, `scheduler`, `customInteractive`.',
  ),
  data: Lenient(
    'The content, up to 10 KB: `text`, or `attachments` of `{url, name, mimeType, extension, size}`, or `customData`, or `interactiveData`; `metadata` and other keys are kept.',
  ),
  muid: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "The caller's own id: a second send with it finds the first message.",
    }),
  ),
  parentMessageId: Type.Optional(
    MessageId(
      'Makes it a reply in the thread of this message, whose receiver is the default then.',
    ),
  ),
  quotedMessageId: Type.Optional(MessageId('A message of the same conversation to show with it.')),
  tags: Type.Optional(Tags('Labels, up to 25.')),
  updateConversation: Type.Optional(
    Type.Boolean({
      description:
        'Of a custom message: whether it becomes the last one of the conversation and counts as unread. So unless given.',
    }),
  ),
})
export type NewMessage = Static<typeof NewMessage>

const Sent = Type.Object(
  {
    ...Outcome([...TARGET_ERRORS, 'ERR_BAD_REQUEST']).properties,
    data: Type.Optional(MessageRecord),
  },
  { additionalProperties: false },
)
export const SentToMany = Type.Object(
  { uids: Type.Record(Type.String(), Sent), guids: Type.Record(Type.String(), Sent) },
  {
    additionalProperties: false,
    description: 'With `multipleReceivers`: what came of each receiver.',
  },
)
export type SentToMany = Static<typeof SentToMany>

export const SendAnswer = Data(Type.Union([MessageRecord, SentToMany]))

export const MessageParams = Type.Object({
  id: Type.String({ pattern: '^[0-9]{1,15}$', description: 'The message.' }),
})

export const MessageRemoval = Nullable(
  Type.Object({
    permanent: Type.Optional(
      Type.Boolean({
        description:
          'Leave nothing of it: the answer names it by ids alone. Else its place is kept without content.',
      }),
    ),
  }),
)

export const MessageEdit = Type.Object({
  data: Lenient(
    'What changes of the content: given keys replace those before, null removes one, `attachments` stay; of media only `text` and `metadata` change.',
  ),
  tags: Type.Optional(Tags('Labels, up to 25; they replace those before.')),
})
export type MessageEdit = Static<typeof MessageEdit>

export const Interactions = Type.Object({
  interactions: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Ids of elements of the message.',
  }),
})

/** Of lists that go by an id. */
export const IdCursor = (what: string, limit: number) => ({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: limit, description: 'Page size.' }),
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description:
        'What comes after the cursor, or before it. Without a cursor: the oldest, or the newest.',
    }),
  ),
  id: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,15}$', description: `Cursor: the id of ${what}.` }),
  ),
})

/** Where a list of messages goes on. */
export const Cursor = {
  ...IdCursor('a message', 10),
  sentAt: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Cursor: Unix seconds, where no `id` is given.' }),
  ),
}

export const ReplyQuery = Type.Object(Cursor)

/** Of pinned and of saved messages. */
export const MarkedQuery = Type.Object(IdCursor('a message', 100))

const Next = <T extends TProperties>(cursor: T) =>
  Type.Object(
    { affix: Type.String(), ...cursor },
    { additionalProperties: false, description: 'What to ask for to go on in the same direction.' },
  )
export const Current = Type.Object(
  { limit: Type.Integer(), count: Type.Integer() },
  { additionalProperties: false },
)

/** `{"data": […], "meta": {"current": …, "next": …}}` */
export const History = Type.Object(
  {
    data: Type.Array(MessageRecord),
    meta: Type.Object(
      {
        current: Current,
        next: Type.Optional(Next({ id: Type.String(), sentAt: Type.Optional(Type.Integer()) })),
        cursor: Type.Optional(
          Type.Object(
            { affix: Type.String(), id: Type.String() },
            {
              additionalProperties: false,
              description:
                'Of the messages with a user: where the page ends, for what comes later too.',
            },
          ),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

export const ReceiptQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Page size.' }),
  id: Type.Optional(Id('Cursor: the receivers after this one.')),
})

/** A page of a list that goes by an id. */
export const IdPage = <T extends TSchema>(record: T) =>
  Type.Object(
    {
      data: Type.Array(record),
      meta: Type.Object(
        { current: Current, next: Type.Optional(Next({ id: Type.String() })) },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  )
