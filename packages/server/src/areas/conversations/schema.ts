import { GroupRecord, MessageRecord, UserRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Id, Nullable } from '../../platform/http/schemas.ts'

/** One user's view of a conversation. */
export const ConversationRecord = Type.Object(
  {
    conversationId: Type.String({ description: '`group_<guid>`, or `<uid>_user_<uid>`.' }),
    conversationType: Type.Enum(['user', 'group']),
    unreadMessageCount: Type.String({ description: 'A number; `0` means that nothing is unread.' }),
    createdAt: Type.Integer({ description: 'Unix seconds.' }),
    updatedAt: Type.Integer({ description: 'Unix seconds.' }),
    lastMessage: Type.Optional(MessageRecord),
    lastReadMessageId: Type.Optional(Type.String()),
    conversationWith: Type.Union([UserRecord, GroupRecord]),
  },
  { additionalProperties: false },
)
export type ConversationRecord = Static<typeof ConversationRecord>

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

export const Reset = Nullable(
  Type.Object({
    conversationWith: Type.Optional(Id('The other user; must be the one of the path.')),
    deleteMessagesPermanently: Type.Optional(
      Type.Boolean({ description: 'Remove the messages for both sides.' }),
    ),
  }),
)
export type Reset = Static<typeof Reset>
