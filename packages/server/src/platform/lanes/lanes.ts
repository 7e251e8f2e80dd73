import type { Counter } from '@opentelemetry/api'
import type { Bus } from '../bus/bus.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { Costs } from './costs.ts'
import { Peers } from './peers.ts'
import { RecentUse } from './recent.ts'
import { type Entry, FairSlots, LaneFull, LaneSlow } from './slots.ts'

/** What a request does, in the order in which overload refuses it: lists first. Sends have a queue of their own. */
export type WorkClass = 'list' | 'read' | 'write' | 'frame'

export interface LaneWork {
  cellId: string
  app: number
  class: WorkClass
  /** What is measured together. */
  operation: string
  /** The most slots of the app, in all processes together. */
  perApp: number
}

export interface LanesOptions {
  bus: Bus
  metrics: Metrics
  /** Connections of this process to a cell: for reads, and for everything else. */
  readPoolSize: number
  poolSize: number
  /** How long work may wait. */
  patienceMs: number
  /** Whether this process has hardly any time left. */
  isBusy: () => boolean
}

/** Work that may wait for a cell in this process. */
const QUEUE = 512
/** Writes leave the other connections to sends and to the process itself. */
const WRITES = 3 / 4

interface CellSlots {
  reads: FairSlots
  writes: FairSlots
  recent: RecentUse
  peers: Peers | undefined
}

/** Admits the requests of all apps to the cells, so that no app takes what the others need. */
export class Lanes {
  readonly #options: LanesOptions
  readonly #cells = new Map<string, CellSlots>()
  readonly #costs = new Costs()
  readonly #queued: Counter
  readonly #refused: Counter
  /** Reads that were cancelled, by class and reason. */
  readonly cancelled: Counter
  #shared = false

  constructor(options: LanesOptions) {
    this.#options = options
    const { metrics } = options
    this.#queued = metrics.counter(
      'loquat_lane_queued_total',
      'Requests that waited because their app or the cell was busy, by class and cell.',
    )
    this.#refused = metrics.counter(
      'loquat_lane_refused_total',
      'Requests that were refused because too many of their app were waiting, or because they waited too long, by class and cell.',
    )
    this.cancelled = metrics.counter(
      'loquat_reads_cancelled_total',
      'Reads that were cancelled, by class and reason: "late" or "gone" (the client left).',
    )
    metrics.gauge('loquat_lane_slots', 'Slots by cell, kind and state: used or waiting.', () =>
      [...this.#cells].flatMap(([cell, slots]) =>
        (['reads', 'writes'] as const).flatMap(
          (kind): [number, { cell: string; kind: string; state: string }][] => [
            [slots[kind].used, { cell, kind, state: 'used' }],
            [slots[kind].waiting, { cell, kind, state: 'waiting' }],
          ],
        ),
      ),
    )
  }

  /** This process is one of those that share the limits of apps. */
  share(): void {
    this.#shared = true
  }

  /** Admits work, at once or later. Throws `LaneFull` if the app has too much work already, or fails with `LaneSlow`. */
  enter(work: LaneWork): Admission {
    const { cellId, app, operation, perApp } = work
    const slots = this.#slotsOf(cellId)
    slots.recent.add(app)
    const kind = `${app} ${operation}`
    const peers = slots.peers?.count ?? 1
    const isRead = work.class === 'list' || work.class === 'read'
    const labels = { class: work.class, cell: cellId }
    try {
      const entry = slots[isRead ? 'reads' : 'writes'].enter({
        app,
        weight: () => this.#costs.weightOf(kind, isRead ? 'read' : 'write'),
        last: work.class === 'list',
        perApp: Math.max(1, Math.ceil(perApp / peers)),
      })
      if (entry.started) {
        this.#queued.add(1, labels)
        entry.started.catch((error) => {
          if (error instanceof LaneSlow) this.#refused.add(1, labels)
        })
      }
      return new Admission(entry, (ms, bytes) => this.#costs.add(kind, ms, bytes))
    } catch (error) {
      if (error instanceof LaneFull) this.#refused.add(1, labels)
      throw error
    }
  }

  /** An app uses a cell. Others notice it, even if its request needs no slots. */
  note(cellId: string, app: number): void {
    this.#slotsOf(cellId).recent.add(app)
  }

  /** How much work waits for a cell here. */
  waiting(cellId: string): number {
    const { reads, writes } = this.#slotsOf(cellId)
    return reads.waiting + writes.waiting
  }

  /** Admits work, waits for its slots, and frees them after it. */
  async run<T>(work: LaneWork, act: () => Promise<T>): Promise<T> {
    const admission = this.enter(work)
    await admission.started
    try {
      return await act()
    } finally {
      admission.leave()
    }
  }

  close(): void {
    for (const { peers } of this.#cells.values()) peers?.close()
  }

  #slotsOf(cellId: string): CellSlots {
    const known = this.#cells.get(cellId)
    if (known) return known
    const { bus, readPoolSize, poolSize, patienceMs, isBusy } = this.#options
    const recent = new RecentUse()
    const common = { queue: QUEUE, patienceMs, restrains: isBusy }
    const restrains = (app: number) => isBusy() || recent.byOthersThan(app)
    const slots = {
      recent,
      reads: new FairSlots({ size: readPoolSize, ...common, restrains }),
      writes: new FairSlots({ size: Math.max(1, Math.floor(poolSize * WRITES)), ...common }),
      peers: this.#shared ? new Peers(bus, `lanes.${cellId}`) : undefined,
    }
    this.#cells.set(cellId, slots)
    return slots
  }
}

/** The slots of a request. */
export class Admission {
  /** Only if it has to wait. */
  readonly started: Promise<void> | undefined
  readonly #entry: Entry
  readonly #measure: (milliseconds: number, bytes: number) => void
  #since = performance.now()

  constructor(entry: Entry, measure: (milliseconds: number, bytes: number) => void) {
    this.#entry = entry
    this.#measure = measure
    this.started = entry.started?.then((slot) => {
      entry.slot = slot
      this.#since = performance.now()
    })
  }

  /** Stops waiting, with this error. */
  giveUp(error: Error): void {
    this.#entry.giveUp(error)
  }

  /** Frees the slots, if it has any. The answer has so many bytes. */
  leave(bytes = 0): void {
    const { slot } = this.#entry
    if (!slot) return
    this.#entry.slot = undefined
    this.#measure(performance.now() - this.#since, bytes)
    slot.leave()
  }
}
