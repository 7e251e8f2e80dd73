import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { UserError } from '../errors.ts'
import { sqlState } from './db.ts'

/**
 * While a schema change waits for a lock, all later requests for that table queue behind it. So it waits
 * this long at most, lets the requests pass, and tries again. Three such waits are shorter than
 * PostgreSQL's `deadlock_timeout` (1 s): if the change and a request wait for each other, the change
 * gives up first.
 */
const LOCK_TIMEOUT_MS = 300
const PAUSE_MS = 1_000
const PATIENCE_MS = 5 * 60_000

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/** Changes the schema in one transaction. It retries until it gets its locks without stopping traffic. */
export async function changeSchema<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  return await retryLocks(async () => {
    await client.query('begin')
    try {
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
      const result = await work()
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  })
}

/** Runs SQL from a file. Errors begin with the file's name. */
export async function runFile(client: pg.Client, file: string, sql: string): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Repeats `work` while it fails because another transaction has a lock that it needs. */
export async function retryLocks<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const state = sqlState(error instanceof Error && error.cause ? error.cause : error)
      if (state !== LOCK_NOT_AVAILABLE && state !== DEADLOCK) throw error
      if (Date.now() > deadline) {
        throw new UserError(
          'A long transaction locks a table that has to change. Find it in pg_stat_activity, end it, and run loquat migrate again.',
        )
      }
    }
    await sleep(PAUSE_MS)
  }
}
