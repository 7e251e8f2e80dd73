import type { Message } from '../operations.gen.ts'
import type { Frame } from './connection.ts'
import { Freshness } from './freshness.ts'
import { Held } from './held.ts'
import type { Reads } from './reads.ts'
import {
  type ChatMessage,
  type ChatState,
  type Conversation,
  isOwn,
  isShown,
  lowered,
  marked,
  oldestOf,
  ordered,
  type Room,
  type Target,
  targetOf,
  withConversation,
  withMessage,
} from './state.ts'

/**
 * Conversations and messages, kept as the server has them. A new message is added as it is told; what
 * else happened names a conversation or a message that is then read anew.
 */
export class Store {
  readonly fresh: Freshness
  readonly #held = new Held()
  readonly #me: string
  readonly #reads: Reads
  /** How often something was missed; and how often until a message of ours was first sent, by its muid. */
  #gaps = 0
  readonly #gapsBefore = new Map<string, number>()

  /** For each page of older messages on its way, what was told since it was asked for. */
  readonly #meanwhile = new Set<Frame[]>()

  constructor(me: string, reads: Reads) {
    this.#me = me
    this.#reads = reads
    this.fresh = new Freshness(this.#held, reads)
  }

  get state(): ChatState {
    return this.#held.state
  }

  subscribe(listener: () => void): () => void {
    return this.#held.subscribe(listener)
  }

  set(changes: Partial<ChatState>): void {
    this.#held.set(changes)
  }

  idOf(target: Target): string {
    const { type, id } = lowered(target)
    return type === 'group' ? `group_${id}` : [this.#me, id].sort().join('_user_')
  }

  /** What happened is not known: everything that is shown is read anew. */
  reload(): void {
    this.#gaps++
    this.fresh.all()
  }

  /** Shows the messages of a conversation, or of a thread. */
  open(key: string, target: Target, parentId?: string): void {
    if (this.state.rooms[key]) return
    const thread = parentId !== undefined && { parentId }
    const room: Room = { target, ...thread, messages: [], more: false, loading: true }
    this.set({ rooms: { ...this.state.rooms, [key]: room } })
    this.fresh.room(key, 0)
  }

  close(key: string): void {
    const { [key]: _, ...rooms } = this.state.rooms
    this.set({ rooms })
  }

  async loadOlder(key: string): Promise<void> {
    const room = this.state.rooms[key]
    const oldest = room && oldestOf(room)
    if (!room?.more || room.loading || !oldest) return
    this.#held.change(key, () => ({ loading: true }))
    const told: Frame[] = []
    const gaps = this.#gaps
    this.#meanwhile.add(told)
    try {
      const { messages, more } = await this.#reads.messages(room, { before: oldest.id })
      this.#held.change(key, (now) =>
        // Else the room was read anew meanwhile.
        oldestOf(now)?.id === oldest.id ? { messages: [...messages, ...now.messages], more } : {},
      )
    } finally {
      this.#meanwhile.delete(told)
      this.#held.change(key, () => ({ loading: false }))
    }
    // The page may be older than that, and was not there to take it in.
    for (const frame of told) this.hear(frame)
    if (gaps !== this.#gaps) this.fresh.room(key)
  }

  /** A message of ours on its way, or what became of it. */
  note(key: string, message: ChatMessage): void {
    const { muid = '', pending } = message
    if (pending && !this.#gapsBefore.has(muid)) this.#gapsBefore.set(muid, this.#gaps)
    this.#held.change(key, ({ messages }) => {
      const isThere = messages.some((one) => isOwn(one, message))
      // Once it was told or read, that counts: it can be gone again by now.
      if (!pending) return isThere ? { messages: withMessage(messages, message) } : {}
      const arrived = messages.some((one) => !one.pending && one.muid === muid)
      const others = messages.filter((one) => !isOwn(one, message))
      return arrived ? {} : { messages: ordered([...others, message]) }
    })
    if (pending) return
    // What became of it since may be among what was missed.
    if (this.#gapsBefore.get(muid) !== this.#gaps) this.fresh.message(message.id)
    this.#gapsBefore.delete(muid)
  }

  /** Takes an event in. */
  hear(frame: Frame): void {
    const { type, body } = frame
    // New messages change no older ones, other than by a reply.
    if (type !== 'message.sent' || body.message.parentId !== undefined) {
      for (const told of this.#meanwhile) told.push(frame)
    }
    if (type.startsWith('message.')) this.#hearMessage(type, body)
    else if (type.startsWith('conversation.')) this.#hearMark(type, body)
    else if (type.startsWith('group.')) this.#hearGroup(type, body)
    else if (type === 'user.blocked' || type === 'user.unblocked') this.fresh.all()
    else if (type === 'app.conversations.pinned') this.fresh.all()
  }

  #hearMessage(type: string, body: Frame['body']): void {
    if (type === 'message.sent') this.#add(body.message)
    else if (type === 'message.edited' || type === 'message.deleted') {
      const message: Message = body.message.data.entities.on.entity
      this.#changed(message.id, message.parentId)
      this.#staleTalk(message)
      // With a message its thread can go.
      const thread = threadKey(message.id)
      if (type === 'message.deleted' && this.state.rooms[thread]) this.fresh.room(thread)
    } else if (type.startsWith('message.reaction.')) {
      this.#changed(body.reaction.messageId, body.parentMessageId)
    } else if (body.messageId !== undefined) this.#changed(body.messageId)
    else if (body.message !== undefined) this.#changed(body.message.id, body.message.parentId)
  }

  /** The message that it replies to shows it as its last reply. */
  #changed(id: string, parentId?: string): void {
    this.fresh.message(id)
    if (parentId !== undefined) this.fresh.message(parentId)
  }

  #add(message: Message): void {
    const { parentId, conversationId: id } = message
    this.#show(parentId === undefined ? id : threadKey(parentId), message)
    if (parentId !== undefined) this.fresh.message(parentId)
    const known = this.#known(id)
    const mentions = (message.data.mentions ?? {}) as object
    // Whether a custom message moves the conversation and counts, its sender and the app decide.
    const isCustom = message.category === 'custom'
    const plain = known && parentId === undefined && !isCustom && !(this.#me in mentions)
    if (!plain || this.fresh.isReading(id)) this.#staleTalk(message)
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
    this.#held.change(key, ({ messages }) => ({ messages: withMessage(messages, message) }))
  }

  #hearMark(type: string, body: Frame['body']): void {
    const { conversationId: id, uid, receiverType } = body
    const what = type.slice('conversation.'.length)
    const isReceipt = what === 'delivered' || what === 'read'
    // Messages of groups do not show who received and read them.
    if (isReceipt && receiverType === 'user') this.#mark(id, what, body)
    if (isReceipt && uid !== this.#me) return
    // Cleared messages are gone from every room; the conversation shows again with the next one.
    if (what === 'cleared' || what === 'unread') this.#staleRooms(id)
    const known = this.#known(id)
    if (known) this.fresh.talk(id, targetOf(known))
    // One that is not known may be on its way.
    else this.fresh.list()
  }

  /** One of two received or read what the other sent. */
  #mark(id: string, what: 'delivered' | 'read', body: Frame['body']): void {
    const mark = (message: ChatMessage) => marked(message, what, body)
    for (const key of this.#roomsOf(id)) {
      this.#held.change(key, ({ messages }) => ({ messages: messages.map(mark) }))
      // An answer on its way may be older than the mark.
      if (this.fresh.isBusy || this.state.rooms[key]?.loading) this.fresh.room(key)
    }
    const known = this.#known(id)
    if (known?.lastMessage) {
      const conversation = { ...known, lastMessage: mark(known.lastMessage) }
      this.set({ conversations: withConversation(this.state.conversations, id, conversation) })
    }
    const other = body.uid === this.#me ? body.receiver : body.uid
    if (this.fresh.isReading(id)) this.fresh.talk(id, { type: 'user', id: other })
  }

  #hearGroup(type: string, { group, members = {}, message }: Frame['body']): void {
    const id = `group_${group.guid}`
    if (message) this.#show(id, message)
    // Whoever comes or goes sees all of it from then on, or nothing.
    if (type === 'group.deleted' || this.#me in members) this.#staleRooms(id)
    this.fresh.talk(id, { type: 'group', id: group.guid })
  }

  #known(id: string): Conversation | undefined {
    return this.state.conversations.find(({ conversationId }) => conversationId === id)
  }

  /** The room of a conversation, and those of its threads. */
  #roomsOf(id: string): string[] {
    const { rooms } = this.state
    return Object.keys(rooms).filter((key) => rooms[key] && this.idOf(rooms[key].target) === id)
  }

  #staleRooms(id: string): void {
    for (const key of this.#roomsOf(id)) this.fresh.room(key)
  }

  #staleTalk(message: Pick<Message, 'conversationId' | 'receiverType' | 'receiver' | 'sender'>) {
    const { conversationId, receiverType: type, receiver, sender } = message
    const id = type === 'user' && receiver === this.#me ? sender : receiver
    this.fresh.talk(conversationId, { type, id })
  }
}

/** The room of a thread. */
export const threadKey = (parentId: string) => `thread_${parentId}`
