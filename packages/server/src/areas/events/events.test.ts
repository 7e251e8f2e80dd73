import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type EventType, events } from '@loquat/protocol'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { addToLog, rows } from '../../../test/log-writers.ts'
import { startServing } from '../../../test/loquat.ts'
import { join, newOperator } from '../../../test/operators.ts'
import { assertWithin, timedTest } from '../../../test/timed-test.ts'
import { until } from '../../../test/until.ts'
import { type Role, visibleEvents } from '../../gate/operator.ts'
import { appSubject } from '../../platform/events/live.ts'
import { maintainEventLog } from '../../platform/events/partitions.ts'
import { storeSettings } from '../settings/actions.ts'

const DAY_MS = 86_400_000

const server = useServer({ roles: ['api', 'worker'], env: { LOQUAT_POOL_SIZE: '3' } })

/** An app with users, all of whose events are in its log. */
async function newLoggedApp(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  await app.users(...uids)
  await until('all events are logged', async () => (await lastOf(app)) === uids.length + 1)
  return app
}

const lastOf = async (app: TestApp) => (await app.client.events.list({ limit: 1 })).meta.last

const positions = (events: { position: number }[]) => events.map(({ position }) => position)

/** Resolves once a request waits for the app's events. */
const waiting = (app: TestApp) =>
  until('a request waits', async () => {
    const [asked] = await rows<{ calls: number }>(
      app.cell.db,
      `select count(*)::int as calls from pg_stat_activity
       where datname = current_database() and query like '%positions p%' and state = 'idle'`,
    )
    return (asked?.calls ?? 0) > 0
  })

suite('listEvents', () => {
  test('lists events from the oldest one, or after any position', async () => {
    const app = await newLoggedApp('amira', 'ben', 'cleo')
    const all = await app.client.events.list()
    assert.deepEqual(positions(all.data), [1, 2, 3, 4])
    assert.deepEqual(
      all.data.map(({ type }) => type),
      ['app.created', 'user.created', 'user.created', 'user.created'],
    )
    assert.deepEqual(all.meta, { next: { after: 4 }, last: 4 })
    const some = await app.client.events.list({ after: 1, limit: 2 })
    assert.deepEqual(some.data, all.data.slice(1, 3))
    assert.deepEqual(some.meta, { next: { after: 3 }, last: 4 })
    const none = await app.client.events.list({ after: 4 })
    assert.deepEqual(none, { data: [], meta: { next: { after: 4 }, last: 4 } })
  })

  test('lists only the requested types and continues after the skipped ones', async () => {
    const app = await newLoggedApp('amira', 'ben')
    await app.client.users.update('amira', { name: 'Amira K.' })
    await until('it is logged', async () => (await lastOf(app)) === 4)
    const types = ['user.updated', 'app.created'] as const
    const { data, meta } = await app.client.events.list({ types: [...types] })
    assert.deepEqual(positions(data), [1, 4])
    assert.deepEqual(meta.next, { after: 4 })
    const first = await app.client.events.list({ types: [...types], limit: 1 })
    assert.deepEqual([positions(first.data), first.meta.next.after], [[1], 1])
    const rest = await app.client.events.list({ types: ['role.created'], after: 2 })
    assert.deepEqual([rest.data, rest.meta.next.after], [[], 4])
  })

  test('shows operators the event types that their role may see and skips the others', async () => {
    const app = await server.newApp()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    await app.client.authTokens.create('amira')
    await app.client.apiKeys.create({ name: 'Second', scope: 'authOnly' })
    await app.client.webhooks.create({
      id: 'hook',
      name: 'Hook',
      webhookURL: 'https://93.184.216.34/secret-path',
    })
    await storeSettings(server.deps, app, { 'rate.core': 5 })
    const types = await until('all events are logged', async () => {
      const { data } = await app.client.events.list()
      return data.length === 6 && data.map(({ type }) => type)
    })
    const hidden: Record<Role, string[]> = {
      owner: [],
      admin: [],
      developer: ['app.settings.updated'],
      moderator: [
        'user.token.created',
        'apikey.created',
        'webhook.created',
        'app.settings.updated',
      ],
    }
    for (const [role, left] of Object.entries(hidden)) {
      const operator = await newOperator(server)
      await join(server, app, operator, role as Role)
      const log = operator.client.app(app.id).events
      const { data, meta } = await log.list()
      assert.deepEqual(
        data.map(({ type }) => type),
        types.filter((type) => !left.includes(type)),
        role,
      )
      assert.deepEqual(meta, { next: { after: 6 }, last: 6 })
      const asked = await log.list({ types: ['webhook.created', 'app.settings.updated'] })
      assert.equal(asked.data.length, 2 - left.filter((type) => /^(webhook|app)/.test(type)).length)
    }
  })

  test('hides only these types from moderators', () => {
    const seen = new Set(visibleEvents('moderator'))
    assert.deepEqual(
      Object.keys(events).filter((type) => !seen.has(type as EventType)),
      [
        'app.settings.updated',
        ...['apikey.created', 'apikey.updated', 'apikey.deleted'],
        ...['model.provider.created', 'model.provider.updated', 'model.provider.deleted'],
        ...['user.token.created', 'user.token.updated', 'user.tokens.revoked'],
        ...['webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.disabled'],
      ],
    )
  })

  test('refuses unknown types and positions', async () => {
    const app = await newLoggedApp()
    for (const [field, value] of [
      ['types.0', 'types=user.flown'],
      ['after', 'after=2'],
      ['after', 'after=-1'],
      ['limit', 'limit=0'],
      ['wait', 'wait=21'],
    ] as const) {
      const { details } = await refused(app.call('GET', `/v3/events?${value}`), 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(details ?? {}), [field])
    }
  })

  test('waits for an event, of any type or of the requested ones', async () => {
    const app = await newLoggedApp('amira')
    const any = app.client.events.list({ after: 2, wait: 20 })
    const renamed = app.client.events.list({ after: 2, wait: 20, types: ['user.updated'] })
    await waiting(app)
    await app.client.users.create({ uid: 'ben', name: 'Ben' })
    assert.deepEqual(positions((await any).data), [3])
    await app.client.users.update('ben', { name: 'Benno' })
    assert.deepEqual(positions((await renamed).data), [4])
  })

  test('uses no database connection while it waits', async () => {
    const app = await newLoggedApp('amira')
    const ended = new AbortController()
    const polls = Array.from({ length: 30 }, () =>
      app.client.events.list({ after: 2, wait: 20 }, { signal: ended.signal }),
    )
    await waiting(app)
    await app.client.users.create({ uid: 'ben', name: 'Ben' })
    for (const { data } of await Promise.all(polls)) assert.deepEqual(positions(data), [3])
  })

  timedTest('answers at once when the process drains', async (t) => {
    const app = await newLoggedApp()
    const other = await startServing('api', server.env)
    t.after(() => other.end('SIGKILL'))
    const started = performance.now()
    const poll = app.call('GET', '/v3/events?after=1&wait=20', { port: other.apiPort })
    await waiting(app)
    const over = other.end('SIGTERM')
    assert.deepEqual((await poll).body.data, [])
    assert.equal((await over).code, 0)
    assertWithin(15_000, performance.now() - started)
  })

  test('returns the same events that the sequencer publishes', async () => {
    const app = await newLoggedApp()
    const heard: { position: number; type: string; payload: unknown }[] = []
    const text = ', "quoted", \u00fcnic\u00f6de \u{1f600}'
    server.deps.bus.subscribe(appSubject(app.no), (data) => heard.push(JSON.parse(data)))
    await until('it is subscribed', async () => {
      await app.client.users.create({ uid: `u${Math.random()}`.replace('.', ''), name: text })
      return heard.length > 0
    })
    const from = heard[0]?.position ?? 0
    await app.users('a', 'b', 'c')
    const last = await until('the last event is published', async () => {
      const there = (await app.eventTypes()).length
      return heard.at(-1)?.position === there && there
    })
    const { data } = await app.client.events.list({ after: from - 1 })
    assert.equal(data.at(-1)?.position, last)
    assert.deepEqual(
      heard.map(({ position, type, payload }) => ({ position, type, payload })),
      data.map(({ position, type, payload }) => ({ position, type, payload })),
    )
  })
})

suite('listEvents without NATS', () => {
  const deaf = useServer({
    roles: ['api', 'worker'],
    env: { LOQUAT_NATS_URL: 'nats://127.0.0.1:1' },
  })

  test('returns events to a waiting request', async () => {
    const app = await deaf.newApp()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    await until('it is logged', async () => (await lastOf(app)) === 2)
    const poll = app.client.events.list({ after: 2, wait: 20 })
    await waiting(app)
    await app.client.users.create({ uid: 'ben', name: 'Ben' })
    assert.deepEqual(positions((await poll).data), [3])
  })
})

suite('listEvents past the retention', () => {
  const old = useServer({ roles: ['api', 'worker'] })

  test('refuses positions that were removed and names the oldest one', async () => {
    const app = await old.newApp()
    await app.client.users.create({ uid: 'amira', name: 'Amira' })
    await until('it is logged', async () => (await lastOf(app)) === 2)
    const [seq] = await rows<{ day: string }>(
      app.cell.db,
      `select (max(day) + 20)::text as day from events where app_no = $1`,
      [app.no],
    )
    await maintainEventLog(app.cell.url, 14, Date.now() + 20 * DAY_MS)
    const tooOld = await refused(app.client.events.list({ after: 0 }), 'ERR_POSITION_TOO_OLD')
    assert.deepEqual(tooOld.details, { oldest: ['3'] })
    assert.deepEqual((await app.client.events.list()).data, [], 'starts with the oldest event')
    assert.deepEqual((await app.client.events.list({ after: 2 })).data, [])

    await addToLog(
      app.cell.db,
      `select $1::int, 3, 'user.created', 'user:ben', '{}'::json, now(), $2::date, '', null, null, null`,
      [app.no, seq?.day],
    )
    await rows(app.cell.db, `update positions set position = 3 where app_no = $1`, [app.no])
    assert.deepEqual(positions((await app.client.events.list()).data), [3])
    assert.deepEqual(positions((await app.client.events.list({ after: 2 })).data), [3])
    const between = app.client.events.list({ after: 1, types: ['user.deleted'] })
    assert.deepEqual((await refused(between, 'ERR_POSITION_TOO_OLD')).details, { oldest: ['3'] })
  })
})
