import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  FairSlots,
  isLight,
  LaneFull,
  LaneSlow,
  type Slot,
  type SlotsOptions,
  type Work,
} from './slots.ts'

const A = 1
const B = 2

/** Slots, and the order in which work started. */
function open(options: Partial<SlotsOptions> = {}) {
  const slots = new FairSlots({ size: 8, queue: 100, ...options })
  const running: { name: string; slot: Slot }[] = []
  const refused: string[] = []
  const enter = (name: string, app: number, more: Partial<Work> = {}) => {
    const work = { app, weight: isLight, last: false, perApp: 100, ...more }
    try {
      const { slot, started, giveUp } = slots.enter(work)
      if (slot) running.push({ name, slot })
      started?.then(
        (own) => running.push({ name, slot: own }),
        () => refused.push(name),
      )
      return giveUp
    } catch (error) {
      assert.ok(error instanceof LaneFull)
      refused.push(name)
      return () => {}
    }
  }
  const many = (count: number, name: string, app: number, more: Partial<Work> = {}) => {
    for (let n = 1; n <= count; n++) enter(`${name}${n}`, app, more)
  }
  const names = () => running.map(({ name }) => name)
  const end = async (name: string) => {
    const [ended] = running.splice(names().indexOf(name), 1)
    ended?.slot.leave()
    await setImmediate()
  }
  return { slots, enter, many, names, end, refused }
}

suite('slots', () => {
  test('an app alone has three quarters, and the next app starts at once', async () => {
    const { many, enter, names, slots } = open()
    many(20, 'a', A)
    assert.equal(names().length, 6)
    assert.equal(slots.waiting, 14)
    enter('b', B)
    assert.equal(names().at(-1), 'b')
  })

  test('heavy work of an app stays within its equal share while others have work', async () => {
    const { many, enter, names } = open({ size: 16 })
    enter('b', B)
    many(10, 'a', A, { weight: () => 4 })
    assert.deepEqual(names(), ['b', 'a1', 'a2'])
  })

  test('heavy work of a restrained app runs one at a time, and light work goes on', async () => {
    let restrained = true
    const heavy = { weight: () => 2 }
    const { many, names, end } = open({ size: 16, restrains: () => restrained })
    many(5, 'a', A, heavy)
    many(2, 'b', B, heavy)
    many(3, 'c', 3)
    assert.deepEqual(names(), ['a1', 'b1', 'c1', 'c2', 'c3'])
    await end('a1')
    assert.deepEqual(names(), ['b1', 'c1', 'c2', 'c3', 'a2'])
    restrained = false
    await end('b1')
    assert.deepEqual(names(), ['c1', 'c2', 'c3', 'a2', 'b2', 'a3', 'a4'])
  })

  test('light work passes heavy work that waits, and keeps its own order', async () => {
    const heavy = { weight: () => 2 }
    const { many, enter, names, end } = open({ size: 8, restrains: () => true })
    many(3, 'heavy', A, heavy)
    many(7, 'light', A)
    assert.deepEqual(names(), ['heavy1', 'light1', 'light2', 'light3', 'light4'])
    enter('late', A)
    await end('light2')
    assert.deepEqual(names().slice(-1), ['light5'])
    await end('heavy1')
    assert.deepEqual(names().slice(-2), ['light6', 'light7'])
    for (const n of [1, 3, 4, 5, 6, 7]) await end(`light${n}`)
    assert.deepEqual(names(), ['late'])
    await end('late')
    assert.deepEqual(names(), ['heavy2'])
  })

  test('work that turns out to be heavy while it waits takes the slots of heavy work', async () => {
    let weight = 1
    const { many, names, end } = open({ size: 8 })
    many(10, 'a', A, { weight: () => weight })
    assert.equal(names().length, 6)
    weight = 4
    for (const n of [1, 2, 3]) await end(`a${n}`)
    assert.deepEqual(names(), ['a4', 'a5', 'a6', 'a7'])
  })

  test('light work of several apps shares what is free', () => {
    const { many, names } = open()
    many(1, 'b', B)
    many(1, 'c', 3)
    many(6, 'a', A)
    assert.deepEqual(names(), ['b1', 'c1', 'a1', 'a2', 'a3', 'a4'])
  })

  test('an app never has more than its own limit', async () => {
    const { many, names, end } = open()
    many(5, 'a', A, { perApp: 2 })
    assert.deepEqual(names(), ['a1', 'a2'])
    await end('a1')
    assert.deepEqual(names(), ['a2', 'a3'])
  })

  test('apps that wait take turns', async () => {
    const { many, names, end } = open({ size: 4 })
    many(10, 'a', A)
    many(5, 'b', B)
    assert.deepEqual(names(), ['a1', 'a2', 'a3', 'b1'])
    await end('a1')
    await end('a2')
    await end('b1')
    assert.deepEqual(names(), ['a3', 'b2', 'a4', 'b3'])
  })

  test('lists wait behind the other work of their app, and only half as many', async () => {
    const { many, enter, names, end, refused } = open({ size: 1, queue: 6 })
    many(5, 'list', A, { last: true })
    enter('get', A)
    assert.deepEqual(refused, ['list5'])
    await end('list1')
    assert.deepEqual(names(), ['get'])
  })

  test('an app that fills the queue keeps no other app out of it', () => {
    const { many, enter, refused, slots } = open({ size: 1, queue: 10 })
    many(12, 'a', A)
    assert.deepEqual(refused, ['a12'])
    many(6, 'b', B)
    assert.deepEqual(refused, ['a12', 'b6'])
    assert.equal(slots.waiting, 15)
    enter('c', 3)
    assert.equal(slots.waiting, 16)
  })

  test('work that gives up leaves its place to the next', async () => {
    const { enter, names, end, refused, slots } = open({ size: 1 })
    enter('a1', A)
    const giveUp = enter('a2', A)
    enter('a3', A)
    giveUp(new Error('gone'))
    await setImmediate()
    assert.deepEqual(refused, ['a2'])
    await end('a1')
    assert.deepEqual(names(), ['a3'])
    await end('a3')
    assert.deepEqual([slots.used, slots.waiting], [0, 0])
  })

  test('work that waits for too long is refused', async () => {
    const slots = new FairSlots({ size: 1, queue: 10, patienceMs: 1 })
    const work = { app: A, weight: isLight, last: false, perApp: 1 }
    slots.enter(work)
    await assert.rejects(async () => slots.enter(work).started, LaneSlow)
    assert.equal(slots.waiting, 0)
  })
})
