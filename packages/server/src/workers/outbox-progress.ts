/** The result of one call of sequence_events. */
export interface Step {
  /** Ids of the rows that it moved to the log, in order. */
  taken: number[]
  /** Every transaction with a lower id had ended before the rows were read. */
  horizon: number
}

/** Which rows to read: ids above `from` up to `old`, ids in `gaps`, and ids above `after`. */
export interface IdRanges {
  from: number
  old: number | null
  after: number | null
  gaps: number[]
}

/** A gap wider than this doesn't come from open transactions: somebody moved the sequence. */
const WIDEST_GAP = 10_000

/**
 * Which ids of the outbox the sequencer still has to read. Ids are drawn in order but commit in any order, so a
 * skipped id may still appear, unless its transaction rolled back. PostgreSQL doesn't say which, so a gap is
 * watched until every transaction that could own it has ended.
 *
 * A stamp decides that: a transaction id drawn after the gap was seen. A transaction gets its own id before it draws
 * row ids (by the default of outbox.id), so the owner's id is below the stamp. Once the horizon has passed the stamp and
 * the row is still missing, it will never appear.
 */
export class OutboxProgress {
  /** The previous sequencer may have left rows up to this id. Null once none can be left. */
  #old: number | null
  #oldStamp: number
  /** The last id of the current pass over the old rows; 0 between passes. */
  #from = 0
  /** No row above this id has been moved. */
  #after: number
  /** Ids up to #after that were skipped, with their stamps (undefined: not stamped yet). */
  readonly #gaps = new Map<number, number | undefined>()

  /** `last` is the highest id drawn so far. `stamp` is a transaction id drawn after reading it. */
  constructor(last: number, stamp: number) {
    this.#old = last
    this.#oldStamp = stamp
    this.#after = last
  }

  /**
   * The ids that the next step reads. If the old rows don't fit into one step, each step continues where the last
   * one ended; rows that commit behind it are found by the next pass. Newer rows wait for the end of a pass, because
   * they could overtake an event that they depend on.
   */
  get ranges(): IdRanges {
    const passing = this.#from > 0
    return {
      from: this.#from,
      old: this.#old,
      after: passing ? null : this.#after,
      gaps: passing ? [] : [...this.#gaps.keys()],
    }
  }

  /**
   * Records the result of a step. `complete` means that the step moved every row it found. A step that hit its limit
   * proves nothing about the rows that it left.
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

  /** Stamps the new gaps with a transaction id drawn after the step that found them. */
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
