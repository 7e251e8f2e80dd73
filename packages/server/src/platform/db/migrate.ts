import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import type { Schema } from './query.ts'

/** Brings a database up to date, one transaction a migration. Returns the names of those it ran. */
export async function migrate(url: string, schema: Schema): Promise<string[]> {
  const ran = await runner({
    databaseUrl: url,
    dir: fileURLToPath(new URL(`../../../migrations/${schema}`, import.meta.url)),
    direction: 'up',
    migrationsTable: 'migrations',
    singleTransaction: false,
    advisoryLockMode: 'wait',
    logger: { info: ignore, warn: ignore, error: ignore },
  })
  return ran.map((migration) => migration.name)
}

const ignore = () => {}

/** Makes the database that `url` names, if it is missing: for engines of our own. */
export async function ensureDatabase(url: string): Promise<void> {
  const target = new URL(url)
  const name = target.pathname.slice(1)
  target.pathname = '/postgres'
  const client = new pg.Client({ connectionString: target.href })
  await client.connect()
  try {
    const known = await client.query('select from pg_database where datname = $1', [name])
    if (known.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}
