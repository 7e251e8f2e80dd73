import type { Deps } from '../../deps.ts'
import { addCounts, addSeen } from './queries.ts'

const EVERY_MS = 10_000

/** The fields of an app that counting needs. */
interface Counted {
  no: number
  cell: { id: string }
}

interface CellCounts {
  /** By app and counter name. */
  counts: Map<string, { app_no: number; what: string; count: number }>
  /** Users whose auth tokens were used. */
  seen: Map<string, { app_no: number; uid: string }>
}

/**
 * What this process counts for apps. It reports to their cells every ten seconds; counts not yet
 * reported are lost when it dies.
 */
export class Counters {
  readonly #deps: Pick<Deps, 'directory' | 'log'>
  readonly #cells = new Map<string, CellCounts>()
  readonly #timer: NodeJS.Timeout
  #telling: Promise<void> = Promise.resolve()

  constructor(deps: Pick<Deps, 'directory' | 'log'>) {
    this.#deps = deps
    this.#timer = setInterval(() => void this.tell(), EVERY_MS)
  }

  count({ no, cell }: Counted, what: string): void {
    const { counts } = this.#of(cell.id)
    const key = `${no} ${what}`
    const known = counts.get(key)
    if (known) known.count++
    else counts.set(key, { app_no: no, what, count: 1 })
  }

  /** Records that an auth token of the user was used. */
  saw({ no, cell }: Counted, uid: string): void {
    this.#of(cell.id).seen.set(`${no} ${uid}`, { app_no: no, uid })
  }

  /** Reports everything counted since the last report. */
  tell(): Promise<void> {
    this.#telling = this.#telling.then(() => this.#tellAll())
    return this.#telling
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.tell()
  }

  #of(cellId: string): CellCounts {
    let cell = this.#cells.get(cellId)
    if (!cell) {
      cell = { counts: new Map(), seen: new Map() }
      this.#cells.set(cellId, cell)
    }
    return cell
  }

  async #tellAll(): Promise<void> {
    const cells = [...this.#cells]
    this.#cells.clear()
    await Promise.all(cells.map(([id, counted]) => this.#tellCell(id, counted)))
  }

  /** Not retried: the write may have succeeded, and a count must not be added twice. */
  async #tellCell(id: string, { counts, seen }: CellCounts): Promise<void> {
    const { directory, log } = this.#deps
    try {
      const { db } = directory.cell(id)
      if (counts.size > 0) await addCounts.run(db, { counts: JSON.stringify([...counts.values()]) })
      if (seen.size > 0) await addSeen.run(db, { users: JSON.stringify([...seen.values()]) })
    } catch (error) {
      log.warn({ err: error, cell: id }, 'Dropped ten seconds of usage counters')
    }
  }
}
