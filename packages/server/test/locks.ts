import pg from 'pg'
import { queryAt } from './databases.ts'
import type { TestApp } from './kit.ts'
import { until } from './until.ts'

export interface Held {
  /** How many writers are waiting now. */
  waiting(): Promise<number>
  /** Ends the connections of all writers that wait until the request is answered. It may wait more than once. */
  cutOff<T>(request: Promise<T>): Promise<T>
  release(): Promise<void>
  close(): Promise<void>
}

/** Locks the app's row: every writer of its API keys waits inside its transaction until it is released. */
export const lockApp = (app: TestApp) =>
  holdLock(app, 'select from apps where app_no = $1 for update', [app.no])

/** Runs a statement in a transaction that stays open, so that its locks are held until they are released. */
export async function holdLock(
  { cell }: { cell: { url: string } },
  text: string,
  values: unknown[],
): Promise<Held> {
  // A transaction sees only the activity at its beginning, so another connection observes.
  const [holder, observer] = await Promise.all([connect(cell.url), connect(cell.url)])
  await holder.query('begin')
  await holder.query(text, values)
  const waiters = `from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return {
    waiting: async () => (await observer.query(`select ${waiters}`)).rowCount ?? 0,
    async cutOff(request) {
      let answered = false
      const settled = request.finally(() => {
        answered = true
      })
      settled.catch(() => {})
      await until('the request is answered', async () => {
        await observer.query(`select pg_terminate_backend(pid) ${waiters}`)
        return answered
      })
      return settled
    },
    release: async () => void (await holder.query('commit')),
    async close() {
      await Promise.all([holder.end(), observer.end()])
    },
  }
}

/** Any number that no other advisory lock of the service has. */
const READS = 7_707

/**
 * Every statement of the service that reads rows of this app in a table waits until it is released. Rows of other apps
 * can be read. Only once for each database, in which the policy stays.
 */
export async function holdReads(app: TestApp, table: string): Promise<Held> {
  await queryAt(
    app.cell.url,
    `create function wait_for_test() returns boolean language plpgsql as $$
     begin
       perform pg_advisory_xact_lock_shared(${READS});
       return true;
     end $$;
     alter table ${table} enable row level security;
     create policy of_test on ${table}
       using (case app_no when ${app.no} then wait_for_test() else true end)`,
  )
  return holdLock(app, `select pg_advisory_xact_lock(${READS})`, [])
}

/** Runs `meanwhile` while a request waits for the lock, then releases the lock and returns the answer. */
export async function whileWaiting<T>(
  held: Held,
  started: Promise<T>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<T> {
  await until('a request waits', async () => (await held.waiting()) > 0)
  await meanwhile()
  await held.release()
  const answer = await started
  await held.close()
  return answer
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // Some tests stop the server while this connection is open.
  client.on('error', () => {})
  await client.connect()
  return client
}
