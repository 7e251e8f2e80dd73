/** Most messages of a call. */
const MESSAGES = 64
/** Most bytes of a call. */
const BYTES = 1_000_000
/** Calls under way. With two, PostgreSQL works on one while the other travels. */
const CALLS = 2
/** Messages that wait for a call. Apps share this number. */
const QUEUE = 4_096
/** Calls that may wait for locked conversations, in all and of one app. */
const PATIENT_CALLS = 4
const PATIENT_CALLS_PER_APP = 2

/** The result of a message whose conversation is locked by another transaction. */
export const BUSY = Symbol('busy')

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
   * Sends these messages in one transaction. Returns a result for each, in the same order. Only a call that isn't
   * `patient` may return `BUSY`, for messages that it left out.
   */
  run(items: T[], patient: boolean): Promise<(R | typeof BUSY)[]>
  /** Whether this error of `run` says that nothing was stored. Otherwise the outcome is unknown. */
  isRolledBack(error: unknown): boolean
  /** The error for a message that waited too long, or for which there is no room. */
  overloaded(): Error
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
  /** Messages that met a lock. They go before the queued ones. */
  busy: Entry<T, R>[]
  /** While a call has messages of it, or some are busy, the queued ones wait. */
  held: boolean
}

/**
 * Collects messages into calls. A message goes out at once while fewer than two calls are under way. Those that arrive
 * later go out together when a call ends. There is no timer.
 *
 * Each call takes from all apps in turn, and from the conversations of an app in turn, so that no app can push the
 * messages of another one back. A conversation that another transaction has locked gets a call of its own that waits
 * for the lock, beside the two.
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
  /** The keys of messages that are under way or busy. */
  readonly #keys = new Set<string>()
  /** The conversations with busy messages, oldest first. */
  #locked: Conversation<T, R>[] = []
  /** The app of each patient call that is under way. */
  readonly #patient: number[] = []
  #calls = 0
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
    if (count >= QUEUE / apps) return Promise.reject(this.#options.overloaded())
    return new Promise((resolve, reject) => {
      const conversation = this.#conversationOf(item)
      const until = performance.now() + this.#options.patienceMs
      conversation.queued.push({ item, conversation, until, resolve, reject })
      this.#queued.set(app, count + 1)
      if (!conversation.held) this.#makeReady(conversation)
      this.#schedule()
    })
  }

  #conversationOf({ app, conversation: name }: T): Conversation<T, R> {
    const id = `${app} ${name}`
    const known = this.#conversations.get(id)
    if (known) return known
    const conversation = { app, name: id, queued: [], busy: [], held: false }
    this.#conversations.set(id, conversation)
    return conversation
  }

  #makeReady(conversation: Conversation<T, R>): void {
    const ready = this.#ready.get(conversation.app)
    if (ready) ready.add(conversation)
    else this.#ready.set(conversation.app, new Set([conversation]))
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
      if (item.keys.some((key) => this.#keys.has(key))) aside.push(conversation)
      else {
        this.#dequeue(conversation)
        if (this.#isInTime(entry)) {
          for (const key of item.keys) this.#keys.add(key)
          conversation.held = true
          entries.push(entry)
          bytes += item.bytes
        }
        if (conversation.queued.length > 0) ready.add(conversation)
        else this.#forget(conversation)
      }
      if (ready.size > 0) this.#ready.set(app, ready)
    }
    for (const { conversation } of entries) this.#unready(conversation)
    for (const conversation of aside) if (!conversation.held) this.#makeReady(conversation)
    return entries
  }

  #dequeue({ app, queued }: Conversation<T, R>): void {
    queued.shift()
    const count = (this.#queued.get(app) ?? 0) - 1
    if (count > 0) this.#queued.set(app, count)
    else this.#queued.delete(app)
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
    this.#reject(entry, this.#options.overloaded())
    return false
  }

  /** Sends these messages and settles each, unless it is busy. Never fails. */
  async #call(entries: Entry<T, R>[], patient: boolean): Promise<void> {
    if (entries.length === 0) return
    try {
      const items = entries.map(({ item }) => item)
      const results = await this.#options.run(items, patient)
      for (const [n, entry] of entries.entries()) this.#settle(entry, results[n], patient)
    } catch (error) {
      const again = entries.length > 1 && this.#options.isRolledBack(error)
      if (again) await this.#callSingly(entries, patient)
      else for (const entry of entries) this.#reject(entry, error)
    }
  }

  async #callSingly(entries: Entry<T, R>[], patient: boolean): Promise<void> {
    for (const entry of entries) {
      const { busy } = entry.conversation
      // It must not overtake an earlier message of its conversation.
      if (busy.length > 0) busy.push(entry)
      else if (this.#isInTime(entry)) await this.#call([entry], patient)
    }
  }

  #settle(entry: Entry<T, R>, result: R | typeof BUSY | undefined, patient: boolean): void {
    if (result === BUSY && !patient) entry.conversation.busy.push(entry)
    else if (result === undefined || result === BUSY) {
      this.#reject(entry, new Error('a call returned no result for a message'))
    } else {
      this.#freeKeys(entry)
      entry.resolve(result)
    }
  }

  #reject(entry: Entry<T, R>, error: unknown): void {
    this.#freeKeys(entry)
    entry.reject(error)
  }

  #freeKeys({ item }: Entry<T, R>): void {
    for (const key of item.keys) this.#keys.delete(key)
  }

  /** After a call: the next messages of its conversations may go out. */
  #release(conversations: Iterable<Conversation<T, R>>): void {
    for (const conversation of new Set(conversations)) {
      conversation.held = conversation.busy.length > 0
      if (conversation.held) this.#locked.push(conversation)
      else if (conversation.queued.length > 0) this.#makeReady(conversation)
      else this.#forget(conversation)
    }
    this.#locked = this.#locked.filter((conversation) => !this.#startPatientCall(conversation))
    this.#startCalls()
  }

  /** Sends the busy messages of a conversation, if one more call may wait. */
  #startPatientCall(conversation: Conversation<T, R>): boolean {
    const { app, busy } = conversation
    const ofApp = this.#patient.filter((other) => other === app).length
    if (this.#patient.length >= PATIENT_CALLS || ofApp >= PATIENT_CALLS_PER_APP) return false
    this.#patient.push(app)
    const entries = busy.splice(0).filter((entry) => this.#isInTime(entry))
    void this.#call(entries, true).then(() => {
      this.#patient.splice(this.#patient.indexOf(app), 1)
      this.#release([conversation])
    })
    return true
  }
}
