import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { seeded } from '../../test/seed.ts'
import { OutboxProgress, type Step } from './outbox-progress.ts'

interface Transaction {
  xid: number
  ids: number[]
}

/** How far the sequencer is in a step. Anything else can happen between two stages. */
type Stage =
  | { at: 'start' }
  | { at: 'last read'; last: number }
  | { at: 'step' }
  | { at: 'horizon read'; horizon: number }
  | { at: 'looked'; step: Step; complete: boolean }
  | { at: 'to stamp' }

/** An outbox with its writers, and a sequencer that advances one statement at a time. */
class Outbox {
  readonly committed = new Set<number>()
  /** The highest id that had been drawn when an id was committed. */
  readonly drawnBefore = new Map<number, number>()
  readonly taken: number[] = []
  readonly #rows = new Set<number>()
  readonly #open: Transaction[] = []
  #lastId = 0
  #nextXid = 1
  #stage: Stage = { at: 'start' }
  progress = new OutboxProgress(0, 0)

  begin(): void {
    this.#open.push({ xid: this.#nextXid++, ids: [] })
  }

  insert(nth: number, rows: number): void {
    const transaction = this.#open[nth % this.#open.length]
    for (let row = 0; row < rows; row++) transaction?.ids.push(++this.#lastId)
  }

  end(nth: number, commits: boolean): void {
    const [transaction] = this.#open.splice(nth % (this.#open.length || 1), 1)
    for (const id of (commits && transaction?.ids) || []) {
      this.committed.add(id)
      this.drawnBefore.set(id, this.#lastId)
      this.#rows.add(id)
    }
  }

  skipIds(count: number): void {
    this.#lastId += count
  }

  restart(): void {
    this.#stage = { at: 'start' }
  }

  proceed(limit: number): void {
    this.#stage = this.#next(limit)
  }

  /** Ends every transaction, and runs the sequencer until there is nothing left to do. */
  finish(): void {
    while (this.#open.length > 0) this.end(0, true)
    const statements = 10 * (this.committed.size + 10)
    for (let done = 0; done < statements; done++) this.proceed(3)
  }

  #next(limit: number): Stage {
    const stage = this.#stage
    switch (stage.at) {
      case 'start':
        return { at: 'last read', last: this.#lastId }
      case 'last read':
        this.progress = new OutboxProgress(stage.last, this.#nextXid++)
        return { at: 'step' }
      case 'step':
        return { at: 'horizon read', horizon: this.#horizon() }
      case 'horizon read': {
        const taken = this.#take(limit)
        const complete = taken.length < limit
        return { at: 'looked', step: { taken, horizon: stage.horizon }, complete }
      }
      case 'looked': {
        const verdict = this.progress.record(stage.step, stage.complete)
        if (verdict === 'start over') return { at: 'start' }
        return { at: verdict === 'stamp' ? 'to stamp' : 'step' }
      }
      case 'to stamp':
        this.progress.stamp(this.#nextXid++)
        return { at: 'step' }
    }
  }

  #horizon(): number {
    return Math.min(this.#nextXid, ...this.#open.map(({ xid }) => xid))
  }

  /** Reads rows as sequence_events does: three ranges, each in order, with one limit for all. */
  #take(limit: number): number[] {
    const { from, old, after, gaps } = this.progress.ranges
    const rows = [...this.#rows]
    const seen = [
      ...rows.filter((id) => old !== null && id > from && id <= old),
      ...gaps.filter((id) => this.#rows.has(id)),
      ...rows.filter((id) => after !== null && id > after),
    ]
    const taken = seen.toSorted((a, b) => a - b).slice(0, limit)
    for (const id of taken) this.#rows.delete(id)
    this.taken.push(...taken)
    return taken
  }
}

const nth = fc.nat(5)
const action = fc.oneof(
  { weight: 4, arbitrary: fc.constant((outbox: Outbox) => outbox.begin()) },
  {
    weight: 6,
    arbitrary: fc.tuple(nth, fc.integer({ min: 1, max: 3 })).map(
      ([which, rows]) =>
        (outbox: Outbox) =>
          outbox.insert(which, rows),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(nth, fc.boolean()).map(
      ([which, commits]) =>
        (outbox: Outbox) =>
          outbox.end(which, commits),
    ),
  },
  {
    weight: 20,
    arbitrary: fc
      .integer({ min: 1, max: 4 })
      .map((limit) => (outbox: Outbox) => outbox.proceed(limit)),
  },
  { weight: 1, arbitrary: fc.constant((outbox: Outbox) => outbox.restart()) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(1, 50, 20_000)
      .map((count) => (outbox: Outbox) => outbox.skipIds(count)),
  },
)

suite('outbox progress', () => {
  test('moves every committed id exactly once, and never before an id that it may depend on', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 150, size: 'max' }), (actions) => {
        const outbox = new Outbox()
        for (const act of actions) act(outbox)
        outbox.finish()
        assert.deepEqual(
          outbox.taken.toSorted((a, b) => a - b),
          [...outbox.committed].toSorted((a, b) => a - b),
        )
        for (const [nth, id] of outbox.taken.entries()) {
          const overtaken = outbox.taken.findIndex(
            (later) => later > (outbox.drawnBefore.get(id) ?? 0),
          )
          assert.ok(overtaken < 0 || overtaken > nth, `${id} was overtaken`)
        }
        assert.deepEqual(outbox.progress.ranges.gaps, [])
        assert.equal(outbox.progress.ranges.old, null)
      }),
      { numRuns: 3_000, ...seeded },
    )
  })

  test('watches a gap until every transaction that could own it has ended', () => {
    const progress = new OutboxProgress(0, 10)
    assert.equal(progress.record({ taken: [1, 4], horizon: 11 }, true), 'stamp')
    progress.stamp(20)
    assert.deepEqual(progress.ranges.gaps, [2, 3])
    progress.record({ taken: [3], horizon: 20 }, true)
    assert.deepEqual(progress.ranges.gaps, [2])
    progress.record({ taken: [], horizon: 21 }, true)
    assert.deepEqual(progress.ranges.gaps, [])
  })

  test('a gap without a stamp is watched, whatever the horizon', () => {
    const progress = new OutboxProgress(0, 10)
    progress.record({ taken: [2], horizon: 1_000 }, true)
    assert.deepEqual(progress.ranges.gaps, [1])
  })

  test('a step that hit its limit proves nothing about the remaining rows', () => {
    const progress = new OutboxProgress(0, 10)
    progress.record({ taken: [2], horizon: 10 }, true)
    progress.stamp(20)
    progress.record({ taken: [3, 4], horizon: 30 }, false)
    assert.deepEqual(progress.ranges, { from: 0, old: 0, after: 4, gaps: [1] })
    progress.record({ taken: [], horizon: 30 }, true)
    assert.deepEqual(progress.ranges, { from: 0, old: null, after: 4, gaps: [] })
  })

  test('old rows are read in one pass before new ones, and settled by a complete step', () => {
    const progress = new OutboxProgress(9, 10)
    progress.record({ taken: [4, 5], horizon: 30 }, false)
    assert.deepEqual(progress.ranges, { from: 5, old: 9, after: null, gaps: [] })
    progress.record({ taken: [8], horizon: 30 }, true)
    assert.deepEqual(progress.ranges, { from: 0, old: 9, after: 9, gaps: [] })
    progress.record({ taken: [2], horizon: 30 }, true)
    assert.deepEqual(progress.ranges, { from: 0, old: null, after: 9, gaps: [] })
  })

  test('a jump of the sequence starts over instead of watching every skipped id', () => {
    const progress = new OutboxProgress(0, 10)
    assert.equal(progress.record({ taken: [10_000_000], horizon: 11 }, true), 'start over')
  })
})
