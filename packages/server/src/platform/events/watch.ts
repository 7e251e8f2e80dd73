import type { Bus } from '../bus/bus.ts'
import type { Cell } from '../cells/directory.ts'
import { query } from '../db/query.ts'
import type { Logger } from '../log/log.ts'
import { type Sequenced, sequencedSubject } from './live.ts'

/** The last positions of all apps that somebody waits for, by the primary key. */
const listPositions = query<{ appNos: number[] }, { app_no: number; position: number }>(
  'events.listPositions',
  'select app_no, position from positions where app_no = any(:appNos::int[])',
)

/** Also poll the database, because NATS may lose messages. */
const POLL_MS = 1_000

interface Waiter {
  after: number
  resolve(): void
}

/** The readers that wait for events of the apps of one cell. */
class CellWatch {
  readonly waiters = new Map<number, Set<Waiter>>()
  readonly #cell: Cell
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void

  constructor(cell: Cell, bus: Bus, log: Logger) {
    this.#cell = cell
    this.#log = log
    this.#unsubscribe = bus.subscribe(sequencedSubject(cell.id), (data) =>
      this.#onPositions(JSON.parse(data)),
    )
    this.#timer = setInterval(() => void this.#poll(), POLL_MS)
  }

  close(): void {
    this.#unsubscribe()
    clearInterval(this.#timer)
  }

  #onPositions(last: Sequenced): void {
    for (const [appNo, position] of Object.entries(last)) {
      for (const waiter of this.waiters.get(Number(appNo)) ?? []) {
        if (position > waiter.after) waiter.resolve()
      }
    }
  }

  async #poll(): Promise<void> {
    try {
      const rows = await listPositions.many(this.#cell.db, { appNos: [...this.waiters.keys()] })
      this.#onPositions(Object.fromEntries(rows.map((row) => [row.app_no, row.position])))
    } catch (error) {
      this.#log.warn({ err: error, cell: this.#cell.id }, "couldn't poll the apps' last positions")
    }
  }
}

/** Notifies readers when the log of an app has grown, without a database connection for each reader. */
export class LogWatch {
  readonly #bus: Bus
  readonly #log: Logger
  readonly #cells = new Map<string, CellWatch>()

  constructor({ bus, log }: { bus: Bus; log: Logger }) {
    this.#bus = bus
    this.#log = log
  }

  /**
   * Resolves when the app has an event after `after`, or when the signal is aborted. Call it before you read the log,
   * so that no event in between is missed.
   */
  grown(
    { no, cell }: { no: number; cell: Cell },
    after: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (signal.aborted) resolve()
    else this.#wait(cell, no, { after, resolve }, promise, signal)
    return promise
  }

  #wait(
    cell: Cell,
    appNo: number,
    waiter: Waiter,
    notified: Promise<void>,
    signal: AbortSignal,
  ): void {
    const watch = this.#cells.get(cell.id) ?? new CellWatch(cell, this.#bus, this.#log)
    this.#cells.set(cell.id, watch)
    const waiters = watch.waiters.get(appNo) ?? new Set()
    watch.waiters.set(appNo, waiters.add(waiter))
    signal.addEventListener('abort', waiter.resolve)
    void notified.then(() => {
      signal.removeEventListener('abort', waiter.resolve)
      waiters.delete(waiter)
      if (waiters.size === 0 && watch.waiters.get(appNo) === waiters) watch.waiters.delete(appNo)
      if (watch.waiters.size > 0 || this.#cells.get(cell.id) !== watch) return
      this.#cells.delete(cell.id)
      watch.close()
    })
  }
}
