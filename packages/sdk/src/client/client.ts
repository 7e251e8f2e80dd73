import { type Address, readAddress, realtimeUrl } from '../address.ts'
import type { AgentEvent, Answers } from '../agents/answers.ts'
import { LoquatError } from '../error.ts'
import type { EventPayload, EventType } from '../events.gen.ts'
import {
  type CallMedia,
  type Group,
  type Message,
  type NewMessage,
  type User,
  UserOperations,
} from '../operations.gen.ts'
import { randomKey, type SendOptions, Transport } from '../transport.ts'
import { Connection, type ConnectionState, type Frame, type Socket } from './connection.ts'
import { Outbox } from './outbox.ts'
import { Presence, type Watched } from './presence.ts'
import { Push, type PushDevice, type PushRegistration } from './push.ts'
import { Reader } from './reader.ts'
import { type ChatMessage, type ChatState, inLowerCase, type Target } from './state.ts'
import { callListener } from './state-holder.ts'
import { Store, threadKey } from './store.ts'
import { Token, type TokenOptions } from './token.ts'
import { Typing } from './typing.ts'
import {
  type FileOptions,
  nameOf,
  type PictureOptions,
  type Upload,
  Uploads,
  uploadOf,
} from './uploads.ts'

/** The user to sign in, and the address of the app. */
export type ClientOptions = Address &
  SendOptions &
  TokenOptions & {
    appId: string
    /** The user that the token belongs to. */
    uid: string
    /** Whose presence to follow in `state.presence`. Defaults to nobody's. */
    presence?: Watched | undefined
    /** The platform of the device, such as `ios` or `web`, for webhooks about connections. */
    platform?: string | undefined
    /** Your app, for webhooks about connections. */
    appInfo?: { version?: string; apiVersion?: string } | undefined
    /** The URL of the gateway, if it isn't at the app's address. */
    realtimeUrl?: string | undefined
    /** Replaces the global `WebSocket`. */
    WebSocket?: (new (url: string) => Socket) | undefined
    /** `Answers` of `@loquat/sdk/agents`, to follow in `state.answers` what agents are writing. */
    Answers?: typeof Answers | undefined
  }

/** A file of a message that isn't sent yet. */
interface SentFile extends Upload {
  cancel: AbortController
  localUrl: string
}

/** The content of one kind of new message. */
type ContentOf<T extends NewMessage> = T extends unknown
  ? Pick<T, 'category' | 'type' | 'data' | 'tags' | 'quotedMessageId'>
  : never

/** The content of a new message: a text, or the content of any message that you can send. */
export type Draft =
  | { text: string; data?: Record<string, unknown>; tags?: string[]; quotedMessageId?: string }
  | (ContentOf<NewMessage> & { text?: undefined })

/** Ephemeral events, which are not in docs/events.md. */
interface LiveFrames {
  'typing.start': { sender: User; receiverType: 'user' | 'group'; receiver: string }
  'typing.end': LiveFrames['typing.start']
  'message.transient': LiveFrames['typing.start'] & { data: Record<string, unknown> }
  'agent.event': AgentEvent
  'call.signal': CallSignal & { sender: string }
  'call.media': Pick<CallMedia, 'version' | 'recording' | 'publications'> & {
    sessionId: string
  }
}

/** What two devices in a call exchange to connect. */
export interface CallSignal {
  sessionId: string
  /** The device that sends it, and the one that it is for. */
  deviceId?: string
  toDeviceId?: string
  /** A description (SDP) or a candidate (ICE). */
  data: Record<string, unknown>
}

type LiveType = EventType | keyof LiveFrames
type LiveBody<T extends LiveType> = T extends keyof LiveFrames
  ? LiveFrames[T]
  : T extends EventType
    ? EventPayload<T>
    : never

/** Only browsers report when the network is back. */
const browser = globalThis as Partial<EventTarget>

/** The id of the frame that subscribes to presence. The reply repeats it. */
const SUBSCRIBED = 'presence'
const TYPING_EVERY_MS = 2_000
/** Long enough for most tunnels. */
const RETRY_FOR_MS = 60_000
/** As many as fit into that time. */
const RETRIES = 10

/**
 * The chat of one user, kept in sync with the server: conversations, the messages of open ones, who is typing and who is
 * online. Every change replaces `state` with a new object and calls the listeners passed to `subscribe`.
 */
export class LoquatClient {
  /** The operations that users may call. */
  readonly api: UserOperations
  readonly uid: string
  readonly #store: Store
  readonly #connection: Connection
  readonly #typing: Typing
  readonly #answers: Answers | undefined
  readonly #presence: Presence
  readonly #options: ClientOptions
  readonly #listeners = new Map<string, Set<(body: never) => void>>()
  readonly #outbox: Outbox
  readonly #uploads: Uploads
  readonly #push: Push
  /** The files of messages that aren't sent yet, by muid. */
  readonly #files = new Map<string, SentFile>()
  readonly #typedAt = new Map<string, number>()
  readonly #reconnectNow = () => this.#connection.reconnectNow()

  constructor(options: ClientOptions) {
    this.#options = options
    this.uid = options.uid.toLowerCase()
    const token = new Token(options, {
      none: () => this.#connection.signOut(),
      renewed: () => void this.#push.renew(),
    })
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
    this.api = new UserOperations(new Transport(target, patient, renew))
    const reading = new UserOperations(new Transport(target, { ...options, maxRetries: 1 }, renew))
    this.#store = new Store(this.uid, new Reader(reading))
    this.#outbox = new Outbox(this.api.messages, (room, message) =>
      this.#store.showOwn(room, message),
    )
    this.#uploads = new Uploads(this.api.files, options)
    this.#push = new Push(this.api)
    this.#typing = new Typing((typing) => this.#store.set({ typing }))
    this.#answers =
      options.Answers &&
      new options.Answers(reading.agentRuns, (answers) => this.#store.set({ answers }))
    this.#presence = new Presence(this.api, this.uid, (presence) => this.#store.set({ presence }))
    this.#connection = new Connection({
      url: options.realtimeUrl ?? realtimeUrl(options.appId, options),
      WebSocket: options.WebSocket,
      token: () => token.current,
      device: { platform: options.platform, appInfo: options.appInfo },
      renew: (refused) => token.renew(refused),
      onState: (state, closeCode) => this.#onState(state, closeCode),
      onFrame: (frame) => this.#onFrame(frame),
      onGap: () => this.#store.reload(),
    })
  }

  /** The current state. */
  get state(): ChatState {
    return this.#store.state
  }

  /** Calls the listener after each change. Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => this.#store.subscribe(listener)

  /** Calls the listener with each event of a type. Returns a function that unsubscribes. */
  on<T extends LiveType>(type: T, listener: (body: LiveBody<T>) => void): () => void {
    const all = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, all.add(listener))
    return () => void all.delete(listener)
  }

  /** Connects, fetches the conversations and stays connected. */
  start(): void {
    browser.addEventListener?.('online', this.#reconnectNow)
    this.#store.refresher.start()
    this.#connection.start()
  }

  /**
   * Reads which of the user's last questions an agent is answering, or failed to answer. Call it when the conversation with an
   * agent is opened: events only say what happens from then on.
   */
  async loadAnswers(agentUid: string): Promise<void> {
    await this.#answers?.load(agentUid)
  }

  /** Disconnects. Call `start` to connect again. */
  stop(): void {
    browser.removeEventListener?.('online', this.#reconnectNow)
    this.#connection.stop()
    this.#store.refresher.stop()
    this.#typing.clear()
    this.#answers?.clear()
  }

  /**
   * Resolves when `state.conversations` was fetched for the first time. Rejects if that can't happen any more: after `stop`,
   * or when the user is signed out or refused.
   */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (ended: ConnectionState[]) => {
        const { loaded, connection } = this.state
        if (!loaded && !ended.includes(connection)) return
        unsubscribe()
        if (loaded) resolve()
        else reject(new Error(`No conversations were fetched: the client is ${connection}.`))
      }
      const unsubscribe = this.subscribe(() => check(['stopped', 'signedOut', 'refused']))
      // The client may not have been started yet.
      check(['signedOut', 'refused'])
    })
  }

  /** Resolves when all data is up to date, never before `ready`; or after `stop`. */
  settled(): Promise<void> {
    return this.#store.refresher.settled()
  }

  /** The key of a conversation in `state.rooms` and `state.typing`, or of a thread in `state.rooms`. */
  idOf(target: Target, parentId?: string): string {
    return parentId === undefined ? this.#store.idOf(target) : threadKey(parentId)
  }

  /** Loads the next page of `state.conversations`. */
  loadMoreConversations(): Promise<void> {
    return this.#store.refresher.loadMore()
  }

  /** Opens a conversation, or a thread in it: its messages appear in `state.rooms`. Returns the key there. */
  open(target: Target, parentId?: string): string {
    const key = this.idOf(target, parentId)
    this.#store.open(key, inLowerCase(target), parentId)
    return key
  }

  /** Removes a conversation or thread from `state.rooms`. */
  close(room: string): void {
    this.#store.close(room)
  }

  /** Loads the next page of older messages. */
  loadOlder(room: string): Promise<void> {
    return this.#store.loadOlder(room)
  }

  /** Loads the next page of newer messages, after `jumpTo`. */
  loadNewer(room: string): Promise<void> {
    return this.#store.loadNewer(room)
  }

  /**
   * Moves an open room to any of its messages, for example a search result or a quoted message, or to its end if no message
   * is given. Loads the messages around it if they aren't there. Returns whether the room shows the message: it may be
   * deleted by now. Sending a message moves the room to its end.
   */
  jumpTo(room: string, messageId?: string): Promise<boolean> {
    return this.#store.jumpTo(room, messageId)
  }

  /**
   * Sends a message. It appears in the state immediately. Messages of a conversation arrive in the order in which they were
   * sent. Rejects if the server rejects the message or doesn't respond. The message then stays in the state as failed.
   */
  send(target: Target, draft: Draft, parentId?: string): Promise<Message> {
    return this.#send(this.#pending(target, draft, parentId))
  }

  /**
   * Uploads a file and sends it. The message appears in the state immediately, with a local URL of the file and with
   * `uploaded`. After a lost connection the upload continues where it stopped. Other messages don't wait for it. Rejects
   * like `send`, and with CLIENT_ERR_FILE_REJECTED if the server refuses the file.
   */
  sendFile(target: Target, file: Blob, options: FileOptions = {}): Promise<Message> {
    const { text, parentId, quotedMessageId, onProgress } = options
    const name = nameOf(file, options)
    const url = URL.createObjectURL?.(file) ?? ''
    const attachment = { url, name, mimeType: file.type, size: String(file.size) }
    const data = { ...(text !== undefined && { text }), attachments: [attachment] }
    const draft = { type: kindOfFile(file.type), data, quotedMessageId } as Draft
    const message = this.#pending(target, draft, parentId)
    const { muid = '' } = message
    const report = (sent: number) => {
      this.#show({ ...message, uploaded: sent / file.size })
      onProgress?.(sent, file.size)
    }
    const cancel = new AbortController()
    const signal = options.signal ? AbortSignal.any([options.signal, cancel.signal]) : cancel.signal
    const upload = uploadOf(file, { ...options, signal })
    this.#files.set(muid, { ...upload, cancel, localUrl: url, onProgress: report })
    return this.#sendFile({ ...message, uploaded: 0 })
  }

  /**
   * Sends a failed message again. If the first attempt did arrive, the message is not duplicated. An upload continues where
   * it stopped.
   */
  resend(message: ChatMessage): Promise<Message> {
    const { error: _error, ...again } = message
    const pending = { ...again, pending: 'sending' } as const
    return this.#files.has(message.muid ?? '') ? this.#sendFile(pending) : this.#send(pending)
  }

  /** Removes a failed message from the state, or cancels the upload of a file that is being sent. */
  discard(message: ChatMessage): void {
    const upload = this.#files.get(message.muid ?? '')
    upload?.cancel.abort()
    if (message.pending !== 'failed') return
    this.#forget(message)
    if (upload) void this.#uploads.discard(upload)
  }

  /** Uploads a picture and makes it the avatar of this user. */
  async setAvatar(file: Blob, options: PictureOptions = {}): Promise<User> {
    const { url } = await this.#uploads.send(uploadOf(file, { ...options, picture: true }))
    return this.api.users.update(this.uid, { avatar: url })
  }

  /** Uploads a picture and makes it the icon of a group. */
  async setGroupIcon(guid: string, file: Blob, options: PictureOptions = {}): Promise<Group> {
    const { url } = await this.#uploads.send(uploadOf(file, { ...options, picture: true }))
    return this.api.groups.update(guid, { icon: url })
  }

  /** Marks a conversation as read up to its newest message, or up to the given one. */
  async markRead(target: Target, messageId?: string): Promise<void> {
    const { type, id } = inLowerCase(target)
    const body = messageId === undefined ? {} : { messageId }
    const { conversations } = this.api
    await (type === 'user'
      ? conversations.markUserRead(id, body)
      : conversations.markGroupRead(id, body))
  }

  /** Adds a reaction, or removes it. */
  async react(messageId: string, reaction: string, added = true): Promise<void> {
    const { messages } = this.api
    await (added
      ? messages.addReaction(messageId, reaction)
      : messages.removeReaction(messageId, reaction))
  }

  /**
   * Registers this device for push notifications: a token of FCM or APNs. Call it at each start, after the user has
   * signed in; it is no error to register again. The registration moves with the auth token when that is renewed.
   */
  registerPush(device: PushDevice): Promise<void> {
    return this.#push.register(device)
  }

  /** Ends the push notifications of this device. Call it before the user signs out and keeps the auth token. */
  unregisterPush(): Promise<void> {
    return this.#push.unregister()
  }

  /**
   * Subscribes this browser to push notifications. Ask for permission first (`Notification.requestPermission()`), and pass
   * the registration of a service worker that shows them. Call it at each start: it renews what has changed.
   */
  subscribeToPush(registration: PushRegistration): Promise<void> {
    return this.#push.subscribe(registration)
  }

  /** Ends the subscription of this browser. */
  unsubscribeFromPush(registration: PushRegistration): Promise<void> {
    return this.#push.unsubscribe(registration)
  }

  /** Shows the other users that this user is typing, or has stopped. Call it on every keystroke. */
  typing(target: Target, now = true): void {
    const { type, id } = inLowerCase(target)
    const key = this.idOf(target)
    const last = this.#typedAt.get(key)
    if (now ? last !== undefined && Date.now() - last < TYPING_EVERY_MS : last === undefined) return
    if (now) this.#typedAt.set(key, Date.now())
    else this.#typedAt.delete(key)
    const body = { receiverType: type, receiver: id }
    this.#connection.send(now ? 'typing.start' : 'typing.end', body)
  }

  /** Sends a description or a candidate to another user in a call. Listen to `call.signal` for those of others. */
  signal(uid: string, signal: CallSignal): void {
    this.#connection.send('call.signal', { ...signal, to: uid })
  }

  /** Says that a device is still in a call. `Calls` of `@loquat/sdk/calls` does it. */
  callAlive(sessionId: string, deviceId: string): void {
    this.#connection.send('call.alive', { sessionId, deviceId })
  }

  #pending(target: Target, draft: Draft, parentId: string | undefined): ChatMessage {
    const { text, data: given = {}, ...content } = draft
    const data = text === undefined ? given : { ...given, text }
    const muid = randomKey()
    const at = Math.floor(Date.now() / 1000)
    const { type, id } = inLowerCase(target)
    const sender = { entity: { uid: this.uid }, entityType: 'user' }
    const receiver = { entity: type === 'user' ? { uid: id } : { guid: id }, entityType: type }
    return {
      ...content,
      ...kindOf(content, data),
      data: { ...data, entities: { sender, receiver } },
      id: `pending_${muid}`,
      muid,
      conversationId: this.idOf(target),
      sender: this.uid,
      receiverType: type,
      receiver: id,
      sentAt: at,
      updatedAt: at,
      ...(parentId !== undefined && { parentId }),
      pending: 'sending',
    } as ChatMessage
  }

  #send(message: ChatMessage): Promise<Message> {
    const { receiverType: type, receiver: id, parentId } = message
    this.typing({ type, id }, false)
    return this.#outbox.send(this.idOf({ type, id }, parentId), message)
  }

  #show(message: ChatMessage): void {
    const { receiverType: type, receiver: id, parentId } = message
    this.#store.showOwn(this.idOf({ type, id }, parentId), message)
  }

  async #sendFile(message: ChatMessage): Promise<Message> {
    const { muid = '' } = message
    const upload = this.#files.get(muid)
    if (!upload) throw new Error('The file of this message is unknown.')
    this.#show(message)
    try {
      const { url, name, mimeType } = await this.#uploads.send(upload)
      const data = { ...message.data, attachments: [{ url, name, mimeType }] }
      const sent = await this.#send({ ...message, data } as ChatMessage)
      this.#forgetFile(muid)
      return sent
    } catch (error) {
      if (upload.options.signal?.aborted) {
        this.#forget(message)
        void this.#uploads.discard(upload)
      } else {
        const known = error instanceof LoquatError && { error }
        this.#show({ ...message, pending: 'failed', ...known })
      }
      throw error
    }
  }

  #forget(message: ChatMessage): void {
    const { muid = '', receiverType: type, receiver: id, parentId } = message
    this.#forgetFile(muid)
    this.#store.dropOwn(this.idOf({ type, id }, parentId), message)
  }

  #forgetFile(muid: string): void {
    const { localUrl } = this.#files.get(muid) ?? {}
    this.#files.delete(muid)
    if (localUrl) URL.revokeObjectURL(localUrl)
  }

  #onState(connection: ConnectionState, closeCode?: number): void {
    if (connection !== 'online') this.#typing.clear()
    this.#store.set({ connection, closeCode })
    const { presence } = this.#options
    if (connection === 'online') {
      this.#answers?.reload()
      this.#store.refresher.start()
      if (presence) this.#connection.send('presence.subscribe', { users: presence }, SUBSCRIBED)
    }
    if (connection === 'signedOut' || connection === 'refused') this.#store.refresher.stop()
    // Without a connection, at least fetch the current data.
    if (connection === 'offline' && !this.#store.state.loaded) this.#store.reload()
  }

  #onFrame(frame: Frame): void {
    const { type, body } = frame
    // One frame with the receipts of several members of groups.
    if (type === 'conversation.receipts') {
      for (const one of body.receipts) this.#onFrame(one)
      return
    }
    const { presence } = this.#options
    if (type === 'session.ok' && frame.id === SUBSCRIBED && presence) {
      void this.#presence.subscribed(presence)
    } else if (type === 'file.ready' || type === 'file.rejected') this.#uploads.checked(body.file)
    else if (type === 'agent.event') this.#answers?.apply(body)
    else if (type === 'presence.changed') this.#presence.apply(body.users)
    else if (type === 'typing.start' || type === 'typing.end') {
      const { sender, receiverType, receiver } = body
      const other = receiverType === 'group' ? receiver : sender.uid
      this.#typing.apply(frame, this.idOf({ type: receiverType, id: other }))
    } else {
      if (type === 'message.sent') {
        this.#typing.end(body.message.conversationId, body.message.sender)
        this.#answers?.end(body.message.muid)
      }
      this.#store.apply(frame)
    }
    for (const listener of this.#listeners.get(type) ?? [])
      callListener(() => listener(body as never))
  }
}

/** The type of a message with such a file. */
function kindOfFile(mimeType: string): 'image' | 'audio' | 'video' | 'file' {
  const [kind] = mimeType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

const PLAIN = ['text', 'image', 'file', 'audio', 'video']

/** The category and type of a draft. The server infers those that are missing in the same way. */
function kindOf(given: object, data: object) {
  const { category, type } = given as { category?: string; type?: string }
  const plain = type === undefined ? 'text' in data || 'attachments' in data : PLAIN.includes(type)
  const special =
    'interactiveData' in data ? 'interactive' : 'customData' in data ? 'custom' : undefined
  const known = category ?? (plain ? undefined : special) ?? 'message'
  return { category: known, type: type ?? (known === 'interactive' ? 'card' : 'text') }
}
