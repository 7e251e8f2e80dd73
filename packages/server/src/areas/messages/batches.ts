/** Most messages of a call. */
const MESSAGES = 64
/** Most bytes of a call. */
const BYTES = 1_000_000
/** Calls under way. With two, PostgreSQL works on one while the other travels. */
const CALLS = 2
/** Calls for single messages of apps that would have to wait for the messages of a loud app. */
const QUIET_CALLS = 2
/** An app is quiet if apps have on average more than this many times its messages. */
const QUIET = 4
/** Messages that wait for a call. Apps share this number. */
const QUEUE = 4_096
/** Conversations whose messages are sent beside the two calls, in all and of one app. */
const LANES = 8
const LANES_PER_APP = 4

/** The result of a message that a call left out. */
export const LEFT_OUT = Symbol('left out')

/** What decides which messages may share a call. */
export interface Batched {
  app: number
  /** Messages of one conversation keep their order, and are never in two calls at the same time. */
  conversation: string
  /** Two messages with a common key are never in two calls at the same time, nor in the same one. */
  keys: readonly string[]
  bytes: number
}

export interface BatchesOptions<T, R> {
  /**
   * Sends these messages in one transaction and returns a result for each. It leaves out those that need a closer
   * look, and those of conversations that another transaction has locked. If it is `patient`, all messages are of one
   * conversation, and it waits for the lock.
   */
  runAll(items: T[], patient: boolean): Promise<(R | typeof LEFT_OUT)[]>
  /** Sends one message of any kind, and waits for what it has to wait for. */
  runOne(item: T): Promise<R>
  /** Whether this error of `runAll` says that nothing was stored. Otherwise the outcome is unknown. */
  isRolledBack(error: unknown): boolean
  /** The error for a message of an app that has too many in the queue already. */
  full(): Error
  /** The error for a message that waited too long. */
  late(): Error
  /** How long a message may wait for its call. */
  patienceMs: number
}

interface Entry<T, R> {
  item: T
  conversation: Conversation<T, R>
  until: number
  resolve(result: R): void
  reject(error: unknown): void
}

interface Conversation<T, R> {
  app: number
  name: string
  queued: Entry<T, R>[]
  /** Messages that a call left out. They go before the queued ones. */
  leftOut: Entry<T, R>[]
  /** While a call has messages of it, or left some out, the queued ones wait. */
  held: boolean
}

/** Changes the count of an app. Apps without any have no entry. */
function add(counts: Map<number, number>, app: number, change: 1 | -1): void {
  const count = (counts.get(app) ?? 0) + change
  if (count > 0) counts.set(app, count)
  else counts.delete(app)
}

/**
 * Collects messages into calls. A message goes out at once while fewer than two calls are under way. Those that arrive
 * later go out together when a call ends. There is no timer.
 *
 * Each call takes from all apps in turn, and from the conversations of an app in turn, so that no app can push the
 * messages of another one back. While the two calls are full of a loud app's messages, those of a quiet app go out
 * beside them, one by one. Messages that a call leaves out, because their conversation is locked or because they
 * need a closer look, are sent beside the two calls, so that nobody waits for them but their own conversation.
 *
 * If a call fails and nothing was stored, its messages are sent one by one, so that a message that can't be stored
 * fails alone. If the outcome is unknown, the callers get the error: sending again could store a message twice.
 */
export class Batches<T extends Batched, R> {
  readonly #options: BatchesOptions<T, R>
  readonly #conversations = new Map<string, Conversation<T, R>>()
  /** The conversations whose messages can go out, by app. The next one to take from is the first one. */
  readonly #ready = new Map<number, Set<Conversation<T, R>>>()
  /** How many messages of each app are queued. */
  readonly #queued = new Map<number, number>()
  /** How many messages of each app have no result yet, and the sum. */
  readonly #pending = new Map<number, number>()
  #sum = 0
  /** The keys of messages that are under way or left out. */
  readonly #keys = new Set<string>()
  /** The conversations with messages that were left out and wait for a lane, oldest first. */
  #leftOut: Conversation<T, R>[] = []
  /** The app of each lane in use. */
  readonly #lanes: number[] = []
  #calls = 0
  #quietCalls = 0
  #scheduled = false

  constructor(options: BatchesOptions<T, R>) {
    this.#options = options
  }

  /** How many messages wait for a call. */
  get queued(): number {
    let sum = 0
    for (const count of this.#queued.values()) sum += count
    return sum
  }

  send(item: T): Promise<R> {
    const { app } = item
    const count = this.#queued.get(app) ?? 0
    // An app alone may use the whole queue. Beside others it gets its share, so that it can't lock them out.
    const apps = this.#queued.size + (count === 0 ? 1 : 0)
    if (count >= QUEUE / apps) return Promise.reject(this.#options.full())
    return new Promise((resolve, reject) => {
      const conversation = this.#conversationOf(item)
      const until = performance.now() + this.#options.patienceMs
      conversation.queued.push({ item, conversation, until, resolve, reject })
      add(this.#queued, app, 1)
      this.#addPending(app, 1)
      if (!conversation.held) this.#makeReady(conversation)
      if (!this.#startQuiet(conversation)) this.#schedule()
    })
  }

  #conversationOf({ app, conversation: name }: T): Conversation<T, R> {
    const id = `${app} ${name}`
    const known = this.#conversations.get(id)
    if (known) return known
    const conversation = { app, name: id, queued: [], leftOut: [], held: false }
    this.#conversations.set(id, conversation)
    return conversation
  }

  #makeReady(conversation: Conversation<T, R>): void {
    const ready = this.#ready.get(conversation.app)
    if (ready) ready.add(conversation)
    else this.#ready.set(conversation.app, new Set([conversation]))
  }

  #addPending(app: number, change: 1 | -1): void {
    add(this.#pending, app, change)
    this.#sum += change
  }

  #isQuiet(app: number): boolean {
    const average = this.#sum / this.#pending.size
    return (this.#pending.get(app) ?? 0) * QUIET < average
  }

  /** Sends the new message of a quiet app alone, if it would have to wait for the calls and for nothing else. */
  #startQuiet(conversation: Conversation<T, R>): boolean {
    const { app, held, queued } = conversation
    const [entry, later] = queued
    if (this.#calls < CALLS || this.#quietCalls >= QUIET_CALLS) return false
    if (held || !entry || later) return false
    if (!this.#isQuiet(app) || this.#isKeyInUse(entry)) return false
    this.#unready(conversation)
    this.#take(entry)
    this.#quietCalls++
    void this.#call([entry], false).then(() => {
      this.#quietCalls--
      this.#release([conversation])
    })
    return true
  }

  /** At the end of this turn of the event loop, because requests that arrive together should go out together. */
  #schedule(): void {
    if (this.#scheduled || this.#calls >= CALLS) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#startCalls()
    })
  }

  #startCalls(): void {
    while (this.#calls < CALLS) {
      const entries = this.#fill()
      if (entries.length === 0) return
      this.#calls++
      void this.#call(entries, false).then(() => {
        this.#calls--
        this.#release(entries.map(({ conversation }) => conversation))
      })
    }
  }

  /** Takes the messages of the next call. */
  #fill(): Entry<T, R>[] {
    const entries: Entry<T, R>[] = []
    const aside: Conversation<T, R>[] = []
    let bytes = 0
    // An app that is deleted and set again goes to the end of the loop.
    for (const [app, ready] of this.#ready) {
      const [conversation] = ready
      const entry = conversation?.queued[0]
      if (!conversation || !entry || entries.length === MESSAGES) break
      const { item } = entry
      if (entries.length > 0 && bytes + item.bytes > BYTES) break
      this.#ready.delete(app)
      ready.delete(conversation)
      if (this.#isKeyInUse(entry)) aside.push(conversation)
      else {
        if (this.#isInTime(entry)) {
          this.#take(entry)
          entries.push(entry)
          bytes += item.bytes
        } else this.#dequeue(conversation)
        if (conversation.queued.length > 0) ready.add(conversation)
        else this.#forget(conversation)
      }
      if (ready.size > 0) this.#ready.set(app, ready)
    }
    for (const { conversation } of entries) this.#unready(conversation)
    for (const conversation of aside) if (!conversation.held) this.#makeReady(conversation)
    return entries
  }

  #isKeyInUse({ item }: Entry<T, R>): boolean {
    return item.keys.some((key) => this.#keys.has(key))
  }

  /** Takes the first message of a conversation into a call. */
  #take({ item, conversation }: Entry<T, R>): void {
    this.#dequeue(conversation)
    for (const key of item.keys) this.#keys.add(key)
    conversation.held = true
  }

  #dequeue({ app, queued }: Conversation<T, R>): void {
    queued.shift()
    add(this.#queued, app, -1)
  }

  #unready(conversation: Conversation<T, R>): void {
    const ready = this.#ready.get(conversation.app)
    if (ready?.delete(conversation) && ready.size === 0) this.#ready.delete(conversation.app)
  }

  #forget(conversation: Conversation<T, R>): void {
    if (!conversation.held) this.#conversations.delete(conversation.name)
  }

  #isInTime(entry: Entry<T, R>): boolean {
    if (performance.now() < entry.until) return true
    this.#reject(entry, this.#options.late())
    return false
  }

  /** Sends these messages in one call. Settles each that isn't left out, and never fails. */
  async #call(entries: Entry<T, R>[], patient: boolean): Promise<void> {
    if (entries.length === 0) return
    const { runAll, isRolledBack } = this.#options
    try {
      const items = entries.map(({ item }) => item)
      const results = await runAll(items, patient)
      for (const [n, entry] of entries.entries()) this.#settle(entry, results[n])
    } catch (error) {
      for (const entry of entries) {
        if (isRolledBack(error)) entry.conversation.leftOut.push(entry)
        else this.#reject(entry, error)
      }
    }
  }

  #settle(entry: Entry<T, R>, result: R | typeof LEFT_OUT | undefined): void {
    if (result === LEFT_OUT) entry.conversation.leftOut.push(entry)
    else if (result === undefined) this.#reject(entry, new Error('a call returned too few results'))
    else this.#resolve(entry, result)
  }

  #resolve(entry: Entry<T, R>, result: R): void {
    this.#free(entry)
    entry.resolve(result)
  }

  #reject(entry: Entry<T, R>, error: unknown): void {
    this.#free(entry)
    entry.reject(error)
  }

  #free({ item }: Entry<T, R>): void {
    for (const key of item.keys) this.#keys.delete(key)
    this.#addPending(item.app, -1)
  }

  /** After a call: the next messages of its conversations may go out. */
  #release(conversations: Iterable<Conversation<T, R>>): void {
    for (const conversation of new Set(conversations)) {
      conversation.held = conversation.leftOut.length > 0
      if (conversation.held) this.#leftOut.push(conversation)
      else if (conversation.queued.length > 0) this.#makeReady(conversation)
      else this.#forget(conversation)
    }
    this.#leftOut = this.#leftOut.filter((conversation) => !this.#startLane(conversation))
    this.#startCalls()
  }

  /** Sends the messages of a conversation that were left out, if a lane is free. */
  #startLane(conversation: Conversation<T, R>): boolean {
    const { app } = conversation
    const ofApp = this.#lanes.filter((other) => other === app).length
    if (this.#lanes.length >= LANES || ofApp >= LANES_PER_APP) return false
    this.#lanes.push(app)
    void this.#sendLeftOut(conversation).then(() => {
      this.#lanes.splice(this.#lanes.indexOf(app), 1)
      this.#release([conversation])
    })
    return true
  }

  /** Several are sent together once more, in a call that waits for the lock. Those left out again are sent singly. */
  async #sendLeftOut({ leftOut }: Conversation<T, R>): Promise<void> {
    if (leftOut.length > 1) {
      await this.#call(
        leftOut.splice(0).filter((entry) => this.#isInTime(entry)),
        true,
      )
    }
    for (const entry of leftOut.splice(0)) {
      if (this.#isInTime(entry)) await this.#callOne(entry)
    }
  }

  async #callOne(entry: Entry<T, R>): Promise<void> {
    try {
      this.#resolve(entry, await this.#options.runOne(entry.item))
    } catch (error) {
      this.#reject(entry, error)
    }
  }
}
