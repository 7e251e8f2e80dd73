import type { LoquatError } from '../error.ts'
import type { Conversation, Message } from '../operations.gen.ts'
import type { ConnectionState } from './connection.ts'

/** The counterpart of a conversation. */
export interface Target {
  type: 'user' | 'group'
  /** UID or GUID. */
  id: string
}

/** Ids are not case-sensitive. The server uses lower case. */
export const inLowerCase = ({ type, id }: Target): Target => ({ type, id: id.toLowerCase() })

/** A message. While it is being sent, its id is only temporary. */
export type ChatMessage = Message & {
  /** `sending`: waiting for the server. `failed`: the server rejected the message or didn't respond. */
  pending?: 'sending' | 'failed'
  /** Why sending failed. */
  error?: LoquatError
  /** How much of its file is uploaded, 0 to 1. Its attachment has a local URL meanwhile. */
  uploaded?: number
}

/** An open conversation or thread with its messages, oldest first. */
export interface Room {
  target: Target
  /** The parent message, if this is a thread. */
  parentId?: string
  messages: readonly ChatMessage[]
  /** Whether there are older messages to load. */
  more: boolean
  loading: boolean
}

/** The state of a chat. Every change creates a new object, but keeps the objects inside that did not change. */
export interface ChatState {
  connection: ConnectionState
  /** If `connection` is `refused`: the WebSocket close code. */
  closeCode: number | undefined
  /** The user's conversations, newest first. */
  conversations: readonly Conversation[]
  /** Whether the conversations have been fetched at least once. */
  loaded: boolean
  /** Whether there are older conversations to load. */
  more: boolean
  /** Open conversations and threads. */
  rooms: Readonly<Record<string, Room>>
  /** The UIDs of users who are typing, by conversation. */
  typing: Readonly<Record<string, readonly string[]>>
  /** The presence of users, by UID, as far as it is known. */
  presence: Readonly<Record<string, 'online' | 'offline'>>
}

export const initialState: ChatState = {
  connection: 'stopped',
  closeCode: undefined,
  conversations: [],
  loaded: false,
  more: false,
  rooms: {},
  typing: {},
  presence: {},
}

/** The order of the server: by time in whole seconds, then by counterpart. */
const inOrder = (one: Conversation, other: Conversation) =>
  other.updatedAt - one.updatedAt ||
  compare(withId(one), withId(other)) ||
  compare(other.conversationType, one.conversationType)

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

export const withId = ({ conversationWith: other }: Conversation) =>
  'guid' in other ? other.guid : other.uid

/** The counterpart of a conversation. */
export const targetOf = (conversation: Conversation): Target => ({
  type: conversation.conversationType,
  id: withId(conversation),
})

/** Replaces a conversation in the list, or removes it. */
export function withConversation(
  list: readonly Conversation[],
  id: string,
  conversation: Conversation | undefined,
): Conversation[] {
  const others = list.filter(({ conversationId }) => conversationId !== id)
  return conversation ? [...others, conversation].sort(inOrder) : others
}

const numberOf = ({ id }: ChatMessage) => Number(id)

/** Sorts messages as the server does. Messages being sent come last, in the order in which they were written. */
export function ordered(messages: ChatMessage[]): ChatMessage[] {
  const stored = messages.filter(({ pending }) => !pending)
  stored.sort((one, other) => numberOf(one) - numberOf(other))
  return [...stored, ...messages.filter(({ pending }) => pending)]
}

/** Whether `pending` is the same message while it is being sent. */
export const isOwn = ({ pending, muid }: ChatMessage, message: Message) =>
  pending !== undefined && muid !== undefined && muid === message.muid

/** Adds a sent message in place of its pending copy. Keeps an existing one, because it was fetched later and is newer. */
export function withMessage(messages: readonly ChatMessage[], message: Message): ChatMessage[] {
  const others = messages.filter((one) => !isOwn(one, message))
  if (others.some(({ id }) => id === message.id)) return others
  return ordered([...others, message])
}

/** Whether a message is older than those of the room that are loaded. A later page has it, if there are more. */
export const isBelow = (message: Message, { messages, more }: Pick<Room, 'messages' | 'more'>) => {
  const oldest = oldestOf({ messages })
  return more && oldest !== undefined && numberOf(message) < numberOf(oldest)
}

/** The oldest message of a room that is stored on the server. */
export const oldestOf = ({ messages }: Pick<Room, 'messages'>) =>
  messages.find(({ pending }) => !pending)

/** Merges fetched messages with those that arrived during the fetch and those still being sent. */
export function roomAfter(
  read: { messages: Message[]; more: boolean },
  before: Room,
  now: Room,
): Pick<Room, 'messages' | 'more'> {
  const known = new Set(before.messages.map(({ id }) => id))
  const stored = new Set(read.messages.map(({ id }) => id))
  const muids = new Set(read.messages.map(({ muid }) => muid))
  const others = now.messages.filter((message) => {
    const { id, muid, pending } = message
    return pending ? !muids.has(muid) : !known.has(id) && !stored.has(id) && !isBelow(message, read)
  })
  return { messages: ordered([...read.messages, ...others]), more: read.more }
}

/** Replaces a message with its fetched version, or removes it if that is undefined. */
export function withFetched(
  messages: readonly ChatMessage[],
  id: string,
  message: Message | undefined,
): readonly ChatMessage[] {
  if (!messages.some((one) => one.id === id)) return messages
  return messages.flatMap((one) => (one.id === id ? (message ?? []) : one))
}

/** Action messages about edits and deletions are hidden, because the message itself shows the change. */
export const isShown = ({ category, type }: Message) =>
  !(category === 'action' && type === 'message')

/** Applies a receipt of a 1:1 conversation to a message. It covers the other user's messages up to `messageId`. */
export function withReceipt(
  message: ChatMessage,
  what: 'delivered' | 'read',
  { uid, messageId, at }: { uid: string; messageId: string; at: number },
): ChatMessage {
  if (message.pending || message.sender === uid || Number(message.id) > Number(messageId)) {
    return message
  }
  const deliveredAt = message.deliveredAt ?? at
  const readAt = message.readAt ?? (what === 'read' ? at : undefined)
  if (deliveredAt === message.deliveredAt && readAt === message.readAt) return message
  return { ...message, deliveredAt, ...(readAt !== undefined && { readAt }) }
}
