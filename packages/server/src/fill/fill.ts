import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { App, Cell } from '../platform/cells/directory.ts'
import { connectionConfig } from '../platform/db/db.ts'
import { groups } from './groups.ts'
import type { Batch, FillRequest, Kind, Run } from './kind.ts'
import { messages } from './messages.ts'
import { users } from './users.ts'

/** All kinds of data, in the order of their dependencies. */
export const kinds: readonly Kind[] = [users, groups, messages]

/** PostgreSQL does most of the work for a row, so two connections keep two cores busy. */
const CONNECTIONS = 2
const TRIES = 4

export interface FillOptions extends FillRequest {
  kind: Kind
  /** Called after each commit, with the number of rows added so far. */
  onProgress(added: number): void
  /** Stops after the current batches. */
  signal: AbortSignal
}

/**
 * Adds rows in batches, each in one transaction with its totals, so that the data is consistent whenever it stops.
 * Causes no events. Returns how many rows were added.
 */
export async function fillApp(
  app: App & { cell: Cell },
  { kind, onProgress, signal, ...request }: FillOptions,
): Promise<number> {
  const run: Run = {
    appNo: app.no,
    mark: randomBytes(4).toString('hex'),
    startedAt: new Date(),
  }
  let added = 0
  const addAll = async (client: pg.Client, batches: Iterator<Batch>) => {
    while (!signal.aborted) {
      const { done, value: batch } = batches.next()
      if (done) return
      const more = await withRetries(client, () => batch.add(client))
      added += more
      onProgress(added)
    }
  }
  await withConnections(app.cell.url, async (clients) => {
    const [first] = clients
    if (!first) return
    const batches = (await kind.plan(first, run, request))[Symbol.iterator]()
    await Promise.all(clients.map((client) => addAll(client, batches)))
    for (const table of kind.tables) await first.query(`vacuum (analyze) ${table}`)
  })
  return added
}

/** Runs a batch again if it drew a message id that exists: one in a thousand does in an app with ten million messages. */
async function withRetries<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await inTransaction(client, work)
    } catch (error) {
      const taken = error instanceof pg.DatabaseError && error.constraint === 'messages_pkey'
      if (!taken || tries === TRIES) throw error
      await client.query('rollback')
    }
  }
}

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  // Another error ends the command and closes the connection, which rolls back.
  const result = await work()
  await client.query('commit')
  return result
}

/** A transaction is idle while the rows of another batch are generated, which can be long on a busy machine. */
const IDLE_MS = 60_000

/** Opens separate connections, because those of the pool have a statement timeout and would keep these settings. */
async function withConnections(url: string, work: (clients: pg.Client[]) => Promise<void>) {
  const config = {
    ...connectionConfig(url),
    ...{ statement_timeout: 0, idle_in_transaction_session_timeout: IDLE_MS },
  }
  const clients = Array.from({ length: CONNECTIONS }, () => new pg.Client(config))
  try {
    for (const client of clients) {
      // The current statement reports the error.
      client.on('error', () => {})
      await client.connect()
      // GIN indexes insert pending rows in batches of this size. 256 MB saves a quarter of the CPU.
      await client.query(`set work_mem = '256MB'`)
    }
    await work(clients)
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}
