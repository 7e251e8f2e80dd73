import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readBatches } from '../../../bench/metrics.ts'
import { queryAt } from '../../../test/databases.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { holdLock, whileWaiting } from '../../../test/locks.ts'
import { seeded } from '../../../test/seed.ts'
import { until } from '../../../test/until.ts'
import { drawFrom } from '../../fill/names.ts'
import { verify } from '../../verify/verify.ts'
import { type Batched, Batches, type BatchesOptions, LEFT_OUT } from './batches.ts'
import type { SendParams } from './queries.ts'
import { sendTogether } from './send-batches.ts'

interface Item extends Batched {
  id: string
}

interface Call {
  ids: string[]
  how: 'all' | 'patient' | 'one'
  /** Answers the call: every item gets its own id, except those that it leaves out. */
  end(...leftOut: string[]): Promise<void>
  fail(error: Error): Promise<void>
}

const ROLLED_BACK = new Error('rolled back')
const CUT_OFF = new Error('connection terminated')

const item = (id: string, more: Partial<Item> = {}): Item => ({
  ...{ id, app: 1, conversation: id, keys: [], bytes: 100 },
  ...more,
})

/** Fields of messages of one conversation. */
const talk = { conversation: 'talk' }

const items = (count: number, prefix: string, more: Partial<Item> = {}) =>
  Array.from({ length: count }, (_, n) => item(`${prefix}${n}`, more))

/** The turn in which sends that arrived go out, and answers reach their callers. */
const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

/** Batches whose calls the test ends, in the order that it wants. */
function start() {
  const calls: Call[] = []
  const outcomes: string[] = []
  function run(sent: Item[], how: Call['how']): Promise<(string | typeof LEFT_OUT)[]> {
    const { promise, resolve, reject } = Promise.withResolvers<(string | typeof LEFT_OUT)[]>()
    const ids = sent.map(({ id }) => id)
    const end = (...leftOut: string[]) => {
      resolve(ids.map((id) => (leftOut.includes(id) ? LEFT_OUT : id)))
      return turn()
    }
    const fail = (error: Error) => {
      reject(error)
      return turn()
    }
    calls.push({ ids, how, end, fail })
    return promise
  }
  const options: BatchesOptions<Item, string> = {
    runAll: (sent, patient) => run(sent, patient ? 'patient' : 'all'),
    runOne: async (sent) => (await run([sent], 'one'))[0] as string,
    isRolledBack: (error) => error === ROLLED_BACK,
    full: () => new Error('full'),
    late: () => new Error('late'),
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
    await send(...items(1_000, 'loud'))
    // The first two go out beside the calls.
    await send(...['x', 'y', 'quiet', 'other'].map((id, n) => item(id, { app: 2 + n })))
    await first.end()
    assert.deepEqual(calls[2]?.ids.slice(0, 3), ['loud0', 'quiet', 'other'])
    assert.equal(calls[2]?.ids.length, 64)
  })

  test('a quiet app does not wait for the calls of a loud one', async () => {
    const { send, occupy, calls, idsOf, outcomes } = start()
    const [first] = await occupy()
    await send(...items(30, 'loud'))
    await send(item('quiet', { ...talk, app: 2 }))
    await send(
      item('next', { ...talk, app: 2 }),
      item('other', { app: 3 }),
      item('third', { app: 4 }),
    )
    assert.deepEqual(idsOf(), [['quiet'], ['other']])
    await calls[0]?.end()
    await calls[1]?.end('other')
    assert.deepEqual(idsOf().slice(2), [['other']])
    await calls[2]?.end()
    assert.deepEqual(outcomes, ['quiet', 'other'])
    await first.end()
    assert.deepEqual(calls[3]?.ids.slice(0, 4), ['loud0', 'third', 'next', 'loud1'])
  })

  test('many small apps share calls', async () => {
    const { send, occupy, idsOf } = start()
    const [first] = await occupy()
    await send(...Array.from({ length: 30 }, (_, app) => item(`m${app}`, { app })))
    assert.deepEqual(idsOf(), [])
    await first.end()
    assert.deepEqual(
      idsOf().map((ids) => ids.length),
      [30],
    )
  })

  test('apps with many messages share a call, and the next call continues in turn', async () => {
    const { send, occupy, calls } = start()
    const [first, second] = await occupy()
    for (let n = 0; n < 100; n++)
      await send(...[1, 2, 3].map((app) => item(`${app}-${n}`, { app })))
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
    assert.deepEqual(outcomes, ['loud4096: full'])
    // The first two go out beside the calls.
    await send(...items(2_051, 'other', { app: 2 }))
    assert.equal(batches.queued, 4_096 + 2_048)
    assert.deepEqual(outcomes.slice(1), ['other2050: full'])
    await send(item('third', { app: 3 }))
    assert.equal(outcomes.length, 2)
  })
})

suite('a conversation', () => {
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

  test('that is left out is sent beside the calls, and holds back nobody', async () => {
    const { send, occupy, calls, outcomes, idsOf } = start()
    const [first] = await occupy()
    await send(item('1', talk), item('a'), item('2', talk))
    await first.end()
    await calls[0]?.end('1', '2')
    await send(item('3', talk), item('b'))
    await send(item('c'))
    assert.deepEqual(idsOf(), [['1', 'a', '2'], ['1', '2'], ['b']])
    assert.deepEqual(
      calls.map(({ how }) => how),
      ['all', 'patient', 'all'],
    )
    await calls[2]?.end()
    assert.deepEqual(idsOf().at(-1), ['c'])
    await calls[1]?.end()
    await calls[3]?.end()
    assert.deepEqual(idsOf().at(-1), ['3'])
    assert.deepEqual(outcomes, ['x', 'a', 'b', '1', '2', 'c'])
  })

  test('that is left out again is sent message by message, each with its own error', async () => {
    const { send, occupy, calls, outcomes } = start()
    const [first] = await occupy()
    await send(item('1', talk), item('2', talk), item('3', talk))
    await first.end()
    await calls[0]?.end('1', '2', '3')
    await calls[1]?.end('1', '3')
    await calls[2]?.fail(new Error('refused'))
    await calls[3]?.end()
    assert.deepEqual(
      calls.map(({ how, ids }) => [how, ...ids]),
      [
        ['all', '1', '2', '3'],
        ['patient', '1', '2', '3'],
        ['one', '1'],
        ['one', '3'],
      ],
    )
    assert.deepEqual(outcomes, ['x', '2', '1: refused', '3'])
  })

  test('that is left out takes one of eight lanes, of which an app has four', async () => {
    const { send, calls } = start()
    const leaveOut = async (id: string, app: number) => {
      await send(item(id, { app }))
      const call = calls.at(-1)
      assert.deepEqual([call?.how, call?.ids], ['all', [id]])
      await call?.end(id)
    }
    for (const app of [1, 2, 3]) {
      for (const n of [1, 2, 3, 4, 5]) await leaveOut(`${app}-${n}`, app)
    }
    const lanes = () => calls.filter(({ how }) => how === 'one').map(({ ids }) => ids[0])
    const end = (id: string) => calls.find(({ how, ids }) => how === 'one' && ids[0] === id)?.end()
    const full = ['1-1', '1-2', '1-3', '1-4', '2-1', '2-2', '2-3', '2-4']
    assert.deepEqual(lanes(), full)
    await end('1-1')
    assert.deepEqual(lanes(), [...full, '1-5'])
    await end('1-2')
    assert.deepEqual(lanes(), [...full, '1-5', '3-1'])
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
    await calls[2]?.fail(ROLLED_BACK)
    await calls[1]?.end()
    await calls[3]?.end()
    assert.deepEqual(idsOf(), [['a', 'bad', 'c'], ['a'], ['bad'], ['c']])
    assert.deepEqual(outcomes, ['x', 'bad: rolled back', 'a', 'c'])
    await send(item('d', { keys: ['k'] }))
    assert.deepEqual(idsOf().at(-1), ['d'])
  })

  test('and stored nothing is run again conversation by conversation, in order', async () => {
    const { send, occupy, calls, idsOf } = start()
    const [first] = await occupy()
    await send(item('1', talk), item('2', talk), item('a'))
    await send(item('3', talk))
    await first.end()
    await calls[0]?.fail(ROLLED_BACK)
    await calls[1]?.fail(ROLLED_BACK)
    assert.deepEqual(idsOf(), [['1', 'a', '2', '3'], ['1', '2', '3'], ['a'], ['1']])
    await calls[3]?.end()
    assert.deepEqual(idsOf().at(-1), ['2'])
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

  test('or answers too little fails for the messages without a result', async () => {
    const batches = new Batches<Item, string>({
      runAll: async () => [],
      runOne: async () => '',
      isRolledBack: () => false,
      full: () => new Error('full'),
      late: () => new Error('late'),
      patienceMs: 600_000,
    })
    await assert.rejects(batches.send(item('a')), /too few results/)
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
  assert.deepEqual(outcomes, ['x', 'late: late', 'y'])
})

test('a message that waited too long is not sent again after a call failed', async () => {
  const { send, options, calls, outcomes } = start()
  options.patienceMs = 50
  await send(item('1', talk), item('2', talk), item('a'))
  await sleep(60) // the time itself is what is tested
  await calls[0]?.fail(ROLLED_BACK)
  assert.ok(calls.length <= 1)
  assert.deepEqual(outcomes.sort(), ['1: late', '2: late', 'a: late'])
})

test('random histories lose, repeat and reorder nothing', async () => {
  const below = drawFrom(seeded.seed)
  for (let history = 0; history < 20; history++) {
    const stored = new Map<string, number[]>()
    const underWay = {
      calls: 0,
      shared: 0,
      lanes: 0,
      conversations: new Set<string>(),
      keys: new Set<string>(),
    }
    const nameOf = ({ app, conversation }: Item) => `${app} ${conversation}`
    const turns = async () => {
      for (let n = below(4); n > 0; n--) await turn()
    }
    /** The database: it stores what it is given, unless it is rejected, locked or cut off. */
    async function run(sent: Item[], how: Call['how']): Promise<(string | typeof LEFT_OUT)[]> {
      const conversations = new Set(sent.map(nameOf))
      const keys = sent.flatMap((one) => one.keys)
      const kind = how === 'all' ? 'calls' : 'lanes'
      const shared = how === 'all' && sent.length > 1 ? 1 : 0
      underWay[kind]++
      underWay.shared += shared
      assert.ok(sent.length > 0 && sent.length <= 64)
      // Two calls for single messages of quiet apps come beside the two for all apps.
      assert.ok(underWay.shared <= 2 && underWay.calls <= 4 && underWay.lanes <= 8)
      assert.ok(how === 'all' || conversations.size === 1)
      assert.ok(underWay.conversations.isDisjointFrom(conversations))
      assert.ok(underWay.keys.isDisjointFrom(new Set(keys)) && new Set(keys).size === keys.length)
      for (const name of conversations) underWay.conversations.add(name)
      for (const key of keys) underWay.keys.add(key)
      await turns()
      for (const name of conversations) underWay.conversations.delete(name)
      for (const key of keys) underWay.keys.delete(key)
      underWay[kind]--
      underWay.shared -= shared
      if (sent.some(({ id }) => id.endsWith('bad'))) throw ROLLED_BACK
      const fate = below(20)
      if (fate === 0) throw ROLLED_BACK
      if (fate === 1) throw CUT_OFF
      const leaves = { all: 5, patient: 3, one: 0 }[how]
      const locked = new Set([...conversations].filter(() => leaves > 0 && below(leaves) === 0))
      const results = sent.map((one) => {
        if (locked.has(nameOf(one))) return LEFT_OUT
        const name = nameOf(one)
        stored.set(name, [...(stored.get(name) ?? []), Number.parseInt(one.id, 10)])
        return one.id
      })
      // The answer of a call that was committed can get lost too.
      if (fate === 2) throw CUT_OFF
      return results
    }
    const batches = new Batches<Item, string>({
      runAll: (sent, patient) => run(sent, patient ? 'patient' : 'all'),
      runOne: async (sent) => (await run([sent], 'one'))[0] as string,
      isRolledBack: (error) => error === ROLLED_BACK,
      full: () => new Error('full'),
      late: () => new Error('late'),
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

suite('sends that arrive together', () => {
  const server = useServer()
  const run = async (app: TestApp, text: string) =>
    (await app.cell.db.query({ name: '', text, values: [] })).rows

  const lockTalk = (app: TestApp) =>
    holdLock(
      app,
      `select from conversations where app_no = $1 and one = 'amira' and other = 'ben' for update`,
      [app.no],
    )

  const say = (app: TestApp, receiver: string, text: string) =>
    app.as('amira').call('POST', '/v3/messages', {
      body: { receiver, receiverType: 'user', data: { text } },
    })

  async function batchSizes() {
    const { internalPort } = server.service
    const page = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
    assert.match(page, /^loquat_send_queue\{cell="us-1"\} \d+/m)
    return readBatches(page) ?? { messages: 0, calls: 0 }
  }

  test('share calls, and each gets its own answer', async () => {
    const app = await server.newApp()
    const uids = Array.from({ length: 20 }, (_, n) => `u${n}`)
    await app.users(...uids)
    const before = await batchSizes()
    const texts = Array.from({ length: 200 }, (_, n) => `text ${n}`)
    const sent = await Promise.all(
      texts.map((text, n) => {
        const [from = '', to = ''] = [uids[n % 20], uids[(n + 1 + (n % 7)) % 20]]
        return app.as(from).sendText(to, text)
      }),
    )
    assert.deepEqual(
      sent.map(({ data }) => data.text),
      texts,
    )
    assert.equal(new Set(sent.map(({ id }) => id)).size, 200)
    const after = await batchSizes()
    assert.equal(after.messages - before.messages, 200)
    assert.ok(after.calls - before.calls < 200, 'no call had several messages')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('fail alone if the database cannot store one of them', async () => {
    const app = await server.newApp()
    await app.users('amira', ...Array.from({ length: 30 }, (_, n) => `u${n}`))
    await queryAt(
      app.cell.url,
      `create function poison() returns trigger language plpgsql as $$ begin
         raise exception 'poison'; end $$;
       create trigger poison before insert on messages for each row
       when (new.app_no = ${app.no} and new.data->>'text' = 'poison') execute function poison()`,
    )
    try {
      const sending = Array.from({ length: 30 }, (_, n) =>
        say(app, `u${n}`, n % 10 === 5 ? 'poison' : 'fine'),
      )
      const statuses = (await Promise.all(sending)).map(({ status }) => status)
      assert.deepEqual(
        statuses,
        statuses.map((_, n) => (n % 10 === 5 ? 500 : 200)),
      )
    } finally {
      await queryAt(app.cell.url, 'drop trigger poison on messages; drop function poison')
    }
    const [{ count } = {}] = await run(
      app,
      `select count(*)::int from messages where app_no = ${app.no}`,
    )
    assert.equal(count, 27)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('do not wait for a conversation that is locked', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'carla')
    await app.as('amira').sendText('ben', 'first')
    const held = await lockTalk(app)
    const waiting = Promise.all(['1', '2', '3'].map((text) => say(app, 'ben', text)))
    await whileWaiting(held, waiting, async () => {
      for (const text of ['a', 'b', 'c']) {
        assert.equal((await say(app, 'carla', text)).status, 200)
      }
    })
    assert.deepEqual(
      (await waiting).map(({ status }) => status),
      [200, 200, 200],
    )
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test("are refused with 429 when the app's queue is full; another app's are sent", async () => {
    const [loud, quiet] = [await server.newApp(), await server.newApp()]
    for (const app of [loud, quiet]) {
      await app.users('amira', 'ben')
      await app.as('amira').sendText('ben', 'first')
    }
    const held = await lockTalk(loud)
    const params: SendParams = {
      ...{ appNo: loud.no, kind: 'user', sender: 'amira', receiver: 'ben', target: '' },
      ...{ category: 'message', type: 'text', data: '{"text":"more"}', tags: [], muid: null },
      ...{ credential: Buffer.alloc(32), key: null, requestHash: null, clock: Date.now() },
      ...{ parent: null, quoted: null, mentions: null, shows: true, verdict: null, files: null },
    }
    const waiting = sendTogether(server.deps, loud.cell, params)
    await until('it waits', async () => (await held.waiting()) > 0)
    const queued = Array.from({ length: 4_096 }, () => sendTogether(server.deps, loud.cell, params))
    const { status, body, headers } = await say(loud, 'ben', 'too many')
    assert.deepEqual([status, body.error.code], [429, 'ERR_TOO_MANY_AT_ONCE'])
    assert.match(headers.get('retry-after') ?? '', /^[1-3]$/)
    assert.equal((await say(quiet, 'ben', 'second')).status, 200)
    await held.release()
    await held.close()
    await Promise.allSettled([waiting, ...queued])
  })

  test('are not sent again if the connection breaks, and the answer says that the outcome is unknown', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    await app.as('amira').sendText('ben', 'first')
    const held = await lockTalk(app)
    const lost = say(app, 'ben', 'lost')
    await until('it waits', async () => (await held.waiting()) > 0)
    const { devMessage = '' } = await refused(held.cutOff(lost), 'ERR_MISSION_FAILED')
    assert.match(devMessage, /^It is unknown whether the change was made\./)
    await held.release()
    await held.close()
    await app.as('amira').sendText('ben', 'next')
    const [{ texts } = {}] = await run(
      app,
      `select array_agg(data->>'text' order by id) as texts from messages where app_no = ${app.no}`,
    )
    assert.deepEqual(texts, ['first', 'next'])
  })
})
