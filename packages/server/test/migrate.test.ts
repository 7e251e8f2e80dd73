import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, suite, test } from 'node:test'
import pg from 'pg'
import { ensureDatabase, migrate } from '../src/platform/db/migrate.ts'
import { dropDatabase, queryAt } from './databases.ts'
import { databaseUrl } from './engines.ts'
import { until } from './until.ts'

const INDEX = `-- no transaction
drop index concurrently if exists item_name;
create unique index concurrently item_name on item (name);
`

const clients: pg.Client[] = []
let root = ''
let url = ''

beforeEach(async (t) => {
  root = mkdtempSync(join(tmpdir(), 'loquat-migrate-'))
  url = databaseUrl(process.env, `test_migrate_${process.pid}_${t.name.length}`)
  await ensureDatabase(url)
  write('package.json', '{"version":"1.2.0"}')
  write('migrations/cell/0001_item.sql', 'create table item (id int primary key, name text);')
  write('db/cell/grants.gen.sql', '')
  listFunctions(['one', 'two'])
  write('db/cell/functions/one.sql', answer('one', "'one'"))
  write('db/cell/functions/two.sql', answer('two', 'one() || 2'))
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()))
  await dropDatabase(url)
  rmSync(root, { recursive: true })
})

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

function listFunctions(files: string[], retired: { name: string; dropIn: string }[] = []): void {
  write('db/cell/functions.json', JSON.stringify({ files, retired }))
}

const answer = (name: string, value: string, parameters = '', type = 'text') =>
  `create or replace function ${name}(${parameters}) returns ${type} language sql return ${value};`

const run = () => migrate(url, 'cell', root)
const ask = async (sql: string) => Object.values((await queryAt(url, sql)).rows[0] ?? {})[0]

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  clients.push(client)
  await client.connect()
  return client
}

suite('migrations', () => {
  test('run once each, in the order of their names', async () => {
    assert.deepEqual((await run()).migrations, ['0001_item'])
    write('migrations/cell/0010_b.sql', 'alter table item drop column later;')
    write('migrations/cell/0002_a.sql', 'alter table item add column later int;')
    assert.deepEqual((await run()).migrations, ['0002_a', '0010_b'])
    assert.deepEqual((await run()).migrations, [])
  })

  test('leave nothing behind when they fail; the error names the file', async () => {
    write('migrations/cell/0002_a.sql', 'create table a (id int);')
    write('migrations/cell/0003_b.sql', 'create table b (id int); select 1 / 0;')
    await assert.rejects(run(), /^Error: 0003_b: division by zero$/)
    assert.equal(await ask(`select to_regclass('b')`), null)
    write('migrations/cell/0003_b.sql', 'create table b (id int);')
    assert.deepEqual((await run()).migrations, ['0003_b'])
  })

  test('are refused if the database has run other ones', async () => {
    await run()
    write('migrations/cell/0000_early.sql', 'select 1;')
    await assert.rejects(run(), /has run 0001_item, but not the migrations before it/)
    rmSync(join(root, 'migrations/cell/0000_early.sql'))
    rmSync(join(root, 'migrations/cell/0001_item.sql'))
    await assert.rejects(run(), /the migration 0001_item, which this version doesn't have/)
  })

  test('let requests pass while they wait for a lock', { timeout: 120_000 }, async () => {
    await run()
    const holder = await connect()
    await holder.query('begin; select from item')
    write('migrations/cell/0002_a.sql', 'alter table item add column later int;')
    const migrated = run()
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database() and application_name = 'loquat migrate'`
    await until('it waits', async () => (await queryAt(url, waiting)).rowCount === 1)
    // Without a lock timeout this would queue behind the migration until the holder ends.
    assert.equal(await ask('select count(*) from item'), '0')
    await holder.query('commit')
    assert.deepEqual((await migrated).migrations, ['0002_a'])
  })

  test('can run outside a transaction, by two processes at once', async () => {
    write('migrations/cell/0002_index.sql', INDEX)
    const [one, other] = await Promise.all([run(), run()])
    assert.deepEqual([...one.migrations, ...other.migrations], ['0001_item', '0002_index'])
    assert.equal(
      await ask(`select indisvalid from pg_index where indexrelid = 'item_name'::regclass`),
      true,
    )
  })

  test('outside a transaction resume after a failure', async () => {
    await run()
    await queryAt(url, `insert into item values (1, 'same'), (2, 'same')`)
    write('migrations/cell/0002_index.sql', INDEX)
    await assert.rejects(run(), /0002_index: could not create unique index/)
    const valid = `select indisvalid from pg_index where indexrelid = 'item_name'::regclass`
    assert.equal(await ask(valid), false)
    await queryAt(url, 'delete from item where id = 2')
    assert.deepEqual((await run()).migrations, ['0002_index'])
    assert.equal(await ask(valid), true)
  })
})

suite('functions', () => {
  test('of changed files are applied, all or none', async () => {
    assert.deepEqual((await run()).functions, ['one', 'two'])
    assert.deepEqual((await run()).functions, [])
    write('db/cell/functions/one.sql', answer('one', "'uno'"))
    assert.deepEqual((await run()).functions, ['one'])
    assert.equal(await ask('select two()'), 'uno2')

    write('db/cell/functions/one.sql', answer('one', "'eins'"))
    write('db/cell/functions/two.sql', answer('two', 'nothing()'))
    await assert.rejects(run(), /^Error: functions\/two.sql: function nothing\(\) does not exist$/)
    assert.equal(await ask('select two()'), 'uno2')
  })

  test('with another signature need another name', async () => {
    await run()
    write('db/cell/functions/one.sql', answer('one', "'one'", 'p_n int default 1'))
    await assert.rejects(
      run(),
      /Two functions with the same name: one\. A changed signature needs a new name/,
    )
    write('db/cell/functions/one.sql', answer('one', '1', '', 'int'))
    await assert.rejects(run(), /functions\/one.sql: cannot change return type/)
    assert.equal(await ask('select two()'), 'one2')
  })

  test('that are retired stay until the version that drops them', async () => {
    await run()
    listFunctions(['one'], [{ name: 'two', dropIn: '1.10.0' }])
    await run()
    assert.equal(await ask('select two()'), 'one2')
    write('package.json', '{"version":"1.10.0"}')
    await run()
    assert.equal(await ask(`select to_regproc('two')`), null)
    assert.deepEqual((await run()).functions, [])
  })

  test('change in open sessions too, even where PostgreSQL has inlined them into a prepared call', async () => {
    await run()
    const session = await connect()
    const call = { name: 'call', text: 'select two() as answer' }
    for (let nth = 0; nth < 6; nth++) await session.query(call)
    write('db/cell/functions/one.sql', answer('one', "'uno'"))
    await Promise.all([run(), run()])
    assert.deepEqual((await session.query(call)).rows, [{ answer: 'uno2' }])
  })
})
