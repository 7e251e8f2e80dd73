import type { Region } from '@loquat/protocol'
import { atMostEvery, type Bus } from '../bus/bus.ts'
import { type Db, type DbOptions, openDb } from '../db/db.ts'
import { UserError } from '../errors.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { type CellRow, listCells, listPlacements, type PlacementRow } from './queries.ts'

/** A PostgreSQL cluster with everything of the apps placed on it. */
export interface Cell {
  id: string
  region: Region
  url: string
  db: Db
}

/** An app and where it lives. */
export interface App {
  no: number
  id: string
  region: Region
  /** Undefined when the app lives in a region that this process does not serve. */
  cell: Cell | undefined
}

export interface DirectoryOptions {
  url: string
  /** The regions whose cells this process connects to. */
  regions: readonly Region[]
  poolSize: number
  timeoutMs: number
  bus: Bus
  log: Logger
  metrics: Metrics
  tracing: Tracing
  secrets: Secrets
}

const REFRESH_MS = 5_000
const REFRESH_CHUNK = 5_000
const UNKNOWN_TTL_MS = 5_000
const UNKNOWN_MAX = 10_000

/** As long as the sequencer gathers events for a step. */
const WAKE_MS = 5

/** The subject on which a cell's sequencer is told that there is work. */
export const wakeSubject = (cellId: string) => `wake.${cellId}`

/**
 * Where apps live, as last heard. Known apps and cells are read again every five seconds, all in
 * one statement, and stay known while the directory is down: its outage stops nobody that this
 * process has served before. A new cell is a row: it is picked up by itself.
 */
export class Directory {
  readonly db: Db
  readonly #options: DirectoryOptions
  readonly #cells = new Map<string, Cell>()
  readonly #apps = new Map<string, App>()
  /** Ids that no app has, until when that is believed: a flood of them must not reach the directory. */
  readonly #unknown = new Map<string, number>()
  readonly #lookups = new Map<string, Promise<App | undefined>>()
  #timer: NodeJS.Timeout | undefined
  #down = false

  constructor(options: DirectoryOptions) {
    this.#options = options
    this.db = this.#open(options.url, 'directory', { poolSize: 4 })
  }

  /** Reads the cells for the first time, and from then on keeps them and the known apps fresh. */
  async start(): Promise<void> {
    await this.#loadCells()
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS)
  }

  cells(): Cell[] {
    return [...this.#cells.values()]
  }

  cell(id: string): Cell {
    const cell = this.#cells.get(id)
    if (!cell) throw new Error(`no cell ${id} in the regions served here`)
    return cell
  }

  /** One that may be newer than the last look at the directory; undefined when it is not served here. */
  async findCell(id: string): Promise<Cell | undefined> {
    if (!this.#cells.has(id)) await this.#loadCells()
    return this.#cells.get(id)
  }

  /** The app with this id; undefined when there is none. Fails only for unknown apps, while the directory is down. */
  find(appId: string): App | Promise<App | undefined> | undefined {
    const known = this.#apps.get(appId)
    if (known) return known
    // Nothing else can be one: it is neither worth a statement nor remembering.
    if (!/^[0-9a-f]{16}$/.test(appId)) return undefined
    if ((this.#unknown.get(appId) ?? 0) > Date.now()) return undefined
    let lookup = this.#lookups.get(appId)
    if (!lookup) {
      lookup = this.#lookUp(appId).finally(() => this.#lookups.delete(appId))
      this.#lookups.set(appId, lookup)
    }
    return lookup
  }

  /** One round of what the timer does. Keeps what is known when the directory does not answer. */
  async refresh(): Promise<void> {
    try {
      await this.#loadCells()
      const ids = [...this.#apps.keys()]
      for (let from = 0; from < ids.length; from += REFRESH_CHUNK) {
        const appIds = ids.slice(from, from + REFRESH_CHUNK)
        const rows = await listPlacements.many(this.db, { appIds })
        const gone = new Set(appIds)
        for (const row of rows) {
          gone.delete(row.app_id)
          this.#place(row)
        }
        for (const id of gone) this.#apps.delete(id)
      }
      if (this.#down) this.#options.log.info('the directory answers again')
      this.#down = false
    } catch (error) {
      if (!this.#down) {
        this.#options.log.error(
          { err: error },
          'the directory is down: serving the apps known here',
        )
      }
      this.#down = true
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.allSettled([this.db.close(), ...this.cells().map((cell) => cell.db.close())])
  }

  async #lookUp(appId: string): Promise<App | undefined> {
    const [row] = await listPlacements.many(this.db, { appIds: [appId] })
    if (row && !this.#cells.has(row.cell_id)) await this.#loadCells()
    if (row) return this.#place(row)
    if (this.#unknown.size >= UNKNOWN_MAX) this.#unknown.clear()
    this.#unknown.set(appId, Date.now() + UNKNOWN_TTL_MS)
    return undefined
  }

  #place(row: PlacementRow): App {
    const cell = this.#cells.get(row.cell_id)
    const known = this.#apps.get(row.app_id)
    const region = row.region as Region
    if (known && known.cell === cell && known.region === region) return known
    const app = { no: row.app_no, id: row.app_id, region, cell }
    this.#apps.set(app.id, app)
    this.#unknown.delete(app.id)
    return app
  }

  async #loadCells(): Promise<void> {
    const { regions, bus, poolSize } = this.#options
    for (const row of await listCells.many(this.db, {})) {
      const region = row.region as Region
      if (!regions.includes(region)) continue
      const id = row.cell_id
      const url = this.#openUrl(row)
      const known = this.#cells.get(id)
      if (known?.url === url) continue
      const onAnnounced = atMostEvery(WAKE_MS, () => bus.publish(wakeSubject(id)))
      const db = this.#open(url, id, { poolSize, onAnnounced })
      if (known) this.#readdress(known, url, db)
      else this.#cells.set(id, { id, region, url, db })
    }
  }

  /** Changed in place: the apps placed on the cell point at it. */
  #readdress(cell: Cell, url: string, db: Db): void {
    void cell.db.close()
    cell.url = url
    cell.db = db
  }

  #openUrl({ cell_id, url_sealed }: CellRow): string {
    try {
      return this.#options.secrets.open(url_sealed)
    } catch {
      throw new UserError(
        `The address of cell ${cell_id} was sealed with another LOQUAT_SECRET: every process needs the same.`,
      )
    }
  }

  #open(url: string, label: string, options: Pick<DbOptions, 'poolSize' | 'onAnnounced'>): Db {
    const { timeoutMs, log, metrics, tracing } = this.#options
    const timings = metrics.statements
    return openDb({ url, label, timeoutMs, log, timings, tracing, ...options })
  }
}
