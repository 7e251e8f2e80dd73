import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { type PrivateEngine, startPrivate } from '../../../test/private-engines.ts'
import { assertWithin, timedTest } from '../../../test/timed-test.ts'
import { until } from '../../../test/until.ts'
import { type Cache, openCache } from './cache.ts'
import { Limiter } from './limiter.ts'

const log = pino({ level: 'silent' })
/** Long enough for a busy machine. Only the tests without Redis need a short timeout. */
const PATIENT_MS = 10_000
const NOON = Date.UTC(2026, 0, 1, 12)

let redis: PrivateEngine
const caches: Cache[] = []
before(async () => {
  redis = await startPrivate('redis')
})
after(async () => {
  for (const cache of caches) await cache.close()
  redis.thaw()
  await redis.remove()
})

/** One limiter for each of several processes. */
async function newLimiters(count: number, answerMs = PATIENT_MS): Promise<Limiter[]> {
  const opened = Array.from({ length: count }, () =>
    openCache({ url: redis.url, caFile: '', prefix: 'test', log, answerMs }),
  )
  caches.push(...opened)
  for (const cache of opened) await until('Redis is connected', () => isUp(cache))
  return opened.map((cache) => new Limiter(cache))
}

const isUp = (cache: Cache) =>
  cache.add('probe', 1, 60).then(
    () => true,
    () => false,
  )

/** How many leases were requested from Redis so far. */
async function countLeases(): Promise<number> {
  const client = new Redis(redis.url)
  try {
    return Number(/cmdstat_incrby:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0)
  } finally {
    client.disconnect()
  }
}

/** Sends `tries` requests to the limiters that `pick` chooses. Returns how many were allowed. */
async function use(
  limiters: Limiter[],
  {
    limit,
    tries,
    pick = (n: number) => n % limiters.length,
    now = NOON,
    key = randomUUID(),
    atOnce = 1,
  }: {
    limit: number
    tries: number
    pick?: (n: number) => number
    now?: number
    key?: string
    atOnce?: number
  },
): Promise<number> {
  let passed = 0
  for (let n = 0; n < tries; n += atOnce) {
    const batch = Array.from({ length: atOnce }, (_, i) =>
      limiters[pick(n + i)]?.take(key, limit, now),
    )
    for (const verdict of await Promise.all(batch)) if (verdict?.allowed) passed++
  }
  return passed
}

/** Which process gets the nth request. */
type Pattern = (processes: number) => (n: number) => number

suite('limiters that share a Redis', () => {
  const patterns: { how: string; atOnce: number; pick: Pattern }[] = [
    { how: 'in turns', atOnce: 1, pick: (processes) => (n) => n % processes },
    {
      how: 'by chance, 50 at once',
      atOnce: 50,
      pick: (processes) => () => Math.floor(Math.random() * processes),
    },
    // All processes except the first stop after a while and keep what they have leased.
    { how: 'one goes on', atOnce: 1, pick: (processes) => (n) => (n < 60 ? n % processes : 0) },
    {
      how: 'one after the other, 50 at once',
      atOnce: 50,
      pick: (processes) => (n) => Math.min(processes - 1, Math.floor(n / 177)),
    },
  ]
  for (const processes of [2, 5]) {
    for (const limit of [100, 1_000, 20_000]) {
      for (const { how, atOnce, pick } of patterns) {
        test(`${processes} processes, limit ${limit}, ${how}`, async () => {
          const limiters = await newLimiters(processes)
          const tries = Math.ceil(limit * 1.1) + 100
          const passed = await use(limiters, { limit, tries, pick: pick(processes), atOnce })
          assert.ok(passed <= limit, `${passed} of ${limit} passed`)
          assert.ok(passed >= 0.95 * limit, `${passed} of ${limit} passed`)
        })
      }
    }
  }

  test('a single process allows exactly the limit, and counts down', async () => {
    const [limiter] = (await newLimiters(1)) as [Limiter]
    const key = randomUUID()
    for (let left = 299; left >= 0; left--) {
      const verdict = await limiter.take(key, 300, NOON + 1_500)
      assert.deepEqual(verdict, { allowed: true, limit: 300, remaining: left, resetSeconds: 59 })
    }
    const verdict = await limiter.take(key, 300, NOON + 59_999)
    assert.deepEqual(verdict, { allowed: false, limit: 300, remaining: 0, resetSeconds: 1 })
  })

  test('most requests do not need Redis', async () => {
    const [limiter] = (await newLimiters(1)) as [Limiter]
    const before = await countLeases()
    assert.equal(await use([limiter], { limit: 20_000, tries: 21_000 }), 20_000)
    const asked = (await countLeases()) - before
    assert.ok(asked > 0 && asked < 400, `asked ${asked} times`)
  })

  test('keys are independent', async () => {
    const limiters = await newLimiters(2)
    assert.equal(await use(limiters, { limit: 10, tries: 30 }), 10)
    assert.equal(await use(limiters, { limit: 10, tries: 30 }), 10)
  })

  test('the next minute starts at zero, and the last one is forgotten', async () => {
    const limiters = await newLimiters(2)
    const key = randomUUID()
    for (const now of [NOON, NOON + 59_999]) {
      const passed = await use(limiters, { limit: 20, tries: 40, key, now })
      assert.equal(passed, now === NOON ? 20 : 0)
    }
    assert.equal(await use(limiters, { limit: 20, tries: 40, key, now: NOON + 60_000 }), 20)
  })

  test('a limit that changes within a minute applies at once', async () => {
    const limiters = await newLimiters(2)
    const key = randomUUID()
    assert.equal(await use(limiters, { limit: 1_000, tries: 400, key }), 400)
    assert.equal(await use(limiters, { limit: 100, tries: 50, key }), 0)
    assert.equal(await use(limiters, { limit: 450, tries: 200, key }), 50)
  })
})

suite('limiters without Redis', () => {
  timedTest('hold the limit in each process, and together again once it is back', async () => {
    const limiters = await newLimiters(2)
    const key = randomUUID()
    assert.equal(await use(limiters, { limit: 1_000, tries: 100, key }), 100)
    await redis.stop()
    const started = performance.now()
    for (const limiter of limiters) {
      const passed = await use([limiter], { limit: 1_000, tries: 700, key })
      assert.equal(passed, 700)
    }
    // The first hundred count for both processes: neither allows more than the limit on its own.
    assertWithin(1_000, performance.now() - started)
    for (const limiter of limiters) {
      const passed = await use([limiter], { limit: 1_000, tries: 700, key })
      assert.ok(passed >= 150 && passed <= 300, `${passed} passed`)
    }

    await redis.start()
    for (const cache of caches) await until('Redis is connected again', () => isUp(cache))
    const next = { limit: 1_000, key, now: NOON + 60_000 }
    // Each process leaves Redis alone for a second after a failure.
    await until('both count together', async () => {
      const fresh = { ...next, key: randomUUID(), tries: 2_500 }
      return (await use(limiters, fresh)) <= 1_000
    })
    assert.ok((await use(limiters, { ...next, tries: 2_500 })) <= 1_000)
  })

  test('report within the same minute what they gave meanwhile', async () => {
    const [one, two] = (await newLimiters(2)) as [Limiter, Limiter]
    const key = randomUUID()
    await redis.stop()
    assert.equal(await use([one], { limit: 1_000, tries: 600, key }), 600)
    await redis.start()
    for (const cache of caches) await until('Redis is connected again', () => isUp(cache))
    await until('the other is told', async () => {
      await one.take(key, 1_000, NOON)
      const { remaining } = await two.take(key, 1_000, NOON)
      return remaining < 400
    })
    const passed = await use([one, two], { limit: 1_000, tries: 1_000, key })
    assert.ok(passed <= 400, `${passed} passed`)
  })

  timedTest('wait only once for a Redis that hangs', async () => {
    const limiters = await newLimiters(2, 250)
    redis.freeze()
    try {
      const started = performance.now()
      const passed = await use(limiters, { limit: 1_000, tries: 2_500, atOnce: 50 })
      assert.equal(passed, 2_000)
      assertWithin(900, performance.now() - started)
    } finally {
      redis.thaw()
    }
    await until('both count together', async () => {
      return (await use(limiters, { limit: 100, tries: 300 })) <= 100
    })
  })
})
