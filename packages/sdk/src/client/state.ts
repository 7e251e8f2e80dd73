import type { LoquatError } from '../error.ts'
import type { Message, UserConversation } from '../operations.gen.ts'
import type { ConnectionState } from './connection.ts'

/** A user's view of a conversation. */
export type Conversation = UserConversation

/** Whom a conversation is with. */
export interface Target {
  type: 'user' | 'group'
  /** UID or GUID. */
  id: string
}

/** As the server names it: ids are the same whatever their case. */
export const lowered = ({ type, id }: Target): Target => ({ type, id: id.toLowerCase() })

/** A message, or one on its way: it has no id of the server yet. */
export interface ChatMessage extends Message {
  /** `sending`: no answer yet. `failed`: it was refused, or nobody answered for long. */
  pending?: 'sending' | 'failed'
  /** Why it failed. */
  error?: LoquatError
}

/** Messages that are shown: of a conversation, or of a thread in it. The oldest first. */
export interface Room {
  target: Target
  /** The message whose thread it is. */
  parentId?: string
  messages: readonly ChatMessage[]
  /** Whether there are older ones. */
  more: boolean
  loading: boolean
}

/** All that is known. Every change makes a new one: what did not change stays the same object. */
export interface ChatState {
  connection: ConnectionState
  /** With `refused`: the code that it was closed with. */
  closeCode: number | undefined
  /** The newest first. */
  conversations: readonly Conversation[]
  /** Whether the list was read once. */
  loaded: boolean
  /** Whether there are older ones. */
  more: boolean
  rooms: Readonly<Record<string, Room>>
  /** By conversation: who types now. */
  typing: Readonly<Record<string, readonly string[]>>
  /** By uid, as far as it was told. */
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

/** As the server orders them: by whole seconds, then by whom they are with. */
const inOrder = (one: Conversation, other: Conversation) =>
  other.updatedAt - one.updatedAt ||
  compare(withId(one), withId(other)) ||
  compare(other.conversationType, one.conversationType)

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

export const withId = ({ conversationWith: other }: Conversation) =>
  'guid' in other ? other.guid : other.uid

export const targetOf = (conversation: Conversation): Target => ({
  type: conversation.conversationType,
  id: withId(conversation),
})

/** The list with a conversation as it is now, or without it. */
export function withConversation(
  list: readonly Conversation[],
  id: string,
  conversation: Conversation | undefined,
): Conversation[] {
  const others = list.filter(({ conversationId }) => conversationId !== id)
  return conversation ? [...others, conversation].sort(inOrder) : others
}

const numberOf = ({ id }: ChatMessage) => Number(id)

/** In the order of the server; what is on its way comes last, as it was written. */
export function ordered(messages: ChatMessage[]): ChatMessage[] {
  const stored = messages.filter(({ pending }) => !pending)
  stored.sort((one, other) => numberOf(one) - numberOf(other))
  return [...stored, ...messages.filter(({ pending }) => pending)]
}

/** The same message on its way. */
export const isOwn = ({ pending, muid }: ChatMessage, message: Message) =>
  pending !== undefined && muid !== undefined && muid === message.muid

/**
 * With a message as it was sent, in place of the one that was on its way. If it is there already it
 * stays as it is: what was read since is newer.
 */
export function withMessage(messages: readonly ChatMessage[], message: Message): ChatMessage[] {
  const others = messages.filter((one) => !isOwn(one, message))
  if (others.some(({ id }) => id === message.id)) return others
  return ordered([...others, message])
}

/** The oldest message of a room that the server has. */
export const oldestOf = ({ messages }: Room) => messages.find(({ pending }) => !pending)

/** A room as it was read, with what was told meanwhile, and what is still on its way. */
export function roomAfter(
  read: { messages: Message[]; more: boolean },
  before: Room,
  now: Room,
): Pick<Room, 'messages' | 'more'> {
  const known = new Set(before.messages.map(({ id }) => id))
  const stored = new Set(read.messages.map(({ id }) => id))
  const muids = new Set(read.messages.map(({ muid }) => muid))
  const others = now.messages.filter(({ id, muid, pending }) =>
    pending ? !muids.has(muid) : !known.has(id) && !stored.has(id),
  )
  return { messages: ordered([...read.messages, ...others]), more: read.more }
}

/** With a message as it is now; undefined: it is gone. */
export function withRead(
  messages: readonly ChatMessage[],
  id: string,
  message: Message | undefined,
): readonly ChatMessage[] {
  if (!messages.some((one) => one.id === id)) return messages
  return messages.flatMap((one) => (one.id === id ? (message ?? []) : one))
}

/** What tells of edits and deletions shows in the message itself. */
export const isShown = ({ category, type }: Message) =>
  !(category === 'action' && type === 'message')

/** A mark in a conversation between two, on a message that it covers: one that the other sent, up to a place. */
export function marked(
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
