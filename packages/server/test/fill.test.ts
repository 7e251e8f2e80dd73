import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RARE } from '../src/fill/names.ts'
import { type TestApp, useServer } from './harness.ts'
import { loquat, startLoquat } from './loquat.ts'
import { until } from './until.ts'

const server = useServer()

const fill = (app: TestApp, users: number, ...flags: string[]) =>
  loquat(['fill', '--app', app.id, '--users', String(users), ...flags], server.env)
const list = async (app: TestApp, query = '') => (await app.call('GET', `/v3/users?${query}`)).body
const total = async (app: TestApp, query = '') => (await list(app, query)).meta.pagination.total

/** Rows and what the totals say of them. */
async function counts(app: TestApp) {
  const text = `select (select count(*) from users where app_no = $1) as rows,
    (select coalesce(sum(total), 0)::bigint from totals where app_no = $1) as totals`
  const { rows } = await app.cell.db.query<{ rows: number; totals: number }>({
    name: '',
    text,
    values: [app.no],
  })
  return rows[0] ?? { rows: 0, totals: 0 }
}

suite('fill', () => {
  test('adds users that lists and searches find, and adds as many again', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const { code, stdout, stderr } = await fill(app, 12_345)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Added 12,345 users in [\d.]+ s: [\d,]+\/s\.\n$/)
    assert.equal(await total(app), 12_345)
    assert.equal(await total(app, `searchKey=${RARE}`), 50)
    assert.equal(await total(app, 'searchKey=q'), 0)
    assert.ok((await total(app, 'searchKey=maria')) > 500)
    assert.ok((await total(app, `searchKey=${encodeURIComponent('田中')}`)) > 10)
    assert.ok((await total(app, 'tags=vip')) > 100)

    const again = await fill(app, 100, '--json')
    const { what, added, seconds, perSecond } = JSON.parse(again.stdout)
    assert.deepEqual([what, added], ['users', 100])
    assert.ok(seconds > 0 && perSecond > 0)
    assert.deepEqual(await counts(app), { rows: 12_445, totals: 12_445 })
    assert.equal(await total(other), 0)
    assert.deepEqual(await app.announced(), ['app.created'])
  })

  test('an interrupt leaves what was added, and totals that are right', async () => {
    const app = await server.newApp()
    const running = startLoquat(['fill', '--app', app.id, '--users', '10000000'], server.env)
    await until('the first chunk', async () => (await counts(app)).rows > 0)
    const { code, stdout, stderr } = await running.end('SIGINT')
    assert.equal(code, 1)
    assert.match(stderr, /Stopped before all 10,000,000 users were added/)
    const { rows, totals } = await counts(app)
    assert.equal(rows, totals)
    assert.match(stdout, new RegExp(`^Added ${rows.toLocaleString('en-US')} users`))
  })

  test('says what is wrong, and what to do', async () => {
    const run = (...flags: string[]) => loquat(['fill', ...flags], server.env)
    const app = '0123456789abcdef'
    const unknown = await run('--app', app, '--users', '5')
    assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
    assert.match(
      unknown.stderr,
      /There is no app "0123456789abcdef"\. Create one: loquat apps create/,
    )
    assert.match((await run('--app', app)).stderr, /Say what to add: --users N/)
    assert.match(
      (await run('--app', app, '--users', '1.5')).stderr,
      /--users takes a number from 1/,
    )
  })
})
