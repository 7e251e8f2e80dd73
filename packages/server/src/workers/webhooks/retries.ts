import type { Cell } from '../../platform/cells/directory.ts'
import { listBacklog, listParkedKeys } from './queries.ts'
import { MAX_RETRIES, retryDelay } from './retry-schedule.ts'
import { MAX_CALLS, type Sender } from './sender.ts'

/** What is left of an event in the log after an erasure. Webhooks don't get it. */
const ERASED = 'event.erased'
/** Backlog events of one order key that are sent in one go. */
const BATCH = 20

/**
 * Retries failed events of one webhook. After a failure, the event's order key is parked: its events wait in the
 * backlog, in order, until the key's `retry_at`. See retry-schedule.ts for the delays.
 */
export class Retries {
  readonly #cell: Cell
  readonly #sender: Sender
  /** Runs work concurrently with the delivery's loop. */
  readonly #start: (work: () => Promise<void>) => void
  /** Order keys that are being retried. */
  readonly #active = new Set<string>()

  constructor(cell: Cell, sender: Sender, start: (work: () => Promise<void>) => void) {
    this.#cell = cell
    this.#sender = sender
    this.#start = start
  }

  /** Starts to retry the parked keys that are due. */
  async startDue(): Promise<void> {
    if (!this.#sender.retryDue || this.#active.size >= MAX_CALLS) return
    const { app_no: appNo, no } = this.#sender.webhook
    const limit = MAX_CALLS + this.#active.size
    const keys = await listParkedKeys.many(this.#cell.db, { appNo, no, all: false, limit })
    if (keys.length < limit) this.#sender.retryDue = false
    for (const { key, tries } of keys) this.#retry(key, tries)
  }

  /** Starts to retry the key that is due next, whether its time has come or not. Returns whether there is one. */
  async startNext(): Promise<boolean> {
    const { app_no: appNo, no } = this.#sender.webhook
    const params = { appNo, no, all: true, limit: 1 }
    const [parked] = await listParkedKeys.many(this.#cell.db, params)
    if (parked) this.#retry(parked.key, parked.tries)
    return parked !== undefined
  }

  /** These keys may be retried again: what happened to them is in the database. */
  written(keys: Iterable<string>): void {
    for (const key of keys) this.#active.delete(key)
  }

  #retry(key: string, tries: number): void {
    if (this.#active.has(key)) return
    this.#active.add(key)
    this.#start(async () => {
      await this.#sendBacklog(key, tries)
      this.#sender.batch.retriedKeys.add(key)
    })
  }

  async #sendBacklog(key: string, triesBefore: number): Promise<void> {
    const sender = this.#sender
    const { app_no: appNo, no } = sender.webhook
    const limit = sender.breaker.probing ? 1 : BATCH
    const rows = await listBacklog.many(this.#cell.db, { appNo, no, key, limit })
    // The backlog is empty: only the key's own row is left to remove.
    if (rows.length === 0) sender.batch.done.push({ key, position: 0 })
    let tries = triesBefore
    for (const { position, type, payload } of rows) {
      if (!sender.maySend) return
      if (type === null || payload === null) {
        sender.batch.dead.push({ position, upto: position, type: null, reason: 'expired' })
      } else if (type !== ERASED) {
        const probe = sender.breaker.probing
        const delivered = await sender.send({ key, position, type, payload }, tries + 1)
        if (delivered === undefined) return
        const retry = sender.webhook.retry_on_failure && (probe || tries < MAX_RETRIES)
        if (!delivered && retry) {
          // A failed probe says something about the receiver, not about this key.
          if (!probe) sender.batch.parked.push({ key, tries: ++tries, seconds: retryDelay(tries) })
          return
        }
        if (!delivered) sender.giveUp({ position, type })
      }
      tries = 0
      sender.batch.done.push({ key, position })
    }
  }
}
