/** What one call of sequence_events did. */
export interface Step {
  /** Ids of the rows it moved, in order. */
  taken: number[]
  /** Every transaction with an id below had ended before the rows were looked for. */
  horizon: number
}

/** Where to look for rows: ids above `from` up to `old`, those in `gaps`, and above `after`. */
export interface Places {
  from: number
  old: number | null
  after: number | null
  gaps: number[]
}

/** A jump this wide is no set of open transactions: somebody moved the sequence. */
const WIDEST_GAP = 10_000

/**
 * Where the sequencer must look for rows. Ids are drawn in order but commit in any order, so an id
 * that was passed over may still appear, unless its transaction was rolled back. Nobody says which:
 * a gap is watched until every transaction that could own it has ended.
 *
 * What decides that is a stamp: a transaction id drawn after the gap was seen. A transaction gets
 * its own id before it draws row ids (trigger on outbox), so the owner's id is below the stamp; once
 * the horizon has passed the stamp and the row is still not there, it never will be.
 */
export class OutboxProgress {
  /** Ids up to here may have been left by whoever sequenced before us; null once that is settled. */
  #old: number | null
  #oldStamp: number
  /** How far this pass over the old ids has come; 0 between passes. */
  #from = 0
  /** Nothing above this id has been taken. */
  #after: number
  /** Ids not above #after that were not seen yet, with their stamps (undefined: not stamped yet). */
  readonly #gaps = new Map<number, number | undefined>()

  /** `last` is the highest id drawn so far; `stamp` a transaction id drawn after reading it. */
  constructor(last: number, stamp: number) {
    this.#old = last
    this.#oldStamp = stamp
    this.#after = last
  }

  /**
   * Where the next step looks. A backlog longer than a step is passed once, not again from its
   * beginning for each step; what commits behind is found by the next pass. Until the end of a pass
   * nothing newer is looked at: it could overtake an event that it follows.
   */
  get places(): Places {
    const passing = this.#from > 0
    return {
      from: this.#from,
      old: this.#old,
      after: passing ? null : this.#after,
      gaps: passing ? [] : [...this.#gaps.keys()],
    }
  }

  /**
   * Takes note of a step. `complete` says that the step took everything it saw: a step that hit
   * its limit proves nothing about the rows it left.
   */
  record({ taken, horizon }: Step, complete: boolean): 'go on' | 'stamp' | 'start over' {
    let unstamped = false
    for (const id of taken) {
      this.#gaps.delete(id)
      if (id <= this.#after) continue
      if (id - this.#after > WIDEST_GAP) return 'start over'
      for (let gap = this.#after + 1; gap < id; gap++) {
        this.#gaps.set(gap, undefined)
        unstamped = true
      }
      this.#after = id
    }
    if (complete && this.#from === 0) this.#settle(horizon)
    this.#pass(taken, complete)
    return unstamped ? 'stamp' : 'go on'
  }

  /** Stamps the gaps of the last step with a transaction id drawn after it. */
  stamp(xid: number): void {
    for (const [id, stamp] of this.#gaps) if (stamp === undefined) this.#gaps.set(id, xid)
  }

  #settle(horizon: number): void {
    for (const [id, stamp] of this.#gaps) {
      if (stamp !== undefined && stamp < horizon) this.#gaps.delete(id)
    }
    if (this.#oldStamp < horizon) this.#old = null
  }

  #pass(taken: number[], complete: boolean): void {
    const last = taken.at(-1)
    const within = this.#old !== null && last !== undefined && last <= this.#old
    this.#from = within && !complete ? last : 0
  }
}
