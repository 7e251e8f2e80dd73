import { randomUUID } from 'node:crypto'
import type { EventPayload } from '@loquat/protocol'
import type { ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { type Db, sqlState } from '../../platform/db/db.ts'
import { connectUsers, disconnectUsers, insertGateway, renewGateway } from './queries.ts'

const BEAT_MS = 1_000
/** A user who reconnects within this time was never offline. */
const GRACE_MS = 10_000
/**
 * A process that doesn't report for this long is declared dead: its users go offline unless they
 * are connected elsewhere.
 */
const EXPIRY_SECONDS = 15
/** Users written in one transaction: their rows stay locked for a few milliseconds. */
const BATCH = 500

/** The database's error code for a gateway that was declared dead. */
const GATEWAY_ENDED = 'LQ003'

/** What is reported about a device. */
export type Connection = NonNullable<EventPayload<'user.connection.changed'>['connection']>

/** A user with devices at this process, now or until just now. */
interface Present {
  key: string
  appNo: number
  uid: string
  devices: number
  /** When the last device left, by the monotonic clock. */
  leftAt: number
  /** The device that connected first or left last. */
  connection: Connection
}

export interface PresenceOptions {
  graceMs?: number
  expirySeconds?: number
}

/**
 * Reports to each cell, once a second, which users' devices came and went at this process. The cell
 * also knows who is connected elsewhere, and announces who came online or went offline
 * (db/cell/functions/presence.sql).
 */
export class Presence {
  readonly #deps: Pick<Deps, 'directory' | 'log'>
  readonly #cells = new Map<string, CellPresence>()
  readonly #graceMs: number
  readonly #expirySeconds: number
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined

  constructor(
    deps: Pick<Deps, 'directory' | 'log'>,
    { graceMs = GRACE_MS, expirySeconds = EXPIRY_SECONDS }: PresenceOptions = {},
  ) {
    this.#deps = deps
    this.#graceMs = graceMs
    this.#expirySeconds = expirySeconds
  }

  start(): void {
    this.#timer = setInterval(() => void this.beat(), BEAT_MS)
  }

  /** Registers a connected device. Returns the function to call once when it has left. */
  connect({ no, cell: { id } }: ServedApp, uid: string, connection: Connection): () => void {
    let cell = this.#cells.get(id)
    if (!cell) {
      cell = new CellPresence(this.#graceMs, this.#expirySeconds)
      this.#cells.set(id, cell)
    }
    return cell.connect(no, uid, connection)
  }

  /** Reports to all cells; an unreachable cell gets the report the next time. */
  async beat(): Promise<void> {
    this.#beating ??= this.#beatAll().finally(() => {
      this.#beating = undefined
    })
    await this.#beating
  }

  /** Users stay online for the grace time: they are about to reconnect elsewhere. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#beating
    await this.#everywhere((cell, db) => cell.leave(db))
  }

  #beatAll = () => this.#everywhere((cell, db) => cell.beat(db))

  async #everywhere(work: (cell: CellPresence, db: Db) => Promise<void>): Promise<void> {
    const { directory, log } = this.#deps
    const told = [...this.#cells].map(([id, cell]) =>
      work(cell, directory.cell(id).db).catch((error: Error) =>
        log.warn({ err: error, cell: id }, 'Could not report presence to a cell'),
      ),
    )
    await Promise.all(told)
  }
}

/** One cell's users with devices at this process. */
class CellPresence {
  readonly #graceMs: number
  readonly #expirySeconds: number
  readonly #present = new Map<string, Present>()
  /** Users who aren't reported to the cell yet. */
  #coming = new Set<Present>()
  /** Users without devices. */
  readonly #idle = new Set<Present>()
  /** Our gateway id at the cell; none until there is somebody to report. */
  #gateway: string | undefined

  constructor(graceMs: number, expirySeconds: number) {
    this.#graceMs = graceMs
    this.#expirySeconds = expirySeconds
  }

  connect(appNo: number, uid: string, connection: Connection): () => void {
    const key = `${appNo}:${uid}`
    let user = this.#present.get(key)
    if (!user) {
      user = { key, appNo, uid, devices: 0, leftAt: 0, connection }
      this.#present.set(key, user)
    }
    // Reported again if the cell had none: the user may have been deleted and created again
    // meanwhile.
    if (user.devices++ === 0) {
      this.#coming.add(user)
      user.connection = connection
    }
    this.#idle.delete(user)
    return () => this.#disconnect(user, connection)
  }

  #disconnect(user: Present, connection: Connection): void {
    if (--user.devices > 0) return
    user.connection = connection
    user.leftAt = performance.now()
    this.#idle.add(user)
  }

  async beat(db: Db): Promise<void> {
    if (this.#gateway !== undefined && !(await this.#renew(db, this.#gateway))) this.#startOver()
    if (this.#present.size === 0) return
    this.#gateway ??= await this.#register(db)
    try {
      await this.#tellComing(db, this.#gateway)
      await this.#tellGone(db, this.#gateway)
    } catch (error) {
      if (sqlState(error) !== GATEWAY_ENDED) throw error
      this.#startOver()
    }
  }

  async leave(db: Db): Promise<void> {
    if (this.#gateway === undefined) return
    await renewGateway.run(db, { gateway: this.#gateway, seconds: this.#graceMs / 1_000 })
  }

  async #register(db: Db): Promise<string> {
    const gateway = randomUUID()
    await insertGateway.run(db, { gateway, seconds: this.#expirySeconds })
    return gateway
  }

  async #renew(db: Db, gateway: string): Promise<boolean> {
    const renewal = { gateway, seconds: this.#expirySeconds }
    return (await renewGateway.maybeOne(db, renewal)) !== undefined
  }

  /** The cell has disconnected all our users, or is doing so. */
  #startOver(): void {
    this.#gateway = undefined
    this.#coming = new Set(this.#present.values())
  }

  async #tellComing(db: Db, gateway: string): Promise<void> {
    for (const users of batches(this.#coming)) {
      const told = users.map(({ appNo, uid, connection }) => ({ app_no: appNo, uid, connection }))
      await db.call((tx) => connectUsers.many(tx, { gateway, users: JSON.stringify(told) }))
      for (const user of users) this.#coming.delete(user)
    }
  }

  /** Users who came back meanwhile are reported the next time. */
  async #tellGone(db: Db, gateway: string): Promise<void> {
    const now = performance.now()
    const due = [...this.#idle].filter(({ leftAt }) => now - leftAt >= this.#graceMs)
    for (const users of batches(due)) {
      const told = users.map(({ appNo, uid, connection, leftAt }) => {
        return { app_no: appNo, uid, connection, idle: (now - leftAt) / 1_000 }
      })
      for (const user of users) this.#forget(user)
      try {
        await db.call((tx) => disconnectUsers.many(tx, { gateway, users: JSON.stringify(told) }))
      } catch (error) {
        for (const user of users) this.#recall(user)
        throw error
      }
    }
  }

  #forget(user: Present): void {
    this.#present.delete(user.key)
    this.#idle.delete(user)
  }

  /** The report may not have arrived: retried, unless the user is back. */
  #recall(user: Present): void {
    if (this.#present.has(user.key)) return
    this.#present.set(user.key, user)
    this.#idle.add(user)
  }
}

function* batches<T>(all: Iterable<T>): Generator<T[]> {
  const items = [...all]
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH)
}
