/**
 * An installation with a role for the owner, the service and auditors, none of them a superuser. All other tests run the
 * service with its own role too.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { AUDIT_ROLE, ownerUrl } from '../src/platform/db/grants.ts'
import { type Service, serve } from '../src/serve.ts'
import { maintainCell } from '../src/workers/upkeep.ts'
import { command } from './command.ts'
import { admin, dropDatabase, runAt, testEnv } from './databases.ts'
import { serviceUrl } from './engines.ts'
import { newApp, type TestApp } from './kit.ts'

const name = `test_roles_${randomBytes(5).toString('hex')}`
const owner = `${name}:secret`
const directoryUrl = serviceUrl(process.env, `${name}_directory`)
const cellUrl = serviceUrl(process.env, `${name}_cell`)
const own = testEnv(directoryUrl, ['us-1'])
const env = { ...own, LOQUAT_DATABASE_OWNER: owner }

let service: Service
let app: TestApp

before(async () => {
  await admin(`create role ${name} login password 'secret'`)
  for (const url of [directoryUrl, cellUrl]) {
    await admin(`create database ${new URL(url).pathname.slice(1)} owner ${name}`)
  }
  const migrated = await command(['migrate'], env)
  assert.equal(migrated.code, 0, migrated.stderr)
  const add = ['cells', 'add', '--id', 'us-1', '--region', 'us', '--url', cellUrl]
  assert.equal((await command(add, env)).stdout, 'Cell us-1 is ready.\n')
  service = await serve(readConfig(own), ['api', 'gateway', 'worker'])
  app = await newApp(service)
})
after(async () => {
  await service?.drain()
  await dropDatabase(directoryUrl)
  await dropDatabase(cellUrl)
  await admin(`drop role if exists ${name}`)
})

const DENIED = '42501'
const UNDEFINED = '42P01'

const refuses = (url: string, sql: string, code = DENIED) =>
  assert.rejects(runAt(url, sql), { code }, `${sql} was not refused with ${code}`)

suite('with separate roles', () => {
  test('the service runs, and maintains its own partitions and statistics', async () => {
    const [amira] = await app.users('amira', 'ben')
    await amira.sendText('ben')
    await app.waitFor('message.sent')
    const { rows } = await runAt(
      cellUrl,
      `
      select drop_partition('event_positions', day), attach_partition('event_positions', day),
        analyze_table('messages')
      from (select (clock_timestamp() at time zone 'utc')::date + 7 as day) last`,
    )
    assert.equal(rows.length, 1)
    const { deps } = service
    await maintainCell({ deps, cell: app.cell, signal: new AbortController().signal })
  })

  test('commands that add and change cells, and migrate again, use the owner', async () => {
    const set = ['cells', 'set', '--id', 'us-1', '--synchronous', 'yes']
    assert.equal((await command(set, env)).code, 0)
    assert.match((await command(set, own)).stderr, /permission denied for table cells/)
    const again = await command(['migrate'], env)
    assert.equal(again.stdout, 'directory: up to date\ncell us-1: up to date\n', again.stderr)
    const restored = await command(['cells', 'restored', '--id', 'us-1'], own)
    assert.equal(restored.code, 0, restored.stderr)
  })

  test('the service changes no table, only rows', async () => {
    for (const sql of [
      'create table own (id int)',
      'alter table users add column own int',
      'alter table users disable trigger all',
      'drop table messages',
      'truncate messages',
      'create index on messages (id)',
      'create or replace function working_apps() returns int language sql return 1',
      'alter sequence event_ids restart',
      'update event_bodies set payload = null',
      'select from migrations',
    ]) {
      await refuses(cellUrl, sql)
    }
    await refuses(cellUrl, `select drop_partition('messages', '2026-01-01')`, '22023')
    await refuses(cellUrl, `select attach_partition('messages', '2026-01-01')`, '22023')
  })

  test('the service can neither change the audit log nor send the data elsewhere', async () => {
    for (const sql of [
      'update audit set action = action',
      'delete from audit',
      'truncate audit cascade',
      'drop trigger audit_append_only on audit',
      'update audit_outcomes set status = 200',
      'delete from audit_outcomes',
      `update cells set url_sealed = ''`,
      `insert into cells values ('us-2', 'us', '')`,
      'delete from operators',
    ]) {
      await refuses(directoryUrl, sql)
    }
  })

  test('auditors read the audit log, and no secrets or messages', async () => {
    const password = decodeURIComponent(new URL(directoryUrl).password)
    const [directory, cell] = [directoryUrl, cellUrl].map((url) =>
      ownerUrl(url, `${AUDIT_ROLE}:${password}`),
    ) as [string, string]
    assert.ok(((await runAt(directory, 'select * from audit')).rowCount ?? 0) > 0)
    await runAt(directory, 'select operator_no, email, name from operators')
    await runAt(cell, 'select app_no, name, scope from api_keys')
    for (const sql of [
      'select * from operators',
      'select password_hash from operators',
      'select url_sealed from cells',
      'select from recovery_codes',
      'select from idempotency',
      'insert into audit default values',
      'delete from audit',
    ]) {
      await refuses(directory, sql)
    }
    for (const sql of [
      'select key_sealed from api_keys',
      'select token_hash from auth_tokens',
      'select from messages',
      'select from events',
      `select nextval('event_ids')`,
      `select analyze_table('messages')`,
      `select drop_partition('event_positions', current_date)`,
    ]) {
      await refuses(cell, sql)
    }
  })

  test("a function with the owner's rights ignores tables that the caller puts in its way", async () => {
    await refuses(
      cellUrl,
      `create temp table event_positions_20200101 (id int);
       select drop_partition('event_positions', '2020-01-01')`,
      UNDEFINED,
    )
  })
})
