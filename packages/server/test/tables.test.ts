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
      assert.equal(rows.length, { cell: 3, directory: 0 }[schema])
    })

    test('move only if their rows say whose they are', () => {
      const wrong = tables.filter(
        ([, table]) => table.moves !== 'stays' && !columnsOf(table).includes('app_no'),
      )
      assert.deepEqual(wrong, [])
    })
  })
}
