import type { Message } from '../operations.gen.ts'
import type { Frame } from './connection.ts'
import type { Reads } from './reads.ts'
import {
  type ChatMessage,
  type ChatState,
  type Conversation,
  initialState,
  isShown,
  marked,
  ordered,
  type Room,
  type Target,
  targetOf,
  withConversation,
  withMessage,
} from './state.ts'

/** Events of about the same time are answered by one reading. */
const TOGETHER_MS = 100
/** More conversations than this are read as a list. */
const ONE_BY_ONE = 3
const RETRY_MS = 3_000

/**
 * Conversations and messages, kept as the server has them. A new message is added as it is told; what
 * else happened names a conversation or a message that is then read anew. Whatever is told of something
 * while it is being read is read again, so in the end nothing is older than the last event.
 */
export class Store {
  state: ChatState = initialState
  readonly #me: string
  readonly #reads: Reads
  readonly #listeners = new Set<() => void>()
  readonly #staleTalks = new Map<string, Target>()
  readonly #staleMessages = new Set<string>()
  /** What is being read now. */
  readonly #reading = new Set<string>()
  #staleList = false
  #staleRooms = new Set<string>()
  #pages = 1
  #next: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #flushing: Promise<void> | undefined

  constructor(me: string, reads: Reads) {
    this.#me = me
    this.#reads = reads
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  set(changes: Partial<ChatState>): void {
    this.state = { ...this.state, ...changes }
    for (const listener of this.#listeners) listener()
  }

  idOf({ type, id }: Target): string {
    return type === 'group' ? `group_${id}` : [this.#me, id].sort().join('_user_')
  }

  /** Everything that is shown is read anew. */
  reload(): void {
    this.#staleList = true
    for (const key of Object.keys(this.state.rooms)) this.#staleRooms.add(key)
    this.#plan(0)
  }

  /** Resolves once nothing is left to read. */
  async settled(): Promise<void> {
    while (this.#timer !== undefined || this.#flushing !== undefined) {
      await (this.#flushing ?? new Promise((resolve) => setTimeout(resolve, 10)))
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async loadMore(): Promise<void> {
    if (this.#next === undefined) return
    const { data, next } = await this.#reads.conversations(this.#next)
    this.#pages++
    this.#next = next
    let { conversations } = this.state
    for (const one of data) {
      conversations = withConversation(conversations, one.conversationId, one)
    }
    this.set({ conversations, more: next !== undefined })
  }

  /** Shows the messages of a conversation, or of a thread. */
  open(key: string, target: Target, parentId?: string): void {
    if (this.state.rooms[key]) return
    const thread = parentId !== undefined && { parentId }
    const room: Room = { target, ...thread, messages: [], more: false, loading: true }
    this.set({ rooms: { ...this.state.rooms, [key]: room } })
    this.#staleRooms.add(key)
    this.#plan(0)
  }

  close(key: string): void {
    const { [key]: _, ...rooms } = this.state.rooms
    this.set({ rooms })
  }

  async loadOlder(key: string): Promise<void> {
    const room = this.state.rooms[key]
    const oldest = room?.messages.find(({ pending }) => !pending)
    if (!room?.more || room.loading || !oldest) return
    this.#change(key, () => ({ loading: true }))
    try {
      const { messages, more } = await this.#reads.messages(room, oldest.id)
      this.#change(key, (now) => ({ messages: [...messages, ...now.messages], more }))
    } finally {
      this.#change(key, () => ({ loading: false }))
    }
  }

  /** A message of ours on its way, or what became of it. */
  note(key: string, message: ChatMessage): void {
    this.#change(key, ({ messages }) => {
      const others = messages.filter(({ muid, pending }) => !pending || muid !== message.muid)
      if (!message.pending) return { messages: withMessage(others, message) }
      return { messages: ordered([...others, message]) }
    })
  }

  #change(key: string, changes: (room: Room) => Partial<Room>): void {
    const room = this.state.rooms[key]
    if (!room) return
    this.set({ rooms: { ...this.state.rooms, [key]: { ...room, ...changes(room) } } })
  }

  /** Takes an event in. */
  hear({ type, body }: Frame): void {
    if (type.startsWith('message.')) this.#hearMessage(type, body)
    else if (type.startsWith('conversation.')) this.#hearMark(type, body)
    else if (type.startsWith('group.')) this.#hearGroup(type, body)
    else if (type === 'user.blocked' || type === 'user.unblocked') this.reload()
    else if (type === 'app.conversations.pinned') this.reload()
    else if (type === 'presence.changed') {
      const presence = { ...this.state.presence }
      for (const { uid, status } of body.users) presence[uid] = status
      this.set({ presence })
    }
  }

  #hearMessage(type: string, body: Frame['body']): void {
    if (type === 'message.sent') this.#add(body.message)
    else if (type === 'message.edited' || type === 'message.deleted') {
      const message: Message = body.message.data.entities.on.entity
      this.#staleMessage(message.id)
      if (message.parentId !== undefined) this.#staleMessage(message.parentId)
      this.#staleTalk(message)
    } else if (type.startsWith('message.reaction.')) this.#staleMessage(body.reaction.messageId)
    else if (body.messageId !== undefined) this.#staleMessage(body.messageId)
    else if (body.message !== undefined) this.#staleMessage(body.message.id)
  }

  #add(message: Message): void {
    const { parentId, conversationId: id } = message
    this.#show(parentId === undefined ? id : threadKey(parentId), message)
    if (parentId !== undefined) this.#staleMessage(parentId)
    const known = this.state.conversations.find(({ conversationId }) => conversationId === id)
    const mentions = (message.data.mentions ?? {}) as object
    const plain = known && parentId === undefined && !(this.#me in mentions)
    if (!plain || this.#isRead(id)) this.#staleTalk(message)
    if (!plain || Number(message.id) <= Number(known.lastMessage?.id ?? 0)) return
    const unread = Number(known.unreadMessageCount) + (message.sender === this.#me ? 0 : 1)
    const conversation: Conversation = {
      ...known,
      lastMessage: message,
      updatedAt: message.sentAt,
      unreadMessageCount: String(unread),
    }
    this.set({ conversations: withConversation(this.state.conversations, id, conversation) })
  }

  /** While a room is read for the first time, what comes is merged when that is done. */
  #show(key: string, message: Message): void {
    if (!isShown(message)) return
    this.#change(key, ({ messages }) => ({ messages: withMessage(messages, message) }))
  }

  #hearMark(type: string, body: Frame['body']): void {
    const { conversationId: id, uid } = body
    const what = type.slice('conversation.'.length)
    const other = uid !== this.#me && (what === 'delivered' || what === 'read')
    if (other) this.#markedBy(what, body)
    else if (what === 'cleared') this.#cleared(id)
    else this.#staleKnown(id)
  }

  #staleKnown(id: string): void {
    const known = this.state.conversations.find(({ conversationId }) => conversationId === id)
    if (known) this.#staleTalk({ conversationId: id, ...placeOf(known) })
    // One that is not known may be on its way.
    else this.#staleList = true
    this.#plan()
  }

  /** The other side received or read what we sent. */
  #markedBy(what: 'delivered' | 'read', body: Frame['body']): void {
    const { conversationId: id } = body
    if (body.receiverType === 'group') return
    const mark = (message: ChatMessage) => marked(message, this.#me, what, body)
    this.#change(id, ({ messages }) => ({ messages: messages.map(mark) }))
    const conversations = this.state.conversations.map((one) =>
      one.conversationId === id && one.lastMessage
        ? { ...one, lastMessage: mark(one.lastMessage) }
        : one,
    )
    this.set({ conversations })
    // An answer on its way may be older than the mark.
    if (this.state.rooms[id]?.loading) this.#staleRooms.add(id)
    if (this.#isRead(id)) {
      const receiver = body.uid
      this.#staleTalk({ conversationId: id, receiverType: 'user', receiver, sender: '' })
    }
  }

  #isRead(id: string): boolean {
    return this.#reading.has(id) || this.#reading.has(LIST)
  }

  /** Cleared messages are gone from every room; the conversation shows again with the next one. */
  #cleared(id: string): void {
    if (this.state.rooms[id]) this.#staleRooms.add(id)
    this.#staleKnown(id)
  }

  #hearGroup(type: string, { group, members = {}, message }: Frame['body']): void {
    const id = `group_${group.guid}`
    if (message) this.#show(id, message)
    // Whoever comes or goes sees all of it from then on, or nothing.
    if ((type === 'group.deleted' || this.#me in members) && this.state.rooms[id]) {
      this.#staleRooms.add(id)
    }
    this.#staleTalk({ conversationId: id, receiverType: 'group', receiver: group.guid, sender: '' })
  }

  #staleTalk(message: Pick<Message, 'conversationId' | 'receiverType' | 'receiver' | 'sender'>) {
    const { conversationId, receiverType: type, receiver, sender } = message
    const id = type === 'user' && receiver === this.#me ? sender : receiver
    this.#staleTalks.set(conversationId, { type, id })
    this.#plan()
  }

  #staleMessage(id: string): void {
    const shown = Object.values(this.state.rooms).some(
      ({ messages, loading }) => loading || messages.some((message) => message.id === id),
    )
    if (shown) this.#staleMessages.add(id)
    const talk = this.state.conversations.find(({ lastMessage }) => lastMessage?.id === id)
    if (talk) this.#staleKnown(talk.conversationId)
    else if (this.#reading.has(LIST)) this.#staleList = true
    this.#plan()
  }

  #plan(ms = TOGETHER_MS): void {
    if (this.#flushing !== undefined) return
    if (this.#timer !== undefined && ms > 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // Not in this turn: it can end at once.
      this.#flushing = Promise.resolve().then(() => this.#flush())
    }, ms)
  }

  async #flush(): Promise<void> {
    let wait = TOGETHER_MS
    const talks = new Map(this.#staleTalks)
    const messages = [...this.#staleMessages]
    const list = this.#staleList || talks.size > ONE_BY_ONE
    const rooms = [...this.#staleRooms]
    this.#staleTalks.clear()
    this.#staleMessages.clear()
    this.#staleRooms.clear()
    this.#staleList = false
    try {
      if (list) await this.#readList(talks)
      else for (const [id, target] of talks) await this.#readTalk(id, target)
      for (const key of rooms) await this.#readRoom(key)
      for (const id of messages) await this.#readMessage(id)
    } catch {
      // Nobody answers, or not as we know it: all of it stays to be read.
      wait = RETRY_MS
      this.#staleList ||= list
      for (const [id, target] of talks) this.#staleTalks.set(id, target)
      for (const key of rooms) this.#staleRooms.add(key)
      for (const id of messages) this.#staleMessages.add(id)
    }
    this.#reading.clear()
    this.#flushing = undefined
    const left = this.#staleTalks.size + this.#staleMessages.size + this.#staleRooms.size
    if (left > 0 || this.#staleList) this.#plan(wait)
  }

  /** As many pages as were shown; of the conversations named, also those that are further down, or gone. */
  async #readList(talks: Map<string, Target>): Promise<void> {
    this.#reading.add(LIST)
    const found: Conversation[] = []
    let next: string | undefined
    for (let page = 0; page < this.#pages; page++) {
      const read = await this.#reads.conversations(next)
      found.push(...read.data)
      next = read.next
      if (next === undefined) break
    }
    this.#next = next
    this.set({ conversations: found, loaded: true, more: next !== undefined })
    this.#reading.delete(LIST)
    const listed = new Set(found.map(({ conversationId }) => conversationId))
    for (const [id, target] of talks) if (!listed.has(id)) await this.#readTalk(id, target)
  }

  async #readTalk(id: string, target: Target): Promise<void> {
    this.#reading.add(id)
    const conversation = await this.#reads.conversation(target)
    this.#reading.delete(id)
    const last = this.state.conversations.at(-1)
    // Further down than what was read: it comes with its page.
    const below = this.state.more && last && conversation && conversation.updatedAt < last.updatedAt
    const shown = below ? undefined : conversation
    this.set({ conversations: withConversation(this.state.conversations, id, shown) })
  }

  async #readRoom(key: string): Promise<void> {
    const room = this.state.rooms[key]
    if (!room) return
    this.#change(key, () => ({ loading: true }))
    const known = new Set(room.messages.map(({ id }) => id))
    const { messages, more } = await this.#reads.messages(room)
    this.#change(key, (now) => {
      // What was told while they were read, and what is still on its way.
      const since = now.messages.filter(({ id, pending }) => pending || !known.has(id))
      let all: ChatMessage[] = ordered(messages)
      for (const message of since) {
        const read = all.some(({ id, muid }) =>
          message.pending ? muid !== undefined && muid === message.muid : id === message.id,
        )
        if (!read) all = ordered([...all, message])
      }
      return { messages: all, more, loading: false }
    })
  }

  async #readMessage(id: string): Promise<void> {
    const message = await this.#reads.message(id)
    for (const [key, { messages }] of Object.entries(this.state.rooms)) {
      if (!messages.some((one) => one.id === id)) continue
      this.#change(key, (room) => {
        const others = room.messages.filter((one) => one.id !== id)
        return { messages: message ? ordered([...others, message]) : others }
      })
    }
  }
}

const LIST = '*'

/** The room of a thread. */
export const threadKey = (parentId: string) => `thread_${parentId}`

function placeOf(conversation: Conversation) {
  const { type, id } = targetOf(conversation)
  return { receiverType: type, receiver: id, sender: '' }
}
