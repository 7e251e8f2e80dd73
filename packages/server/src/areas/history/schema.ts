import { MessageRecord } from '@loquat/protocol'
import { type Static, type TProperties, Type } from 'typebox'
import { Current, IdCursor, Next } from '../../platform/http/id-page.ts'
import { Data, Id, Pagination, Tags, Timestamp } from '../../platform/http/schemas.ts'

/** Where a list of messages continues. */
export const Cursor = {
  ...IdCursor('a message', 10),
  sentAt: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Cursor: a time in Unix seconds. Ignored if `id` is given.',
    }),
  ),
}

/** `{"data": […], "meta": {"current": …, "next": …}}` */
const HistoryWith = <T extends TProperties>(more: T) =>
  Type.Object(
    {
      data: Type.Array(MessageRecord),
      meta: Type.Object(
        {
          ...more,
          current: Current,
          next: Type.Optional(Next({ id: Type.String(), sentAt: Type.Optional(Type.Integer()) })),
          cursor: Type.Optional(
            Type.Object(
              { affix: Type.String(), id: Type.String() },
              {
                additionalProperties: false,
                description:
                  'For 1:1 conversations: where this page ends. Present on the last page too, so that you can read later messages from there.',
              },
            ),
          ),
        },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  )

export const History = HistoryWith({})

const Flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }))

const Words = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 25, description }),
  )

const Ids = (description: string) =>
  Type.Optional(Type.Array(Id('UID of a user.'), { maxItems: 25, description }))

const Times = (field: string, what: string) => ({
  [`${field}[from]`]: Type.Optional(Timestamp(`${what} at or after this time, in Unix seconds.`)),
  [`${field}[to]`]: Type.Optional(Timestamp(`${what} at or before this time, in Unix seconds.`)),
})

const CATEGORIES = ['message', 'action', 'custom', 'call', 'interactive'] as const
const ATTACHMENTS = ['image', 'video', 'audio', 'file'] as const

/** Filters of all lists of messages. */
const filters = {
  searchKey: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Only messages that contain this text: in the text or caption, in file names and file types, or in the names of mentioned users at the time of writing. Case and accents are ignored.',
    }),
  ),
  category: Type.Optional(
    Type.Enum([...CATEGORIES], { description: 'Only messages of this category.' }),
  ),
  categories: Type.Optional(
    Type.Array(Type.Enum([...CATEGORIES]), { description: 'Only messages of these categories.' }),
  ),
  type: Type.Optional(Type.String({ maxLength: 100, description: 'Only messages of this type.' })),
  types: Words('Only messages of these types.'),
  sender: Type.Optional(Id('Only messages sent by this user.')),
  senders: Ids('Only messages sent by these users.'),
  hasAttachments: Flag('Only messages with attachments.'),
  attachmentTypes: Type.Optional(
    Type.Array(Type.Enum([...ATTACHMENTS]), {
      description: 'Only messages with an attachment of one of these kinds.',
    }),
  ),
  hasLinks: Flag('Only messages with a link in their text.'),
  hasMentions: Flag('Only messages with mentions.'),
  mentionedUids: Ids('Only messages that mention one of these users.'),
  hasReactions: Flag('Only messages with reactions.'),
  hideMessagesFromBlockedUsers: Flag('Leave out messages from users whom the acting user blocks.'),
  hideDeleted: Flag('Leave out deleted messages.'),
  onlyDeleted: Flag('Only deleted messages.'),
  hideReplies: Flag('Leave out replies in threads.'),
  tags: Type.Optional(Tags('Only messages with any of these tags.')),
  unread: Flag('Only messages that the acting user has not read.'),
  fromTimestamp: Type.Optional(
    Timestamp('Only messages sent at or after this time, in Unix seconds.'),
  ),
  toTimestamp: Type.Optional(
    Timestamp(
      'Only messages sent at or before this time, in Unix seconds. Only used together with `fromTimestamp`.',
    ),
  ),
  ...(Times('sentAt', 'Only messages sent') as TimeFields<'sentAt'>),
  ...(Times(
    'updatedAt',
    'Only messages changed after they were sent, and',
  ) as TimeFields<'updatedAt'>),
  ...(Times('editedAt', 'Only messages edited') as TimeFields<'editedAt'>),
} satisfies TProperties

type TimeFields<F extends string> = Record<
  `${F}[from]` | `${F}[to]`,
  ReturnType<typeof Type.Optional<ReturnType<typeof Timestamp>>>
>

const shown = {
  withTags: Flag('Include `tags` in the messages.'),
  hideQuotedMessages: Flag('Leave out the quoted messages in the records.'),
  mentionsWithBlockedInfo: Flag('Include blocks between the acting user and mentioned users.'),
  mentionswithTagInfo: Flag('Include the tags of mentioned users.'),
}

const counts = {
  count: Flag('Return the number of unread messages per conversation instead of the messages.'),
}

/** Filters of lists of one conversation. */
const own = {
  undelivered: Flag('Only messages that the acting user has not received.'),
  myMentionsOnly: Flag('Only messages that mention the acting user.'),
}

export const MessageListQuery = Type.Object({
  ...filters,
  ...counts,
  ...shown,
  ...Cursor,
  receiverType: Type.Optional(
    Type.Enum(['user', 'group'], {
      description:
        'Only messages in 1:1 conversations (`user`) or in group conversations (`group`).',
    }),
  ),
  conversationId: Type.Optional(
    Type.String({
      maxLength: 300,
      'x-lower': true,
      description: 'Only messages in this conversation.',
    }),
  ),
})
export type MessageListQuery = Static<typeof MessageListQuery>

export const HistoryQuery = Type.Object({ ...filters, ...counts, ...shown, ...own, ...Cursor })
export type HistoryQuery = Static<typeof HistoryQuery>

export const UserHistoryQuery = Type.Object({
  ...HistoryQuery.properties,
  perPage: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Maximum number of messages per page, without an acting user.',
  }),
  page: Type.Integer({
    minimum: 1,
    default: 1,
    description:
      'Page number, starting at 1, without an acting user. Ignored with `id`. With an acting user, continue with `affix` and `id` of `meta.cursor`.',
  }),
})
export type UserHistoryQuery = Static<typeof UserHistoryQuery>

/** Filters that lists have in common; each list omits some. */
export type MessageFilters = Partial<Omit<MessageListQuery & HistoryQuery, 'limit'>> & {
  limit: number
}

const UnreadCount = Type.Object(
  {
    entityType: Type.Enum(['user', 'group']),
    entityId: Type.String({ description: 'UID of the other user, or GUID of the group.' }),
    count: Type.Integer({ description: 'Number of unread messages.' }),
  },
  { additionalProperties: false, 'x-component': 'UnreadCount' },
)

/** Messages, or with `count` the unread counts of all conversations that have any. */
export const MessagesOrCounts = Type.Union([History, Data(Type.Array(UnreadCount))])

export const UserMessagesOrCounts = Type.Union([
  HistoryWith({ pagination: Type.Optional(Pagination) }),
  Data(Type.Array(UnreadCount)),
])

export const ReceiptQuery = Type.Object({
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Maximum number of records per page.',
  }),
  id: Type.Optional(Id('Cursor: only receivers after this uid.')),
})
