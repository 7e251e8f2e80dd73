/** Writers of events, and checks that the log contains exactly the committed ones. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Cell } from '../src/platform/cells/directory.ts'
import type { Tx } from '../src/platform/db/db.ts'
import type { Executor } from '../src/platform/db/query.ts'
import { announce } from '../src/platform/events/announce.ts'
import type { TestApp } from './kit.ts'
import { until } from './until.ts'

/** Runs plain SQL on one of the service's databases. */
export async function rows<R extends object>(db: Executor, text: string, values: unknown[] = []) {
  return (await db.query<R & Record<string, unknown>>({ name: '', text, values })).rows
}

/**
 * Adds the selected events to the log, as if they had been announced and sequenced: app_no, position, type, key,
 * payload, at, day, to_first, to_second, active_uid, counts_as. Their bodies have ids that no sequencer takes.
 */
export const addToLog = (db: Executor, selected: string, values: unknown[] = []) =>
  rows(
    db,
    `with given as materialized (
       select -nextval('event_ids') as id, selected.* from (${selected}) selected (
         app_no, position, type, key, payload, at, day, to_first, to_second, active_uid, counts_as)
     ), bodies as (
       insert into event_bodies (id, day, app_no, type, key, payload, at, active_uid, counts_as)
       select id, day, app_no, type, key, payload, at, active_uid, counts_as from given
     )
     insert into event_positions
       (app_no, position, type, body_id, body_day, day, to_first, to_second)
     select app_no, position, type, id, day, day, to_first, to_second from given`,
    values,
  )

/** Announces the event number `n` of an app. */
export function announceNumber(tx: Tx, app: TestApp, n: number): Promise<void> {
  const payload = { settings: { n } }
  return announce(tx, { appNo: app.no, type: 'app.settings.updated', key: 'app', payload })
}

interface LoggedRow {
  position: number
  n: number | null
}

/** An app's log, in order; `app.created`, the first event, has no number. */
export const logOf = (cell: Cell, app: TestApp) =>
  rows<LoggedRow>(
    cell.db,
    `select position, (payload #>> '{settings,n}')::int as n
     from events where app_no = $1 order by position`,
    [app.no],
  )

/** Waits until every committed event is logged, and returns their numbers in order. */
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
    'positions without a gap',
  )
  return log.flatMap(({ n }) => (n === null ? [] : [n]))
}

class RolledBack extends Error {}

/** On a busy machine the pool can give up before a transaction begins. */
const neverBegan = ({ message }: Error) => message === 'timeout exceeded when trying to connect'

/** Sixteen writers that commit or roll back at random until they are stopped. */
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
    // endAndCheck reports errors. A test that fails before must not leave writers running.
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

  /** Stops the writers and checks that each committed event is logged exactly once. */
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
          // Other writers draw ids and commit in between.
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
