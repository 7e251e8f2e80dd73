import type { ErrorDefinition } from './definition.ts'

/** Conversations, threads and saved messages. */
export const conversationErrors = {
  ERR_SAVED_MESSAGES_LIMIT_EXCEEDED: {
    status: 400,
    retry: false,
    message: 'A user can save at most {limit} messages. Remove one first.',
    when: 'The user has already saved the maximum number of messages.',
  },
  ERR_WRONG_MESSAGE_THREAD: {
    status: 400,
    retry: false,
    message: 'A reply must be sent to the conversation of its parent message.',
    when: 'The parent message belongs to another conversation.',
  },
  ERR_WRONG_MESSAGE_THREAD_CATEGORY: {
    status: 400,
    retry: false,
    message: "You can't reply to an action message.",
    when: 'The parent message is an action message.',
  },
  ERR_MESSAGE_THREAD_NESTING: {
    status: 400,
    retry: false,
    message: "You can't reply to a reply. Reply to the thread's first message instead.",
    when: 'The parent message is itself a reply.',
  },
  ERR_CONVERSATION_NOT_ACCESSIBLE: {
    status: 403,
    retry: false,
    message: 'You have no such conversation.',
    when: "The acting user isn't part of the conversation, or it has no messages yet.",
  },
  ERR_CONVERSATION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no conversation with id "{id}".',
    when: 'No conversation has this id. Only deprecated operations return this code.',
  },
  ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED: {
    status: 400,
    retry: false,
    message: 'You can pin at most 5 conversations. Unpin one first.',
    when: 'The user has already pinned 5 other conversations.',
  },
  ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED: {
    status: 400,
    retry: false,
    message: 'An app can pin at most 5 conversations.',
    when: 'The request pins more than 5 conversations for everyone.',
  },
  ERR_SYSTEM_PINNED_CONVERSATION: {
    status: 403,
    retry: false,
    message: "The app has pinned this conversation for everyone, so you can't pin or unpin it.",
    when: 'A user tries to pin or unpin a conversation that the app has pinned.',
  },
  ERR_BLOCKED_RECEIVER: {
    status: 403,
    retry: false,
    message: 'You have blocked the user "{uid}". Unblock them first.',
    when: 'The acting user has blocked the receiver, or the other user of the 1:1 conversation.',
  },
  ERR_BLOCKED_SENDER: {
    status: 403,
    retry: false,
    message: 'The user "{uid}" has blocked you.',
    when: 'The receiver, or the other user of the 1:1 conversation, has blocked the acting user.',
  },
} as const satisfies Record<string, ErrorDefinition>
