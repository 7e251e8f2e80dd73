import type { QueryResultRow } from 'pg'
import type { TestApp } from './kit.ts'

interface Digest extends QueryResultRow {
  table: string
  rows: string
}

const TABLES = `
  select c.relname as "table"
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where a.attname = 'app_no' and c.relnamespace = 'public'::regnamespace
    and c.relkind in ('r', 'p') and not c.relispartition
    -- Usage is counted a few seconds later.
    and c.relname not like 'usage\\_%'
  order by 1`

const digest = (table: string) => `
  select '${table}' as "table", md5(string_agg(t::text, '' order by t::text)) as "rows"
  from ${table} t where app_no = $1`

/** A digest of an app's rows in each table: equal as long as nothing changes. */
export async function rowsOf({ no, cell }: TestApp): Promise<Digest[]> {
  const tables = await cell.db.query<Digest>({ name: 'test.tables', text: TABLES, values: [] })
  const text = tables.rows.map(({ table }) => digest(table)).join(' union all ')
  return (await cell.db.query<Digest>({ name: 'test.digest', text, values: [no] })).rows
}
