import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { admin } from '../../test/databases.ts'
import { type TestApp, useServer } from '../../test/kit.ts'
import { maintainCell } from './upkeep.ts'

const server = useServer()

const onCell = (app: TestApp, sql: string) =>
  admin(sql, [app.no], new URL(app.cell.url).pathname.slice(1))

const count = async (app: TestApp, table: string) =>
  Number((await onCell(app, `select count(*) from ${table} where app_no = $1`)).rows[0].count)

suite('upkeep', () => {
  test('removes all old idempotency records and revocations, and no others', async () => {
    const app = await server.newApp()
    await onCell(
      app,
      `insert into idempotency (app_no, credential, uid, key, request_hash, created_at)
       select $1, '', '', n, '', now() - case when n % 10 = 0 then interval '23 hours' else interval '25 hours' end
       from generate_series(1, 25000) n`,
    )
    await onCell(
      app,
      `insert into revocations (at, app_no, kind, id)
       select now() - case when n % 10 = 0 then interval '59 minutes' else interval '61 minutes' end, $1, 'apikey', n
       from generate_series(1, 25000) n`,
    )
    await maintainCell({ deps: server.deps, cell: app.cell, signal: new AbortController().signal })
    assert.equal(await count(app, 'idempotency'), 2_500)
    assert.equal(await count(app, 'revocations'), 2_500)
  })

  test('stops between two batches after an abort', async () => {
    const app = await server.newApp()
    await onCell(
      app,
      `insert into idempotency (app_no, credential, uid, key, request_hash, created_at)
       values ($1, '', '', 'old', '', now() - interval '25 hours')`,
    )
    const { deps } = server
    await maintainCell({ deps, cell: app.cell, signal: AbortSignal.abort() })
    assert.equal(await count(app, 'idempotency'), 1)
    await maintainCell({ deps, cell: app.cell, signal: new AbortController().signal })
    assert.equal(await count(app, 'idempotency'), 0)
  })

  test('keeps only the last mark of each day that is more than 90 days ago, in parts', async () => {
    const app = await server.newApp()
    // Ten marks per day for each of two users and kinds, on two old days and two recent ones.
    await onCell(
      app,
      `insert into marks (app_no, conversation, uid, kind, upto_id, at)
       select $1, 7, uid, kind, day * 10 + n,
         date_trunc('day', now(), 'UTC') - (case when day < 2 then 200 else 20 end - day) * interval '1 day'
           + (n + 1) * interval '2 hours'
       from unnest(array['a', 'b']) uid, unnest(array['delivered', 'read']) kind,
         generate_series(0, 3) day, generate_series(0, 9) n`,
    )
    await onCell(app, `update mark_thinning set began_at = '-infinity' where $1 > 0`)
    const thin = async () =>
      (await onCell(app, 'select thin_marks(7) as more where $1 > 0')).rows[0].more
    let parts = 1
    while (await thin()) parts++
    // Each part except the first begins with the last mark of the previous one.
    assert.equal(parts, 27)
    const left = await onCell(
      app,
      `select uid, kind, array_agg(upto_id::int order by upto_id) as ids from marks where app_no = $1
       group by uid, kind order by uid, kind`,
    )
    const kept = [9, 19, ...Array.from({ length: 20 }, (_, n) => n + 20)]
    assert.deepEqual(
      left.rows.map(({ uid, kind, ids }) => [uid, kind, ids]),
      ['a', 'b'].flatMap((uid) => ['delivered', 'read'].map((kind) => [uid, kind, kept])),
    )
    // The next pass begins a day after this one began, as part of a round.
    const old = `insert into marks (app_no, conversation, uid, kind, upto_id, at)
      select $1, 7, 'c', 'read', n, now() - interval '200 days' from generate_series(1, 3) n`
    await onCell(app, old)
    const round = async () => {
      await maintainCell({
        deps: server.deps,
        cell: app.cell,
        signal: new AbortController().signal,
      })
      return (await onCell(app, `select upto_id from marks where app_no = $1 and uid = 'c'`)).rows
        .length
    }
    assert.equal(await round(), 3)
    await onCell(app, `update mark_thinning set began_at = now() - interval '1 day' where $1 > 0`)
    assert.equal(await round(), 1)
  })
})
