/** Usage figures equal a recount of the log, whatever dies meanwhile, and cost the same to read at any size. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { countActive, findPeak, listCounts, rollUp } from '../src/areas/stats/queries.ts'
import type { Query } from '../src/platform/db/query.ts'
import { queryAt } from './databases.ts'
import { type TestApp, useServer } from './kit.ts'
import { addToLog, rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { startServing } from './loquat.ts'
import { until } from './until.ts'

const server = useServer()

const lag = async ({ cell, no }: TestApp) => {
  const [{ left = 1 } = {}] = await rows<{ left: number }>(
    cell.db,
    `select (select count(*) from outbox where app_no = ${no})
       + (select position from positions where app_no = ${no})
       - coalesce((select position from usage_progress where app_no = ${no}), 0) as left`,
  )
  return left
}

const placeOf = async ({ cell, no }: TestApp) => {
  const text = `select position from usage_progress where app_no = ${no}`
  return (await rows<{ position: number }>(cell.db, text))[0]?.position ?? 0
}

/** The recount, written independently of roll_up_usage. */
const RECOUNT = (no: number) => `
  with log as (select type, (at at time zone 'UTC')::date as day, at, payload::jsonb as p
    from events where app_no = ${no}),
  kinds as (
    select day, type as what from log
    union all select day, concat('messages.', p->'message'->>'receiverType', '.',
      p->'message'->>'category') from log where type = 'message.sent'
  )
  select day::text, what, count(*) from kinds group by 1, 2 order by 1, 2`
const STORED = (no: number) => `
  select day::text, what, count from usage_days
  where app_no = ${no} and what not like 'api.%' order by day, what`

const STEPS = (no: number) => `
  select floor(extract(epoch from at) / 300)::bigint as step, type as what, count(*) from events
  where app_no = ${no} and type in ('message.sent', 'conversation.read', 'conversation.delivered')
  group by 1, 2 order by 1, 2`
const STORED_STEPS = (no: number) => `
  select extract(epoch from at)::bigint / 300 as step, what, count from usage_steps
  where app_no = ${no} order by 1, 2`

const ACTIVE = (no: number) => `
  select count(distinct payload->'message'->>'sender') as users from events
  where app_no = ${no} and type = 'message.sent'`

suite('usage', () => {
  test('equals a recount of the log after workers are killed', async () => {
    const app = await server.newApp()
    const uids = ['ann', 'bob', 'cat', 'dan', 'eve']
    await app.users(...uids)
    let sending = true
    const senders = uids.map(async (uid, n) => {
      while (sending) await app.as(uid).sendText(uids[(n + 1) % 5] ?? '', 'hi')
    })
    for (let strikes = 0; strikes < (LONG ? 50 : 2); strikes++) {
      const before = await placeOf(app)
      const worker = await startServing('worker', server.env)
      await until('it has added up some', async () => (await placeOf(app)) > before)
      await worker.end('SIGKILL')
    }
    sending = false
    await Promise.all(senders)
    const worker = await startServing('worker', server.env)
    await until('all is added up', async () => (await lag(app)) === 0)
    await worker.end()

    const { cell, no } = app
    assert.deepEqual(await rows(cell.db, STORED(no)), await rows(cell.db, RECOUNT(no)))
    assert.deepEqual(await rows(cell.db, STORED_STEPS(no)), await rows(cell.db, STEPS(no)))
    const days = { appNo: no, from: '2020-01-01', to: '2100-01-01' }
    assert.deepEqual(await countActive.one(cell.db, days), (await rows(cell.db, ACTIVE(no)))[0])
  })

  test('costs the same to read for any number of messages', async () => {
    const [few, many] = [await server.newApp(), await server.newApp()]
    await addMessages(few, LONG ? 10_000 : 500)
    await addMessages(many, LONG ? 1_000_000 : 20_000)
    for (const query of [countActive, findPeak, listCounts] as Query<never, object>[]) {
      const [less, more] = [await buffersOf(few, query), await buffersOf(many, query)]
      assert.ok(more <= less * 1.5, `${query.name}: ${less} and ${more} buffers`)
    }
  })
})

suite('distinct users', () => {
  test('are counted exactly for any days and any number', async () => {
    const { cell, no } = await server.newApp()
    const count = LONG ? 1_002_000 : 6_000
    // All on the first day, then every second one, every third one, and all again.
    for (const [day, every] of [1, 2, 3, 1].entries()) {
      for (let from = 0; from < count; from += 6_000) {
        await rows(
          cell.db,
          `select record_activity(${no}, '2026-01-0${day + 1}', array(
             select 'u' || n from generate_series(${from + every}, ${from + 6_000}, ${every}) n))`,
        )
      }
    }
    const among = (from: number, to: number) =>
      countActive.one(cell.db, {
        ...{ appNo: no, from: `2026-01-0${from}`, to: `2026-01-0${to}` },
      })
    const [half, third, sixth] = [2, 3, 6].map((n) => Math.floor(count / n)) as [
      ...[number, number, number],
    ]
    assert.deepEqual((await among(1, 1)).users, count)
    assert.deepEqual((await among(2, 2)).users, half)
    assert.deepEqual((await among(3, 3)).users, third)
    assert.deepEqual((await among(2, 3)).users, half + third - sixth)
    assert.deepEqual((await among(2, 4)).users, count)
    assert.deepEqual((await among(1, 4)).users, count)
    assert.deepEqual((await among(5, 9)).users, 0)
    const [{ rows: kept = 0 } = {}] = await rows<{ rows: number }>(
      cell.db,
      `select count(*) as rows from usage_returns where app_no = ${no}`,
    )
    // Rows depend only on the day and the day before, not on the number of users.
    assert.equal(kept, 7)
  })
})

/** Messages of 300 users over five days, logged and counted. */
async function addMessages({ cell, no }: TestApp, count: number) {
  const message = `json_build_object('message', json_build_object('sender', 'u' || n % 300,
    'receiverType', 'user', 'category', 'message', 'data', '{}'::json))`
  await addToLog(
    cell.db,
    `select ${no}, 1000 + n, 'message.sent', 'k', ${message},
       now() - n % 5 * interval '1 day', (now() at time zone 'UTC')::date,
       '', null, 'u' || n % 300, 'messages.user.message'
     from generate_series(1, ${count}) n`,
  )
  for (let full = true; full; ) {
    full = (await rollUp.one(cell.db, { appNo: no, limit: 1_000 })).events === 1_000
  }
  await queryAt(cell.url, 'vacuum usage_days, usage_returns, usage_peaks')
}

async function buffersOf({ cell, no }: TestApp, { text }: { text: string }): Promise<number> {
  const found = await rows<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    cell.db,
    `explain (analyze, buffers, format json) ${text}`,
    [no, '2025-01-01', '2100-01-01'],
  )
  const plan = found[0]?.['QUERY PLAN'][0].Plan ?? {}
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
}
