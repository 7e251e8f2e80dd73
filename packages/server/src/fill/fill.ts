import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { App, Cell } from '../platform/cells/directory.ts'
import { connectionConfig } from '../platform/db/db.ts'
import { groups } from './groups.ts'
import type { Batch, Kind, Run, Wish } from './kind.ts'
import { messages } from './messages.ts'
import { users } from './users.ts'

/** All that an app can be filled with, in the order in which one needs the other. */
export const kinds: readonly Kind[] = [users, groups, messages]

/** What PostgreSQL does for a row outweighs all that we do: two of its processes use two cores. */
const CONNECTIONS = 2

export interface FillOptions extends Wish {
  kind: Kind
  /** Called after each commit, with the rows of all so far. */
  onProgress(added: number): void
  /** Ends it after the batches under way. */
  signal: AbortSignal
}

/**
 * Adds rows in batches, each in a transaction with its totals: whenever it ends, what is there is
 * right. Announces nothing. Returns how many were added.
 */
export async function fillApp(
  app: App & { cell: Cell },
  { kind, onProgress, signal, ...wish }: FillOptions,
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
      const more = await inTransaction(client, () => batch.add(client))
      added += more
      onProgress(added)
    }
  }
  await withConnections(app.cell.url, async (clients) => {
    const [first] = clients
    if (!first) return
    const batches = (await kind.plan(first, run, wish))[Symbol.iterator]()
    await Promise.all(clients.map((client) => addAll(client, batches)))
    for (const table of kind.tables) await first.query(`vacuum (analyze) ${table}`)
  })
  return added
}

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  // Before ids of messages are drawn, as in a send: whoever indexes them waits for us.
  await client.query('select pg_current_xact_id()')
  // A failure ends the command and closes the connection, which rolls back.
  const result = await work()
  await client.query('commit')
  return result
}

/** While rows of one batch are made, the transaction of another waits; a busy machine takes its time. */
const IDLE_MS = 60_000

/** Connections of its own: the pool's give up a statement that takes long, and keep their settings. */
async function withConnections(url: string, work: (clients: pg.Client[]) => Promise<void>) {
  const config = {
    ...connectionConfig(url),
    ...{ statement_timeout: 0, idle_in_transaction_session_timeout: IDLE_MS },
  }
  const clients = Array.from({ length: CONNECTIONS }, () => new pg.Client(config))
  try {
    for (const client of clients) {
      // The statement under way fails with it.
      client.on('error', () => {})
      await client.connect()
      // GIN indexes take new rows in bunches as large as this memory: 256 MB saves a quarter of the CPU.
      await client.query(`set work_mem = '256MB'`)
    }
    await work(clients)
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}
