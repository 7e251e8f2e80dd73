import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { App, Cell } from '../platform/cells/directory.ts'
import { connectionConfig } from '../platform/db/db.ts'
import type { Kind, Run } from './kind.ts'
import { users } from './users.ts'

/** All that an app can be filled with, in the order in which one needs the other. */
export const kinds: readonly Kind[] = [users]

/** What PostgreSQL does for a row outweighs all that we do: two of its processes use two cores. */
const CONNECTIONS = 2

export interface FillOptions {
  kind: Kind
  wanted: number
  /** Called after each commit, with the rows of all so far. */
  onProgress(added: number): void
  /** Ends it after the chunks under way. */
  signal: AbortSignal
}

/**
 * Adds rows in chunks, each in a transaction with its totals: whenever it ends, what is there is
 * right. Announces nothing. Returns how many were added.
 */
export async function fillApp(
  app: App & { cell: Cell },
  { kind, wanted, onProgress, signal }: FillOptions,
): Promise<number> {
  const run: Run = {
    appNo: app.no,
    mark: randomBytes(4).toString('hex'),
    startedAt: new Date(),
  }
  let next = 0
  let added = 0
  const addChunks = (client: pg.Client) => async () => {
    while (next < wanted && !signal.aborted) {
      const first = next
      const count = Math.min(kind.chunk, wanted - first)
      next += count
      await inTransaction(client, () => kind.add(client, run, { wanted, first, count }))
      added += count
      onProgress(added)
    }
  }
  await withConnections(app.cell.url, async (clients) => {
    await Promise.all(clients.map((client) => addChunks(client)()))
    for (const table of kind.tables) await clients[0]?.query(`vacuum (analyze) ${table}`)
  })
  return added
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin')
  // A failure ends the command and closes the connection, which rolls back.
  await work()
  await client.query('commit')
}

/** Connections of its own: the pool's give up a statement that takes long, and keep their settings. */
async function withConnections(url: string, work: (clients: pg.Client[]) => Promise<void>) {
  const clients = Array.from(
    { length: CONNECTIONS },
    () => new pg.Client({ ...connectionConfig(url), statement_timeout: 0 }),
  )
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
