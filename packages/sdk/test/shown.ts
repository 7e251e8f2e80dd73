import type { ChatState } from '../src/client/index.ts'

/** The part of a client's state that a user can see. */
export function shown({ conversations, rooms }: ChatState) {
  return {
    conversations: conversations.map((one) => ({
      id: one.conversationId,
      unread: one.unreadMessageCount,
      mentions: one.unreadMentionsCount,
      updatedAt: one.updatedAt,
      last: one.lastMessage && messageOf(one.lastMessage),
    })),
    rooms: Object.fromEntries(
      Object.entries(rooms).map(([key, { messages, more }]) => [
        key,
        { more, messages: messages.filter(({ pending }) => !pending).map(messageOf) },
      ]),
    ),
  }
}

type Shown = ChatState['rooms'][string]['messages'][number]

const messageOf = (message: Shown) => {
  const { id, sender, data, deletedAt, readAt, deliveredAt, pinnedAt, replyCount } = message
  const { lastReply, quotedMessage } = message
  return {
    ...{ id, sender, text: data.text, deleted: deletedAt !== undefined },
    ...{ read: readAt !== undefined, delivered: deliveredAt !== undefined },
    ...{ pinned: pinnedAt !== undefined, replyCount, reactions: data.reactions },
    ...{ lastReply: lastReply?.data.text, quoted: quotedMessage?.data?.text },
  }
}
