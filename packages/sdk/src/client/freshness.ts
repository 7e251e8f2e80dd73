import { LoquatError } from '../error.ts'
import { pauseBefore } from '../retry.ts'
import type { Held } from './held.ts'
import type { Reads } from './reads.ts'
import {
  type Conversation,
  oldestOf,
  roomAfter,
  type Target,
  targetOf,
  withConversation,
  withRead,
} from './state.ts'

/** Events of about the same time are answered by one reading. */
const TOGETHER_MS = 100
/** More conversations than this are read as a list. */
const ONE_BY_ONE = 3
const LIST = '*'

/**
 * What is no longer as the server has it, and the reading of it. What is said to be stale while it is
 * being read is read again: in the end nothing is older than the last event.
 */
export class Freshness {
  readonly #held: Held
  readonly #reads: Reads
  readonly #talks = new Map<string, Target>()
  readonly #messages = new Set<string>()
  readonly #rooms = new Set<string>()
  #list = false
  /** Conversations that are being read now. */
  readonly #reading = new Set<string>()
  #more: Promise<void> | undefined
  #pages = 1
  #next: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #flushing: Promise<void> | undefined
  #failures = 0
  #stopped = false

  constructor(held: Held, reads: Reads) {
    this.#held = held
    this.#reads = reads
  }

  /** Goes on with what is left, without the pause after a failure. */
  start(): void {
    this.#stopped = false
    this.#failures = 0
    if (this.#isLeft()) this.#plan(0)
  }

  /** What is stale stays so. */
  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Resolves once nothing is left to read, or nothing more will be. */
  async settled(): Promise<void> {
    while (this.#timer !== undefined || this.#flushing !== undefined) {
      await (this.#flushing ?? new Promise((resolve) => setTimeout(resolve, 10)))
    }
  }

  /** Everything that is shown. */
  all(): void {
    this.#list = true
    for (const key of Object.keys(this.#held.state.rooms)) this.#rooms.add(key)
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

  talk(conversationId: string, target: Target): void {
    this.#talks.set(conversationId, target)
    this.#plan()
  }

  /** A message, wherever it is shown: in rooms, in those that quote it, as the last one of a conversation. */
  message(id: string): void {
    const { rooms, conversations } = this.#held.state
    for (const { messages, loading } of Object.values(rooms)) {
      if (loading || this.#flushing) this.#messages.add(id)
      for (const one of messages) {
        if (one.id === id || one.quotedMessageId === id) this.#messages.add(one.id)
      }
    }
    const talk = conversations.find(({ lastMessage }) => lastMessage?.id === id)
    if (talk) this.#talks.set(talk.conversationId, targetOf(talk))
    else if (this.#reading.size > 0 || this.#more !== undefined) this.#list = true
    this.#plan()
  }

  /** Whether a conversation is being read now, so that the answer may be older than what is told. */
  isReading(conversationId: string): boolean {
    if (this.#more !== undefined || this.#reading.has(LIST)) return true
    return this.#reading.has(conversationId)
  }

  /** Whether anything is. */
  get isBusy(): boolean {
    return this.#flushing !== undefined || this.#more !== undefined
  }

  /** The next page of conversations. */
  loadMore(): Promise<void> {
    this.#more ??= this.#readMore().finally(() => {
      this.#more = undefined
    })
    return this.#more
  }

  async #readMore(): Promise<void> {
    await this.#flushing
    const cursor = this.#next
    if (cursor === undefined) return
    const { data, next } = await this.#reads.conversations(cursor)
    // The list was read anew meanwhile.
    if (cursor !== this.#next) return this.#readMore()
    this.#pages++
    this.#next = next
    let { conversations } = this.#held.state
    for (const one of data) {
      conversations = withConversation(conversations, one.conversationId, one)
    }
    this.#held.set({ conversations, more: next !== undefined })
  }

  #isLeft(): boolean {
    return this.#list || this.#talks.size + this.#messages.size + this.#rooms.size > 0
  }

  #plan(ms = TOGETHER_MS): void {
    if (this.#stopped || this.#flushing !== undefined) return
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
    const talks = new Map(this.#talks)
    const messages = [...this.#messages]
    const list = this.#list || talks.size > ONE_BY_ONE
    const rooms = [...this.#rooms]
    this.#talks.clear()
    this.#messages.clear()
    this.#rooms.clear()
    this.#list = false
    try {
      if (list) await this.#readList(talks)
      else for (const [id, target] of talks) await this.#readTalk(id, target)
      for (const key of rooms) await this.#readRoom(key)
      for (const id of messages) await this.#readMessage(id)
      this.#failures = 0
    } catch (error) {
      // Nobody answers, or not as we know it: all of it stays to be read.
      wait = pauseBefore(++this.#failures, error instanceof LoquatError ? error.retryAfter : 0)
      this.#list ||= list
      for (const [id, target] of talks) if (!this.#talks.has(id)) this.#talks.set(id, target)
      for (const key of rooms) this.#rooms.add(key)
      for (const id of messages) this.#messages.add(id)
    }
    this.#reading.clear()
    this.#flushing = undefined
    if (this.#isLeft()) this.#plan(wait)
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
    this.#held.set({ conversations: found, loaded: true, more: next !== undefined })
    this.#reading.delete(LIST)
    const listed = new Set(found.map(({ conversationId }) => conversationId))
    for (const [id, target] of talks) if (!listed.has(id)) await this.#readTalk(id, target)
  }

  async #readTalk(id: string, target: Target): Promise<void> {
    this.#reading.add(id)
    const conversation = await this.#reads.conversation(target)
    this.#reading.delete(id)
    const { conversations, more } = this.#held.state
    const last = conversations.at(-1)
    // Further down than what was read: it comes with its page.
    const below = more && last && conversation && conversation.updatedAt < last.updatedAt
    const shown = below ? undefined : conversation
    this.#held.set({ conversations: withConversation(conversations, id, shown) })
  }

  async #readRoom(key: string): Promise<void> {
    const room = this.#held.state.rooms[key]
    if (!room) return
    this.#held.change(key, () => ({ loading: true }))
    const read = await this.#reads.messages(room, { downTo: oldestOf(room)?.id })
    this.#held.change(key, (now) => ({ ...roomAfter(read, room, now), loading: false }))
  }

  async #readMessage(id: string): Promise<void> {
    const message = await this.#reads.message(id)
    for (const key of Object.keys(this.#held.state.rooms)) {
      this.#held.change(key, ({ messages }) => ({ messages: withRead(messages, id, message) }))
    }
  }
}
