import type { ServedApp } from '../core/actor.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { Budget } from './budget.ts'
import { AppHub, type HubDeps, type HubListener, type SharedBudgets } from './hub.ts'
import { listPositions } from './queries.ts'

/** How many ticks the hub of an app without sessions is kept: clients that were cut off reconnect. */
const IDLE_TICKS = 120
const RING_BYTES = 256 * 1024 * 1024
const RESUME_BYTES = 256 * 1024 * 1024

/** The hubs of all apps that have sessions in this process. */
export class Hubs {
  readonly #deps: HubDeps
  readonly #listener: HubListener
  readonly #hubs = new Map<number, AppHub>()
  readonly #polling = new Set<Cell>()
  readonly #unlisten: () => void
  readonly #budgets: SharedBudgets = {
    rings: new Budget(RING_BYTES),
    resumes: new Budget(RESUME_BYTES),
  }

  constructor(deps: HubDeps, listener: HubListener = {}) {
    this.#deps = deps
    this.#listener = listener
    deps.revocations.listen((revoked) => {
      for (const { rules } of this.#hubs.values()) rules.onRevocation(revoked)
    })
    this.#unlisten = deps.directory.onReaddress((cell) => {
      for (const hub of this.#hubs.values()) if (hub.app.cell === cell) hub.end()
    })
  }

  get(app: ServedApp): AppHub {
    const known = this.#hubs.get(app.no)
    if (known?.ended) this.#drop(known)
    else if (known) {
      // A session is about to join it.
      known.idleTicks = 0
      return known
    }
    const hub = new AppHub(this.#deps, app, this.#listener, this.#budgets)
    this.#hubs.set(app.no, hub)
    // Sessions that wait for the hub get the error; the next session tries again with a new hub.
    hub.opened.catch(() => this.#drop(hub))
    return hub
  }

  /** Call once a second. Looks for events that NATS has lost, and drops hubs that are no longer used. */
  tick(): void {
    const cells = new Set<Cell>()
    for (const hub of this.#hubs.values()) {
      cells.add(hub.app.cell)
      hub.presenceSubscribers.flush()
      hub.feed.ring.trim(performance.now())
      hub.tick()
      hub.idleTicks = hub.users.size > 0 ? 0 : hub.idleTicks + 1
      if (hub.ended || hub.idleTicks > IDLE_TICKS) this.#drop(hub)
    }
    for (const cell of cells) void this.#pollPositions(cell)
  }

  close(): void {
    this.#unlisten()
    for (const hub of this.#hubs.values()) this.#drop(hub)
  }

  #drop(hub: AppHub): void {
    if (this.#hubs.get(hub.app.no) === hub) this.#hubs.delete(hub.app.no)
    hub.close()
  }

  /** One statement for all apps of a cell. */
  async #pollPositions(cell: Cell): Promise<void> {
    if (this.#polling.has(cell)) return
    this.#polling.add(cell)
    try {
      const hubs = [...this.#hubs.values()].filter(({ app }) => app.cell === cell)
      const appNos = hubs.map(({ app }) => app.no)
      for (const row of await listPositions.many(cell.db, { appNos })) {
        this.#hubs.get(row.app_no)?.feed.expect(row.position)
      }
    } catch (error) {
      this.#deps.log.warn({ err: error, cell: cell.id }, "couldn't poll the apps' last positions")
    } finally {
      this.#polling.delete(cell)
    }
  }
}
