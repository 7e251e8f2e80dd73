import type { Conversation, Message } from '../operations.gen.ts'
import type { Frame } from './connection.ts'
import type { Reader } from './reader.ts'
import { Refresher } from './refresher.ts'
import {
  type ChatMessage,
  type ChatState,
  hasMessage,
  inLowerCase,
  isOutside,
  isOwn,
  isShown,
  newestOf,
  oldestOf,
  type Room,
  type Target,
  targetOf,
  withConversation,
  withMessage,
  withPending,
  withReceipt,
} from './state.ts'
import { StateHolder } from './state-holder.ts'

/**
 * Keeps conversations and messages in sync with the server. New messages are taken from their events. All other events only
 * mark a conversation or message as stale, which is then fetched again.
 */
export class Store {
  readonly refresher: Refresher
  readonly #holder = new StateHolder()
  readonly #me: string
  readonly #reader: Reader
  /** Counts gaps in the events. For each own message being sent, the count when sending started, by muid. */
  #gaps = 0
  readonly #gapsAtStart = new Map<string, number>()

  /** For each part of a room being loaded, the events received since the request. */
  readonly #meanwhile = new Set<Frame[]>()

  constructor(me: string, reader: Reader) {
    this.#me = me
    this.#reader = reader
    this.refresher = new Refresher(this.#holder, reader)
  }

  get state(): ChatState {
    return this.#holder.state
  }

  subscribe(listener: () => void): () => void {
    return this.#holder.subscribe(listener)
  }

  set(changes: Partial<ChatState>): void {
    this.#holder.set(changes)
  }

  idOf(target: Target): string {
    const { type, id } = inLowerCase(target)
    return type === 'group' ? `group_${id}` : [this.#me, id].sort().join('_user_')
  }

  /** Events were missed, so fetch everything in the state again. */
  reload(): void {
    this.#gaps++
    this.refresher.all()
  }

  /** Opens a conversation or thread. */
  open(key: string, target: Target, parentId?: string): void {
    if (this.state.rooms[key]) return
    const thread = parentId !== undefined && { parentId }
    const empty = { messages: [], more: false, newer: false, loading: true, loaded: false }
    const room: Room = { target, ...thread, ...empty }
    this.set({ rooms: { ...this.state.rooms, [key]: room } })
    this.refresher.room(key, 0)
  }

  close(key: string): void {
    const { [key]: _, ...rooms } = this.state.rooms
    this.set({ rooms })
  }

  async loadOlder(key: string): Promise<void> {
    const room = this.state.rooms[key]
    const oldest = room && oldestOf(room)
    if (!room?.more || room.loading || !oldest) return
    const read = () => this.#reader.messages(room, { before: oldest.id })
    await this.#load(key, read, ({ messages, more }, now) =>
      // Otherwise the room was refetched in the meantime.
      oldestOf(now)?.id === oldest.id
        ? { messages: [...messages, ...now.messages], more, anchor: oldest.id }
        : {},
    )
  }

  async loadNewer(key: string): Promise<void> {
    const room = this.state.rooms[key]
    const newest = room && newestOf(room)
    if (!room?.newer || room.loading || !newest) return
    const read = () => this.#reader.messages(room, { after: newest.id })
    await this.#load(key, read, ({ messages, more }, now) => {
      if (newestOf(now)?.id !== newest.id) return {}
      const stored = now.messages.filter(({ pending }) => !pending)
      const part = { messages: [...stored, ...messages], more: now.more, newer: more }
      return { ...withPending(part, now), anchor: more ? newest.id : undefined }
    })
  }

  /** Moves a room to a message, or to its end. Returns whether the room shows that message then. */
  async jumpTo(key: string, id?: string): Promise<boolean> {
    const room = this.state.rooms[key]
    if (!room) return false
    // A refetch on its way notices that the room has moved.
    this.#holder.change(key, () => ({ anchor: id }))
    if (id === undefined ? room.newer : !hasMessage(room, id)) {
      const read = () => this.#reader.around(room, id)
      try {
        await this.#load(key, read, (part, now) =>
          now.anchor === id ? withPending(part, now) : {},
        )
      } catch (error) {
        // Otherwise the next refetch would move the room there.
        this.#holder.change(key, ({ anchor }) => (anchor === id ? { anchor: room.anchor } : {}))
        throw error
      }
    }
    const now = this.state.rooms[key]
    return now !== undefined && (id === undefined ? !now.newer : hasMessage(now, id))
  }

  /** Loads a part of a room. */
  async #load<P>(
    key: string,
    read: () => Promise<P>,
    merge: (part: P, now: Room) => Partial<Room>,
  ): Promise<void> {
    this.#holder.change(key, () => ({ loading: true }))
    const events: Frame[] = []
    const gaps = this.#gaps
    this.#meanwhile.add(events)
    try {
      const part = await read()
      this.#holder.change(key, (now) => {
        const merged = merge(part, now)
        return merged.messages ? { ...merged, loaded: true } : merged
      })
    } finally {
      this.#meanwhile.delete(events)
      this.#holder.change(key, () => ({ loading: false }))
    }
    // The loaded part may be older than these events, which could not be applied to it.
    for (const frame of events) this.apply(frame)
    if (gaps !== this.#gaps) this.refresher.room(key)
  }

  /** Shows one of the user's own messages while it is being sent, and its outcome. */
  showOwn(key: string, message: ChatMessage): void {
    const { muid = '', pending } = message
    if (pending && !this.#gapsAtStart.has(muid)) this.#gapsAtStart.set(muid, this.#gaps)
    this.#holder.change(key, (room) => {
      const { messages } = room
      const isThere = messages.some((one) => isOwn(one, message))
      // If the event or a fetch came first, keep what it said: the message may even be deleted by now. If the room is on
      // its way to its end, keep the pending copy until it is there.
      if (!pending) {
        return isThere && !isOutside(message, room)
          ? { messages: withMessage(messages, message) }
          : {}
      }
      const arrived = messages.some((one) => !one.pending && one.muid === muid)
      const others = messages.filter((one) => !isOwn(one, message))
      return arrived ? {} : { messages: [...others, message] }
    })
    // Users see what they write. If loading fails, the message follows the part that is shown.
    if (pending && this.state.rooms[key]?.newer) this.jumpTo(key).catch(() => undefined)
    if (pending) return
    // A missed event may have changed the message since.
    if (this.#gapsAtStart.get(muid) !== this.#gaps) this.refresher.message(message.id)
    this.#gapsAtStart.delete(muid)
  }

  /** Removes a message whose sending was cancelled. */
  dropOwn(key: string, message: ChatMessage): void {
    this.#gapsAtStart.delete(message.muid ?? '')
    this.#holder.change(key, ({ messages }) => ({
      messages: messages.filter((one) => !isOwn(one, message)),
    }))
  }

  /** Applies an event. */
  apply(frame: Frame): void {
    const { type, body } = frame
    for (const events of this.#meanwhile) events.push(frame)
    if (type.startsWith('message.')) this.#applyMessage(type, body)
    else if (type.startsWith('conversation.')) this.#applyConversation(type, body)
    else if (type.startsWith('group.')) this.#applyGroup(type, body)
    // Messages about calls have no event of their own.
    else if (/^(call|meeting)\./.test(type) && body.message) this.#add(body.message)
    else if (type === 'user.blocked' || type === 'user.unblocked') this.refresher.all()
    else if (type === 'app.conversations.pinned') this.refresher.all()
  }

  #applyMessage(type: string, body: Frame['body']): void {
    if (type === 'message.sent') this.#add(body.message)
    else if (type === 'message.held') this.#showInRoom(body.message)
    else if (type === 'message.edited' || type === 'message.deleted') {
      const message: Message = body.message.data.entities.on.entity
      this.#changed(message.id, message.parentId)
      this.#markConversationStale(message)
      // The thread may be deleted along with the message.
      const thread = threadKey(message.id)
      if (type === 'message.deleted' && this.state.rooms[thread]) this.refresher.room(thread)
    } else if (type.startsWith('message.reaction.')) {
      this.#changed(body.reaction.messageId, body.parentMessageId)
    } else if (body.messageId !== undefined) this.#changed(body.messageId)
    else if (body.message !== undefined) this.#changed(body.message.id, body.message.parentId)
    if (type === 'message.restored') this.#markConversationStale(body.message)
  }

  /** Refetches a message and its parent, which may show it as the last reply. */
  #changed(id: string, parentId?: string): void {
    this.refresher.message(id)
    if (parentId !== undefined) this.refresher.message(parentId)
  }

  #add(message: Message): void {
    const { parentId, conversationId: id } = message
    this.#showInRoom(message)
    if (parentId !== undefined) {
      this.#showReply(message)
      this.refresher.message(parentId)
    }
    const known = this.#known(id)
    const { mentions = {}, moderation } = message.data as { mentions?: object; moderation?: object }
    // Of all other categories (custom, agentic, call …), only the server knows which messages update the conversation and
    // count as unread: the sender and the app's settings decide.
    const isCounted = message.category === 'message' || message.category === 'interactive'
    const plain = known && parentId === undefined && isCounted && !(this.#me in mentions)
    const isLast = Number(message.id) > Number(known?.lastMessage?.id ?? 0)
    // A message that moderation has held comes after later ones. Only the server knows whether it is unread.
    const wasHeld = moderation !== undefined && !isLast
    if (!plain || wasHeld || this.refresher.isFetching(id)) this.#markConversationStale(message)
    if (!plain || !isLast) return
    const unread = known.unreadMessageCount + (message.sender === this.#me ? 0 : 1)
    const conversation: Conversation = {
      ...known,
      lastMessage: message,
      updatedAt: Math.max(message.sentAt, message.updatedAt),
      unreadMessageCount: unread,
    }
    this.set({ conversations: withConversation(this.state.conversations, id, conversation) })
  }

  /** Until the parent is fetched again, it shows the reply as its last one. */
  #showReply(reply: Message): void {
    if (!isShown(reply)) return
    this.#holder.change(reply.conversationId, ({ messages }) => {
      const parent = messages.find(({ id }) => id === reply.parentId)
      if (!parent || Number(parent.lastReply?.id ?? 0) >= Number(reply.id)) return {}
      const replyCount = (parent.replyCount ?? 0) + 1
      const changed = { ...parent, replyCount, lastReply: reply }
      return { messages: messages.map((one) => (one === parent ? changed : one)) }
    })
  }

  #showInRoom(message: Message): void {
    const { parentId, conversationId } = message
    this.#show(parentId === undefined ? conversationId : threadKey(parentId), message)
  }

  /**
   * Shows a message in a room, in its place: it can be older than others. During the first fetch of the room, it is merged
   * when the fetch completes.
   */
  #show(key: string, message: Message): void {
    if (!isShown(message)) return
    this.#holder.change(key, (room) =>
      isOutside(message, room) ? {} : { messages: withMessage(room.messages, message) },
    )
  }

  #applyConversation(type: string, body: Frame['body']): void {
    const { conversationId: id, uid, receiverType } = body
    const what = type.slice('conversation.'.length)
    const isReceipt = what === 'delivered' || what === 'read'
    // Messages in groups don't show receipts.
    if (isReceipt && receiverType === 'user') this.#applyReceipt(id, what, body)
    if (isReceipt && uid !== this.#me) return
    // Clearing removes the messages from all rooms. The conversation reappears with the next message.
    if (what === 'cleared' || what === 'unread') this.#markRoomsStale(id)
    const known = this.#known(id)
    if (known) this.refresher.conversation(id, targetOf(known))
    // An unknown conversation may be part of a response that is still on its way.
    else this.refresher.list()
  }

  /** Applies a receipt in a 1:1 conversation. */
  #applyReceipt(id: string, what: 'delivered' | 'read', body: Frame['body']): void {
    const mark = (message: ChatMessage) => withReceipt(message, what, body)
    for (const key of this.#roomsOf(id)) {
      this.#holder.change(key, ({ messages }) => {
        const marked = messages.map(mark)
        return marked.some((one, nth) => one !== messages[nth]) ? { messages: marked } : {}
      })
      // A response on its way may be older than this receipt.
      if (this.refresher.isBusy || this.state.rooms[key]?.loading) this.refresher.room(key)
    }
    const known = this.#known(id)
    if (known?.lastMessage) {
      const conversation = { ...known, lastMessage: mark(known.lastMessage) }
      this.set({ conversations: withConversation(this.state.conversations, id, conversation) })
    }
    const other = body.uid === this.#me ? body.receiver : body.uid
    if (this.refresher.isFetching(id)) this.refresher.conversation(id, { type: 'user', id: other })
  }

  #applyGroup(type: string, { group, members = {}, message }: Frame['body']): void {
    const id = `group_${group.guid}`
    if (message) this.#show(id, message)
    // A user who joins now sees all messages, and one who left sees none.
    if (type === 'group.deleted' || this.#me in members) this.#markRoomsStale(id)
    this.refresher.conversation(id, { type: 'group', id: group.guid })
  }

  #known(id: string): Conversation | undefined {
    return this.state.conversations.find(({ conversationId }) => conversationId === id)
  }

  /** The keys of a conversation's room and of its threads. */
  #roomsOf(id: string): string[] {
    const { rooms } = this.state
    return Object.keys(rooms).filter((key) => rooms[key] && this.idOf(rooms[key].target) === id)
  }

  #markRoomsStale(id: string): void {
    for (const key of this.#roomsOf(id)) this.refresher.room(key)
  }

  #markConversationStale(
    message: Pick<Message, 'conversationId' | 'receiverType' | 'receiver' | 'sender'>,
  ) {
    const { conversationId, receiverType: type, receiver, sender } = message
    const id = type === 'user' && receiver === this.#me ? sender : receiver
    this.refresher.conversation(conversationId, { type, id })
  }
}

/** The key of a thread's room. */
export const threadKey = (parentId: string) => `thread_${parentId}`
