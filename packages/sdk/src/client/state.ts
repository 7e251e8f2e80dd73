import type { RunningAnswer } from '../agents/answers.ts'
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

/**
 * An open conversation or thread: a window of its messages, oldest first and without gaps. It starts with the newest ones;
 * `jumpTo` moves it.
 */
export interface Room {
  target: Target
  /** The parent message, if this is a thread. */
  parentId?: string
  messages: readonly ChatMessage[]
  /** Whether there are older messages to load. */
  more: boolean
  /** Whether there are newer messages to load. Until they are loaded, new messages don't appear in the room. */
  newer: boolean
  loading: boolean
  /** Whether messages have been fetched at least once. Until then, `messages` has only those that were sent since. */
  loaded: boolean
  /** Where messages were last loaded, if not at the end. A large room that is refetched keeps the messages around it. */
  anchor?: string | undefined
}

/** A part of a room. */
export type Part = Pick<Room, 'messages' | 'more' | 'newer'>

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
  /** Answers that agents are writing, by the id of their run, with the option `Answers`. They go when their message arrives. */
  answers: Readonly<Record<string, RunningAnswer>>
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
  answers: {},
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
function ordered(messages: ChatMessage[]): ChatMessage[] {
  const stored = messages.filter(({ pending }) => !pending)
  stored.sort((one, other) => numberOf(one) - numberOf(other))
  return [...stored, ...messages.filter(({ pending }) => pending)]
}

/** The index of the first message that is pending or whose id is at least this. A search, because rooms can be large. */
function placeOf(messages: readonly ChatMessage[], id: number): number {
  let [low, high] = [0, messages.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const one = messages[middle] as ChatMessage
    if (one.pending || numberOf(one) >= id) high = middle
    else low = middle + 1
  }
  return low
}

/** Where the pending messages begin. */
const endOf = (messages: readonly ChatMessage[]) => placeOf(messages, Number.POSITIVE_INFINITY)

/** Whether a room shows a message. */
export const hasMessage = ({ messages }: Room, id: string) =>
  messages[placeOf(messages, Number(id))]?.id === id

/** Whether `pending` is the same message while it is being sent. */
export const isOwn = ({ pending, muid }: ChatMessage, message: Message) =>
  pending !== undefined && muid !== undefined && muid === message.muid

/** Adds a sent message in place of its pending copy. Keeps an existing one, because it was fetched later and is newer. */
export function withMessage(
  messages: readonly ChatMessage[],
  message: Message,
): readonly ChatMessage[] {
  const at = placeOf(messages, Number(message.id))
  const isThere = messages[at]?.id === message.id
  const end = endOf(messages)
  const pending = messages.slice(end)
  const others = pending.filter((one) => !isOwn(one, message))
  if (isThere && others.length === pending.length) return messages
  const changed = messages.slice(0, end).concat(others)
  if (!isThere) changed.splice(at, 0, message)
  return changed
}

/** Whether a message lies before or after those of the room that are loaded. A later page has it, if there are more. */
export function isOutside(message: Message, { messages, more, newer }: Part): boolean {
  const id = numberOf(message)
  const [oldest, newest] = [oldestOf({ messages }), newestOf({ messages })]
  if (newer && (newest === undefined || id > numberOf(newest))) return true
  return more && oldest !== undefined && id < numberOf(oldest)
}

/** The oldest message of a room that is stored on the server. */
export const oldestOf = ({ messages: [first] }: Pick<Room, 'messages'>) =>
  first?.pending ? undefined : first

/** The newest message of a room that is stored on the server. */
export const newestOf = ({ messages }: Pick<Room, 'messages'>) => messages[endOf(messages) - 1]

/** Adds the messages of a room that are still being sent. */
export function withPending(read: Part, { messages }: Room): Part {
  const muids = new Set(read.messages.map(({ muid }) => muid))
  const others = messages.slice(endOf(messages)).filter(({ muid }) => !muids.has(muid))
  return { ...read, messages: [...read.messages, ...others] }
}

/** Merges fetched messages with those that arrived during the fetch and those still being sent. */
export function roomAfter(read: Part, before: Room, now: Room): Part {
  const known = new Set(before.messages.map(({ id }) => id))
  const stored = new Set(read.messages.map(({ id }) => id))
  const arrived = now.messages.filter((message) => {
    const { id, pending } = message
    return !pending && !known.has(id) && !stored.has(id) && !isOutside(message, read)
  })
  const messages = arrived.length > 0 ? ordered([...read.messages, ...arrived]) : read.messages
  // The room didn't show messages that arrived after the fetch. The next page has them.
  const newer = read.newer || (now.newer && messages.length > 0)
  return withPending({ messages, more: read.more, newer }, now)
}

/** Replaces a message with its fetched version, or removes it if that is undefined. */
export function withFetched(
  messages: readonly ChatMessage[],
  id: string,
  message: Message | undefined,
): readonly ChatMessage[] {
  const at = placeOf(messages, Number(id))
  if (messages[at]?.id !== id) return messages
  const changed = [...messages]
  changed.splice(at, 1, ...(message ? [message] : []))
  return changed
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
