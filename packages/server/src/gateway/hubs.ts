import type { ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { Budget } from './budget.ts'
import { AppHub, type HubListener, type Shared } from './hub.ts'
import { listPositions } from './queries.ts'

/** An app without sockets is kept for so many seconds: those that were cut off come back. */
const KEPT_ROUNDS = 120
/** For all apps of a process. */
const RING_BYTES = 256 * 1024 * 1024
const RESUME_BYTES = 256 * 1024 * 1024

/** The apps that have sockets in this process. */
export class Hubs {
  readonly #deps: Deps
  readonly #listener: HubListener
  readonly #hubs = new Map<number, AppHub>()
  readonly #asking = new Set<Cell>()
  readonly #shared: Shared = { rings: new Budget(RING_BYTES), resumes: new Budget(RESUME_BYTES) }

  constructor(deps: Deps, listener: HubListener = {}) {
    this.#deps = deps
    this.#listener = listener
  }

  get(app: ServedApp): AppHub {
    const known = this.#hubs.get(app.no)
    if (known) {
      // Somebody is on the way in.
      known.idleRounds = 0
      return known
    }
    const hub = new AppHub(this.#deps, app, this.#listener, this.#shared)
    this.#hubs.set(app.no, hub)
    // Whoever waits for it is told; the next one tries again.
    hub.opened.catch(() => this.#drop(hub))
    return hub
  }

  /** Once a second: looks for what NATS has lost, and lets go of apps that nobody asks for. */
  round(): void {
    const cells = new Set<Cell>()
    for (const hub of this.#hubs.values()) {
      cells.add(hub.app.cell)
      hub.watchers.tell()
      hub.feed.ring.trim(performance.now())
      hub.idleRounds = hub.users.size > 0 ? 0 : hub.idleRounds + 1
      if (hub.idleRounds > KEPT_ROUNDS) this.#drop(hub)
    }
    for (const cell of cells) void this.#ask(cell)
  }

  close(): void {
    for (const hub of this.#hubs.values()) this.#drop(hub)
  }

  #drop(hub: AppHub): void {
    if (this.#hubs.get(hub.app.no) === hub) this.#hubs.delete(hub.app.no)
    hub.close()
  }

  /** One statement for all apps of a cell. */
  async #ask(cell: Cell): Promise<void> {
    if (this.#asking.has(cell)) return
    this.#asking.add(cell)
    try {
      const hubs = [...this.#hubs.values()].filter(({ app }) => app.cell === cell)
      const appNos = hubs.map(({ app }) => app.no)
      for (const row of await listPositions.many(cell.db, { appNos })) {
        this.#hubs.get(row.app_no)?.feed.told(row.position)
      }
    } catch (error) {
      this.#deps.log.warn({ err: error, cell: cell.id }, 'positions were not read')
    } finally {
      this.#asking.delete(cell)
    }
  }
}
