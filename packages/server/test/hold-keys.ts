import pg from 'pg'
import type { TestApp } from './harness.ts'

export interface HeldKeys {
  /** How many writers wait now. */
  waiting(): Promise<number>
  release(): Promise<void>
  close(): Promise<void>
}

/** Keeps every writer of the app's keys waiting inside its transaction, until released. */
export async function holdKeys({ cell, no }: TestApp): Promise<HeldKeys> {
  // A transaction sees the activity of its beginning only: another connection looks.
  const [holder, observer] = await Promise.all([connect(cell.url), connect(cell.url)])
  await holder.query('begin')
  await holder.query('select from apps where app_no = $1 for update', [no])
  const text = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return {
    waiting: async () => (await observer.query(text)).rowCount ?? 0,
    release: async () => void (await holder.query('commit')),
    async close() {
      await Promise.all([holder.end(), observer.end()])
    },
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The server may be stopped meanwhile: that is what some tests are about.
  client.on('error', () => {})
  await client.connect()
  return client
}
