import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { loquat } from '../../../test/loquat.ts'
import { Presence } from './presence.ts'

const server = useServer()

/** More than one statement reads. */
const USERS = 52_000

let app: TestApp
let online: string[]
let everyone: string[]

const sql = <R extends object>(text: string) =>
  rows<R>(app.cell.db, text.replaceAll('$app', String(app.no)))

async function fillAndConnect() {
  app = await server.newApp()
  const { code, stderr } = await loquat(
    ['fill', '--app', app.id, '--users', String(USERS)],
    server.env,
  )
  assert.equal(code, 0, stderr)
  const users = await sql<{ uid: string }>(
    'select uid from users where app_no = $app order by name_key, uid',
  )
  everyone = users.map(({ uid }) => uid)
  online = everyone.filter((_, n) => n % 37 === 5)
  const presence = new Presence(server.deps)
  for (const uid of online) presence.connect(app, uid, { connectedAt: 0 })
  await presence.beat()
}

interface Listed {
  uids: string[]
  pages: number
  total: number
  capped: boolean
}

/** Reads a list by cursor, up to `most` pages. */
async function listed(path: string, filters: string, most = 100): Promise<Listed> {
  const uids: string[] = []
  let [cursor, pages, total, capped] = ['', 0, 0, false]
  for (; pages === 0 || (cursor && pages < most); pages++) {
    const { body } = await app.call(
      'GET',
      `${path}?perPage=1000&${filters}${cursor && `&cursor=${cursor}`}`,
    )
    uids.push(...body.data.map(({ uid }: { uid: string }) => uid))
    cursor = body.meta.cursor?.next ?? ''
    if (pages === 0) total = body.meta.pagination.total
    if (pages === 0) capped = body.meta.pagination.total_capped ?? false
  }
  return { uids, pages, total, capped }
}

suite('listUsers by status', () => {
  before(fillAndConnect)

  test('lists and counts the users who are online, in order', async () => {
    const { uids, total, capped } = await listed('/v3/users', 'status=online')
    assert.deepEqual(uids, online)
    assert.deepEqual([total, capped], [online.length, false])
    const back = await listed('/v3/users', 'status=available&sortOrder=desc&withDeactivated=true')
    assert.deepEqual(back.uids, online.toReversed())
    assert.deepEqual(await app.client.users.count({ status: ['online'] }), { count: online.length })
    const third = await app.call('GET', '/v3/users?status=online&perPage=100&page=3')
    assert.deepEqual(
      third.body.data.map(({ uid }: { uid: string }) => uid),
      online.slice(200, 300),
    )
  })

  test('lists the users who are offline', async () => {
    const there = new Set(online)
    const { uids, total, capped } = await listed('/v3/users', 'status=offline', 2)
    assert.deepEqual(uids, everyone.filter((uid) => !there.has(uid)).slice(0, 2_000))
    assert.deepEqual([total, capped], [10_000, true])
    assert.deepEqual((await listed('/v3/users', 'status=offline,available', 1)).total, USERS)
  })

  test('combines with other filters', async () => {
    const some = [...online.slice(0, 5), ...everyone.slice(0, 5)]
    const named = await listed('/v3/users', `status=online&uids=${some.join(',')}`)
    assert.deepEqual(named.uids, online.slice(0, 5))
    const [{ name = '' } = {}] = await sql<{ name: string }>(
      `select name from users where app_no = $app and uid = '${online[7]}'`,
    )
    const found = await listed('/v3/users', `status=online&searchKey=${encodeURIComponent(name)}`)
    assert.ok(found.uids.includes(online[7] ?? ''))
    assert.ok(found.uids.every((uid) => online.includes(uid)))
    const gone = await listed('/v3/users', 'status=online&onlyDeactivated=true')
    assert.deepEqual(gone.uids, [])
  })

  test('follows a change of name', async () => {
    const uid = online.at(-1) ?? ''
    await app.client.users.update(uid, { name: '  0 first' })
    const { data } = await app.client.users.list({ status: ['online'], perPage: 1 })
    assert.equal(data[0]?.uid, uid)
    online = [uid, ...online.slice(0, -1)]
    everyone = [uid, ...everyone.filter((other) => other !== uid)]
  })

  test('finds one user in a page, however far down the list', async () => {
    const last = everyone.at(-1) ?? ''
    await sql(`update users set online = uid <> '${last}' where app_no = $app`)
    const { data, meta } = await app.client.users.list({ status: ['offline'] })
    assert.deepEqual(
      data.map(({ uid }) => uid),
      [last],
    )
    assert.deepEqual([meta.pagination.total, meta.cursor], [1, undefined])
    assert.deepEqual(await app.client.users.count({ status: ['offline'] }), { count: 1 })
  })

  test('filters group members too', async () => {
    await app.client.groups.create({ guid: 'g', name: 'G', type: 'public' })
    await sql(`update users set online = false where app_no = $app`)
    // Members join in the order of `everyone`.
    await sql(
      `insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
       select $app, uid, 'group', 'g', (select no from conversations where app_no = $app and one = 'g'),
         case when n % 10 = 0 then 'admin' else 'participant' end, now() + n * interval '1 ms'
       from (select uid, row_number() over (order by name_key, uid) as n from users
         where app_no = $app) u where n <= 12000`,
    )
    const members = everyone.slice(0, 12_000)
    const some = members.filter((_, n) => n % 500 === 499)
    const names = some.map((uid) => `'${uid}'`).join(',')
    await sql(`update users set online = true where app_no = $app and uid in (${names})`)

    const there = await listed('/v3/groups/g/members', 'status=online')
    assert.deepEqual(there, { uids: some, pages: 1, total: some.length, capped: false })
    const away = await listed('/v3/groups/g/members', 'status=offline', 2)
    assert.deepEqual(away.uids, members.filter((uid) => !some.includes(uid)).slice(0, 2_000))
    const admins = await listed('/v3/groups/g/members', 'status=available&scopes=admin')
    assert.deepEqual([admins.uids, admins.capped], [some, false])
    const second = await app.call('GET', '/v3/groups/g/members?status=online&perPage=5&page=2')
    assert.deepEqual(
      second.body.data.map(({ uid }: { uid: string }) => uid),
      some.slice(5, 10),
    )
  })
})
