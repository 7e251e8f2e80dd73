import { GroupRecord, MessageRecord, UserRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Id, Nullable, PageQuery, Tags } from '../../platform/http/schemas.ts'

/** One user's view of a conversation. */
export const ConversationRecord = Type.Object(
  {
    uid: Type.Optional(
      Type.String({
        description: 'UID of the user whose view this is. Only present without `onBehalfOf`.',
      }),
    ),
    conversationId: Type.String({ description: '`group_<guid>` or `<uid>_user_<uid>`.' }),
    conversationType: Type.Enum(['user', 'group']),
    unreadMessageCount: Type.String({
      pattern: '^\\d+$',
      // The SDK returns a number.
      'x-count': true,
      description: 'Number of unread messages, as a string.',
    }),
    unreadMentionsCount: Type.Integer({
      description: 'Number of unread messages that mention the user.',
    }),
    createdAt: Type.Integer({ description: 'Unix seconds.' }),
    updatedAt: Type.Integer({ description: 'Unix seconds.' }),
    lastMessage: Type.Optional(MessageRecord),
    lastReadMessageId: Type.Optional(Type.String()),
    tags: Type.Optional(
      Type.Array(Type.String(), { description: "The user's own tags for this conversation." }),
    ),
    pinnedBy: Type.Optional(
      Type.String({ description: 'UID of the user, or `app_system` if the app pinned it.' }),
    ),
    pinnedAt: Type.Optional(Type.Integer({ description: 'Unix seconds.' })),
    conversationWith: Type.Union([UserRecord, GroupRecord]),
  },
  { additionalProperties: false, 'x-component': 'Conversation' },
)
export type ConversationRecord = Static<typeof ConversationRecord>

export const ConversationParams = Type.Object({
  conversationId: Type.String({
    maxLength: 300,
    'x-lower': true,
    description: 'Id of the conversation.',
  }),
})

const Pin = Type.Union([
  Type.Object({ uid: Id("Pins every user's conversation with this user.") }),
  Type.Object({ guid: Id('Pins the conversation of this group.') }),
])
export type Pin = Static<typeof Pin>

export const Pins = Type.Object({
  pinnedConversations: Type.Array(Pin, {
    maxItems: 100,
    description: 'Up to 5 conversations in display order. They replace the current ones.',
  }),
})

export const PinRecord = Type.Object(
  {
    conversationId: Type.String({ description: '`group_<guid>` or `user_<uid>`.' }),
    conversationType: Type.Enum(['user', 'group']),
    pinnedBy: Type.String(),
    pinnedAt: Type.Integer({ description: 'Unix seconds.' }),
  },
  { additionalProperties: false, 'x-component': 'PinnedConversation' },
)
export type PinRecord = Static<typeof PinRecord>

export const GuidParams = Type.Object({ guid: Id('GUID of the group.') })

const MessageId = Type.Union([
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  Type.String({ pattern: '^[0-9]{1,16}$' }),
])

export const Upto = Nullable(
  Type.Object({
    messageId: Type.Optional(
      Type.Union(MessageId.anyOf, {
        description: 'Id of the last message to mark. Default: the newest one.',
      }),
    ),
  }),
)
export type Upto = Static<typeof Upto>

export const UnreadAfter = Type.Object({
  messageId: Type.Union(MessageId.anyOf, {
    description: 'Id of a message. Messages after it become unread.',
  }),
})

export const ConversationTags = Type.Object({
  tags: Type.Optional(Tags("The user's own tags, up to 25. They replace the current ones.")),
})

export const Reset = Nullable(
  Type.Object({
    conversationWith: Type.Optional(Id('UID of the other user. Must be the user in the path.')),
    deleteMessagesPermanently: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to delete the messages for both users.',
      }),
    ),
  }),
)
export type Reset = Static<typeof Reset>

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const OffByDefault = (description: string) => Type.Boolean({ default: false, description })
const TagList = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { maxItems: 100, description }))

export const ConversationListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Only conversations whose user or group has this text in its name. With `unique`, the name of either user can match.',
    }),
  ),
  conversationType: Type.Optional(
    Type.Enum(['user', 'group'], { description: 'Only conversations of this type.' }),
  ),
  withTags: Flag(
    "Include `tags` in the records: the user's tags for the conversation, and the tags of groups.",
  ),
  tags: TagList(
    'Only conversations of groups with any of these tags. With `userTags`, either match is enough.',
  ),
  withUserAndGroupTags: Flag('Include the `tags` of users and groups in `conversationWith`.'),
  includeBlockedUsers: OffByDefault('Include conversations with blocked users.'),
  withBlockedInfo: OffByDefault('Include who blocks whom, and since when, in each user.'),
  userTags: TagList(
    'Only conversations with users who have any of these tags. With `groupTags` or `tags`, either match is enough.',
  ),
  groupTags: TagList(
    'Only conversations of groups with any of these tags. With `userTags`, either match is enough.',
  ),
  conversationTags: TagList("Only conversations that have any of the user's own tags listed here."),
  unread: Flag('Only conversations with unread messages.'),
  hideAgentic: Flag(
    'Leave out conversations with users whose role is `@agentic`. Without `onBehalfOf`, the role of either user counts.',
  ),
  onlyAgentic: Flag(
    'Only conversations with users whose role is `@agentic`. Without `onBehalfOf`, the role of either user counts.',
  ),
  useCursoredIndex: Type.Integer({
    enum: [0, 1],
    default: 1,
    description:
      '1: a page continues where the previous page ended. 0: a page is counted from the start of the list.',
  }),
  unique: Type.Optional(
    Type.Integer({
      enum: [0, 1],
      description:
        'Return each conversation once, as the view of the smallest UID that has one. Only for the app itself, without `onBehalfOf`.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'Pass `meta.cursor.next` of the previous page.',
    }),
  ),
})
export type ConversationListQuery = Static<typeof ConversationListQuery>
