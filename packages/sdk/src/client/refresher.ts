import { LoquatError } from '../error.ts'
import type { Conversation } from '../operations.gen.ts'
import { retryDelay } from '../retry.ts'
import type { Reader } from './reader.ts'
import { roomAfter, type Target, targetOf, withConversation, withFetched } from './state.ts'
import type { StateHolder } from './state-holder.ts'

/** Wait this long to handle events that arrive together with one request. */
const TOGETHER_MS = 100
/** If more conversations than this are stale, fetch the list instead. */
const ONE_BY_ONE = 3
const LIST = '*'

/**
 * Keeps track of stale data and refetches it. Data that becomes stale during a fetch is fetched once more, so that in the end
 * nothing is older than the last event.
 */
export class Refresher {
  readonly #holder: StateHolder
  readonly #reader: Reader
  readonly #conversations = new Map<string, Target>()
  readonly #messages = new Set<string>()
  readonly #rooms = new Set<string>()
  #list = false
  /** The conversations that are being fetched. */
  readonly #fetching = new Set<string>()
  #more: Promise<void> | undefined
  #pages = 1
  #next: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #flushing: Promise<void> | undefined
  #failures = 0
  #stopped = false

  constructor(holder: StateHolder, reader: Reader) {
    this.#holder = holder
    this.#reader = reader
  }

  /** Resumes fetching immediately, even after a failure. */
  start(): void {
    this.#stopped = false
    this.#failures = 0
    if (this.#isLeft()) this.#plan(0)
  }

  /** Stops fetching. Stale data stays marked as stale. */
  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Resolves when the list was fetched and nothing is left to fetch, or fetching has stopped. */
  async settled(): Promise<void> {
    const isFirst = () => !this.#stopped && !this.#holder.state.loaded
    while (isFirst() || this.#timer !== undefined || this.#flushing !== undefined) {
      await (this.#flushing ?? new Promise((resolve) => setTimeout(resolve, 10)))
    }
  }

  /** Marks everything in the state as stale. */
  all(): void {
    this.#list = true
    for (const key of Object.keys(this.#holder.state.rooms)) this.#rooms.add(key)
    this.#plan(0)
  }

  list(): void {
    this.#list = true
    this.#plan()
  }

  room(key: string, ms = TOGETHER_MS): void {
    this.#rooms.add(key)
    this.#plan(ms)
  }

  conversation(conversationId: string, target: Target): void {
    this.#conversations.set(conversationId, target)
    this.#plan()
  }

  /** Marks a message as stale everywhere: in rooms, in messages that quote it, and as a last message. */
  message(id: string): void {
    const { rooms, conversations } = this.#holder.state
    for (const { messages, loading } of Object.values(rooms)) {
      if (loading || this.#flushing) this.#messages.add(id)
      for (const one of messages) {
        if (one.id === id || one.quotedMessageId === id) this.#messages.add(one.id)
      }
    }
    const found = conversations.find(({ lastMessage }) => lastMessage?.id === id)
    if (found) this.#conversations.set(found.conversationId, targetOf(found))
    else if (this.#fetching.size > 0 || this.#more !== undefined) this.#list = true
    this.#plan()
  }

  /** Whether a conversation is being fetched, so that the response may be older than an event received now. */
  isFetching(conversationId: string): boolean {
    if (this.#more !== undefined || this.#fetching.has(LIST)) return true
    return this.#fetching.has(conversationId)
  }

  /** Whether anything is being fetched. */
  get isBusy(): boolean {
    return this.#flushing !== undefined || this.#more !== undefined
  }

  /** Loads the next page of conversations. */
  loadMore(): Promise<void> {
    this.#more ??= this.#fetchMore().finally(() => {
      this.#more = undefined
    })
    return this.#more
  }

  async #fetchMore(): Promise<void> {
    await this.#flushing
    const cursor = this.#next
    if (cursor === undefined) return
    const { data, next } = await this.#reader.conversations(cursor)
    // The list was refetched in the meantime.
    if (cursor !== this.#next) return this.#fetchMore()
    this.#pages++
    this.#next = next
    let { conversations } = this.#holder.state
    for (const one of data) {
      conversations = withConversation(conversations, one.conversationId, one)
    }
    this.#holder.set({ conversations, more: next !== undefined })
  }

  #isLeft(): boolean {
    return this.#list || this.#conversations.size + this.#messages.size + this.#rooms.size > 0
  }

  #plan(ms = TOGETHER_MS): void {
    if (this.#stopped || this.#flushing !== undefined) return
    if (this.#timer !== undefined && ms > 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // Start in a later microtask, because flush can finish synchronously and reset #flushing.
      this.#flushing = Promise.resolve().then(() => this.#flush())
    }, ms)
  }

  async #flush(): Promise<void> {
    let wait = TOGETHER_MS
    const stale = new Map(this.#conversations)
    const messages = [...this.#messages]
    const list = this.#list || stale.size > ONE_BY_ONE
    const rooms = [...this.#rooms]
    this.#conversations.clear()
    this.#messages.clear()
    this.#rooms.clear()
    this.#list = false
    try {
      if (list) await this.#fetchList(stale)
      else for (const [id, target] of stale) await this.#fetchConversation(id, target)
      for (const key of rooms) await this.#fetchRoom(key)
      for (const id of messages) await this.#fetchMessage(id)
      this.#failures = 0
    } catch (error) {
      // The server doesn't respond, or not as expected. Keep everything marked as stale.
      wait = retryDelay(++this.#failures, error instanceof LoquatError ? error.retryAfter : 0)
      this.#list ||= list
      for (const [id, target] of stale)
        if (!this.#conversations.has(id)) this.#conversations.set(id, target)
      for (const key of rooms) this.#rooms.add(key)
      for (const id of messages) this.#messages.add(id)
    }
    this.#fetching.clear()
    this.#flushing = undefined
    if (this.#isLeft()) this.#plan(wait)
  }

  /** Refetches all loaded pages, then the given conversations that aren't on them. */
  async #fetchList(stale: Map<string, Target>): Promise<void> {
    this.#fetching.add(LIST)
    const found: Conversation[] = []
    let next: string | undefined
    for (let page = 0; page < this.#pages; page++) {
      const read = await this.#reader.conversations(next)
      found.push(...read.data)
      next = read.next
      if (next === undefined) break
    }
    this.#next = next
    this.#holder.set({ conversations: found, loaded: true, more: next !== undefined })
    this.#fetching.delete(LIST)
    const listed = new Set(found.map(({ conversationId }) => conversationId))
    for (const [id, target] of stale) if (!listed.has(id)) await this.#fetchConversation(id, target)
  }

  async #fetchConversation(id: string, target: Target): Promise<void> {
    this.#fetching.add(id)
    const conversation = await this.#reader.conversation(target)
    this.#fetching.delete(id)
    const { conversations, more } = this.#holder.state
    const last = conversations.at(-1)
    // It belongs further down than the loaded pages, and will come with its own page.
    const below = more && last && conversation && conversation.updatedAt < last.updatedAt
    const shown = below ? undefined : conversation
    this.#holder.set({ conversations: withConversation(conversations, id, shown) })
  }

  async #fetchRoom(key: string): Promise<void> {
    const room = this.#holder.state.rooms[key]
    if (!room) return
    this.#holder.change(key, () => ({ loading: true }))
    const read = await this.#reader.again(room)
    const now = this.#holder.state.rooms[key]
    // The user has moved to another part of the room. Whoever loads that part ends `loading`.
    if (now && now.anchor !== room.anchor) this.#rooms.add(key)
    else {
      const part = roomAfter(read, room, now ?? room)
      this.#holder.change(key, () => ({ ...part, loading: false, loaded: true }))
    }
  }

  async #fetchMessage(id: string): Promise<void> {
    const message = await this.#reader.message(id)
    for (const key of Object.keys(this.#holder.state.rooms)) {
      this.#holder.change(key, ({ messages }) => ({ messages: withFetched(messages, id, message) }))
    }
  }
}
