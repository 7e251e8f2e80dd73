import { type PushAnswer, PushCall, type PushRequest, Unanswered } from './call.ts'
import { PUSH_LIMITS, type PushLimits } from './limits.ts'
import { Session } from './session.ts'

/** A call that no session processed is moved this often. After that, it is up to the caller to try again. */
const MOVES = 3

/** All HTTP/2 connections of this process to providers. Each credential has a pool, which waits for no other one. */
export class Sessions {
  readonly limits: PushLimits
  readonly #pools = new Set<SessionPool>()
  /** Pools that wait until another one closes a connection. */
  readonly #hungry = new Set<SessionPool>()

  constructor(limits: PushLimits = PUSH_LIMITS) {
    this.limits = limits
  }

  /** Connections that are open or being opened. */
  get open(): number {
    return this.#sum(({ open }) => open)
  }

  /** Calls that wait for a connection or a free stream. */
  get waiting(): number {
    return this.#sum(({ waiting }) => waiting)
  }

  newPool(origin: string): SessionPool {
    const pool = new SessionPool(origin, this)
    this.#pools.add(pool)
    return pool
  }

  /** Whether one more connection may be opened. Closes the one that has been idle for longest if there are too many. */
  hasRoom(pool: SessionPool): boolean {
    if (this.open < this.limits.sessions) return true
    const idle = [...this.#pools].flatMap((one) => one.idle)
    const [longest] = idle.toSorted((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0))
    longest?.close()
    if (longest) return true
    this.#hungry.add(pool)
    return false
  }

  /** A connection was closed, so another pool can open one. */
  sessionEnded(): void {
    for (const pool of [...this.#hungry]) {
      if (this.open >= this.limits.sessions) return
      this.#hungry.delete(pool)
      pool.assign()
    }
  }

  /** A connection has nothing to do. */
  sessionIdle(session: Session): void {
    if (this.#hungry.size > 0) session.close()
  }

  forget(pool: SessionPool): void {
    this.#hungry.delete(pool)
    this.#pools.delete(pool)
  }

  close(): void {
    for (const pool of [...this.#pools]) pool.close()
  }

  #sum(count: (pool: SessionPool) => number): number {
    let sum = 0
    for (const pool of this.#pools) sum += count(pool)
    return sum
  }
}

/** The HTTP/2 connections to one provider with one credential. It opens and replaces them as needed. */
export class SessionPool {
  readonly #origin: string
  readonly #all: Sessions
  /** Those that accept calls or connect, and those that only finish theirs. */
  readonly #sessions = new Set<Session>()
  readonly #retiring = new Set<Session>()
  #waiting: PushCall[] = []
  #closed = false

  constructor(origin: string, all: Sessions) {
    this.#origin = origin
    this.#all = all
  }

  get open(): number {
    return this.#sessions.size + this.#retiring.size
  }

  get waiting(): number {
    return this.#waiting.length
  }

  get idle(): Session[] {
    return [...this.#sessions].filter(({ idleSince }) => idleSince !== undefined)
  }

  /** Fails with `Unanswered`. */
  post(request: PushRequest): Promise<PushAnswer> {
    const { waiting, timeoutMs } = this.#all.limits
    if (this.#closed) return Promise.reject(new Unanswered('this process is about to end'))
    if (this.#waiting.length >= waiting) {
      return Promise.reject(new Unanswered('too many calls wait for this provider'))
    }
    const call = new PushCall(request, timeoutMs)
    this.#waitFor(call)
    this.#waiting.push(call)
    this.assign()
    return call.answer
  }

  /** Gives waiting calls to sessions with free streams, and opens a session if there are too few. */
  assign(): void {
    while (this.#waiting.length > 0) {
      const session = this.#sessions.values().find(({ room }) => room > 0)
      if (!session) {
        this.#grow()
        return
      }
      const call = this.#waiting.shift()
      if (call) session.send(call)
    }
  }

  close(): void {
    this.#closed = true
    this.#failWaiting('this process is about to end')
    for (const session of [...this.#sessions, ...this.#retiring]) session.close()
    this.#all.forget(this)
  }

  /** Opens one session at a time: its provider may not be reachable. */
  #grow(): void {
    const connecting = this.#sessions.values().some(({ isReady }) => !isReady)
    if (connecting || this.#sessions.size >= this.#all.limits.sessionsPerPool) return
    if (!this.#all.hasRoom(this)) return
    const { timeoutMs, idleMs } = this.#all.limits
    const session = new Session(this.#origin, {
      timeoutMs,
      idleMs,
      onRoom: () => {
        this.assign()
        if (session.idleSince !== undefined) this.#all.sessionIdle(session)
      },
      onMoved: (call) => this.#move(call),
      onRetired: () => {
        this.#sessions.delete(session)
        this.#retiring.add(session)
        // The next session connects while this one still finishes its calls.
        this.assign()
      },
      onEnded: (error) => {
        this.#sessions.delete(session)
        this.#retiring.delete(session)
        if (error) this.#failWaiting(error.message)
        this.#all.sessionEnded()
        this.assign()
      },
    })
    this.#sessions.add(session)
  }

  #move(call: PushCall): void {
    // It timed out a moment before.
    if (call.isSettled) return
    if (++call.moves > MOVES || this.#closed) {
      call.reject(new Unanswered('the provider keeps refusing streams'))
      return
    }
    this.#waitFor(call)
    this.#waiting.unshift(call)
    this.assign()
  }

  #waitFor(call: PushCall): void {
    call.onTimeout = () => {
      this.#waiting = this.#waiting.filter((other) => other !== call)
    }
  }

  #failWaiting(reason: string): void {
    for (const call of this.#waiting.splice(0)) call.reject(new Unanswered(reason))
  }
}
