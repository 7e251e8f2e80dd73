import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { UserError } from '../errors.ts'
import { changeSchema, retryLocks, runFile } from './ddl.ts'

/**
 * The first line of a migration that must run outside a transaction, such as one that builds an index
 * concurrently. Its statements end with a semicolon at the end of a line. If one fails, the next
 * `loquat migrate` runs all of them again, so each must be repeatable.
 */
const NO_TRANSACTION = '-- no transaction\n'

interface Migration {
  name: string
  sql: string
}

/** Runs the migrations that this database lacks, in the order of their names, and returns those names. */
export async function runMigrations(client: pg.Client, folder: string): Promise<string[]> {
  await client.query(`create table if not exists migrations (
    name text primary key, ran_at timestamptz not null default now())`)
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  const ran = rows.map(({ name }) => name)
  const all = readMigrations(folder)
  checkHistory(
    ran,
    all.map(({ name }) => name),
  )
  const pending = all.slice(ran.length)
  for (const migration of pending) await run(client, migration)
  return pending.map(({ name }) => name)
}

function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      name: file.slice(0, -'.sql'.length),
      sql: readFileSync(join(folder, file), 'utf8'),
    }))
}

/** Fails unless the migrations that a database has run are the first ones of this version. */
function checkHistory(ran: string[], known: string[]): void {
  const strange = ran.find((name, nth) => name !== known[nth])
  if (strange === undefined) return
  throw new UserError(
    known.includes(strange)
      ? `The database has run ${strange}, but not the migrations before it. Name new migrations so that they come last.`
      : `The database has run the migration ${strange}, which this version doesn't have. Use the version that added it, or a newer one.`,
  )
}

async function run(client: pg.Client, { name, sql }: Migration): Promise<void> {
  const note = () => client.query('insert into migrations (name) values ($1)', [name])
  if (!sql.startsWith(NO_TRANSACTION)) {
    return await changeSchema(client, async () => {
      await runFile(client, name, sql)
      await note()
    })
  }
  await retryLocks(async () => {
    for (const statement of sql.split(/;$/m)) await runFile(client, name, statement)
  })
  await note()
}
