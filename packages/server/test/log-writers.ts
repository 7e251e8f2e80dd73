/** Writers of events, and what the event log must hold of them. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Cell } from '../src/platform/cells/directory.ts'
import type { Tx } from '../src/platform/db/db.ts'
import type { Executor } from '../src/platform/db/query.ts'
import { announce } from '../src/platform/events/announce.ts'
import type { TestApp } from './kit.ts'
import { until } from './until.ts'

/** Runs plain SQL where the service runs its statements. */
export async function rows<R extends object>(db: Executor, text: string, values: unknown[] = []) {
  return (await db.query<R & Record<string, unknown>>({ name: '', text, values })).rows
}

/** Announces the event number `n` of an app. */
export function announceNumber(tx: Tx, app: TestApp, n: number): Promise<void> {
  const payload = { settings: { n } }
  return announce(tx, { appNo: app.no, type: 'app.settings.updated', key: 'app', payload })
}

interface LoggedRow {
  position: number
  n: number | null
}

/** What the log of an app holds, in order; `app.created`, the first, has no number. */
export const logOf = (cell: Cell, app: TestApp) =>
  rows<LoggedRow>(
    cell.db,
    `select position, (payload #>> '{settings,n}')::int as n
     from events where app_no = $1 order by position`,
    [app.no],
  )

/** Waits until everything that was committed has its position; the numbers in their order. */
export async function loggedNumbers(app: TestApp, count: number, cell = app.cell) {
  await until(`${count} events logged`, async () => {
    const [log] = await rows<{ n: number }>(
      cell.db,
      `select count(*) as n from events where app_no = $1 and type <> 'app.created'`,
      [app.no],
    )
    return (log?.n ?? 0) >= count
  })
  const log = await logOf(cell, app)
  assert.deepEqual(
    log.map(({ position }) => position),
    log.map((_, index) => index + 1),
    'positions without a hole',
  )
  return log.flatMap(({ n }) => (n === null ? [] : [n]))
}

class RolledBack extends Error {}

/** On a machine that is short of time, the pool gives up before there is a transaction. */
const neverBegan = ({ message }: Error) => message === 'timeout exceeded when trying to connect'

/** Sixteen writers that commit or roll back at random, until they are ended. */
export class Writers {
  readonly #apps: TestApp[]
  readonly #committed = new Map<TestApp, number[]>()
  readonly #running: Promise<void>[]
  #next = 0
  #ended = false

  constructor(t: TestContext, apps: TestApp[], writers = 16) {
    this.#apps = apps
    for (const app of apps) this.#committed.set(app, [])
    this.#running = Array.from({ length: writers }, () => this.#write())
    // endAndCheck reports what went wrong; a test that failed before must not leave writers.
    const settled = Promise.allSettled(this.#running)
    t.after(async () => {
      this.#ended = true
      await settled
    })
  }

  /** How many events have been committed so far. */
  get count(): number {
    return [...this.#committed.values()].reduce((sum, { length }) => sum + length, 0)
  }

  /** Waits until at least this many more have been committed. */
  async more(events: number): Promise<void> {
    const wanted = this.count + events
    await until(`${events} more events committed`, async () => this.count >= wanted)
  }

  /** Ends the writers: everything that was committed must be logged, each event once. */
  async endAndCheck(): Promise<void> {
    this.#ended = true
    await Promise.all(this.#running)
    for (const [app, numbers] of this.#committed) {
      const logged = await loggedNumbers(app, numbers.length)
      const ascending = (a: number, b: number) => a - b
      assert.deepEqual(logged.toSorted(ascending), numbers.toSorted(ascending))
    }
  }

  async #write(): Promise<void> {
    while (!this.#ended) {
      const app = this.#apps[Math.floor(Math.random() * this.#apps.length)]
      if (!app) return
      const numbers = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => ++this.#next)
      const commits = Math.random() < 0.7
      await app.cell.db
        .tx(async (tx) => {
          for (const n of numbers) await announceNumber(tx, app, n)
          // Lets others draw ids and commit in between.
          await rows(tx, 'select pg_sleep(random() * 0.2)')
          if (!commits) throw new RolledBack()
        })
        .then(
          () => this.#committed.get(app)?.push(...numbers),
          (error: Error) => {
            if (!(error instanceof RolledBack || neverBegan(error))) throw error
          },
        )
    }
  }
}
