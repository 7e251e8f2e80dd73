import type { Region } from '@loquat/protocol'
import { type Bus, throttle } from '../bus/bus.ts'
import { type Db, type DbOptions, openDb } from '../db/db.ts'
import { UserError } from '../errors.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { secureDatabaseUrl, type TlsRules } from '../net/tls.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { type CellRow, listCells, listPlacements, type PlacementRow } from './queries.ts'

/** A PostgreSQL database with all data of the apps placed on it. */
export interface Cell {
  id: string
  region: Region
  url: string
  db: Db
}

/** An app and its location. */
export interface App {
  no: number
  id: string
  region: Region
  /** Undefined if this process doesn't serve the app's region. */
  cell: Cell | undefined
}

export interface DirectoryOptions {
  url: string
  /** The regions whose cells this process connects to. */
  regions: readonly Region[]
  poolSize: number
  /** Connections to each cell for requests that read, in addition. */
  readPoolSize: number
  /** For the addresses of the cells. */
  tlsRules: TlsRules
  /** Of the cells (`DbOptions.drawnKey`). */
  drawnKey: string
  timeoutMs: number
  bus: Bus
  log: Logger
  metrics: Metrics
  tracing: Tracing
  secrets: Secrets
}

const REFRESH_MS = 5_000
const REFRESH_CHUNK = 5_000
const UNKNOWN_MAX = 10_000

/** The time for which the sequencer collects events for a step. */
const WAKE_MS = 5

/** The NATS subject that wakes a cell's sequencer. */
export const wakeSubject = (cellId: string) => `wake.${cellId}`

/** The NATS subject that wakes the runners of a cell's jobs. */
export const jobsSubject = (cellId: string) => `jobs.${cellId}`

/**
 * The locations of apps. Known apps and cells are read again every five seconds in a few statements. They stay known
 * while the directory is down, so an outage doesn't affect apps that this process has served before. New cells are
 * picked up automatically.
 */
export class Directory {
  readonly db: Db
  readonly #options: DirectoryOptions
  readonly #cells = new Map<string, Cell>()
  readonly #apps = new Map<string, App>()
  /** Ids of apps that didn't exist since the last refresh: a flood of them must not reach the directory. */
  readonly #unknown = new Set<string>()
  readonly #lookups = new Map<string, Promise<App | undefined>>()
  readonly #onReaddress = new Set<(cell: Cell) => void>()
  readonly #onRefresh = new Set<() => Promise<void>>()
  /** Why a cell has no usable address. Logged once. */
  readonly #refusals = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #down = false

  constructor(options: DirectoryOptions) {
    this.#options = options
    this.db = this.#open(options.url, 'directory', { poolSize: 4 })
  }

  /** Reads the cells, and from then on refreshes them and the known apps. */
  async start(): Promise<void> {
    const [refusal] = await this.#loadCells()
    if (refusal) throw refusal
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS)
  }

  cells(): Cell[] {
    return [...this.#cells.values()]
  }

  cell(id: string): Cell {
    const cell = this.#cells.get(id)
    if (!cell) throw new Error(`this process serves no cell ${id}`)
    return cell
  }

  /** Finds a cell, even if it was added since the last refresh. Undefined if this process doesn't serve it. */
  async findCell(id: string): Promise<Cell | undefined> {
    if (!this.#cells.has(id)) await this.#loadCells()
    return this.#cells.get(id)
  }

  /** The app with this id, if this process has looked it up before. */
  known(appId: string): App | undefined {
    return this.#apps.get(appId)
  }

  /** Calls the listener whenever a cell has a new address: nothing that was read at the old one is true any more. */
  onReaddress(listener: (cell: Cell) => void): () => void {
    this.#onReaddress.add(listener)
    return () => this.#onReaddress.delete(listener)
  }

  /** Calls the listener at each refresh, for what else is in the directory. */
  onRefresh(listener: () => Promise<void>): void {
    this.#onRefresh.add(listener)
  }

  /** The app with this id, or undefined. Only fails for unknown apps while the directory is down. */
  find(appId: string): App | Promise<App | undefined> | undefined {
    const known = this.#apps.get(appId)
    if (known) return known
    // Other texts can't be the id of an app, so they cost no statement and no memory.
    if (!/^[0-9a-f]{16}$/.test(appId)) return undefined
    if (this.#unknown.has(appId)) return undefined
    let lookup = this.#lookups.get(appId)
    if (!lookup) {
      lookup = this.#lookUp(appId).finally(() => this.#lookups.delete(appId))
      this.#lookups.set(appId, lookup)
    }
    return lookup
  }

  /** Refreshes the cells and known apps, and looks up others again. Keeps them if the directory doesn't answer. */
  async refresh(): Promise<void> {
    this.#unknown.clear()
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
      for (const listener of this.#onRefresh) await listener()
      if (this.#down) this.#options.log.info('the directory is available again')
      this.#down = false
    } catch (error) {
      if (!this.#down) {
        this.#options.log.error({ err: error }, 'the directory is down; still serving known apps')
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
    this.#unknown.add(appId)
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

  /**
   * Returns why cells were left out. One cell with an address that can't be used doesn't keep the process from following
   * all others; if the cell is known, it keeps its old address.
   */
  async #loadCells(): Promise<unknown[]> {
    const refused: unknown[] = []
    for (const row of await listCells.many(this.db, {})) {
      if (!this.#options.regions.includes(row.region as Region)) continue
      try {
        this.#loadCell(row)
        this.#refusals.delete(row.cell_id)
      } catch (error) {
        refused.push(error)
        this.#logRefusal(row.cell_id, error as Error)
      }
    }
    return refused
  }

  #loadCell(row: CellRow): void {
    const { bus, poolSize, readPoolSize, drawnKey } = this.#options
    const id = row.cell_id
    const url = openCellUrl(row, this.#options)
    const known = this.#cells.get(id)
    if (known?.url === url) return
    const onAnnounced = throttle(WAKE_MS, () => bus.publish(wakeSubject(id)))
    const onEnqueued = throttle(WAKE_MS, () => bus.publish(jobsSubject(id)))
    const sizes = { poolSize, readPoolSize }
    const db = this.#open(url, id, { ...sizes, drawnKey, onAnnounced, onEnqueued })
    if (known) this.#readdress(known, url, db)
    else this.#cells.set(id, { id, region: row.region as Region, url, db })
  }

  #logRefusal(cell: string, error: Error): void {
    if (this.#refusals.get(cell) === error.message) return
    this.#refusals.set(cell, error.message)
    this.#options.log.error({ err: error, cell }, "a cell's address can't be used")
  }

  /** Changes the cell in place, because its apps refer to it. */
  #readdress(cell: Cell, url: string, db: Db): void {
    void cell.db.close()
    cell.url = url
    cell.db = db
    for (const listener of this.#onReaddress) listener(cell)
  }

  #open(
    url: string,
    label: string,
    options: Pick<
      DbOptions,
      'poolSize' | 'readPoolSize' | 'drawnKey' | 'onAnnounced' | 'onEnqueued'
    >,
  ): Db {
    const { timeoutMs, log, metrics, tracing } = this.#options
    const timings = metrics.statements
    return openDb({ url, label, timeoutMs, log, timings, tracing, ...options })
  }
}

/** The URL of a cell to connect to. Fails if it was sealed with another secret, or if it lacks TLS. */
export function openCellUrl(
  { cell_id, url_sealed }: CellRow,
  { secrets, tlsRules }: Pick<DirectoryOptions, 'secrets' | 'tlsRules'>,
): string {
  const url = openUrl(secrets, cell_id, url_sealed)
  try {
    return secureDatabaseUrl(url, tlsRules)
  } catch (error) {
    throw new UserError(`The URL of cell ${cell_id} ${(error as Error).message}.`)
  }
}

function openUrl(secrets: Secrets, cellId: string, sealed: Buffer): string {
  try {
    return secrets.open(['cells.url', cellId], sealed)
  } catch {
    throw new UserError(
      `The URL of cell ${cellId} was encrypted with another LOQUAT_SECRET. Use the same secret for every process.`,
    )
  }
}
