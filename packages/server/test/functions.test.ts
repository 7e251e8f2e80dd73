import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, suite, test } from 'node:test'
import { functionList } from '../src/platform/db/functions.ts'
import { SERVER } from '../src/platform/db/migrate.ts'
import { cloneDatabase, dropDatabase, queryAt } from './databases.ts'
import { fixedFunctions, functionFaults } from './functions.ts'

for (const schema of ['cell', 'directory'] as const) {
  suite(`the functions of the ${schema}`, async () => {
    const url = await cloneDatabase(schema)
    after(() => dropDatabase(url))

    test('are the same in the database and in the files', async () => {
      assert.deepEqual(await functionFaults(url, schema), [])
    })

    test('are in files that functions.json lists', () => {
      const files = globSync(join(SERVER, 'db', schema, 'functions', '*'))
      assert.deepEqual(
        functionList(SERVER, schema).files.toSorted(),
        files.map((file) => basename(file, '.sql')).sort(),
      )
    })

    test('are immutable if a migration creates them', async () => {
      const sql = `select proname from pg_proc where proname = any ($1) and provolatile = 'i'`
      const fixed = fixedFunctions(SERVER, schema).sort()
      const { rows } = await queryAt(url, `${sql} order by 1`, [fixed])
      assert.deepEqual(
        rows.map(({ proname }) => proname),
        fixed,
      )
    })
  })
}

test('finds functions and triggers that differ from their file, are missing or are in no file', async (t) => {
  const url = await cloneDatabase('cell')
  t.after(() => dropDatabase(url))
  await queryAt(
    url,
    `create or replace function refuse(p_code text, p_values jsonb default '{}') returns void
      language plpgsql as 'begin return; end';
    drop function purge_app;
    drop trigger add_search_change on messages;
    create function stray() returns int language sql as 'select 1'`,
  )
  assert.deepEqual((await functionFaults(url, 'cell')).sort(), [
    'purge_app differs from its file',
    'refuse differs from its file',
    'stray is in the database and in no file',
    'trigger add_search_change differs from its file',
  ])
})

test('an event gets its id after its transaction', async (t) => {
  const url = await cloneDatabase('cell')
  t.after(() => dropDatabase(url))
  await queryAt(
    url,
    `create function check_order() returns trigger language plpgsql as $$
    begin
      -- The row has its id, and isn't stored yet.
      assert new.id is not null and pg_current_xact_id_if_assigned() is not null;
      return new;
    end $$;
    create trigger check_order before insert on event_bodies for each row execute function check_order()`,
  )
  await queryAt(
    url,
    `insert into event_bodies (app_no, type, key, payload)
     select 1, 'app.settings.updated', 'app', '{}' from generate_series(1, 3)`,
  )
})
