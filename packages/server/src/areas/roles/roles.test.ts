import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/harness.ts'

const server = useServer()

const create = (app: TestApp, role: string, more = {}) =>
  app.call('POST', '/v3/roles', { body: { role, name: role, ...more } })

suite('roles', () => {
  test('the built-in ones are there, can be changed, and stay', async () => {
    const app = await server.newApp()
    const { body } = await app.call('GET', '/v3/roles')
    assert.deepEqual(
      body.data.map((role: { role: string }) => role.role),
      ['@agentic', 'default'],
    )
    for (const role of ['default', '@agentic']) {
      assert.equal(
        (await app.call('PUT', `/v3/roles/${role}`, { body: { name: 'x' } })).status,
        200,
      )
      const denied = await app.call('DELETE', `/v3/roles/${role}`)
      assert.equal(denied.body.error.code, 'ERR_ROLE_DELETE_DENIED')
    }
    assert.equal((await create(app, 'default')).body.error.code, 'ERR_ROLE_ALREADY_EXISTS')
    assert.equal((await create(app, '@mine')).status, 400)
  })

  test('are created, changed and cleared', async () => {
    const app = await server.newApp()
    const settings = { listUsers: 'all', sendMessagesTo: 'friendsOnly' }
    const { body } = await create(app, 'Coach', {
      description: 'leads',
      settings,
      metadata: { a: 1 },
    })
    assert.equal(body.data.role, 'coach')
    assert.deepEqual(body.data.settings, settings)
    const unset = ['settings', 'metadata']
    const changed = await app.call('PUT', '/v3/roles/COACH', { body: { name: 'Trainer', unset } })
    const { createdAt, updatedAt, ...rest } = changed.body.data
    assert.deepEqual(rest, { role: 'coach', name: 'Trainer', description: 'leads' })
    assert.ok(updatedAt >= createdAt)
    assert.deepEqual((await app.call('GET', '/v3/roles/coach')).body, changed.body)
    assert.equal((await create(app, 'x', { settings: { sing: 'all' } })).status, 400)
    assert.equal((await app.call('GET', '/v3/roles/nobody')).body.error.code, 'ERR_ROLE_NOT_FOUND')
    assert.deepEqual((await app.announced()).slice(-2), ['role.created', 'role.updated'])
  })

  test('30 at once end with exactly 25 beside the built-in ones', async () => {
    const app = await server.newApp()
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => create(app, `r${n}`)))
    const refused = answers.filter(({ status }) => status !== 200)
    assert.equal(refused.length, 5)
    for (const { body } of refused) assert.equal(body.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
    assert.equal((await app.call('GET', '/v3/roles')).body.meta.pagination.total, 27)
  })

  test('holders of a removed role are default at once, and its id is free again', async () => {
    const app = await server.newApp()
    await create(app, 'coach')
    await app.call('POST', '/v3/users', { body: { uid: 'a', name: 'A', role: 'coach' } })
    assert.equal((await app.call('DELETE', '/v3/roles/coach')).status, 200)
    assert.equal((await app.call('GET', '/v3/users/a')).body.data.role, 'default')
    assert.equal((await create(app, 'coach')).status, 200)
    assert.equal((await app.call('GET', '/v3/users/a')).body.data.role, 'default')
  })
})
