import { type Address, readAddress, realtimeUrl } from '../address.ts'
import { type Message, Operations, type User } from '../operations.gen.ts'
import type { EventPayload, EventType } from '../protocol.gen.ts'
import { newKey, type SendOptions, Transport } from '../transport.ts'
import { Connection, type ConnectionState, type Frame, type Socket } from './connection.ts'
import { tell } from './held.ts'
import { Presence, type Watched } from './presence.ts'
import { Reads } from './reads.ts'
import { Sends } from './sends.ts'
import { type ChatMessage, type ChatState, lowered, type Target } from './state.ts'
import { Store, threadKey } from './store.ts'
import { Token, type TokenOptions } from './token.ts'
import { Typing } from './typing.ts'

/** Who signs in, and where. */
export type ClientOptions = Address &
  SendOptions &
  TokenOptions & {
    appId: string
    /** Whose token it is. */
    uid: string
    /** Whose presence is told in `state.presence`; nobody's unless given. */
    presence?: Watched | undefined
    /** Where the gateway is, unless at the same address. */
    realtimeUrl?: string | undefined
    /** Instead of the global one. */
    WebSocket?: (new (url: string) => Socket) | undefined
  }

/** What a message says: a text, or any content that POST /messages takes. */
export interface Draft {
  text?: string
  category?: string
  type?: string
  data?: Record<string, unknown>
  tags?: string[]
}

/** What is told live, beside the events of docs/events.md. */
interface LiveFrames {
  'typing.start': { sender: User; receiverType: 'user' | 'group'; receiver: string }
  'typing.end': LiveFrames['typing.start']
  'message.transient': LiveFrames['typing.start'] & { data: Record<string, unknown> }
}

type LiveType = EventType | keyof LiveFrames
type LiveBody<T extends LiveType> = T extends keyof LiveFrames
  ? LiveFrames[T]
  : T extends EventType
    ? EventPayload<T>
    : never

/** Elsewhere nobody tells when the network is back. */
const browser = globalThis as Partial<EventTarget>

/** The id of the frame that asks for presence, which is repeated in its answer. */
const SUBSCRIBED = 'presence'
const TYPING_EVERY_MS = 2_000
/** Longer than most tunnels. */
const RETRY_FOR_MS = 60_000
/** As many as fit in there. */
const RETRIES = 10

/**
 * The chat of one user, kept as the server has it: conversations, messages of those that are open, who
 * types and who is there. `state` is a new object with each change, `subscribe` tells of them.
 */
export class LoquatClient {
  /** The operations that users may call, as on the server. */
  readonly api: Operations
  readonly uid: string
  readonly #store: Store
  readonly #connection: Connection
  readonly #typing: Typing
  readonly #presence: Presence
  readonly #options: ClientOptions
  readonly #listeners = new Map<string, Set<(body: never) => void>>()
  readonly #sends: Sends
  readonly #typedAt = new Map<string, number>()
  readonly #hurry = () => this.#connection.hurry()

  constructor(options: ClientOptions) {
    this.#options = options
    this.uid = options.uid.toLowerCase()
    const token = new Token(options, () => this.#connection.signOut())
    const { origin, headers } = readAddress(options.appId, options)
    const target = {
      origin,
      get headers() {
        return { ...headers, authtoken: token.current }
      },
    }
    const renew = ({ authtoken = '' }: Record<string, string>) => token.renew(authtoken)
    const { maxRetries = RETRIES, retryForMs = RETRY_FOR_MS } = options
    const patient = { ...options, maxRetries, retryForMs }
    this.api = new Operations(new Transport(target, patient, renew))
    const reading = new Operations(new Transport(target, { ...options, maxRetries: 1 }, renew))
    this.#store = new Store(this.uid, new Reads(reading))
    this.#sends = new Sends(this.api.messages, (room, message) => this.#store.note(room, message))
    this.#typing = new Typing((typing) => this.#store.set({ typing }))
    this.#presence = new Presence(this.api, this.uid, (presence) => this.#store.set({ presence }))
    this.#connection = new Connection({
      url: options.realtimeUrl ?? realtimeUrl(options.appId, options),
      WebSocket: options.WebSocket,
      token: () => token.current,
      renew: (refused) => token.renew(refused),
      onState: (state, closeCode) => this.#onState(state, closeCode),
      onFrame: (frame) => this.#onFrame(frame),
      onGap: () => this.#store.reload(),
    })
  }

  /** Everything that is known now. */
  get state(): ChatState {
    return this.#store.state
  }

  /** Calls back after each change, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => this.#store.subscribe(listener)

  /** Calls back with each event of a type, until the returned function is called. */
  on<T extends LiveType>(type: T, listener: (body: LiveBody<T>) => void): () => void {
    const all = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, all.add(listener))
    return () => void all.delete(listener)
  }

  /** Connects, reads the conversations, and stays connected. */
  start(): void {
    browser.addEventListener?.('online', this.#hurry)
    this.#store.fresh.start()
    this.#connection.start()
  }

  stop(): void {
    browser.removeEventListener?.('online', this.#hurry)
    this.#connection.stop()
    this.#store.fresh.stop()
    this.#typing.clear()
  }

  /** Resolves once nothing is left to read. */
  settled(): Promise<void> {
    return this.#store.fresh.settled()
  }

  /** The name of a conversation in `state.rooms` and `state.typing`. */
  idOf(target: Target): string {
    return this.#store.idOf(target)
  }

  loadMoreConversations(): Promise<void> {
    return this.#store.fresh.loadMore()
  }

  /** Shows the messages of a conversation, or of the thread of one, in `state.rooms`; returns their name. */
  open(target: Target, parentId?: string): string {
    const key = this.#keyOf(target, parentId)
    this.#store.open(key, lowered(target), parentId)
    return key
  }

  close(room: string): void {
    this.#store.close(room)
  }

  loadOlder(room: string): Promise<void> {
    return this.#store.loadOlder(room)
  }

  /**
   * Sends a message. It is shown at once; messages of a conversation arrive in the order in which they
   * were sent. Rejects when it is refused, or nobody answers for long: it then stays, as failed.
   */
  send(target: Target, draft: Draft, parentId?: string): Promise<Message> {
    return this.#send(this.#pending(target, draft, parentId))
  }

  /** Sends a failed message again. It is the same one: if it did arrive, it is there once. */
  resend(message: ChatMessage): Promise<Message> {
    return this.#send({ ...message, pending: 'sending' })
  }

  /** Marks a conversation as read, up to its newest message or a given one. */
  async markRead(target: Target, messageId?: string): Promise<void> {
    const { type, id } = lowered(target)
    const body = messageId === undefined ? {} : { messageId }
    const { conversations } = this.api
    await (type === 'user'
      ? conversations.markUserRead(id, body)
      : conversations.markGroupRead(id, body))
  }

  /** Adds a reaction, or takes it back. */
  async react(messageId: string, reaction: string, added = true): Promise<void> {
    const { messages } = this.api
    await (added
      ? messages.addReaction(messageId, reaction)
      : messages.removeReaction(messageId, reaction))
  }

  /** Tells the others that the user types, or no longer does: call it with each key. */
  typing(target: Target, now = true): void {
    const { type, id } = lowered(target)
    const key = this.idOf(target)
    const last = this.#typedAt.get(key)
    if (now ? last !== undefined && Date.now() - last < TYPING_EVERY_MS : last === undefined) return
    if (now) this.#typedAt.set(key, Date.now())
    else this.#typedAt.delete(key)
    const body = { receiverType: type, receiver: id }
    this.#connection.send(now ? 'typing.start' : 'typing.end', body)
  }

  #keyOf(target: Target, parentId: string | undefined): string {
    return parentId === undefined ? this.idOf(target) : threadKey(parentId)
  }

  #pending(target: Target, draft: Draft, parentId: string | undefined): ChatMessage {
    const { text, data = {}, ...content } = draft
    const muid = newKey()
    const at = Math.floor(Date.now() / 1000)
    return {
      category: 'message',
      type: 'text',
      ...content,
      data: text === undefined ? data : { ...data, text },
      id: `pending_${muid}`,
      muid,
      conversationId: this.idOf(target),
      sender: this.uid,
      receiverType: target.type,
      receiver: lowered(target).id,
      sentAt: at,
      updatedAt: at,
      ...(parentId !== undefined && { parentId }),
      pending: 'sending',
    }
  }

  #send(message: ChatMessage): Promise<Message> {
    const { receiverType: type, receiver: id, parentId } = message
    this.typing({ type, id }, false)
    return this.#sends.send(this.#keyOf({ type, id }, parentId), message)
  }

  #onState(connection: ConnectionState, closeCode?: number): void {
    if (connection !== 'online') this.#typing.clear()
    this.#store.set({ connection, closeCode })
    const { presence } = this.#options
    if (connection === 'online') {
      this.#store.fresh.start()
      if (presence) this.#connection.send('presence.subscribe', { users: presence }, SUBSCRIBED)
    }
    if (connection === 'signedOut' || connection === 'refused') this.#store.fresh.stop()
    // Without a gateway there is still something to show.
    if (connection === 'offline' && !this.#store.state.loaded) this.#store.reload()
  }

  #onFrame(frame: Frame): void {
    const { type, body } = frame
    // Several of groups, in one frame.
    if (type === 'conversation.receipts') {
      for (const one of body.receipts) this.#onFrame(one)
      return
    }
    const { presence } = this.#options
    if (type === 'session.ok' && frame.id === SUBSCRIBED && presence) {
      void this.#presence.subscribed(presence)
    } else if (type === 'presence.changed') this.#presence.hear(body.users)
    else if (type === 'typing.start' || type === 'typing.end') {
      const { sender, receiverType, receiver } = body
      const other = receiverType === 'group' ? receiver : sender.uid
      this.#typing.hear(frame, this.idOf({ type: receiverType, id: other }))
    } else {
      if (type === 'message.sent')
        this.#typing.end(body.message.conversationId, body.message.sender)
      this.#store.hear(frame)
    }
    for (const listener of this.#listeners.get(type) ?? []) tell(() => listener(body as never))
  }
}
