import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { UserError } from '../errors.ts'
import { sqlState } from './db.ts'

/**
 * While a change of a table waits for its lock, every later request for that table waits behind it.
 * So it waits this long at most, then lets the requests pass and tries again. Below PostgreSQL's
 * `deadlock_timeout` (1 s): of a change and a request that wait for each other, the change gives up.
 */
const LOCK_TIMEOUT_MS = 500
const PAUSE_MS = 1_000
const PATIENCE_MS = 5 * 60_000

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/** Changes the schema in one transaction, as often as it takes to get its locks without stopping traffic. */
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

/** Runs SQL of a file, whose name goes before the message if it fails. */
export async function runFile(client: pg.Client, file: string, sql: string): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Runs `work` again while it fails because others hold a lock that it needs. */
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
          'A long transaction holds a table that has to change. Find it in pg_stat_activity, then run this again.',
        )
      }
    }
    await sleep(PAUSE_MS)
  }
}
