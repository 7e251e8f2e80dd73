/** Concurrent changes of one group have one order, and the counts agree with it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Answer, type TestApp, useServer } from '../../../test/kit.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()
const codeOf = ({ body }: Answer): string => body.error?.code ?? 'ok'
const range = (count: number) => Array.from({ length: count }, (_, n) => n)

function tally(answers: Answer[]): Record<string, number> {
  const groups = Map.groupBy(answers, codeOf)
  return Object.fromEntries([...groups].map(([code, same]) => [code, same.length]))
}

const create = (app: TestApp, group: object = {}) =>
  app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', ...group } })

/** Compares every stored count with the rows that it counts. */
async function assertCounts({ cell, no }: TestApp) {
  const text = `
    select
      (select count(*) from groups g where g.app_no = $1 and removed_at is null
        and members_count <> (select count(*) from inbox i
          where i.app_no = $1 and i.kind = 'group' and i.with_id = g.guid and scope is not null))
        as miscounted,
      (select count(*) from groups g where g.app_no = $1 and removed_at is null
        and owner <> 'app_system' and not exists (select from inbox i
          where i.app_no = $1 and i.uid = g.owner and i.kind = 'group' and i.with_id = g.guid
            and scope = 'admin')) as ownerless,
      (select count(*) from bans b join inbox i on i.app_no = b.app_no and i.uid = b.uid
        and i.kind = 'group' and i.with_id = b.guid and i.scope is not null
        where b.app_no = $1) as banned_members,
      (select coalesce(sum(total), 0) from totals where app_no = $1 and what = 'groups')::bigint
        - (select count(*) from groups where app_no = $1 and removed_at is null) as groups,
      (select coalesce(sum(total), 0) from totals where app_no = $1 and what = 'views.group')::bigint
        - (select count(*) from inbox i join conversations h
             on h.app_no = i.app_no and h.no = i.conversation
           join groups g on g.app_no = i.app_no and g.guid = i.with_id and g.removed_at is null
           where i.app_no = $1 and i.kind = 'group' and i.scope is not null
             and h.shown_id > i.cleared_id) as views`
  const { rows } = await cell.db.query({ name: 'test.counts', text, values: [no] })
  const none = { miscounted: 0, ownerless: 0, banned_members: 0, groups: 0, views: 0 }
  assert.deepEqual(rows, [none])
}

const membersCount = async (app: TestApp): Promise<number> =>
  (await app.client.groups.get('g')).membersCount

suite('concurrent changes of a group', () => {
  test('create one group from 30 requests with the same guid', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const answers = await Promise.all(
      range(30).map((n) => create(app, { owner: n % 2 ? 'amira' : 'ben' })),
    )
    assert.deepEqual(tally(answers), { ok: 1, ERR_GUID_ALREADY_EXISTS: 29 })
    assert.equal((await app.client.groups.list()).meta.pagination.total, 1)
    assert.equal(await membersCount(app), 1)
    await assertCounts(app)
  })

  test('keep a ban of a user who is joining, whichever comes first', async () => {
    const uids = range(12).map((n) => `u${n}`)
    const app = await server.newApp()
    await app.users(...uids)
    await create(app)
    const answers = await Promise.all(
      uids.flatMap((uid) => [
        app.as(uid).call('POST', '/v3/groups/g/join'),
        app.call('POST', `/v3/groups/g/bannedusers/${uid}`),
      ]),
    )
    const [joins, bans] = [answers.filter((_, n) => n % 2 === 0), answers.filter((_, n) => n % 2)]
    assert.deepEqual(tally(bans), { ok: uids.length })
    for (const code of Object.keys(tally(joins))) {
      assert.ok(code === 'ok' || code === 'ERR_BANNED_GROUPMEMBER', code)
    }
    assert.equal(await membersCount(app), 0)
    await assertCounts(app)
  })

  test('add a user who joins 20 times once', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await create(app)
    const answers = await Promise.all(
      range(20).map(() => app.as('amira').call('POST', '/v3/groups/g/join')),
    )
    assert.deepEqual(tally(answers), { ok: 1, ERR_ALREADY_JOINED: 19 })
    assert.equal(await membersCount(app), 1)
    await assertCounts(app)
  })

  test('transfer the group once when its owner gives it to two users', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    await create(app, { owner: 'amira', members: { participants: ['ben', 'cleo'] } })
    const answers = await Promise.all(
      ['ben', 'cleo'].map((owner) =>
        app.as('amira').call('PUT', '/v3/groups/g/owner', { body: { owner } }),
      ),
    )
    assert.deepEqual(tally(answers), { ok: 1, ERR_GROUP_NO_CLEARANCE: 1 })
    const winner = answers.find(({ status }) => status === 200)?.body.data.owner
    assert.equal((await app.client.groups.get('g')).owner, winner)
    const events = await app.eventTypes()
    assert.equal(events.filter((type) => type === 'group.owner.transferred').length, 1)
    await assertCounts(app)
  })

  test('kick and add the same users, with counts that agree', async () => {
    const uids = range(8).map((n) => `u${n}`)
    const app = await server.newApp()
    await app.users(...uids)
    await create(app)
    const answers = await Promise.all(
      range(4).flatMap(() => [
        app.call('POST', '/v3/groups/g/members', { body: { participants: uids } }),
        ...uids.map((uid) => app.call('DELETE', `/v3/groups/g/members/${uid}`)),
      ]),
    )
    for (const answer of answers) {
      assert.ok(['ok', 'ERR_NOT_A_MEMBER'].includes(codeOf(answer)), codeOf(answer))
    }
    await assertCounts(app)
  })

  test('let 7 of 30 users join a group with room for 7', async () => {
    const uids = range(30).map((n) => `u${n}`)
    const app = await server.newApp()
    await app.users(...uids)
    await storeSettings(server.deps, app, { 'limits.membersPerGroup': 7 })
    await create(app)
    const answers = await Promise.all(
      uids.map((uid) => app.as(uid).call('POST', '/v3/groups/g/join')),
    )
    assert.deepEqual(tally(answers), { ok: 7, ERR_NO_VACANCY: 23 })
    assert.equal(await membersCount(app), 7)
    await assertCounts(app)
  })

  test('let a user with a limit of 5 groups join 5 of 20', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await storeSettings(server.deps, app, { 'limits.groupsPerUser': 5 })
    const guids = range(20).map((n) => `g${n}`)
    await Promise.all(guids.map((guid) => create(app, { guid })))
    const answers = await Promise.all(
      guids.map((guid) => app.as('amira').call('POST', `/v3/groups/${guid}/join`)),
    )
    assert.deepEqual(tally(answers), { ok: 5, ERR_PLAN_QUOTA_RESTRICTION: 15 })
    await assertCounts(app)
  })

  test('leave nothing behind when members join and leave while the group is removed', async () => {
    const uids = range(10).map((n) => `u${n}`)
    const app = await server.newApp()
    await app.users(...uids)
    await create(app, { members: { participants: uids.slice(5) } })
    const answers = await Promise.all([
      ...uids.slice(0, 5).map((uid) => app.as(uid).call('POST', '/v3/groups/g/join')),
      app.call('DELETE', '/v3/groups/g'),
      ...uids.slice(5).map((uid) => app.as(uid).call('POST', '/v3/groups/g/leave')),
    ])
    for (const answer of answers) {
      assert.ok(['ok', 'ERR_GUID_NOT_FOUND'].includes(codeOf(answer)), codeOf(answer))
    }
    await assertCounts(app)
    const text = 'select from inbox where app_no = $1'
    const left = await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.equal(left.rows.length, 0)
  })

  test('add the same users to many groups without a deadlock', async () => {
    const uids = range(20).map((n) => `u${n}`)
    const app = await server.newApp()
    await app.users(...uids)
    const guids = range(8).map((n) => `g${n}`)
    await Promise.all(guids.map((guid) => create(app, { guid })))
    const answers = await Promise.all(
      guids.map((guid, n) => {
        const participants = n % 2 ? uids : uids.toReversed()
        return app.call('POST', `/v3/groups/${guid}/members`, { body: { participants } })
      }),
    )
    assert.deepEqual(tally(answers), { ok: guids.length })
    await assertCounts(app)
    const text = `select deadlocks from pg_stat_database where datname = current_database()`
    const { rows } = await app.cell.db.query({ name: '', text, values: [] })
    assert.deepEqual(rows, [{ deadlocks: 0 }])
  })
})
