import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { useServer } from '../../test/kit.ts'
import { addToLog } from '../../test/log-writers.ts'
import { Budget } from './budget.ts'
import { Feed } from './feed.ts'
import { listLogged } from './queries.ts'

const server = useServer({ roles: ['api'] })

test('a feed that is closed while it reads keeps no memory', async () => {
  const app = await server.newApp()
  const { db } = app.cell
  const budget = new Budget(1_000_000)
  const closed = Promise.withResolvers<void>()
  /** Closes the feed when the events have been read, but before the feed gets them. */
  const query: typeof db.query = async (statement) => {
    const answer = await db.query(statement)
    if (statement.name === listLogged.name) {
      assert.equal(answer.rows.length, 3)
      feed.close()
      closed.resolve()
    }
    return answer as never
  }
  const listener = { onEntry: () => {}, onBreak: () => {} }
  const cell = { ...app.cell, db: { ...db, query } }
  const feed = new Feed(server.deps, { ...app, cell }, budget, listener)
  await feed.open()
  await addToLog(
    db,
    `select $1::int, n, 'message.saved', 'user:ben', '{"uid":"ben","messageId":"1"}'::json, now(),
       current_date, 'user:ben', null, null, null
     from generate_series(1, 3) n`,
    [app.no],
  )
  feed.expect(3)
  await closed.promise
  await setImmediate()
  assert.equal(budget.used, 0)
})
