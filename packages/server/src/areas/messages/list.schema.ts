import { type Static, type TProperties, Type } from 'typebox'
import { Data, Id, Tags, Timestamp } from '../../platform/http/schemas.ts'
import { Cursor, History } from './schema.ts'

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))

const Words = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 25, description }),
  )

const Ids = (description: string) =>
  Type.Optional(Type.Array(Id('A user.'), { minItems: 1, maxItems: 25, description }))

const Times = (field: string, what: string) => ({
  [`${field}[from]`]: Type.Optional(Timestamp(`${what} in this second or later.`)),
  [`${field}[to]`]: Type.Optional(Timestamp(`${what} in this second or before.`)),
})

const CATEGORIES = ['message', 'action', 'custom', 'call', 'interactive'] as const
const ATTACHMENTS = ['image', 'video', 'audio', 'file'] as const

/** What all lists of messages can be asked for. */
const filters = {
  searchKey: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Text anywhere in the message or its caption, in names and types of its files or in names of users as it mentioned them, whatever its case and accents.',
    }),
  ),
  category: Type.Optional(Type.Enum([...CATEGORIES], { description: 'Only of this category.' })),
  categories: Type.Optional(
    Type.Array(Type.Enum([...CATEGORIES]), { description: 'Only of these categories.' }),
  ),
  type: Type.Optional(Type.String({ maxLength: 100, description: 'Only of this type.' })),
  types: Words('Only of these types.'),
  sender: Type.Optional(Id('Only of this author.')),
  senders: Ids('Only of these authors.'),
  hasAttachments: Flag('Only with attachments.'),
  attachmentTypes: Type.Optional(
    Type.Array(Type.Enum([...ATTACHMENTS]), {
      description: 'Only with an attachment of one of these kinds.',
    }),
  ),
  hasLinks: Flag('Only with a link in the text.'),
  hasMentions: Flag('Only with mentions.'),
  mentionedUids: Ids('Only those that mention one of these users.'),
  hasReactions: Flag('Only with reactions.'),
  hideMessagesFromBlockedUsers: Flag('Without authors whom the acting user blocks.'),
  hideDeleted: Flag('Without deleted ones.'),
  onlyDeleted: Flag('Only deleted ones.'),
  hideReplies: Flag('Without replies in threads.'),
  tags: Type.Optional(Tags('Only with one of these tags.')),
  unread: Flag('Only what the acting user has not read.'),
  fromTimestamp: Type.Optional(Timestamp('Sent in this second or later.')),
  toTimestamp: Type.Optional(
    Timestamp('Sent in this second or before; counts only beside `fromTimestamp`.'),
  ),
  ...(Times('sentAt', 'Sent') as TimeFields<'sentAt'>),
  ...(Times('updatedAt', 'Changed after it was sent,') as TimeFields<'updatedAt'>),
  ...(Times('editedAt', 'Edited') as TimeFields<'editedAt'>),
} satisfies TProperties

type TimeFields<F extends string> = Record<
  `${F}[from]` | `${F}[to]`,
  ReturnType<typeof Type.Optional<ReturnType<typeof Timestamp>>>
>

const shown = {
  withTags: Flag('Show tags.'),
  hideQuotedMessages: Flag('Leave out the messages that are quoted.'),
  mentionsWithBlockedInfo: Flag('Show blocks between mentioned users and the acting one.'),
  mentionswithTagInfo: Flag('Show tags of mentioned users.'),
}

const counts = {
  count: Flag('How many messages are unread instead, by conversation.'),
}

/** Of conversations with one user or group. */
const own = {
  undelivered: Flag('Only what the acting user has not received.'),
  myMentionsOnly: Flag('Only what mentions the acting user.'),
}

export const MessageListQuery = Type.Object({
  ...filters,
  ...counts,
  ...shown,
  ...Cursor,
  receiverType: Type.Optional(
    Type.Enum(['user', 'group'], { description: 'Only in conversations of this kind.' }),
  ),
  conversationId: Type.Optional(
    Type.String({ maxLength: 300, 'x-lower': true, description: 'Only in this conversation.' }),
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
    description: 'Page size without `onBehalfOf`.',
  }),
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1,
      description: 'The first only; go on by `affix` and `id` of `meta.cursor`.',
    }),
  ),
})
export type UserHistoryQuery = Static<typeof UserHistoryQuery>

/** What every list may be asked for; each leaves out some. */
export type MessageFilters = Partial<Omit<MessageListQuery & HistoryQuery, 'limit'>> & {
  limit: number
}

const UnreadCount = Type.Object(
  {
    entityType: Type.Enum(['user', 'group']),
    entityId: Type.String({ description: 'The other user, or the group.' }),
    count: Type.Integer({ description: 'How many messages are unread.' }),
  },
  { additionalProperties: false },
)

/** Messages, or with `count` how many are unread in each conversation that has some. */
export const MessagesOrCounts = Type.Union([History, Data(Type.Array(UnreadCount))])
