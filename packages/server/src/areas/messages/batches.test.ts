import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../../../test/seed.ts'
import { until } from '../../../test/until.ts'
import { drawFrom } from '../../fill/names.ts'
import { type Batched, Batches, type BatchesOptions, BUSY } from './batches.ts'

interface Item extends Batched {
  id: string
}

interface Call {
  ids: string[]
  patient: boolean
  /** Answers the call: every item gets its own id, except those that are listed as busy. */
  end(...busy: string[]): Promise<void>
  fail(error: Error): Promise<void>
}

const ROLLED_BACK = new Error('rolled back')
const CUT_OFF = new Error('connection terminated')

const item = (id: string, more: Partial<Item> = {}): Item => ({
  ...{ id, app: 1, conversation: id, keys: [], bytes: 100 },
  ...more,
})

const items = (count: number, prefix: string, more: Partial<Item> = {}) =>
  Array.from({ length: count }, (_, n) => item(`${prefix}${n}`, more))

/** The turn in which sends that arrived go out, and answers reach their callers. */
const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

/** Batches whose calls the test ends, in the order that it wants. */
function start() {
  const calls: Call[] = []
  const outcomes: string[] = []
  const options: BatchesOptions<Item, string> = {
    run(sent, patient) {
      const { promise, resolve, reject } = Promise.withResolvers<(string | typeof BUSY)[]>()
      const ids = sent.map(({ id }) => id)
      const end = (...busy: string[]) => {
        resolve(ids.map((id) => (busy.includes(id) ? BUSY : id)))
        return turn()
      }
      const fail = (error: Error) => {
        reject(error)
        return turn()
      }
      calls.push({ ids, patient, end, fail })
      return promise
    },
    isRolledBack: (error) => error === ROLLED_BACK,
    overloaded: () => new Error('overloaded'),
    patienceMs: 600_000,
  }
  const batches = new Batches(options)
  const send = (sent: Item) =>
    void batches.send(sent).then(
      (result) => outcomes.push(result),
      (error: Error) => outcomes.push(`${sent.id}: ${error.message}`),
    )
  return {
    ...{ batches, calls, options, outcomes },
    /** Sends these and waits for the turn in which they go out. */
    async send(...sent: Item[]) {
      sent.forEach(send)
      await turn()
    },
    /** Occupies both calls, so that everything that follows is queued. */
    async occupy(): Promise<[Call, Call]> {
      for (const id of ['x', 'y']) {
        send(item(id, { app: -1 }))
        await turn()
      }
      return [calls.shift(), calls.shift()] as [Call, Call]
    },
    idsOf: () => calls.map(({ ids }) => ids),
  }
}

suite('calls', () => {
  test('of an idle process have one message each', async () => {
    const { send, calls, outcomes, idsOf } = start()
    await send(item('a'))
    assert.deepEqual(idsOf(), [['a']])
    await send(item('b'))
    assert.deepEqual(idsOf(), [['a'], ['b']])
    await calls[0]?.end()
    await calls[1]?.end()
    assert.deepEqual(outcomes, ['a', 'b'])
  })

  test('take what arrived while two were under way', async () => {
    const { send, occupy, batches, idsOf } = start()
    const [first] = await occupy()
    await send(item('a'))
    await send(item('b'), item('c'))
    assert.deepEqual(idsOf(), [])
    assert.equal(batches.queued, 3)
    await first.end()
    assert.deepEqual(idsOf(), [['a', 'b', 'c']])
    assert.equal(batches.queued, 0)
  })

  test('have at most 64 messages', async () => {
    const { send, occupy, calls } = start()
    const [first, second] = await occupy()
    await send(...items(150, 'm'))
    await first.end()
    await second.end()
    await calls[0]?.end()
    assert.deepEqual(
      calls.map(({ ids }) => ids.length),
      [64, 64, 22],
    )
  })

  test('have at most a megabyte, and a message that is larger goes out alone', async () => {
    const { send, occupy, calls, idsOf } = start()
    const [first] = await occupy()
    const large = { bytes: 400_000 }
    await send(item('a', large), item('b', large), item('c', large), item('d', { bytes: 2e6 }))
    await first.end()
    for (let n = 0; n < 3; n++) await calls[n]?.end()
    assert.deepEqual(idsOf(), [['a', 'b'], ['c'], ['d']])
  })
})

suite('fairness', () => {
  test('an app with one message is not behind an app with many', async () => {
    const { send, occupy, calls } = start()
    const [first] = await occupy()
    await send(...items(1_000, 'loud'), item('quiet', { app: 2 }), item('other', { app: 3 }))
    await first.end()
    assert.deepEqual(calls[0]?.ids.slice(0, 3), ['loud0', 'quiet', 'other'])
    assert.equal(calls[0]?.ids.length, 64)
  })

  test('apps with many messages share a call, and the next call continues in turn', async () => {
    const { send, occupy, calls } = start()
    const [first, second] = await occupy()
    for (const app of [1, 2, 3]) await send(...items(100, `${app}-`, { app }))
    await first.end()
    await second.end()
    const counts = [1, 2, 3].map(
      (app) => calls.flatMap(({ ids }) => ids).filter((id) => id.startsWith(`${app}-`)).length,
    )
    assert.deepEqual(counts, [43, 43, 42])
  })

  test('a conversation with one message is not behind one with many', async () => {
    const { send, occupy, calls } = start()
    const [first] = await occupy()
    await send(...items(500, 'loud', { conversation: 'loud' }), item('quiet'))
    await first.end()
    assert.deepEqual(calls[0]?.ids.slice(0, 3), ['loud0', 'quiet', 'loud1'])
  })

  test('an app that fills the queue locks out no other app', async () => {
    const { send, occupy, batches, outcomes } = start()
    await occupy()
    await send(...items(4_097, 'loud'))
    assert.equal(batches.queued, 4_096)
    assert.deepEqual(outcomes, ['loud4096: overloaded'])
    await send(...items(2_049, 'other', { app: 2 }))
    assert.equal(batches.queued, 4_096 + 2_048)
    assert.deepEqual(outcomes.slice(1), ['other2048: overloaded'])
    await send(item('third', { app: 3 }))
    assert.equal(outcomes.length, 2)
  })
})

suite('a conversation', () => {
  const talk = { conversation: 'talk' }

  test('is in one call only, in order', async () => {
    const { send, calls, idsOf } = start()
    await send(item('1', talk))
    await send(item('2', talk), item('3', talk), item('other'))
    await send(item('4', talk))
    assert.deepEqual(idsOf(), [['1'], ['other']])
    await calls[0]?.end()
    assert.deepEqual(idsOf(), [['1'], ['other'], ['2', '3', '4']])
  })

  test('with the same name in another app is another one', async () => {
    const { send, idsOf } = start()
    await send(item('1', talk))
    await send(item('2', { ...talk, app: 2 }))
    assert.deepEqual(idsOf(), [['1'], ['2']])
  })

  test('that is locked gets a call that waits, and holds back nobody', async () => {
    const { send, occupy, calls, outcomes, idsOf } = start()
    const [first] = await occupy()
    await send(item('1', talk), item('a'), item('2', talk))
    await first.end()
    await calls[0]?.end('1', '2')
    await send(item('3', talk), item('b'))
    await send(item('c'))
    assert.deepEqual(idsOf(), [['1', 'a', '2'], ['1', '2'], ['b']])
    assert.deepEqual(
      calls.map(({ patient }) => patient),
      [false, true, false],
    )
    await calls[2]?.end()
    assert.deepEqual(idsOf().at(-1), ['c'])
    await calls[1]?.end()
    await calls[3]?.end()
    assert.deepEqual(idsOf().at(-1), ['3'])
    assert.deepEqual(outcomes, ['x', 'a', 'b', '1', '2', 'c'])
  })

  test('that is locked waits in at most two calls of its app, and four in all', async () => {
    const { send, calls, idsOf } = start()
    for (const app of [1, 2, 3]) {
      for (const n of [1, 2, 3]) {
        await send(item(`${app}-${n}`, { app }))
        const call = calls.at(-1)
        assert.equal(call?.patient, false)
        await call.end(`${app}-${n}`)
      }
    }
    const patient = () => calls.filter((call) => call.patient).map(({ ids }) => ids[0])
    assert.deepEqual(patient(), ['1-1', '1-2', '2-1', '2-2'])
    await calls.find(({ ids, patient }) => patient && ids[0] === '1-1')?.end()
    assert.deepEqual(patient().slice(4), ['1-3'])
    await calls.find(({ ids, patient }) => patient && ids[0] === '2-1')?.end()
    assert.deepEqual(patient().slice(5), ['2-3'])
    assert.equal(idsOf().length, 9 + 6)
  })
})

suite('a key', () => {
  const key = { keys: ['k'] }

  test('is never twice in a call, nor in two calls at the same time', async () => {
    const { send, occupy, calls, idsOf } = start()
    const [first, second] = await occupy()
    await send(item('a', key), item('b', key), item('c'), item('d', { keys: ['other', 'k'] }))
    await first.end()
    await second.end()
    assert.deepEqual(idsOf(), [['a', 'c']])
    await calls[0]?.end()
    assert.deepEqual(idsOf().slice(1), [['b']])
    await calls[1]?.end()
    assert.deepEqual(idsOf().slice(2), [['d']])
  })

  test('in use lets no later message of the conversation overtake', async () => {
    const { send, calls, idsOf } = start()
    const talk = { conversation: 'talk' }
    await send(item('a', key))
    await send(item('1', { ...talk, ...key }), item('2', talk))
    assert.deepEqual(idsOf(), [['a']])
    await calls[0]?.fail(CUT_OFF)
    assert.deepEqual(idsOf(), [['a'], ['1', '2']])
  })
})

suite('a call that fails', () => {
  test('and stored nothing is run again message by message; a bad one fails alone', async () => {
    const { send, occupy, calls, outcomes, idsOf } = start()
    const [first] = await occupy()
    await send(item('a'), item('bad', { keys: ['k'] }), item('c'))
    await first.end()
    await calls[0]?.fail(ROLLED_BACK)
    await calls[1]?.end()
    await calls[2]?.fail(ROLLED_BACK)
    await calls[3]?.end()
    assert.deepEqual(idsOf(), [['a', 'bad', 'c'], ['a'], ['bad'], ['c']])
    assert.deepEqual(outcomes, ['x', 'a', 'bad: rolled back', 'c'])
    await send(item('d', { keys: ['k'] }))
    assert.deepEqual(idsOf().at(-1), ['d'])
  })

  test('with an unknown outcome is never run again', async () => {
    const { send, occupy, calls, outcomes, idsOf } = start()
    const [first, second] = await occupy()
    await send(item('a'), item('b'))
    await first.end()
    await second.end()
    await calls[0]?.fail(CUT_OFF)
    assert.deepEqual(idsOf(), [['a', 'b']])
    assert.deepEqual(outcomes.slice(2), ['a: connection terminated', 'b: connection terminated'])
  })

  test('keeps the order if a message meets a lock when it is run again', async () => {
    const { send, occupy, calls, idsOf } = start()
    const [first] = await occupy()
    const talk = { conversation: 'talk' }
    await send(item('1', talk), item('2', talk), item('a'))
    await first.end()
    await calls[0]?.fail(ROLLED_BACK)
    await calls[1]?.end('1')
    await calls[2]?.end()
    assert.deepEqual(idsOf(), [['1', 'a', '2'], ['1'], ['a'], ['1', '2']])
    assert.equal(calls[3]?.patient, true)
  })

  test('or answers too little fails for the messages without a result', async () => {
    const batches = new Batches<Item, string>({
      run: async () => [],
      isRolledBack: () => false,
      overloaded: () => new Error('overloaded'),
      patienceMs: 600_000,
    })
    await assert.rejects(batches.send(item('a')), /no result/)
  })
})

test('a message that waited too long is not sent', async () => {
  const { send, occupy, options, outcomes, idsOf } = start()
  const [first, second] = await occupy()
  options.patienceMs = 0
  await send(item('late', { keys: ['k'] }))
  options.patienceMs = 600_000
  await first.end()
  await send(item('next', { keys: ['k'] }))
  await second.end()
  assert.deepEqual(idsOf(), [['next']])
  assert.deepEqual(outcomes, ['x', 'late: overloaded', 'y'])
})

test('a message that waited too long is not sent again after a call failed', async () => {
  const { send, options, calls, outcomes } = start()
  options.patienceMs = 50
  await send(item('a'), item('b'))
  await sleep(60) // the time itself is what is tested
  await calls[0]?.fail(ROLLED_BACK)
  assert.ok(calls.length <= 1)
  assert.deepEqual(outcomes, ['a: overloaded', 'b: overloaded'])
})

test('random histories lose, repeat and reorder nothing', async () => {
  const below = drawFrom(seeded.seed)
  for (let history = 0; history < 20; history++) {
    const stored = new Map<string, number[]>()
    const underWay = {
      calls: 0,
      patient: 0,
      conversations: new Set<string>(),
      keys: new Set<string>(),
    }
    const nameOf = ({ app, conversation }: Item) => `${app} ${conversation}`
    const turns = async () => {
      for (let n = below(4); n > 0; n--) await turn()
    }
    const batches = new Batches<Item, string>({
      async run(sent, patient) {
        const conversations = new Set(sent.map(nameOf))
        const keys = sent.flatMap((one) => one.keys)
        assert.ok(sent.length <= 64)
        assert.ok(patient ? ++underWay.patient <= 4 : ++underWay.calls <= 2)
        assert.ok(!patient || conversations.size === 1)
        assert.ok(underWay.conversations.isDisjointFrom(conversations))
        assert.ok(underWay.keys.isDisjointFrom(new Set(keys)) && new Set(keys).size === keys.length)
        for (const name of conversations) underWay.conversations.add(name)
        for (const key of keys) underWay.keys.add(key)
        await turns()
        for (const name of conversations) underWay.conversations.delete(name)
        for (const key of keys) underWay.keys.delete(key)
        if (patient) underWay.patient--
        else underWay.calls--
        if (sent.some(({ id }) => id.endsWith('bad'))) throw ROLLED_BACK
        const store = (one: Item) =>
          stored.set(nameOf(one), [...(stored.get(nameOf(one)) ?? []), Number.parseInt(one.id, 10)])
        const fate = below(20)
        if (fate === 0) throw ROLLED_BACK
        if (fate === 1) throw CUT_OFF
        const locked = new Set([...conversations].filter(() => !patient && below(5) === 0))
        const results = sent.map((one) => {
          if (locked.has(nameOf(one))) return BUSY
          store(one)
          return one.id
        })
        // The answer of a call that was committed can get lost too.
        if (fate === 2) throw CUT_OFF
        return results
      },
      isRolledBack: (error) => error === ROLLED_BACK,
      overloaded: () => new Error('overloaded'),
      patienceMs: 600_000,
    })
    const answered: Promise<string | undefined>[] = []
    let settled = 0
    for (let n = 0; n < 300; n++) {
      const id = below(50) === 0 ? `${n}bad` : `${n}`
      const conversation = `${below(below(2) === 0 ? 3 : 40)}`
      const keys = below(3) === 0 ? [`k${below(20)}`] : []
      const sent = item(id, { app: below(3), conversation, keys, bytes: below(100_000) })
      const outcome = batches.send(sent).then(
        (result) => {
          assert.ok(stored.get(nameOf(sent))?.includes(n))
          return result
        },
        (error) => {
          assert.ok(
            error === CUT_OFF || (error === ROLLED_BACK && !stored.get(nameOf(sent))?.includes(n)),
          )
          return undefined
        },
      )
      answered.push(outcome.finally(() => settled++))
      if (below(5) === 0) await turns()
    }
    await until('every message has an outcome', () => settled === 300)
    await Promise.all(answered)
    assert.equal(batches.queued, 0)
    for (const order of stored.values()) {
      assert.deepEqual(
        order,
        [...new Set(order)].sort((a, b) => a - b),
        'once and in order',
      )
    }
  }
})
