import { setImmediate } from 'node:timers/promises'
import type { ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { appSubject } from '../platform/events/live.ts'
import type { Budget } from './budget.ts'
import { type Entry, readLogged, readPublished } from './entry.ts'
import { findPosition, listLogged, listNewest } from './queries.ts'
import { Ring } from './ring.ts'

/** Events per read of the log. */
const PAGE = 1_000
/** The most events read from the log when the app's first session opens. */
const PRELOADED = 5_000
/** Events that are read before other apps have a turn. */
const READ_AT_ONCE = 250
/** How long to wait for NATS before reading the log. */
const NATS_WAIT_MS = 200
const RETRY_MS = 500

type FeedDeps = Pick<Deps, 'bus' | 'log'>

export interface FeedListener {
  onEntry(entry: Entry): void
  /** The log doesn't continue after the cursor. The feed has ended. */
  onBreak(): void
}

/**
 * Follows an app's log, in order and without gaps. Events arrive over NATS; whatever NATS loses is read from the
 * log in the database. It ends at a break in the log.
 */
export class Feed {
  readonly app: ServedApp
  readonly ring: Ring
  /** Every event up to this position was emitted. */
  cursor = 0
  readonly #deps: FeedDeps
  readonly #listener: FeedListener
  readonly #waiters = new Set<{ position: number; resolve: () => void }>()
  /** Events that arrived while the log was being read. */
  #buffered: Entry[] = []
  #reading = true
  /** The log has reached this position, according to the database. */
  #expected = 0
  #readTimer: NodeJS.Timeout | undefined
  #closed = false
  #unsubscribe = () => {}

  constructor(deps: FeedDeps, app: ServedApp, rings: Budget, listener: FeedListener) {
    this.ring = new Ring(rings)
    this.#deps = deps
    this.app = app
    this.#listener = listener
  }

  /** Subscribes before it reads the last position, so that no event falls between the two. */
  async open(): Promise<void> {
    const { no: appNo, cell } = this.app
    this.#unsubscribe = this.#deps.bus.subscribe(appSubject(appNo), (text) =>
      this.#onPublished(text),
    )
    const last = await findPosition.maybeOne(cell.db, { appNo })
    const rows = await listNewest.many(cell.db, { appNo, limit: PRELOADED })
    this.ring.after = rows[0] ? rows[0].position - 1 : (last?.position ?? 0)
    for (const [n, row] of rows.entries()) {
      // Nobody would clear the ring again.
      if (this.#closed) return
      this.ring.push(readLogged(row))
      if (n % READ_AT_ONCE === READ_AT_ONCE - 1) await setImmediate()
    }
    this.cursor = rows.at(-1)?.position ?? this.ring.after
    this.#emitBuffered()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#readTimer)
    this.#unsubscribe()
    this.ring.clear()
    for (const { resolve } of this.#waiters) resolve()
  }

  /** The log has reached this position. Unless NATS delivers the events soon, they are read from the log. */
  expect(position: number): void {
    this.#expected = Math.max(this.#expected, position)
    if (position <= this.cursor || this.#readTimer) return
    this.#readTimer = setTimeout(() => {
      this.#readTimer = undefined
      if (position > this.cursor) void this.#read()
    }, NATS_WAIT_MS)
  }

  /** Resolves once every event up to a position was emitted. */
  reached(position: number): Promise<void> {
    if (position <= this.cursor || this.#closed) return Promise.resolve()
    this.expect(position)
    return new Promise((resolve) => this.#waiters.add({ position, resolve }))
  }

  #onPublished(text: string): void {
    const entry = readPublished(text)
    if (this.#reading) {
      // Events that don't fit are read from the log, as if NATS had lost them.
      if (this.#buffered.length < PAGE) this.#buffered.push(entry)
    } else if (entry.position === this.cursor + 1) this.#emit(entry)
    else if (entry.position > this.cursor) {
      this.#buffered.push(entry)
      void this.#read()
    }
  }

  #emit(entry: Entry): void {
    // A read can end after the feed was closed, and nobody would clear the ring again.
    if (this.#closed) return
    this.ring.push(entry)
    this.cursor = entry.position
    this.#listener.onEntry(entry)
    for (const waiter of this.#waiters) {
      if (waiter.position > this.cursor) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  /** Reads the log to its end, then continues with the events that arrived meanwhile. */
  async #read(): Promise<void> {
    if (this.#reading || this.#closed) return
    this.#reading = true
    try {
      const { no: appNo, cell } = this.app
      const expected = this.#expected
      for (let full = true; full && !this.#closed; ) {
        const rows = await listLogged.many(cell.db, { appNo, after: this.cursor, limit: PAGE })
        for (const row of rows) {
          if (row.position !== this.cursor + 1) return this.#break()
          this.#emit(readLogged(row))
        }
        full = rows.length === PAGE
      }
      if (this.cursor < expected) return this.#break()
      this.#emitBuffered()
    } catch (error) {
      this.#deps.log.warn({ err: error, app: this.app.id }, "couldn't read the event log; retrying")
      setTimeout(() => {
        this.#reading = false
        void this.#read()
      }, RETRY_MS)
    }
  }

  #break(): void {
    if (this.#closed) return
    this.close()
    this.#listener.onBreak()
  }

  #emitBuffered(): void {
    this.#reading = false
    const buffered = this.#buffered
    this.#buffered = []
    for (const entry of buffered) {
      if (entry.position === this.cursor + 1) this.#emit(entry)
    }
    // The remaining events follow another gap.
    if ((buffered.at(-1)?.position ?? 0) > this.cursor) void this.#read()
  }
}
