import { GroupRecord, MessageRecord, UserRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Id, Nullable, PageQuery, Tags } from '../../platform/http/schemas.ts'

/** One user's view of a conversation. */
export const ConversationRecord = Type.Object(
  {
    uid: Type.Optional(
      Type.String({ description: 'Whose view it is; without `onBehalfOf` only.' }),
    ),
    conversationId: Type.String({ description: '`group_<guid>`, or `<uid>_user_<uid>`.' }),
    conversationType: Type.Enum(['user', 'group']),
    unreadMessageCount: Type.String({ description: 'A number; `0` means that nothing is unread.' }),
    unreadMentionsCount: Type.Integer({ description: 'Unread messages that mention the owner.' }),
    createdAt: Type.Integer({ description: 'Unix seconds.' }),
    updatedAt: Type.Integer({ description: 'Unix seconds.' }),
    lastMessage: Type.Optional(MessageRecord),
    lastReadMessageId: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String(), { description: "The owner's own tags." })),
    pinnedBy: Type.Optional(
      Type.String({ description: 'The owner, or `app_system` where the app pinned it.' }),
    ),
    pinnedAt: Type.Optional(Type.Integer({ description: 'Unix seconds.' })),
    conversationWith: Type.Union([UserRecord, GroupRecord]),
  },
  { additionalProperties: false },
)
export type ConversationRecord = Static<typeof ConversationRecord>

export const ConversationParams = Type.Object({
  conversationId: Type.String({
    maxLength: 300,
    'x-lower': true,
    description: 'The conversation.',
  }),
})

const Pin = Type.Union([
  Type.Object({ uid: Id("Everyone's conversation with this user.") }),
  Type.Object({ guid: Id('The conversation of this group.') }),
])
export type Pin = Static<typeof Pin>

export const Pins = Type.Object({
  pinnedConversations: Type.Array(Pin, {
    maxItems: 100,
    description: 'In the order in which they are shown, up to 5; they replace those before.',
  }),
})

export const PinRecord = Type.Object(
  {
    conversationId: Type.String({ description: '`group_<guid>`, or `user_<uid>`.' }),
    conversationType: Type.Enum(['user', 'group']),
    pinnedBy: Type.String(),
    pinnedAt: Type.Integer({ description: 'Unix seconds.' }),
  },
  { additionalProperties: false },
)
export type PinRecord = Static<typeof PinRecord>

export const GuidParams = Type.Object({ guid: Id('The group.') })

const MessageId = Type.Union([
  Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }),
  Type.String({ pattern: '^[0-9]{1,15}$' }),
])

export const Upto = Nullable(
  Type.Object({
    messageId: Type.Optional(
      Type.Union(MessageId.anyOf, { description: 'Up to this message; all unless given.' }),
    ),
  }),
)
export type Upto = Static<typeof Upto>

export const UnreadAfter = Type.Object({
  messageId: Type.Union(MessageId.anyOf, {
    description: 'What came after this message becomes unread.',
  }),
})

export const ConversationTags = Type.Object({
  tags: Type.Optional(Tags("The owner's own labels, up to 25; they replace those before.")),
})

export const Reset = Nullable(
  Type.Object({
    conversationWith: Type.Optional(Id('The other user; must be the one of the path.')),
    deleteMessagesPermanently: Type.Optional(
      Type.Boolean({ description: 'Remove the messages for both sides.' }),
    ),
  }),
)
export type Reset = Static<typeof Reset>

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const TagList = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { maxItems: 100, description }))

export const ConversationListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({ maxLength: 200, description: 'Text in the name of the user or group.' }),
  ),
  conversationType: Type.Optional(
    Type.Enum(['user', 'group'], { description: 'Only conversations of this type.' }),
  ),
  withTags: Flag("Put `tags` into the records: the conversation's own, and those of groups."),
  tags: TagList('Only conversations of groups that have any of these tags.'),
  withUserAndGroupTags: Flag('Put the `tags` of users and groups into `conversationWith`.'),
  includeBlockedUsers: Flag('Conversations with blocked users too.'),
  withBlockedInfo: Flag('Put into each user who blocks whom, and since when.'),
  userTags: TagList('Conversations with users that have any of these tags.'),
  groupTags: TagList('Conversations of groups that have any of these tags.'),
  conversationTags: TagList("Conversations with any of these tags of the owner's own."),
  unread: Flag('Only conversations with unread messages.'),
  hideAgentic: Flag('No conversations with users of the role `@agentic`.'),
  onlyAgentic: Flag('Only conversations with users of the role `@agentic`.'),
  useCursoredIndex: Type.Integer({
    enum: [0, 1],
    default: 1,
    description: '1: page after page continues where the one before ended. 0: counts from the top.',
  }),
  unique: Type.Optional(
    Type.Integer({
      enum: [0, 1],
      description: 'Each conversation once. For the app itself, without `onBehalfOf`.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description:
        'From `meta.cursor.next` of the page before. With filters, the list of the whole app looks at some thousand users for an answer: while there is a `next`, there may be more, however few were found. A `page` that lies beyond those is refused, unless the one before was read within the last minute.',
    }),
  ),
})
export type ConversationListQuery = Static<typeof ConversationListQuery>
