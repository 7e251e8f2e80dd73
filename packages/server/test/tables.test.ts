/** Every table and column is declared, in core/tables/. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { cellTables, cellViews } from '../src/core/tables/cell.ts'
import { directoryTables } from '../src/core/tables/directory.ts'
import { auditColumnsOf, columnsOf, secretColumnsOf, type Table } from '../src/core/tables/table.ts'
import { AUDIT_ROLE, SERVICE_ROLE } from '../src/platform/db/grants.ts'
import type { Schema } from '../src/platform/db/query.ts'
import type { Places } from '../src/platform/secrets/secrets.ts'
import { admin } from './databases.ts'
import { TEMPLATES } from './engines.ts'

const declared: Record<Schema, Record<string, Table>> = {
  cell: cellTables,
  directory: directoryTables,
}

type SealedIn<Tables> = Tables[keyof Tables] extends infer Each
  ? Each extends { sealed: infer Sealed }
    ? Sealed[keyof Sealed]
    : never
  : never
/** Cursors are sealed too, but not stored. */
type Undeclared = Exclude<
  keyof Places,
  SealedIn<typeof cellTables> | SealedIn<typeof directoryTables> | 'cursor'
>
/** Doesn't compile if a value is sealed for a place that no table declares. */
export const allPlacesAreDeclared: [Undeclared] extends [never] ? true : Undeclared = true

/** The columns of the migrated database, without what `loquat migrate` writes about itself. */
async function storedColumns(schema: Schema): Promise<Record<string, string[]>> {
  const { rows } = await admin(
    `select c.relname as table, array_agg(a.attname::text order by a.attname) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition and c.relname not in ('migrations', 'function_files')
     group by 1 order by 1`,
    [],
    TEMPLATES[schema],
  )
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))
}

/** Columns whose type can hold a uid, a name, a text or an address, as `table.column`. */
async function textColumns(schema: Schema): Promise<Set<string>> {
  const { rows } = await admin(
    `select c.relname || '.' || a.attname as name
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.atttypid::regtype::text in ('text', 'text[]', 'json', 'jsonb', 'bytea', 'character varying', 'inet')`,
    [],
    TEMPLATES[schema],
  )
  return new Set(rows.map(({ name }) => name))
}

const of = (table: string, columns: string) => columns.split(' ').map((name) => `${table}.${name}`)

/**
 * Texts that no user writes and that name no user: kinds and states, ids of things, settings of the app, which operators
 * write. Add a column only if that is true of it.
 */
// biome-ignore format: one line per table
const WITHOUT_PEOPLE: Record<Schema, readonly string[]> = {
  cell: [
    ...of('apps', 'app_id settings ceilings moderation'),
    ...of('api_keys', 'name scope'),
    ...of('revocations', 'kind'),
    ...of('leases', 'job'),
    ...of('jobs', 'name state'),
    ...of('job_steps', 'step'),
    ...of('job_schedules', 'key name zone'),
    ...of('event_bodies', 'type counts_as'),
    ...of('event_positions', 'type'),
    ...of('log_origin', 'system_id'),
    ...of('roles', 'role name description metadata settings permissions restrictions'),
    ...of('moderation_rules', 'rule_id name description action conditions'),
    ...of('keyword_lists', 'list_id name description category entries'),
    ...of('check_settings', 'url username on_failure models'),
    ...of('model_providers', 'provider_id name kind url fallback_id fallback_model embedding_model'),
    ...of('agents', 'kind name definition'),
    ...of('agent_revisions', 'content changed api_key'),
    ...of('agent_blocks', 'kind slug definition listed listed_digest'),
    ...of('agent_runs', 'guid state reason'),
    ...of('agent_handovers', 'opened_by closed_by'),
    ...of('agent_steps', 'kind state provider_id model waits_for'),
    ...of('agent_replays', 'mode changes state reason verdict'),
    ...of('knowledge_sources', 'kind file_id mime_type state reason'),
    ...of('knowledge_vectors', 'model'),
    ...of('embedding_calls', 'model'),
    ...of('knowledge_pages', 'state reason etag last_modified digest'),
    ...of('flag_reasons', 'reason_id name description'),
    ...of('users', 'avatar_file role'),
    ...of('totals', 'what'),
    ...of('groups', 'guid type icon_file permissions'),
    ...of('bans', 'guid scope'),
    ...of('sanctions', 'kind guid'),
    ...of('former_members', 'guid'),
    ...of('conversations', 'kind'),
    ...of('inbox', 'kind scope'),
    ...of('app_pins', 'kind'),
    ...of('messages', 'category type'),
    ...of('held_messages', 'category type status checks rule'),
    ...of('held_edits', 'files checks'),
    ...of('imports', 'state place counts'),
    ...of('import_problems', 'code'),
    ...of('import_sums', 'kind'),
    ...of('exports', 'sums'),
    ...of('export_parts', 'object'),
    ...of('checked_messages', 'kind category type status rule'),
    ...of('flags', 'reason_id'),
    ...of('reviews', 'rule_id rule_name revision_id actions reason decision'),
    ...of('subject_flags', 'kind reason_id'),
    ...of('calls', 'kind type mode status media_server'),
    ...of('call_connections', 'what server handle'),
    ...of('call_files', 'kind file_id source type'),
    ...of('call_recordings', 'source'),
    ...of('call_participants', 'state'),
    ...of('files', 'id state type reason'),
    ...of('file_references', 'file_id'),
    ...of('removed_uploads', 'file_id'),
    ...of('file_kinds', 'kind'),
    ...of('marks', 'kind'),
    ...of('receipt_progress', 'kind'),
    ...of('receipt_floors', 'kind'),
    ...of('search_ids', 'ids'),
    ...of('webhooks', 'id name url username triggers types'),
    ...of('webhook_dead_letters', 'type reason'),
    ...of('webhook_deliveries', 'type error'),
    ...of('notification_settings', 'settings'),
    ...of('notification_mutes', 'kind'),
    ...of('notification_providers', 'channel kind provider_id details'),
    ...of('notification_batches', 'channel'),
    ...of('suppressed_addresses', 'channel'),
    ...of('push_tokens', 'provider_id'),
    ...of('notification_logs', 'channel trigger category type receiver_type provider provider_id reason'),
    ...of('notification_deliveries', 'channel provider what'),
    ...of('usage_days', 'what'),
    ...of('usage_steps', 'what'),
  ],
  directory: [
    ...of('regions', 'region'),
    ...of('cells', 'cell_id region'),
    ...of('log_witnesses', 'cell_id system_id'),
    ...of('media_servers', 'address region'),
    ...of('apps', 'app_id name cell_id state'),
    ...of('operator_keys', 'key name'),
    ...of('idempotency', 'key'),
    ...of('collaborators', 'role'),
    ...of('invitations', 'role'),
    ...of('audit', 'via app_id action'),
    ...of('erasures', 'mode state receipt'),
  ],
}

/** What a role may do with each table and SQL view. */
async function storedGrants(schema: Schema, role: string): Promise<Record<string, string>> {
  const { rows } = await admin(
    `select c.relname as table, string_agg(lower(privilege_type), ', ') as rights
     from pg_class c, aclexplode(c.relacl) x join pg_roles r on r.oid = x.grantee
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and rolname = $1
     group by 1 order by 1`,
    [role],
    TEMPLATES[schema],
  )
  return Object.fromEntries(rows.map(({ table, rights }) => [table, inOrder(rights)]))
}

/** The columns of each table that a role may read. */
async function storedColumnGrants(schema: Schema, role: string): Promise<Record<string, string[]>> {
  const { rows } = await admin(
    `select c.relname as table, array_agg(a.attname::text order by a.attname) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid, aclexplode(a.attacl) x
     join pg_roles r on r.oid = x.grantee
     where rolname = $1 and privilege_type = 'SELECT' group by 1 order by 1`,
    [role],
    TEMPLATES[schema],
  )
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))
}

const inOrder = (rights: string) => rights.split(', ').toSorted().join(', ')

const sorted = <T>(entries: [string, T][]) =>
  Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))

for (const schema of ['cell', 'directory'] as const) {
  const tables = Object.entries(declared[schema])
  const faults = (find: (table: Table, columns: string[]) => string[]) =>
    tables.flatMap(([name, table]) =>
      find(table, columnsOf(table)).map((column) => `${name}.${column}`),
    )

  suite(`tables of the ${schema}`, () => {
    test('are those that are declared, with the same columns', async () => {
      const columns = tables.map(([name, table]): [string, string[]] => [
        name,
        columnsOf(table).toSorted(),
      ])
      assert.deepEqual(await storedColumns(schema), sorted(columns))
    })

    test('declare a column as sealed or hashed if its name says so', () => {
      const unlisted = faults((table, columns) => {
        const [sealed, secret] = [Object.keys(table.sealed ?? {}), secretColumnsOf(table)]
        return columns.filter(
          (column) =>
            (/_sealed$/.test(column) && !sealed.includes(column)) ||
            (/_hash$/.test(column) && !secret.includes(column)),
        )
      })
      assert.deepEqual(unlisted, [])
    })

    test('show the audit role columns that exist, and no secrets', () => {
      const wrong = faults((table, columns) =>
        auditColumnsOf(table).filter(
          (column) => !columns.includes(column) || secretColumnsOf(table).includes(column),
        ),
      )
      assert.deepEqual(wrong, [])
    })

    test('give the service the rights that are declared, and no others', async () => {
      const rights = tables.map(([name, { service }]): [string, string] => [name, inOrder(service)])
      const views = schema === 'cell' ? cellViews : []
      const all = [...rights, ...views.map((name): [string, string] => [name, 'select'])]
      assert.deepEqual(await storedGrants(schema, SERVICE_ROLE), sorted(all))
      assert.deepEqual(await storedColumnGrants(schema, SERVICE_ROLE), {})
    })

    test('give auditors the columns that are declared, and nothing else', async () => {
      const columns = tables
        .map(([name, table]): [string, string[]] => [name, auditColumnsOf(table).toSorted()])
        .filter(([, listed]) => listed.length > 0)
      assert.deepEqual(await storedColumnGrants(schema, AUDIT_ROLE), sorted(columns))
      assert.deepEqual(await storedGrants(schema, AUDIT_ROLE), {})
    })

    test('have functions with the rights of their owner that only the service may call', async () => {
      const { rows } = await admin(
        `select proname as name, proconfig @> '{"search_path=public, pg_temp"}' as fixed,
           array(select r.rolname::text from aclexplode(proacl) x left join pg_roles r on r.oid = x.grantee
             where x.grantee <> proowner) as callers
         from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`,
        [],
        TEMPLATES[schema],
      )
      for (const { name, fixed, callers } of rows) {
        assert.deepEqual([fixed, callers], [true, [SERVICE_ROLE]], name)
      }
      assert.equal(rows.length, { cell: 4, directory: 1 }[schema])
    })

    test('say what the erasure of a user does, if they name people', () => {
      const wrong = tables.filter(
        ([, { people, personal, erased }]) =>
          ((people ?? personal) === undefined) !== (erased === undefined),
      )
      assert.deepEqual(
        wrong.map(([name]) => name),
        [],
      )
    })

    test('have texts without personal data only where it is known why', async () => {
      const texts = await textColumns(schema)
      const plain = faults(({ plain = '' }) => plain.split(' '))
      assert.deepEqual(
        plain.filter((column) => texts.has(column)).toSorted(),
        [...WITHOUT_PEOPLE[schema]].toSorted(),
        'a column that can hold a uid, a name, a text or an address is declared in people or personal',
      )
    })

    test('move only if their rows say whose they are', () => {
      const wrong = tables.filter(
        ([, table]) => table.moves !== 'stays' && !columnsOf(table).includes('app_no'),
      )
      assert.deepEqual(wrong, [])
    })
  })
}
