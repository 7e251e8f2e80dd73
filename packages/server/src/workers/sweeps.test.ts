import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../test/kit.ts'
import { until } from '../../test/until.ts'
import { readConfig } from '../config.ts'
import { serve } from '../serve.ts'

/** More than the action's own transaction removes, and not a multiple of a batch. */
const MANY = 2_500

const server = useServer()

const create = (app: TestApp, body: object) => app.call('POST', '/v3/users', { body })

async function run<R extends object>(app: TestApp, text: string): Promise<R[]> {
  return (await app.cell.db.query<R>({ name: '', text, values: [app.no] })).rows
}

/** Inserts users directly into the table. */
const addMany = (app: TestApp, role: string) =>
  run(
    app,
    `insert into users (app_no, uid, name, role)
     select $1, 'other-' || n, 'Other ' || n, '${role}' from generate_series(1, ${MANY}) n`,
  )

const count = async (app: TestApp, from: string): Promise<number> =>
  (await run<{ count: number }>(app, `select count(*) from ${from}`))[0]?.count ?? 0

/** Runs a worker in addition to the server while `work` runs. */
async function withWorker(work: () => Promise<void>) {
  const worker = await serve(readConfig(server.env), ['worker'])
  try {
    await work()
  } finally {
    await worker.drain()
  }
}

suite('a permanently deleted user with thousands of relations', () => {
  const OWN = {
    tokens: 'auth_tokens where app_no = $1',
    friends: `friends where app_no = $1 and 'large' in (uid, friend_uid)`,
    blocks: `blocks where app_no = $1 and 'large' in (uid, blocked_uid)`,
  }

  async function appWithLargeUser(): Promise<TestApp> {
    const app = await server.newApp()
    await create(app, { uid: 'large', name: 'Large' })
    await create(app, { uid: 'small', name: 'Small' })
    await addMany(app, 'default')
    const others = `from generate_series(1, ${MANY}) n`
    await run(
      app,
      `insert into auth_tokens (app_no, token_hash, token_sealed, uid)
       select $1, sha256(n::text::bytea), '', 'large' ${others}`,
    )
    await run(
      app,
      `insert into friends (app_no, uid, friend_uid)
       select $1, pair.* ${others}, lateral (values ('large', 'other-' || n), ('other-' || n, 'large')) pair`,
    )
    await run(
      app,
      `insert into blocks (app_no, uid, blocked_uid)
       select $1, pair.* ${others}, lateral (values ('large', 'other-' || n), ('other-' || n, 'large')) pair`,
    )
    await run(app, `insert into friends values ($1, 'small', 'other-1'), ($1, 'other-1', 'small')`)
    return app
  }

  test('disappears at once, and the uid is free once everything is swept', async () => {
    const app = await appWithLargeUser()
    const removed = await app.call('DELETE', '/v3/users/large', { body: { permanent: true } })
    assert.equal(removed.status, 200)

    assert.equal((await app.call('GET', '/v3/users/large')).status, 404)
    const found = await app.call('GET', '/v3/users?searchKey=large&withDeactivated=true')
    assert.deepEqual(found.body.data, [])
    const friends = await app.call('GET', '/v3/users/other-1/friends')
    assert.deepEqual(
      friends.body.data.map((user: { uid: string }) => user.uid),
      ['small'],
    )
    assert.equal((await create(app, { uid: 'large', name: 'Again' })).status, 409)
    for (const rows of [OWN.friends, OWN.blocks]) assert.ok((await count(app, rows)) > 0)

    await withWorker(async () => {
      await until('the id is free', async () => {
        const { status } = await create(app, { uid: 'large', name: 'Again' })
        return status === 200
      })
    })
    for (const rows of Object.values(OWN)) assert.equal(await count(app, rows), 0, rows)
    assert.equal(
      await count(app, 'friends where app_no = $1'),
      2,
      'the relations of other users stay',
    )
    const events = await app.eventTypes()
    assert.equal(events.filter((type) => type === 'user.deleted').length, 1)
  })
})

suite('a deleted role with thousands of users', () => {
  test('leaves its users with the default role at once, before they are updated', async () => {
    const app = await server.newApp()
    await app.call('POST', '/v3/roles', { body: { role: 'coach', name: 'Coach' } })
    await addMany(app, 'coach')
    assert.equal((await app.call('DELETE', '/v3/roles/coach')).status, 200)

    const held = `users where app_no = $1 and role = 'coach'`
    assert.ok((await count(app, held)) > 0, 'some are left for the sweep')
    const page = async (query: string) =>
      (await app.call('GET', `/v3/users?perPage=1000&${query}`)).body
    for (const nth of [1, 2, 3]) {
      for (const { role } of (await page(`page=${nth}`)).data) assert.equal(role, 'default')
    }
    assert.equal((await page('role=default')).meta.pagination.total, MANY)
    assert.equal((await page('role=coach')).meta.pagination.total, 0)
    const again = { body: { role: 'coach', name: 'Coach' } }
    assert.equal((await app.call('POST', '/v3/roles', again)).status, 409)

    await withWorker(async () => {
      await until('the role can be created again', async () => {
        return (await app.call('POST', '/v3/roles', again)).status === 200
      })
    })
    assert.equal(await count(app, held), 0)
    assert.equal((await page('role=default')).meta.pagination.total, MANY)
  })
})
