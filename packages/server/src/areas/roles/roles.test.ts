import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { verify } from '../../verify/verify.ts'
import { refuseDelete } from './policy.ts'

const server = useServer()

const create = (app: TestApp, role: string, more = {}) =>
  app.call('POST', '/v3/roles', { body: { role, name: role, ...more } })

suite('createRole', () => {
  test('refuses the ids of the built-in roles, which can be changed but not removed', async () => {
    const app = await server.newApp()
    const { roles } = app.client
    const { data } = await roles.list()
    assert.deepEqual(
      data.map(({ role }) => role),
      ['@agentic', 'default'],
    )
    for (const role of ['default', '@agentic']) {
      assert.equal((await roles.update(role, { name: 'x' })).name, 'x')
      await refused(roles.delete(role), 'ERR_ROLE_DELETE_DENIED')
    }
    await refused(roles.create({ role: 'default', name: 'x' }), 'ERR_ROLE_ALREADY_EXISTS')
    assert.equal((await create(app, '@mine')).status, 400)
  })

  test('creates at most 25 roles besides the built-in ones, even when 30 requests arrive at once', async () => {
    const app = await server.newApp()
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => create(app, `r${n}`)))
    const failed = answers.filter(({ status }) => status !== 200)
    assert.equal(failed.length, 5)
    for (const { body } of failed) assert.equal(body.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
    assert.equal((await app.client.roles.list()).meta.pagination.total, 27)
  })
})

suite('special roles', () => {
  const special = ({ cell, no }: TestApp) =>
    rows(cell.db, 'select * from special_roles($1) order by role', [no])
  /** Whether the app's row says that there are any. */
  const flag = async ({ cell, no }: TestApp) =>
    (await rows(cell.db, 'select special_roles from apps where app_no = $1', [no]))[0]
      ?.special_roles

  test('are exactly the removed ones and those limited to friends, found by their index', async () => {
    const app = await server.newApp()
    const { roles } = app.client
    await roles.create({ role: 'plain', name: 'Plain', settings: { sendMessagesTo: 'all' } })
    await roles.create({ role: 'old', name: 'Old' })
    assert.deepEqual([await special(app), await flag(app)], [[], false])
    await roles.update('default', { settings: { sendMessagesTo: 'friendsOnly' } })
    assert.equal(await flag(app), true)
    // As while users of a deleted role are still being moved.
    const remove = `update roles set removed_at = now() where app_no = $1 and role = 'old'`
    await rows(app.cell.db, remove, [app.no])
    assert.deepEqual(await special(app), [
      { role: 'default', removed: false, friends_only: true },
      { role: 'old', removed: true, friends_only: false },
    ])
    const plan = await app.cell.db.tx(async (tx) => {
      await rows(tx, 'set local enable_seqscan = off')
      return rows(tx, `explain select from special_roles(${app.no})`)
    })
    assert.match(
      JSON.stringify(plan),
      /Scan using roles_special|Bitmap Index Scan on roles_special/,
    )

    await roles.update('default', { settings: { sendMessagesTo: 'all' } })
    assert.equal(await flag(app), true)
    await rows(app.cell.db, `select sweep_role($1, 'old', 10)`, [app.no])
    assert.deepEqual([await special(app), await flag(app)], [[], false])
  })

  test('are noted in the row of the app, also when roles change at once', async () => {
    const app = await server.newApp()
    const { roles } = app.client
    const names = ['a', 'b', 'c']
    for (const role of names) await roles.create({ role, name: role })
    // A failed request fails the test.
    await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const settings = { sendMessagesTo: n % 2 ? 'all' : 'friendsOnly' } as const
        return roles.update(names[n % 3] ?? '', { settings })
      }),
    )
    assert.deepEqual(await verify(app.cell, app.no), [])
    for (const role of names) await roles.delete(role)
    assert.equal(await flag(app), false)
    await rows(app.cell.db, 'update apps set special_roles = true where app_no = $1', [app.no])
    const found = await verify(app.cell, app.no)
    assert.deepEqual(
      found.map(({ what }) => what),
      ['whether the app has special roles'],
    )
  })
})

suite('updateRole', () => {
  test('changes the fields that are sent and clears those in `unset`', async () => {
    const app = await server.newApp()
    const { roles } = app.client
    const settings = { listUsers: 'all', sendMessagesTo: 'friendsOnly' } as const
    const coach = { role: 'Coach', name: 'Coach', description: 'leads', metadata: { a: 1 } }
    const created = await roles.create({ ...coach, settings })
    assert.equal(created.role, 'coach')
    assert.deepEqual(created.settings, settings)
    const changed = await roles.update('COACH', {
      name: 'Trainer',
      unset: ['settings', 'metadata'],
    })
    const { createdAt, updatedAt = 0, ...rest } = changed
    assert.deepEqual(rest, { role: 'coach', name: 'Trainer', description: 'leads' })
    assert.ok(updatedAt >= createdAt)
    assert.deepEqual(await roles.get('coach'), changed)
    assert.equal((await create(app, 'x', { settings: { sing: 'all' } })).status, 400)
    await refused(roles.get('nobody'), 'ERR_ROLE_NOT_FOUND')
    assert.deepEqual((await app.eventTypes()).slice(-2), ['role.created', 'role.updated'])
    assert.deepEqual(await roles.update('coach', {}), changed)
    assert.equal((await app.eventTypes()).filter((type) => type === 'role.updated').length, 1)
    assert.equal((await roles.update('coach', { description: '' })).description, '')
  })
})

suite('deleteRole', () => {
  test('gives its users the default role at once and frees its id', async () => {
    const { roles, users } = (await server.newApp()).client
    const coach = { role: 'coach', name: 'Coach' }
    await roles.create(coach)
    await users.create({ uid: 'a', name: 'A', role: 'coach' })
    assert.equal((await roles.delete('coach')).success, true)
    assert.equal((await users.get('a')).role, 'default')
    assert.equal((await roles.create(coach)).role, 'coach')
    assert.equal((await users.get('a')).role, 'default')
  })
})

suite('which roles can be deleted', () => {
  for (const [role, built_in, code] of [
    ['default', true, 'ERR_ROLE_DELETE_DENIED'],
    ['@agentic', true, 'ERR_ROLE_DELETE_DENIED'],
    ['guest', false, undefined],
  ] as const) {
    test(`${role}: ${code ?? 'allowed'}`, () => {
      assert.equal(refuseDelete({ role, built_in })?.code, code)
    })
  }
})
