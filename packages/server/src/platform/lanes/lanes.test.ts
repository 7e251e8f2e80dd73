import assert from 'node:assert/strict'
import { after, mock, suite, test } from 'node:test'
import { useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { openMetrics } from '../metrics/metrics.ts'
import { Lanes } from './lanes.ts'

const server = useServer()

suite('lanes', () => {
  const metrics = openMetrics()
  after(() => metrics.close())

  const open = () =>
    new Lanes({
      ...{ bus: server.deps.bus, metrics, readPoolSize: 8, poolSize: 8, patienceMs: 60_000 },
      isBusy: () => false,
    })
  const work = (app: number, operation: string) =>
    ({ cellId: 'us-1', app, class: 'list', operation, perApp: 100 }) as const

  /** How many of an app's requests start at once. */
  function startAtOnce(lanes: Lanes, app: number, operation: string, more = {}): number {
    const one = { ...work(app, operation), ...more }
    const admissions = Array.from({ length: 10 }, () => lanes.enter(one))
    const started = admissions.filter((admission) => admission.started === undefined).length
    for (const admission of admissions) {
      admission.started?.catch(() => {})
      admission.giveUp(new Error('enough'))
    }
    for (const admission of admissions) admission.leave()
    return started
  }

  test('an operation with a long answer takes more slots, however quickly it ended', () => {
    const lanes = open()
    lanes.enter(work(1, 'listLong')).leave(1_000_000)
    lanes.enter(work(1, 'listShort')).leave(100_000)
    assert.equal(startAtOnce(lanes, 1, 'listLong'), 3)
    assert.equal(startAtOnce(lanes, 1, 'listShort'), 6)
    lanes.close()
  })

  test('an operation that took long takes more slots, for its app alone', () => {
    const lanes = open()
    let now = 0
    const clock = mock.method(performance, 'now', () => now)
    const slow = lanes.enter(work(1, 'listSlow'))
    now += 1_000
    slow.leave()
    clock.mock.restore()
    // Six of eight slots, of which it takes four each.
    assert.equal(startAtOnce(lanes, 1, 'listSlow'), 2)
    assert.equal(startAtOnce(lanes, 2, 'listSlow'), 6)
    assert.equal(startAtOnce(lanes, 1, 'listQuick'), 6)
    lanes.close()
  })

  /** Nothing takes any time. */
  const stopClock = () => mock.method(performance, 'now', () => 0)

  test('what was heavy stays so for a while, however quickly it ends alone', () => {
    const clock = stopClock()
    const lanes = open()
    lanes.enter(work(1, 'listLong')).leave(1_000_000)
    for (let n = 0; n < 10; n++) lanes.enter(work(1, 'listLong')).leave()
    assert.equal(startAtOnce(lanes, 1, 'listLong'), 3)
    for (let n = 0; n < 100; n++) lanes.enter(work(1, 'listLong')).leave()
    assert.equal(startAtOnce(lanes, 1, 'listLong'), 6)
    lanes.close()
    clock.mock.restore()
  })

  test('processes that share a cell divide the slots of an app among them', async () => {
    const [first, second] = [open(), open()]
    for (const lanes of [first, second]) lanes.share()
    const ofCell = { cellId: 'shared', perApp: 4 }
    const started = (lanes: Lanes) => {
      const clock = stopClock()
      const count = startAtOnce(lanes, 1, 'listShared', ofCell)
      clock.mock.restore()
      return count
    }
    assert.equal(started(first), 4)
    await until('each has half', () => started(second) === 2 && started(first) === 2)
    second.close()
    await until('the other one has left', () => started(first) === 4)
    first.close()
  })

  test('while another app uses the cell, heavy reads of an app run one at a time', () => {
    const clock = stopClock()
    const lanes = open()
    lanes.enter(work(1, 'listLong')).leave(1_000_000)
    lanes.note('us-2', 2)
    assert.equal(startAtOnce(lanes, 1, 'listLong'), 3)
    lanes.note('us-1', 2)
    assert.equal(startAtOnce(lanes, 1, 'listLong'), 1)
    assert.equal(startAtOnce(lanes, 1, 'listShort'), 6)
    lanes.close()
    clock.mock.restore()
  })
})
