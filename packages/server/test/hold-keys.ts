import pg from 'pg'
import type { TestApp } from './kit.ts'
import { until } from './until.ts'

export interface Held {
  /** How many writers wait now. */
  waiting(): Promise<number>
  release(): Promise<void>
  close(): Promise<void>
}

/** Keeps every writer of the app's keys waiting inside its transaction, until released. */
export const holdKeys = (app: TestApp) =>
  hold(app, 'select from apps where app_no = $1 for update', [app.no])

/** Runs a statement in a transaction that stays open: whoever wants its locks waits until they are released. */
export async function hold({ cell }: TestApp, text: string, values: unknown[]): Promise<Held> {
  // A transaction sees the activity of its beginning only: another connection looks.
  const [holder, observer] = await Promise.all([connect(cell.url), connect(cell.url)])
  await holder.query('begin')
  await holder.query(text, values)
  const waiters = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return {
    waiting: async () => (await observer.query(waiters)).rowCount ?? 0,
    release: async () => void (await holder.query('commit')),
    async close() {
      await Promise.all([holder.end(), observer.end()])
    },
  }
}

/** Does something while somebody waits for what a statement locks, and then releases it. */
export async function whileWaiting<T>(
  held: Held,
  started: Promise<T>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<T> {
  await until('somebody waits', async () => (await held.waiting()) > 0)
  await meanwhile()
  await held.release()
  const answer = await started
  await held.close()
  return answer
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The server may be stopped meanwhile: that is what some tests are about.
  client.on('error', () => {})
  await client.connect()
  return client
}
