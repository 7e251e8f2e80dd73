import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { changeSchema, runFile } from './ddl.ts'
import type { Schema } from './query.ts'

/** `db/<schema>/functions.json`. */
interface FunctionList {
  /** The names of the files in `functions/`, in the order in which they are applied. */
  files: string[]
  /** Functions that no file has any more, with the version whose `loquat migrate` drops them. */
  retired: { name: string; dropIn: string }[]
}

interface FunctionFile {
  name: string
  sql: string
  checksum: string
}

const SERVER = new URL('../../../', import.meta.url)
const readText = (path: string) => readFileSync(new URL(path, SERVER), 'utf8')

export function functionList(schema: Schema): FunctionList {
  return JSON.parse(readText(`db/${schema}/functions.json`))
}

/**
 * Applies the files of functions that changed since they were last applied here, all in one
 * transaction, and drops retired functions. Returns the names of those files.
 *
 * Open sessions call the new body from their next call on. They keep their prepared statements, since
 * `create or replace` refuses to change what a function takes or returns.
 */
export async function applyFunctions(client: pg.Client, schema: Schema): Promise<string[]> {
  const { files, retired } = functionList(schema)
  await client.query(`create table if not exists function_files (
    name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const applied = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from function_files',
  )
  const checksums = new Map(applied.rows.map(({ name, checksum }) => [name, checksum]))
  const changed = files
    .map((name) => readFile(schema, name))
    .filter(({ name, checksum }) => checksums.get(name) !== checksum)
  const gone = [...checksums.keys()].filter((name) => !files.includes(name))
  const drops = retired.filter(({ dropIn }) => isReached(dropIn))
  if (changed.length + gone.length + drops.length === 0) return []
  await changeSchema(client, async () => {
    for (const file of changed) await apply(client, file)
    await client.query('delete from function_files where name = any ($1)', [gone])
    for (const { name } of drops) await client.query(`drop function if exists ${name}`)
    await refuseOverloads(client)
  })
  return changed.map(({ name }) => name)
}

function readFile(schema: Schema, name: string): FunctionFile {
  const sql = readText(`db/${schema}/functions/${name}.sql`)
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
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
 * `create or replace` with other parameters leaves the old function in place and adds a second one;
 * calls that fit both then fail. So a changed signature needs a new name.
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
  throw new Error(`Two functions of one name: ${names}. A changed signature needs a new name.`)
}

function isReached(version: string): boolean {
  const { version: own } = JSON.parse(readText('package.json')) as { version: string }
  return own.localeCompare(version, 'en', { numeric: true }) >= 0
}
