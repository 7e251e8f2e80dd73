/** The weight of work that ends soon. */
export const LIGHT = 1
export const isLight = () => LIGHT

/** An app alone may use this share of all slots, so that the next app doesn't have to wait. */
const ALONE = 3 / 4

/** Work that wants to start. */
export interface Work {
  app: number
  /** The slots that it takes if it starts now: more for work that takes long. */
  weight(): number
  /** It waits behind other work of its app, and is refused first. */
  last: boolean
  /** The most slots of its app. */
  perApp: number
}

export interface SlotsOptions {
  /** Slots in use at the same time, by all apps together. */
  size: number
  /** Work that may wait. Apps share this number. */
  queue: number
  /** How long work may wait, in milliseconds. By default as long as it takes. */
  patienceMs?: number
  /** Whether an app may run no more than one piece of heavy work now. */
  restrains?: (app: number) => boolean
}

/** The app has too much work of this kind already. */
export class LaneFull extends Error {}

/** The work has waited for too long. */
export class LaneSlow extends Error {}

/** What one app uses of the slots. */
interface Lane {
  app: number
  used: number
  /** Work that waits, in order; then the work that is `last`. */
  waiting: [Waiter[], Waiter[]]
}

interface Waiter {
  work: Work
  start(slot: Slot): void
}

/** Slots that a piece of work uses. */
export interface Slot {
  /** Frees them. Call it once. */
  leave(): void
}

/** Work that may have to wait for its slots. */
export interface Entry {
  slot: Slot | undefined
  /** Only if it has to wait. Fails with `LaneSlow` if that takes too long. */
  started?: Promise<Slot>
  /** Stops waiting, with this error. */
  giveUp(error: Error): void
}

/**
 * Slots that apps share. Each app has a lane: its work that runs and its work that waits.
 *
 * Work starts at once while slots are free: light work until three quarters are in use, heavier work within the app's
 * equal share, and the first work of an app in any case. Heavy work of a restrained app starts only when it has nothing
 * else under way; light work passes it. Nothing that runs is interrupted, so some slots stay free for the next app.
 * Lanes with waiting work take turns. If too much of an app waits, more is refused.
 */
export class FairSlots {
  readonly #options: SlotsOptions
  /** Of apps with work. */
  readonly #lanes = new Map<number, Lane>()
  /** Lanes with waiting work. The first one is next. */
  readonly #turns = new Set<Lane>()
  #used = 0
  #waiting = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  get used(): number {
    return this.#used
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Throws `LaneFull` if too much of the app waits already. */
  enter(work: Work): Entry {
    const lane = this.#laneOf(work.app)
    if (mayPass(lane, work) && this.#mayStart(lane, work)) {
      return { slot: this.#start(lane, work), giveUp: () => {} }
    }
    return this.#wait(lane, work)
  }

  /** Runs work in its slots. */
  async run<T>(work: Work, act: () => Promise<T>): Promise<T> {
    const { slot, started } = this.enter(work)
    const own = slot ?? (await started)
    try {
      return await act()
    } finally {
      own?.leave()
    }
  }

  #laneOf(app: number): Lane {
    const known = this.#lanes.get(app)
    if (known) return known
    const lane: Lane = { app, used: 0, waiting: [[], []] }
    this.#lanes.set(app, lane)
    return lane
  }

  #mayStart({ app, used }: Lane, { weight, perApp }: Work): boolean {
    const { size, restrains } = this.#options
    if (this.#used >= size) return false
    if (used === 0) return true
    if (used >= perApp) return false
    const heavy = weight() > LIGHT
    if (heavy && restrains?.(app)) return false
    const apps = this.#lanes.size
    if (this.#used < size * ALONE && (apps === 1 || !heavy)) return true
    return apps > 1 && used < size / apps
  }

  #start(lane: Lane, work: Work): Slot {
    const weight = work.weight()
    lane.used += weight
    this.#used += weight
    return {
      leave: () => {
        lane.used -= weight
        this.#used -= weight
        this.#forget(lane)
        if (this.#waiting > 0) this.#startWaiting()
      },
    }
  }

  #wait(lane: Lane, work: Work): Entry {
    const { queue, patienceMs } = this.#options
    const apps = this.#turns.size + (this.#turns.has(lane) ? 0 : 1)
    if (countOf(lane) >= (queue / apps) * (work.last ? 0.5 : 1)) {
      this.#forget(lane)
      throw new LaneFull()
    }
    const { promise, resolve, reject } = Promise.withResolvers<Slot>()
    const list = lane.waiting[work.last ? 1 : 0]
    const giveUp = (error: Error) => {
      const place = list.indexOf(waiter)
      if (place < 0) return
      list.splice(place, 1)
      clearTimeout(timer)
      this.#left(lane)
      reject(error)
    }
    const timer = patienceMs && setTimeout(() => giveUp(new LaneSlow()), patienceMs)
    const waiter: Waiter = {
      work,
      start: (slot) => {
        clearTimeout(timer)
        resolve(slot)
      },
    }
    list.push(waiter)
    this.#waiting++
    this.#turns.add(lane)
    return { slot: undefined, started: promise, giveUp }
  }

  /** Starts what may start, one piece of each lane in turn. */
  #startWaiting(): void {
    for (let started = true; started; ) {
      started = false
      for (const lane of [...this.#turns]) {
        const next = firstOf(lane, ({ work }) => this.#mayStart(lane, work))
        if (!next) continue
        const { list, at, waiter } = next
        list.splice(at, 1)
        // Its next turn comes after all others.
        this.#turns.delete(lane)
        if (countOf(lane) > 0) this.#turns.add(lane)
        this.#waiting--
        waiter.start(this.#start(lane, waiter.work))
        started = true
      }
      if (this.#used >= this.#options.size) return
    }
  }

  /** A piece of work has stopped waiting. */
  #left(lane: Lane): void {
    this.#waiting--
    if (countOf(lane) === 0) this.#turns.delete(lane)
    this.#forget(lane)
  }

  #forget(lane: Lane): void {
    if (lane.used === 0 && countOf(lane) === 0) this.#lanes.delete(lane.app)
  }
}

/** Light work doesn't wait behind heavy work, which may have to wait long while slots are free. */
const mayPass = ({ waiting }: Lane, { weight }: Work) =>
  waiting.every(([first]) => !first || first.work.weight() > LIGHT) &&
  (waiting.every(({ length }) => length === 0) || weight() === LIGHT)

/** The first waiting work that may start, or else the first light work behind it. */
function firstOf({ waiting }: Lane, mayStart: (waiter: Waiter) => boolean) {
  for (const list of waiting) {
    const [first] = list
    if (!first) continue
    if (mayStart(first)) return { list, at: 0, waiter: first }
    if (first.work.weight() === LIGHT) return undefined
    const at = list.findIndex(({ work }) => work.weight() === LIGHT)
    const waiter = list[at]
    if (waiter && mayStart(waiter)) return { list, at, waiter }
  }
  return undefined
}

const countOf = ({ waiting: [first, last] }: Lane) => first.length + last.length
