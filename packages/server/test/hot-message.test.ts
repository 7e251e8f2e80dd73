/** Many who react to one message at once: no count is lost, and nobody is refused. */
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

/** A group of as many members, straight into the tables, and a message in it. */
async function crowd(): Promise<{ app: TestApp; id: string }> {
  const app = await server.newApp()
  await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G' } })
  const members = `from generate_series(1, ${USERS}) n`
  await run(
    app,
    `insert into users (app_no, uid, name, role) select $1, 'u' || n, 'U' || n, 'default' ${members}`,
  )
  await run(app, `select add_total($1, 'users.active', ${USERS})`)
  await run(app, `select add_member($1, 'g', 'u' || n, 'participant') ${members}`)
  const body = { receiver: 'g', receiverType: 'group', data: { text: 'Hello' } }
  const sent = await app.call('POST', '/v3/messages', { body })
  return { app, id: sent.body.data.id }
}

suite(`${USERS} at once`, () => {
  test('react to one message, and half of them take it back meanwhile', async (t) => {
    const { app, id } = await crowd()
    // Not over as many sockets: this is no test of the operating system.
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
    const shown = async () => (await app.call('GET', `/v3/messages/${id}`)).body.data.data.reactions

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
    const total = counts.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
    assert.equal(counts[0].count, USERS / 2)
    assert.equal(total, USERS)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
