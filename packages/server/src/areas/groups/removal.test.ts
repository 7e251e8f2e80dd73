import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'

const server = useServer({ roles: ['api', 'worker'] })

const as = (uid: string) => ({ headers: { onbehalfof: uid } })

async function rows({ cell, no }: TestApp, text: string) {
  return (await cell.db.query({ name: '', text, values: [no] })).rows
}

const totalOf = async (app: TestApp, what: string): Promise<number> => {
  const text = `select coalesce(sum(total), 0)::bigint as total from totals
    where app_no = $1 and what = '${what}'`
  return Number((await rows(app, text))[0]?.total)
}

/** Members beside those that the interface made. */
const FILL = `
  with filled as (
    insert into users (app_no, uid, name, role)
    select $1, 'm' || n, 'M', 'default' from generate_series(1, 2500) n returning uid
  ), head as (
    select no from conversations where app_no = $1 and kind = 'group' and one = 'g'
  ), members as (
    insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
    select $1, uid, 'group', 'g', no, 'participant', now() from filled, head
  ), views as (
    insert into totals (app_no, what, shard, total) values ($1, 'views.group', 99, 2500)
  )
  update groups set members_count = members_count + 2500 where app_no = $1 and guid = 'g'`

async function largeGroup(): Promise<TestApp> {
  const app = await server.newApp()
  await app.call('POST', '/v3/users', { body: { uid: 'amira', name: 'Amira' } })
  const body = { guid: 'g', name: 'G', members: { participants: ['amira'] } }
  await app.call('POST', '/v3/groups', { body })
  await rows(app, FILL)
  return app
}

suite('deleteGroup', () => {
  test('a small one is gone with the answer, and its guid is free', async () => {
    const app = await server.newApp()
    const users = ['amira', 'ben']
    for (const uid of users) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
    const body = { guid: 'g', name: 'G', tags: ['t'], members: { usersToBan: ['ben'] } }
    await app.call('POST', '/v3/groups', { body, ...as('amira') })
    const answer = await app.call('DELETE', '/v3/groups/g', as('amira'))
    assert.equal(answer.body.data.message, 'Group g deleted.')
    for (const table of ['groups', 'conversations', 'inbox', 'bans', 'messages']) {
      assert.deepEqual(await rows(app, `select from ${table} where app_no = $1`), [], table)
    }
    assert.equal(await totalOf(app, 'groups'), 0)
    assert.equal(await totalOf(app, 'views.group'), 0)
    assert.equal((await app.eventTypes()).at(-1), 'group.deleted')
    assert.equal((await app.call('POST', '/v3/groups', { body })).status, 200)
  })

  test('one of 2,500 members is invisible at once, and swept by the worker', async () => {
    const app = await largeGroup()
    assert.equal((await app.call('DELETE', '/v3/groups/g')).status, 200)
    const paths = ['/v3/groups/g', '/v3/groups/g/members', '/v3/groups/g/bannedusers']
    for (const path of paths) assert.equal((await app.call('GET', path)).status, 404)
    const joined = await app.call('POST', '/v3/groups/g/join', as('amira'))
    assert.equal(joined.body.error.code, 'ERR_GUID_NOT_FOUND')
    for (const query of ['', '?guid=g', '?hasJoined=true', '?searchKey=G']) {
      const { body } = await app.call('GET', `/v3/groups${query}`, as('amira'))
      assert.deepEqual([body.data, body.meta.pagination.total], [[], 0])
    }
    assert.equal(await totalOf(app, 'groups'), 0)
    assert.equal(await totalOf(app, 'views.group'), 0)

    await until('the group is swept', async () => {
      return (await rows(app, 'select from groups where app_no = $1')).length === 0
    })
    for (const table of ['conversations', 'inbox', 'messages']) {
      assert.deepEqual(await rows(app, `select from ${table} where app_no = $1`), [], table)
    }
    const told = (await app.eventTypes()).filter((type) => type === 'group.deleted')
    assert.equal(told.length, 1)
    const body = { guid: 'g', name: 'Again' }
    assert.equal((await app.call('POST', '/v3/groups', { body })).status, 200)
  })
})

suite('a user that is removed for good', () => {
  test('leaves its groups; what it owned belongs to the app', async () => {
    const app = await server.newApp()
    for (const uid of ['amira', 'ben']) {
      await app.call('POST', '/v3/users', { body: { uid, name: uid } })
    }
    const own = { guid: 'own', name: 'Own', members: { participants: ['ben'] } }
    const other = { guid: 'other', name: 'Other', members: { participants: ['amira'] } }
    const banning = { guid: 'banning', name: 'Banning', members: { usersToBan: ['amira'] } }
    await app.call('POST', '/v3/groups', { body: own, ...as('amira') })
    for (const body of [other, banning])
      await app.call('POST', '/v3/groups', { body, ...as('ben') })
    await app.call('DELETE', '/v3/users/amira', { body: { permanent: true } })

    const get = async (guid: string) => (await app.call('GET', `/v3/groups/${guid}`)).body.data
    const membersOf = async (guid: string) =>
      (await app.call('GET', `/v3/groups/${guid}/members`)).body.data.map(
        ({ uid }: { uid: string }) => uid,
      )
    assert.deepEqual([(await get('own')).owner, (await get('own')).membersCount], ['app_system', 1])
    assert.deepEqual(await membersOf('own'), ['ben'])
    assert.deepEqual([(await get('other')).owner, await membersOf('other')], ['ben', ['ben']])
    const bans = await app.call('GET', '/v3/groups/banning/bannedusers')
    assert.deepEqual(bans.body.data, [])
    assert.equal(await totalOf(app, 'views.group'), 3)
    const again = await app.call('POST', '/v3/users', { body: { uid: 'amira', name: 'New' } })
    assert.equal(again.status, 200)
    assert.equal((await app.call('GET', '/v3/groups/own', as('amira'))).body.data.hasJoined, false)
  })
})
