import type { ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { appSubject } from '../platform/events/live.ts'
import type { Budget } from './budget.ts'
import { type Entry, readLogged, readPublished } from './entry.ts'
import { findPosition, listLogged, listNewest } from './queries.ts'
import { Ring } from './ring.ts'

/** Events read at once. */
const PAGE = 1_000
/** Of a log whose newest events are read when its first socket opens. */
const PRELOADED = 5_000
/** Whoever is told that there is more waits this long for NATS to bring it. */
const LATE_MS = 200
const RETRY_MS = 500

type FeedDeps = Pick<Deps, 'bus' | 'log'>

/**
 * The log of an app as it grows, in order and without a hole: from NATS, and from the log itself
 * where NATS has lost something.
 */
export class Feed {
  readonly app: ServedApp
  readonly ring: Ring
  /** All up to here was told. */
  cursor = 0
  readonly #deps: FeedDeps
  readonly #tell: (entry: Entry) => void
  readonly #waiters = new Set<{ position: number; resolve: () => void }>()
  /** What came while the log was read. */
  #held: Entry[] = []
  #reading = true
  #late: NodeJS.Timeout | undefined
  #closed = false
  #unsubscribe = () => {}

  constructor(deps: FeedDeps, app: ServedApp, rings: Budget, tell: (entry: Entry) => void) {
    this.ring = new Ring(rings)
    this.#deps = deps
    this.app = app
    this.#tell = tell
  }

  /** Subscribes, then reads where the log stands: nothing is missed in between. */
  async open(): Promise<void> {
    const { no: appNo, cell } = this.app
    this.#unsubscribe = this.#deps.bus.subscribe(appSubject(appNo), (text) => this.#heard(text))
    const last = await findPosition.maybeOne(cell.db, { appNo })
    const rows = await listNewest.many(cell.db, { appNo, limit: PRELOADED })
    this.ring.after = rows[0] ? rows[0].position - 1 : (last?.position ?? 0)
    for (const row of rows) this.ring.push(readLogged(row))
    this.cursor = rows.at(-1)?.position ?? this.ring.after
    this.#release()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#late)
    this.#unsubscribe()
    this.ring.clear()
    for (const { resolve } of this.#waiters) resolve()
  }

  /** The log has come so far: whatever NATS does not bring soon is read. */
  told(position: number): void {
    if (position <= this.cursor || this.#late) return
    this.#late = setTimeout(() => {
      this.#late = undefined
      if (position > this.cursor) void this.#read()
    }, LATE_MS)
  }

  /** Resolves once all up to a position was told. */
  reached(position: number): Promise<void> {
    if (position <= this.cursor || this.#closed) return Promise.resolve()
    this.told(position)
    return new Promise((resolve) => this.#waiters.add({ position, resolve }))
  }

  #heard(text: string): void {
    const entry = readPublished(text)
    if (this.#reading) {
      // What does not fit is read from the log, as if NATS had lost it.
      if (this.#held.length < PAGE) this.#held.push(entry)
    } else if (entry.position === this.cursor + 1) this.#pass(entry)
    else if (entry.position > this.cursor) {
      this.#held.push(entry)
      void this.#read()
    }
  }

  #pass(entry: Entry): void {
    this.ring.push(entry)
    this.cursor = entry.position
    this.#tell(entry)
    for (const waiter of this.#waiters) {
      if (waiter.position > this.cursor) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  /** Reads the log to its end, then goes on with what came meanwhile. */
  async #read(): Promise<void> {
    if (this.#reading || this.#closed) return
    this.#reading = true
    try {
      const { no: appNo, cell } = this.app
      for (let full = true; full && !this.#closed; ) {
        const rows = await listLogged.many(cell.db, { appNo, after: this.cursor, limit: PAGE })
        for (const row of rows) this.#pass(readLogged(row))
        full = rows.length === PAGE
      }
      this.#release()
    } catch (error) {
      this.#deps.log.warn({ err: error, app: this.app.id }, 'the log was not read')
      setTimeout(() => {
        this.#reading = false
        void this.#read()
      }, RETRY_MS)
    }
  }

  #release(): void {
    this.#reading = false
    const held = this.#held
    this.#held = []
    for (const entry of held) {
      if (entry.position === this.cursor + 1) this.#pass(entry)
    }
    // The rest came behind another hole.
    if ((held.at(-1)?.position ?? 0) > this.cursor) void this.#read()
  }
}
