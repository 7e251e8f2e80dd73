import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { applyFunctions } from './functions.ts'
import { grantFunctions, grantTables } from './grants.ts'
import { runMigrations } from './migrations.ts'
import type { Schema } from './query.ts'

export interface Migrated {
  /** Names of the migrations that ran. */
  migrations: string[]
  /** Names of the function files that were applied. */
  functions: string[]
}

/** Any number, the same in every version. */
const LOCK = 7_241_869_360
const POLL_MS = 200

/** The folder that has `migrations/`, `db/` and the version in `package.json`. */
export const SERVER = fileURLToPath(new URL('../../..', import.meta.url))

/** Brings a database up to date: the migrations that it lacks, all grants, and the functions that changed. */
export async function migrate(url: string, schema: Schema, root = SERVER): Promise<Migrated> {
  return await alone(url, async () => {
    const client = await connect(url)
    try {
      const migrations = await runMigrations(client, join(root, 'migrations', schema))
      // Before the functions: a new body may use a new table at once.
      await grantTables(client, root, schema)
      const functions = await applyFunctions(client, root, schema)
      await grantFunctions(client)
      return { migrations, functions }
    } finally {
      await client.end()
    }
  })
}

/**
 * Runs `work` while no other process migrates this database. The lock belongs to a transaction, because
 * a pooler may use another session for each transaction. It is polled: `create index concurrently` waits
 * for all running statements, so a statement that waits for our lock would deadlock with it.
 */
async function alone<T>(url: string, work: () => Promise<T>): Promise<T> {
  const client = await connect(url)
  try {
    await client.query('begin; set local idle_in_transaction_session_timeout = 0')
    const locked = async () => {
      // Without parameters: a statement with parameters would keep its snapshot, and building an index
      // concurrently waits for all snapshots.
      const { rows } = await client.query(`select pg_try_advisory_xact_lock(${LOCK}) as locked`)
      return rows[0].locked
    }
    while (!(await locked())) await sleep(POLL_MS)
    return await work()
  } finally {
    await client.end()
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'loquat migrate',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // A lost connection fails the next statement, which says more.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Creates the database that `url` names if it is missing: for engines of our own. */
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
