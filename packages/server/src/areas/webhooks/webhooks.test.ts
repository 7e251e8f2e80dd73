import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { triggers } from '@loquat/protocol'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()
const WEBHOOK_URL = 'https://8.8.8.8/hook'
const hook = (id: string) => ({ id, name: `Hook ${id}`, webhookURL: WEBHOOK_URL })

const refused = async (app: TestApp, body: object, field: string) => {
  const answer = await app.call('POST', '/v3/webhooks', { body })
  assert.equal(answer.status, 400, JSON.stringify(answer.body))
  assert.deepEqual(Object.keys(answer.body.error.details), [field])
}

suite('webhooks', () => {
  test('created, read, changed, listed, removed, each with its event', async () => {
    const app = await server.newApp()
    const { webhooks } = app.client
    const { secret, ...made } = await webhooks.create(hook('audit'))
    assert.match(secret, /^whsec_[\w+/]{43}=$/)
    assert.deepEqual(made, {
      id: 'audit',
      name: 'Hook audit',
      webhookURL: WEBHOOK_URL,
      useBasicAuth: false,
      enabled: true,
      retryOnFailure: true,
      triggers: [],
      createdAt: made.createdAt,
      updatedAt: made.createdAt,
    })
    assert.deepEqual(await webhooks.get('audit'), made)
    const changed = await webhooks.update('audit', { name: 'Log', retryOnFailure: false })
    assert.deepEqual([changed.name, changed.retryOnFailure, changed.enabled], ['Log', false, true])
    await webhooks.create(hook('b2'))
    const { data, meta } = await webhooks.list()
    assert.deepEqual([data.map(({ id }) => id), meta.pagination.total], [['b2', 'audit'], 2])
    assert.deepEqual((await webhooks.list({ searchKey: 'lo' })).data, [changed])

    assert.equal((await webhooks.delete('audit')).success, true)
    for (const call of [webhooks.get('audit'), webhooks.delete('audit')])
      await assert.rejects(call, { code: 'ERR_WEBHOOK_NOT_FOUND' })
    assert.deepEqual(
      (await app.eventTypes()).filter((type) => type.startsWith('webhook.')),
      ['webhook.created', 'webhook.updated', 'webhook.created', 'webhook.deleted'],
    )
    await webhooks.create(hook('audit'))
  })

  test('an id that is taken, and a 26th, also when many race', async () => {
    const app = await server.newApp()
    await app.client.webhooks.create(hook('one'))
    await assert.rejects(app.client.webhooks.create(hook('one')), {
      code: 'ERR_WEBHOOK_ALREADY_EXISTS',
    })
    const more = Array.from({ length: 30 }, (_, n) => app.client.webhooks.create(hook(`n${n}`)))
    const outcomes = await Promise.allSettled(more)
    const failed = outcomes.filter(({ status }) => status === 'rejected')
    assert.equal(failed.length, 6)
    for (const { reason } of failed as PromiseRejectedResult[])
      assert.equal(reason.code, 'ERR_PLAN_QUOTA_RESTRICTION')
  })

  test('fields that cannot be', async () => {
    const app = await server.newApp()
    await refused(app, { ...hook('a'), id: 'a b' }, 'id')
    await refused(app, { ...hook('a'), id: 'x'.repeat(51) }, 'id')
    await refused(app, { ...hook('a'), webhookURL: 'http://8.8.8.8/' }, 'webhookURL')
    await refused(app, { ...hook('a'), webhookURL: 'https://127.0.0.1/' }, 'webhookURL')
    const long = `https://8.8.8.8/${'x'.repeat(250)}`
    await refused(app, { ...hook('a'), webhookURL: long }, 'webhookURL')
    await refused(app, { ...hook('a'), useBasicAuth: true, username: 'ana' }, 'password')
    await refused(app, { ...hook('a'), username: 'an a' }, 'username')
    await app.client.webhooks.create(hook('a'))
    const body = { webhookURL: 'https://[::1]/' }
    assert.equal((await app.call('PUT', '/v3/webhooks/a', { body })).status, 400)
    const auth = await app.call('PUT', '/v3/webhooks/a', { body: { useBasicAuth: true } })
    assert.deepEqual(Object.keys(auth.body.error.details), ['username', 'password'])
  })

  test('null clears what need not be there', async () => {
    const app = await server.newApp()
    const given = { useBasicAuth: true, username: 'ana', password: 'pass4711' }
    await app.client.webhooks.create({ ...hook('a'), ...given })
    const nothing = { username: null, password: null }
    const still = await app.call('PUT', '/v3/webhooks/a', { body: nothing })
    assert.deepEqual(Object.keys(still.body.error.details), ['username', 'password'])
    const changed = await app.client.webhooks.update('a', { useBasicAuth: false, ...nothing })
    assert.ok(!('username' in changed))
    const again = await app.call('PUT', '/v3/webhooks/a', { body: { useBasicAuth: true } })
    assert.deepEqual(Object.keys(again.body.error.details), ['username', 'password'])
    const required = await app.call('PUT', '/v3/webhooks/a', { body: { name: null } })
    assert.equal(required.status, 400)
  })

  test('passwords and secrets are sealed, and in no answer or event', async () => {
    const app = await server.newApp()
    const given = { useBasicAuth: true, username: 'ana', password: 'pass4711' }
    const { secret, ...made } = await app.client.webhooks.create({ ...hook('a'), ...given })
    assert.equal(made.username, 'ana')
    assert.ok(!('password' in made))
    const { secret: next } = await app.client.webhooks.rotateSecret('a')
    const stored = await rows(app.cell.db, `select * from webhooks where app_no = ${app.no}`)
    const told = await rows(app.cell.db, `select * from outbox where app_no = ${app.no}`)
    const text = JSON.stringify([stored, told, await app.client.webhooks.get('a')])
    for (const value of ['pass4711', secret, next]) assert.ok(!text.includes(value))
    const [row] = stored as { password_sealed: Buffer; secret_sealed: Buffer }[]
    assert.equal(server.deps.secrets.open(row?.password_sealed ?? Buffer.of()), 'pass4711')
    assert.equal(server.deps.secrets.open(row?.secret_sealed ?? Buffer.of()), next)
  })

  test('triggers: those that there are, others say so', async () => {
    const app = await server.newApp()
    const { webhooks } = app.client
    await webhooks.create(hook('a'))
    const triggerIds = ['message_sent', 'user_blocked', 'call_started', 'constructor']
    const outcomes = await webhooks.addTriggers('a', { triggerIds })
    assert.deepEqual(outcomes.message_sent, { success: true, message: 'added' })
    assert.deepEqual(outcomes.call_started, {
      success: false,
      error: {
        code: 'ERR_TRIGGER_NOT_FOUND',
        message: 'There is no trigger "call_started".',
      },
    })
    assert.equal(Object.entries(outcomes).filter(([, { success }]) => !success).length, 2)
    const { data } = await webhooks.listTriggers('a')
    assert.deepEqual(data, [
      { id: 'message_sent', description: triggers.get('message_sent')?.summary },
      { id: 'user_blocked', description: triggers.get('user_blocked')?.summary },
    ])
    await assert.rejects(webhooks.deleteTriggers('a', { triggerIds: ['call_started'] }), {
      code: 'ERR_TRIGGER_NOT_FOUND',
    })
    await webhooks.deleteTriggers('a', { triggerIds: ['user_blocked', 'group_created'] })
    assert.deepEqual((await webhooks.get('a')).triggers, ['message_sent'])
  })

  test('all triggers are listed, with what pulls them', async () => {
    const { data, meta } = await (await server.newApp()).client.webhooks.listKnownTriggers()
    assert.equal(meta.pagination.total, triggers.size)
    for (const { id, description } of data) assert.equal(description, triggers.get(id)?.summary)
  })

  test('triggers that are added at the same time are all there', async () => {
    const app = await server.newApp()
    const { webhooks } = app.client
    await webhooks.create(hook('a'))
    const all = [...triggers.keys()]
    await Promise.all(all.map((name) => webhooks.addTriggers('a', { triggerIds: [name] })))
    assert.deepEqual((await webhooks.get('a')).triggers, all.toSorted())
  })

  test('a retry gets the same secret', async () => {
    const app = await server.newApp()
    const options = { idempotencyKey: 'hook-1' }
    const first = await app.client.webhooks.create(hook('a'), options)
    assert.deepEqual(await app.client.webhooks.create(hook('a'), options), first)
  })
})
