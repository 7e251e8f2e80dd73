import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RARE } from '../src/fill/names.ts'
import { verify } from '../src/verify/verify.ts'
import { command } from './command.ts'
import { ownerEnv } from './databases.ts'
import { type TestApp, useServer } from './kit.ts'
import { startLoquat } from './loquat.ts'
import { until } from './until.ts'

const server = useServer()

const fillWith = (app: TestApp, flags: string) =>
  command(['fill', '--app', app.id, ...flags.split(' ')], { ...server.env, ...ownerEnv() })
const fill = (app: TestApp, users: number, ...flags: string[]) =>
  fillWith(app, [`--users ${users}`, ...flags].join(' '))
const filled = async (app: TestApp, flags: string) => {
  const { code, stderr } = await fillWith(app, flags)
  assert.equal(code, 0, stderr)
}
const list = async (app: TestApp, query = '') => (await app.call('GET', `/v3/users?${query}`)).body
const total = async (app: TestApp, query = '') => (await list(app, query)).meta.pagination.total

/** The number of rows, and the totals. */
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

const select = async <R extends object>(app: TestApp, text: string): Promise<R[]> =>
  (await app.cell.db.query<R>({ name: '', text, values: [app.no] })).rows
const rowsIn = async (app: TestApp, table: string) =>
  (await select<{ n: number }>(app, `select count(*) as n from ${table} where app_no = $1`))[0]?.n
const verified = async ({ cell, no }: TestApp) => assert.deepEqual(await verify(cell, no), [])

suite('fill', () => {
  test('adds users that lists and searches find, and can run again', async () => {
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
    assert.deepEqual(await app.eventTypes(), ['app.created'])
  })

  test('an interrupt keeps the added users, with correct totals', async () => {
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

  test('adds consistent groups and messages, and can run again', async () => {
    const app = await server.newApp()
    await filled(
      app,
      '--users 300 --groups 20 --members 30 --messages 3000 --conversations 200 --json',
    )
    assert.deepEqual(
      await Promise.all(['groups', 'conversations', 'messages'].map((t) => rowsIn(app, t))),
      [20, 220, 3000],
    )
    await verified(app)
    await filled(app, '--groups 5 --messages 1000')
    assert.equal(await rowsIn(app, 'groups'), 25)
    assert.equal(await rowsIn(app, 'conversations'), 325)
    assert.equal(await rowsIn(app, 'messages'), 4000)
    await verified(app)
    await filled(app, '--messages 500 --conversations 0')
    assert.equal(await rowsIn(app, 'conversations'), 325)
    await verified(app)
    assert.deepEqual(await app.eventTypes(), ['app.created'])
  })

  test('adds conversations that look real: some read, a few long', async () => {
    const app = await server.newApp()
    await filled(app, '--users 100 --groups 5 --members 10 --messages 2000 --conversations 100')
    const sizes = await select<{ n: number }>(
      app,
      `select stored as n from conversations where app_no = $1 and kind = 'user' order by 1 desc`,
    )
    assert.ok((sizes[0]?.n ?? 0) > 4 * (sizes.at(50)?.n ?? 0), 'a few are long')
    const views = await select<{ kind: string; uid: string; with_id: string }>(
      app,
      `(select kind, uid, with_id from inbox where app_no = $1 and kind = 'user' limit 20)
       union all
       (select kind, uid, with_id from inbox where app_no = $1 and kind = 'group' limit 20)`,
    )
    const unread = new Set<boolean>()
    for (const { kind, uid, with_id } of views) {
      const as = { headers: { onbehalfof: uid } }
      const { body } = await app.call('GET', `/v3/${kind}s/${with_id}/conversation`, as)
      const history = await app.call(
        'GET',
        `/v3/${kind}s/${with_id}/messages?limit=1&affix=prepend`,
        as,
      )
      assert.equal(body.data.lastMessage.id, history.body.data[0].id)
      assert.equal(body.data.updatedAt, history.body.data[0].sentAt)
      unread.add(Number(body.data.unreadMessageCount) > 0)
    }
    assert.equal(unread.size, 2, 'some are read, some are not')
  })

  test('users can send messages after a fill', async () => {
    const app = await server.newApp()
    await filled(app, '--users 10 --groups 1 --members 10 --messages 200 --conversations 10')
    const [one] = await select<{ uid: string; with_id: string }>(
      app,
      `select uid, with_id from inbox where app_no = $1 and kind = 'user' limit 1`,
    )
    const guid = (
      await select<{ guid: string }>(app, 'select guid from groups where app_no = $1')
    )[0]
    const as = { headers: { onbehalfof: one?.uid ?? '' } }
    for (const [receiverType, receiver] of [
      ['user', one?.with_id],
      ['group', guid?.guid],
    ]) {
      const body = { receiver, receiverType, data: { text: 'And then?' } }
      assert.equal((await app.call('POST', '/v3/messages', { ...as, body })).status, 200)
    }
    await filled(app, '--messages 100 --conversations 5')
    await verified(app)
  })

  test('an interrupt keeps whole conversations', async () => {
    const app = await server.newApp()
    await filled(app, '--users 1000 --groups 100')
    const flags = '--messages 2000000 --conversations 400000'.split(' ')
    const running = startLoquat(['fill', '--app', app.id, ...flags], server.env)
    await until('the first batch', async () => Number(await rowsIn(app, 'messages')) > 0)
    const { code, stderr } = await running.end('SIGINT')
    assert.equal(code, 1)
    assert.match(stderr, /Stopped before all 2,000,000 messages were added/)
    await verified(app)
  })

  test('explains what groups and messages need', async () => {
    const app = await server.newApp()
    const fault = async (flags: string) => (await fillWith(app, flags)).stderr
    assert.match(await fault('--groups 1'), /too few users\. Add some first: --users N/)
    assert.match(await fault('--messages 1'), /too few users\. Add some first: --users N/)
    await filled(app, '--users 10')
    assert.match(await fault('--messages 9 --conversations 0'), /The app has no groups/)
    assert.match(await fault('--messages 100 --conversations 46'), /10 users can have at most 45/)
    assert.match(await fault('--messages 5 --conversations 6'), /need at least as many messages/)
    assert.match(await fault('--groups 1 --members 11'), /at most 10 members/)
    assert.match(await fault('--groups 2001 --members 10'), /more than 2000 groups/)
    await filled(app, '--messages 45 --conversations 45')
    assert.match(await fault('--messages 1'), /All pairs of users already have a conversation/)
    await verified(app)
  })

  test('explains what is wrong and what to do', async () => {
    const run = (...flags: string[]) => command(['fill', ...flags], server.env)
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
      /--users must be a number from 1/,
    )
  })
})
