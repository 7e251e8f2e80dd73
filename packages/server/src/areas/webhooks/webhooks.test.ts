import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { triggers } from '@loquat/protocol'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()
const WEBHOOK_URL = 'https://8.8.8.8/hook'
const hook = (id: string) => ({ id, name: `Hook ${id}`, webhookURL: WEBHOOK_URL })

/** The invalid fields of a request with `body`. */
const faultyFields = async (app: TestApp, method: string, path: string, body: object) => {
  const { details } = await refused(app.call(method, path, { body }), 'ERR_BAD_REQUEST')
  return Object.keys(details ?? {})
}

suite('createWebhook', () => {
  test('creates a webhook, and every change of it sends an event', async () => {
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

    await webhooks.delete('audit')
    assert.deepEqual(
      (await app.eventTypes()).filter((type) => type.startsWith('webhook.')),
      ['webhook.created', 'webhook.updated', 'webhook.created', 'webhook.deleted'],
    )
  })

  test('refuses an id that is taken, and a 26th webhook even when many are created at once', async () => {
    const app = await server.newApp()
    await app.client.webhooks.create(hook('one'))
    await refused(app.client.webhooks.create(hook('one')), 'ERR_WEBHOOK_ALREADY_EXISTS')
    const more = Array.from({ length: 30 }, (_, n) => app.client.webhooks.create(hook(`n${n}`)))
    const outcomes = await Promise.allSettled(more)
    const failed = outcomes.filter(({ status }) => status === 'rejected')
    assert.equal(failed.length, 6)
    for (const { reason } of failed as PromiseRejectedResult[])
      assert.equal(reason.code, 'ERR_PLAN_QUOTA_RESTRICTION')
  })

  test('refuses ids, URLs and credentials that are not allowed', async () => {
    const app = await server.newApp()
    const faults = (fields: object) =>
      faultyFields(app, 'POST', '/v3/webhooks', { ...hook('a'), ...fields })
    assert.deepEqual(await faults({ id: 'a b' }), ['id'])
    assert.deepEqual(await faults({ id: 'x'.repeat(51) }), ['id'])
    assert.deepEqual(await faults({ webhookURL: 'http://8.8.8.8/' }), ['webhookURL'])
    assert.deepEqual(await faults({ webhookURL: 'https://127.0.0.1/' }), ['webhookURL'])
    const long = `https://8.8.8.8/${'x'.repeat(250)}`
    assert.deepEqual(await faults({ webhookURL: long }), ['webhookURL'])
    assert.deepEqual(await faults({ useBasicAuth: true, username: 'ana' }), ['password'])
    assert.deepEqual(await faults({ username: 'an a' }), ['username'])
  })

  test('returns the same secret when it is retried', async () => {
    const app = await server.newApp()
    const options = { idempotencyKey: 'hook-1' }
    const first = await app.client.webhooks.create(hook('a'), options)
    assert.deepEqual(await app.client.webhooks.create(hook('a'), options), first)
  })
})

suite('updateWebhook', () => {
  const faults = (app: TestApp, body: object) => faultyFields(app, 'PUT', '/v3/webhooks/a', body)

  test('refuses a private address and basic authentication without credentials', async () => {
    const app = await server.newApp()
    await app.client.webhooks.create(hook('a'))
    assert.deepEqual(await faults(app, { webhookURL: 'https://[::1]/' }), ['webhookURL'])
    assert.deepEqual(await faults(app, { useBasicAuth: true }), ['username', 'password'])
  })

  test('sends the password nowhere else', async () => {
    const app = await server.newApp()
    const given = { useBasicAuth: true, username: 'ana', password: 'pass4711' }
    await app.client.webhooks.create({ ...hook('a'), ...given })
    await app.client.webhooks.update('a', { webhookURL: `${WEBHOOK_URL}/other` })
    const webhookURL = 'https://8.8.4.4/'
    assert.deepEqual(await faults(app, { webhookURL }), ['password'])
    await app.client.webhooks.update('a', { webhookURL, useBasicAuth: false })
    assert.deepEqual(await faults(app, { useBasicAuth: true }), ['password'])
  })

  test('clears optional fields that are null', async () => {
    const app = await server.newApp()
    const given = { useBasicAuth: true, username: 'ana', password: 'pass4711' }
    await app.client.webhooks.create({ ...hook('a'), ...given })
    const nothing = { username: null, password: null }
    assert.deepEqual(await faults(app, nothing), ['username', 'password'])
    const changed = await app.client.webhooks.update('a', { useBasicAuth: false, ...nothing })
    assert.ok(!('username' in changed))
    assert.deepEqual(await faults(app, { useBasicAuth: true }), ['username', 'password'])
    assert.deepEqual(await faults(app, { name: null }), ['name'])
  })
})

suite('deleteWebhook', () => {
  test('removes the webhook and frees its id', async () => {
    const { webhooks } = (await server.newApp()).client
    await webhooks.create(hook('audit'))
    assert.equal((await webhooks.delete('audit')).success, true)
    await refused(webhooks.get('audit'), 'ERR_WEBHOOK_NOT_FOUND')
    await refused(webhooks.delete('audit'), 'ERR_WEBHOOK_NOT_FOUND')
    await webhooks.create(hook('audit'))
  })
})

suite('rotateWebhookSecret', () => {
  test("seals the new secret and doesn't show it in any other answer or event", async () => {
    const app = await server.newApp()
    const given = { useBasicAuth: true, username: 'ana', password: 'pass4711' }
    const { secret, ...made } = await app.client.webhooks.create({ ...hook('a'), ...given })
    assert.equal(made.username, 'ana')
    assert.ok(!('password' in made))
    const { secret: next } = await app.client.webhooks.rotateSecret('a')
    const stored = await rows(app.cell.db, `select * from webhooks where app_no = ${app.no}`)
    const text = JSON.stringify([stored, await app.events(), await app.client.webhooks.get('a')])
    for (const value of ['pass4711', secret, next]) assert.ok(!text.includes(value))
    const [row] = stored as { password_sealed: Buffer; secret_sealed: Buffer }[]
    const open = (column: 'webhooks.password' | 'webhooks.secret', sealed: Buffer = Buffer.of()) =>
      server.deps.secrets.open([column, app.no, 'a'], sealed)
    assert.equal(open('webhooks.password', row?.password_sealed), 'pass4711')
    assert.equal(open('webhooks.secret', row?.secret_sealed), next)
  })
})

suite('deleteWebhookTriggers', () => {
  test('refuses triggers that do not exist', async () => {
    const { webhooks } = (await server.newApp()).client
    await webhooks.create(hook('a'))
    await webhooks.addTriggers('a', { triggerIds: ['message_sent', 'user_blocked'] })
    const unknown = webhooks.deleteTriggers('a', { triggerIds: ['message_whispered'] })
    await refused(unknown, 'ERR_TRIGGER_NOT_FOUND')
    await webhooks.deleteTriggers('a', { triggerIds: ['user_blocked', 'group_created'] })
    assert.deepEqual((await webhooks.get('a')).triggers, ['message_sent'])
  })
})

suite('addWebhookTriggers', () => {
  test('adds the triggers that exist and returns an error for each of the others', async () => {
    const app = await server.newApp()
    const { webhooks } = app.client
    await webhooks.create(hook('a'))
    const triggerIds = ['message_sent', 'user_blocked', 'message_whispered', 'constructor']
    const outcomes = await webhooks.addTriggers('a', { triggerIds })
    assert.deepEqual(outcomes.message_sent, { success: true, message: 'added' })
    assert.deepEqual(outcomes.message_whispered, {
      success: false,
      error: {
        code: 'ERR_TRIGGER_NOT_FOUND',
        message: 'There is no trigger "message_whispered".',
      },
    })
    assert.equal(Object.entries(outcomes).filter(([, { success }]) => !success).length, 2)
    const { data } = await webhooks.listTriggers('a')
    assert.deepEqual(data, [
      { id: 'message_sent', description: triggers.get('message_sent')?.summary },
      { id: 'user_blocked', description: triggers.get('user_blocked')?.summary },
    ])
  })

  test('keeps all triggers that are added at the same time', async () => {
    const app = await server.newApp()
    const { webhooks } = app.client
    await webhooks.create(hook('a'))
    const all = [...triggers.keys()]
    await Promise.all(all.map((name) => webhooks.addTriggers('a', { triggerIds: [name] })))
    assert.deepEqual((await webhooks.get('a')).triggers, all.toSorted())
  })
})

suite('listKnownWebhookTriggers', () => {
  test('lists every trigger with its description', async () => {
    const { data, meta } = await (await server.newApp()).client.webhooks.listKnownTriggers()
    assert.equal(meta.pagination.total, triggers.size)
    for (const { id, description } of data) assert.equal(description, triggers.get(id)?.summary)
  })
})

suite('replayWebhookEvents', () => {
  test('refuses ranges that are empty, too long or not in the log', async () => {
    const { webhooks } = (await server.newApp()).client
    await webhooks.create(hook('a'))
    for (const range of [{ from: 9 }, { from: 3, to: 2 }, { from: 1, to: 10_001 }])
      await refused(webhooks.replayEvents('a', range), 'ERR_BAD_REQUEST')
  })
})
