import { randomUUID } from 'node:crypto'
import type { Tx } from '../db/db.ts'
import { query } from '../db/query.ts'
import type { Logger } from '../log/log.ts'
import type { Cell, Directory } from './directory.ts'

/** A cached credential or app that processes must no longer trust. */
export interface Revocation {
  appNo: number
  kind: 'apikey' | 'app' | 'token'
  /**
   * The hash of an API key or token in hex. For an app, empty, `ARCHIVED`, `SUSPENDED`, `RULES` and the id of the
   * change, or what `sanctionChange` returns.
   */
  id: string
}

/** The ids of the revocation of an app that is taken out of service. */
export const ARCHIVED = 'archived'
export const SUSPENDED = 'suspended'

/** The id of the revocation of an app whose rules changed starts with it. */
export const RULES = 'rules '

const SANCTION = 'sanction '

/** The id of the revocation of an app in which a user's sanctions changed. Each is different. */
export const sanctionChange = (uid: string) => `${SANCTION}${uid} ${randomUUID()}`

/** The user of such a revocation. */
export const sanctionedUser = (id: string) =>
  id.startsWith(SANCTION) ? id.slice(SANCTION.length).split(' ')[0] : undefined

/**
 * Sent to listeners instead if the log couldn't be read for so long that rows may have been missed, or if a cell's
 * database was restored or replaced.
 */
export const EVERYTHING = 'everything'

type Listener = (revoked: Revocation | typeof EVERYTHING) => void

const READ_MS = 500
/** A cached credential is only valid if the log was read this recently. */
const TRUST_MS = 2_000
/** Two reads further apart than this may have missed a row. Measured by the database's clock, because this process may be suspended. */
const MISSED_MS = 20_000

const insertRevocations = query<{ appNo: number; kind: string; ids: string[] }>(
  'revocations.insert',
  `insert into revocations (app_no, kind, id)
   select :appNo::int, :kind::text, id from unnest(:ids::text[]) id`,
)

/** Removes the revocation of an app that is back in service: processes read rows for half a minute. */
export const removeRevocation = query<{ appNo: number; id: string }>(
  'revocations.remove',
  `delete from revocations where app_no = :appNo and kind = 'app' and id = :id`,
)

/** Reads half a minute, because no transaction of ours stays open for longer. Reading a row twice does no harm. */
const listRevocations = query<
  Record<string, never>,
  {
    app_no: number | null
    kind: Revocation['kind'] | null
    id: string | null
    read_at: Date
    break_no: number
  }
>(
  'revocations.list',
  `select app_no, kind, id, read_at, break_no
   from (select clock_timestamp() as read_at, break_no from log_origin) now
   left join revocations on at > read_at - interval '30 seconds'`,
)

/** Removes old rows, up to `limit` per call. */
export const removeOldRevocations = query<{ limit: number }, { removed: number }>(
  'revocations.removeOld',
  `with old as (
     select ctid from revocations where at < now() - interval '1 hour' limit :limit
   ), gone as (
     delete from revocations where ctid = any (array(select ctid from old)) returning 1
   )
   select count(*) as removed from gone`,
)

/**
 * Makes every process forget revoked credentials within a second. It only uses the database, because NATS may be
 * down. A process that can't read the log doesn't trust its caches.
 */
export class Revocations {
  readonly #directory: Directory
  readonly #log: Logger
  readonly #listeners: Listener[] = []
  /** When each cell's log was last read, by the monotonic clock. */
  readonly #readAt = new Map<string, number>()
  /** The same by the cell's clock, and the last break in its event log. */
  readonly #lastRead = new Map<string, { readAt: number; breakNo: number }>()
  readonly #reading = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(directory: Directory, log: Logger) {
    this.#directory = directory
    this.#log = log
    directory.onReaddress((cell) => {
      this.#readAt.delete(cell.id)
      this.#lastRead.delete(cell.id)
      this.#notify(EVERYTHING)
    })
  }

  start(): void {
    const readAll = () => {
      for (const cell of this.#directory.cells()) void this.#read(cell)
    }
    readAll()
    this.#timer = setInterval(readAll, READ_MS)
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** Whether cached data of this cell's apps may be used. */
  trusted(cell: Cell): boolean {
    const readAt = this.#readAt.get(cell.id)
    return readAt !== undefined && performance.now() - readAt < TRUST_MS
  }

  /** Records revocations in the transaction of the change. This process forgets the credentials after the commit. */
  async revoke(
    tx: Tx,
    { appNo, kind }: Pick<Revocation, 'appNo' | 'kind'>,
    ...ids: string[]
  ): Promise<void> {
    await insertRevocations.run(tx, { appNo, kind, ids })
    tx.afterCommit(() => {
      for (const id of ids) this.#notify({ appNo, kind, id })
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #notify(revoked: Revocation | typeof EVERYTHING): void {
    for (const listener of this.#listeners) listener(revoked)
  }

  async #read(cell: Cell): Promise<void> {
    if (this.#reading.has(cell.id)) return
    this.#reading.add(cell.id)
    const startedAt = performance.now()
    const { db } = cell
    try {
      const rows = await listRevocations.many(db, {})
      // The cell has a new address meanwhile.
      if (cell.db !== db) return
      const readAt = rows[0]?.read_at.getTime() ?? 0
      const breakNo = rows[0]?.break_no ?? 0
      const last = this.#lastRead.get(cell.id)
      if (last && (readAt - last.readAt > MISSED_MS || breakNo !== last.breakNo)) {
        this.#notify(EVERYTHING)
      }
      for (const { app_no: appNo, kind, id } of rows) {
        if (appNo !== null && kind !== null && id !== null) this.#notify({ appNo, kind, id })
      }
      this.#lastRead.set(cell.id, { readAt, breakNo })
      this.#readAt.set(cell.id, startedAt)
    } catch (error) {
      this.#log.warn({ err: error, cell: cell.id }, "couldn't read the revocation log")
    } finally {
      this.#reading.delete(cell.id)
    }
  }
}
