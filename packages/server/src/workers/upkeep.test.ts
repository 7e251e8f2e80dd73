import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { admin, type TestApp, useServer } from '../../test/harness.ts'
import { keepCell } from './upkeep.ts'

const server = useServer()

const onCell = (app: TestApp, sql: string) =>
  admin(sql, [app.no], new URL(app.cell.url).pathname.slice(1))

const count = async (app: TestApp, table: string) =>
  Number((await onCell(app, `select count(*) from ${table} where app_no = $1`)).rows[0].count)

suite('upkeep', () => {
  test('removes old idempotency records and revocations, however many, and no others', async () => {
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
    await keepCell({ deps: server.deps, cell: app.cell, signal: new AbortController().signal })
    assert.equal(await count(app, 'idempotency'), 2_500)
    assert.equal(await count(app, 'revocations'), 2_500)
  })

  test('stops between two batches when it is told to', async () => {
    const app = await server.newApp()
    await onCell(
      app,
      `insert into idempotency (app_no, credential, uid, key, request_hash, created_at)
       values ($1, '', '', 'old', '', now() - interval '25 hours')`,
    )
    const { deps } = server
    await keepCell({ deps, cell: app.cell, signal: AbortSignal.abort() })
    assert.equal(await count(app, 'idempotency'), 1)
    await keepCell({ deps, cell: app.cell, signal: new AbortController().signal })
    assert.equal(await count(app, 'idempotency'), 0)
  })
})
