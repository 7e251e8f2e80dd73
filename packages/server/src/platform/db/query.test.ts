import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import pg from 'pg'
import { cloneDatabase, dropDatabase } from '../../../test/databases.ts'
import { connectionConfig } from './db.ts'
import { directoryQuery, query, statements } from './query.ts'

suite('query', () => {
  let url: string
  let client: pg.Client
  before(async () => {
    url = await cloneDatabase('cell')
    client = new pg.Client(connectionConfig(url))
    await client.connect()
  })
  after(async () => {
    await client?.end()
    await dropDatabase(url)
  })

  test('parameters are bound by name, repeated ones once, and casts stay as they are', async () => {
    const add = query<{ b: number; a: number }, { sum: number; text: string }>(
      'test.add',
      'select (:a::int + :b::int + :a)::int as sum, :b::text as text',
    )
    assert.equal(add.text, 'select ($1::int + $2::int + $1)::int as sum, $2::text as text')
    assert.deepEqual(await add.one(client, { b: 3, a: 20 }), { sum: 43, text: '3' })
  })

  test('a parameter whose name is a prefix of another is separate', async () => {
    const pair = query<{ user: string; userId: string }, { both: string }>(
      'test.prefix',
      `select :user::text || '/' || :userId::text as both`,
    )
    assert.deepEqual(await pair.one(client, { user: 'ann', userId: '7' }), { both: 'ann/7' })
  })

  test('an array is one parameter, and slices of SQL arrays stay as they are', async () => {
    const slice = query<{ list: number[] }, { part: number[] }>(
      'test.slice',
      'select (:list::int[])[2:3] as part',
    )
    assert.deepEqual(await slice.one(client, { list: [1, 2, 3, 4] }), { part: [2, 3] })
  })

  test('a name can only be declared once, whichever the database', () => {
    query('test.once', 'select 1')
    assert.throws(() => query('test.once', 'select 2'), /test\.once is declared twice/)
    assert.throws(() => directoryQuery('test.once', 'select 2'), /declared twice/)
    assert.equal(statements.get('test.once')?.text, 'select 1')
  })

  test('many, maybeOne and one handle a missing row differently', async () => {
    const rows = query<{ upTo: number }, { n: number }>(
      'test.rows',
      'select n from generate_series(1, :upTo::int) n',
    )
    assert.deepEqual(await rows.many(client, { upTo: 2 }), [{ n: 1 }, { n: 2 }])
    assert.deepEqual(await rows.maybeOne(client, { upTo: 2 }), { n: 1 })
    assert.deepEqual(await rows.many(client, { upTo: 0 }), [])
    assert.equal(await rows.maybeOne(client, { upTo: 0 }), undefined)
    await assert.rejects(rows.one(client, { upTo: 0 }), /test\.rows returned no row/)
  })

  test('a statement is prepared under its name, once per connection', async () => {
    const hello = query<{ who: string }, { hello: string }>(
      'test.hello',
      `select 'hello ' || :who::text as hello`,
    )
    for (const who of ['a', 'b', 'c']) await hello.one(client, { who })
    const { rows } = await client.query(
      `select generic_plans + custom_plans as runs, from_sql
       from pg_prepared_statements where name = 'test.hello'`,
    )
    assert.deepEqual(rows, [{ runs: 3, from_sql: false }])
  })
})
