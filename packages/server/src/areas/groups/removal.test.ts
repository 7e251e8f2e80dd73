import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'

const server = useServer({ roles: ['api', 'worker'] })

async function rows({ cell, no }: TestApp, text: string) {
  return (await cell.db.query({ name: '', text, values: [no] })).rows
}

const totalOf = async (app: TestApp, what: string): Promise<number> => {
  const text = `select coalesce(sum(total), 0)::bigint as total from totals
    where app_no = $1 and what = '${what}'`
  return Number((await rows(app, text))[0]?.total)
}

/** More members than the API would add in reasonable time. */
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
  await app.users('amira')
  const body = { guid: 'g', name: 'G', members: { participants: ['amira'] } }
  await app.client.groups.create(body)
  await rows(app, FILL)
  return app
}

suite('deleteGroup', () => {
  test('removes a small group at once and frees its guid', async () => {
    const app = await server.newApp()
    const users = ['amira', 'ben']
    await app.users(...users)
    const body = { guid: 'g', name: 'G', tags: ['t'], members: { usersToBan: ['ben'] } }
    await app.as('amira').groups.create(body)
    const answer = await app.as('amira').call('DELETE', '/v3/groups/g')
    assert.equal(answer.body.data.message, 'Group g deleted.')
    for (const table of ['groups', 'conversations', 'inbox', 'bans', 'messages']) {
      assert.deepEqual(await rows(app, `select from ${table} where app_no = $1`), [], table)
    }
    assert.equal(await totalOf(app, 'groups'), 0)
    assert.equal(await totalOf(app, 'views.group'), 0)
    assert.equal((await app.eventTypes()).at(-1), 'group.deleted')
    await app.client.groups.create(body)
  })

  test('hides a group of 2,500 members at once and lets the worker sweep it', async () => {
    const app = await largeGroup()
    await app.client.groups.delete('g')
    const paths = ['/v3/groups/g', '/v3/groups/g/members', '/v3/groups/g/bannedusers']
    for (const path of paths) assert.equal((await app.call('GET', path)).status, 404)
    await refused(app.as('amira').groups.join('g'), 'ERR_GUID_NOT_FOUND')
    for (const query of ['', '?guid=g', '?hasJoined=true', '?searchKey=G']) {
      const { body } = await app.as('amira').call('GET', `/v3/groups${query}`)
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
    const events = (await app.eventTypes()).filter((type) => type === 'group.deleted')
    assert.equal(events.length, 1)
    const body = { guid: 'g', name: 'Again' }
    await app.client.groups.create(body)
  })
})

suite('deleteUser with permanent', () => {
  test("removes the user from groups and gives the user's own groups to the app", async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const own = { guid: 'own', name: 'Own', members: { participants: ['ben'] } }
    const other = { guid: 'other', name: 'Other', members: { participants: ['amira'] } }
    const banning = { guid: 'banning', name: 'Banning', members: { usersToBan: ['amira'] } }
    await app.as('amira').groups.create(own)
    for (const body of [other, banning]) await app.as('ben').groups.create(body)
    await app.client.users.delete('amira', { permanent: true })

    const get = async (guid: string) => await app.client.groups.get(guid)
    const membersOf = async (guid: string) =>
      (await app.client.groupMembers.list(guid)).data.map(({ uid }: { uid: string }) => uid)
    assert.deepEqual([(await get('own')).owner, (await get('own')).membersCount], ['app_system', 1])
    assert.deepEqual(await membersOf('own'), ['ben'])
    assert.deepEqual([(await get('other')).owner, await membersOf('other')], ['ben', ['ben']])
    const bans = await app.call('GET', '/v3/groups/banning/bannedusers')
    assert.deepEqual(bans.body.data, [])
    assert.equal(await totalOf(app, 'views.group'), 3)
    await app.users('amira')
    assert.equal((await app.as('amira').groups.get('own')).hasJoined, false)
  })
})
