/** A thousand users react to one message at once: no count is lost, and no request is refused. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { buildApi } from '../src/api.ts'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'

const USERS = LONG ? 1_000 : 300
const UP = encodeURIComponent('\u{1F44D}')

const server = useServer()

const run = (app: TestApp, text: string) => app.cell.db.query({ name: '', text, values: [app.no] })

/** A group of a thousand members, written straight into the tables, with a message in it. */
async function newLargeGroup(): Promise<{ app: TestApp; id: string }> {
  const app = await server.newApp()
  await app.client.groups.create({ guid: 'g', name: 'G' })
  const members = `from generate_series(1, ${USERS}) n`
  await run(
    app,
    `insert into users (app_no, uid, name, role) select $1, 'u' || n, 'U' || n, 'default' ${members}`,
  )
  await run(app, `select add_total($1, 'users.active', ${USERS})`)
  await run(app, `select add_member($1, 'g', 'u' || n, 'participant') ${members}`)
  const { id } = await app.sendText('g', 'Hello', { receiverType: 'group' })
  return { app, id }
}

suite('a thousand simultaneous reactions', () => {
  test('are counted exactly, even while half of them are removed', async (t) => {
    const { app, id } = await newLargeGroup()
    // Inject requests without opening sockets: a thousand sockets would mostly test the operating system.
    const api = await buildApi(server.deps)
    t.after(() => api.close())
    const react = async (nth: number, method: 'POST' | 'DELETE', reaction: string) => {
      const headers = { appid: app.id, apikey: app.apiKey, onbehalfof: `u${nth}` }
      const url = `/v3/messages/${id}/reactions/${reaction}`
      const started = performance.now()
      const { statusCode, body } = await api.inject({ method, url, headers })
      assert.equal(statusCode, 200, body)
      return performance.now() - started
    }
    const everyone = Array.from({ length: USERS }, (_, n) => n + 1)
    const shown = async () =>
      (await app.client.messages.get(id)).data.reactions as { reaction: string; count: number }[]

    const times = await Promise.all(everyone.map((nth) => react(nth, 'POST', UP)))
    assert.deepEqual(await shown(), [{ reaction: '\u{1F44D}', count: USERS }])
    const sorted = times.toSorted((one, other) => one - other)
    t.diagnostic(
      `p50 ${sorted[USERS / 2]?.toFixed(0)} ms, p99 ${sorted[USERS * 0.99]?.toFixed(0)} ms`,
    )

    await Promise.all(
      everyone.map((nth) =>
        nth % 2 ? react(nth, 'DELETE', UP) : react(nth, 'POST', `v${nth % 6}`),
      ),
    )
    const counts = await shown()
    const total = counts.reduce((sum, { count }) => sum + count, 0)
    assert.equal(counts[0]?.count, USERS / 2)
    assert.equal(total, USERS)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
