import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { changeSchema, runFile } from './ddl.ts'
import type { Schema } from './query.ts'

/** The content of `db/<schema>/functions.json`. */
interface FunctionList {
  /** The names of the files in `functions/`, in the order in which they are applied. */
  files: string[]
  /** Functions that were removed from their file, each with the version whose `loquat migrate` drops it. */
  retired: { name: string; dropIn: string }[]
}

interface FunctionFile {
  name: string
  sql: string
  checksum: string
}

export function functionList(root: string, schema: Schema): FunctionList {
  return JSON.parse(readFileSync(join(root, 'db', schema, 'functions.json'), 'utf8'))
}

/** The function files of a database, in the order in which they are applied. */
export function functionFiles(root: string, schema: Schema): FunctionFile[] {
  return functionList(root, schema).files.map((name) => {
    const sql = readFileSync(join(root, 'db', schema, 'functions', `${name}.sql`), 'utf8')
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

/**
 * Applies the function files that changed since the last time, in one transaction, and drops retired
 * functions. Returns the names of these files.
 *
 * Open sessions use a new body from their next call on. Their prepared statements stay valid, because
 * `create or replace` can't change the parameters or the return type of a function.
 */
export async function applyFunctions(
  client: pg.Client,
  root: string,
  schema: Schema,
): Promise<string[]> {
  const files = functionFiles(root, schema)
  await client.query(`create table if not exists function_files (
    name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const applied = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from function_files',
  )
  const checksums = new Map(applied.rows.map(({ name, checksum }) => [name, checksum]))
  const changed = files.filter(({ name, checksum }) => checksums.get(name) !== checksum)
  const gone = [...checksums.keys()].filter((known) => !files.some(({ name }) => name === known))
  const drops = functionList(root, schema).retired.filter(({ dropIn }) => isReached(root, dropIn))
  if (changed.length + gone.length + drops.length === 0) return []
  await changeSchema(client, async () => {
    for (const file of changed) await apply(client, file)
    await client.query('delete from function_files where name = any ($1)', [gone])
    for (const { name } of drops) await client.query(`drop function if exists ${name}`)
    await refuseOverloads(client)
  })
  return changed.map(({ name }) => name)
}

async function apply(client: pg.Client, { name, sql, checksum }: FunctionFile): Promise<void> {
  await runFile(client, `functions/${name}.sql`, sql)
  await client.query(
    `insert into function_files (name, checksum) values ($1, $2)
    on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`,
    [name, checksum],
  )
}

/**
 * With other parameters, `create or replace` keeps the old function and adds a second one; calls that
 * match both then fail. So a changed signature needs a new name.
 */
async function refuseOverloads(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select p.proname as name from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and not exists (
      select from pg_depend d
      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    group by 1 having count(*) > 1 order by 1`)
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new Error(
    `Two functions with the same name: ${names}. A changed signature needs a new name.`,
  )
}

function isReached(root: string, version: string): boolean {
  const { version: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return own.localeCompare(version, 'en', { numeric: true }) >= 0
}
