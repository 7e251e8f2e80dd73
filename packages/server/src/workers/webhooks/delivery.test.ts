import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { queryAt } from '../../../test/databases.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { type Receiver, taken, useReceiver } from '../../../test/receiver.ts'
import { snapshotOf } from '../../../test/snapshot.ts'
import { until } from '../../../test/until.ts'
import { sequencedSubject } from '../../platform/events/live.ts'
import { maintainEventLog } from '../../platform/events/partitions.ts'
import { findActiveWebhook } from './queries.ts'

const DAY_MS = 86_400_000
const OPEN = { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' }

const server = useServer({ roles: ['api', 'worker'], env: OPEN })
const receiver = useReceiver()

/** Each webhook has its own path at this file's one receiver. */
let nth = 0

interface Hooked {
  app: TestApp
  path: string
  secret: string
  /** The names of groups in the calls that the receiver accepted, in order, each once. */
  delivered(): string[]
  calls(): Receiver['received']
}

async function hooked(options: object = {}, on = server): Promise<Hooked> {
  const app = await on.newApp()
  const path = `/hook${++nth}`
  const webhookURL = receiver.url + path
  const { secret } = await app.client.webhooks.create({
    id: 'a',
    name: 'A',
    webhookURL,
    ...options,
  })
  await app.client.webhooks.addTriggers('a', { triggerIds: ['group_created', 'group_updated'] })
  return {
    app,
    path,
    secret,
    delivered: () => taken(receiver, path).map(({ json }) => json.data.group.name),
    calls: () => receiver.received.filter((call) => call.path === path),
  }
}

/** Sets the receiver's status for calls of this webhook, by the name of the group. */
function respondTo({ path }: Hooked, answer: (name: string) => number | null) {
  const before = receiver.respond
  receiver.respond = (call) =>
    call.path === path ? answer(call.json.data.group.name) : before(call)
}

const groups = async ({ app }: Hooked, ...names: string[]) => {
  for (const name of names) await app.client.groups.create({ guid: name, name, type: 'public' })
}

const sql = <R extends object>({ app }: Hooked, text: string) =>
  rows<R>(app.cell.db, text.replaceAll('$app', String(app.no)))

const parked = (hook: Hooked) =>
  sql<{ key: string; tries: number; seconds: number }>(
    hook,
    `select key, tries, extract(epoch from retry_at - now())::float as seconds
     from webhook_parked where app_no = $app order by key`,
  )

/** Moves the times of this webhook's waits into the past. */
async function pass(hook: Hooked, interval: string) {
  const earlier = (column: string) => `${column} = ${column} - interval '${interval}'`
  await sql(
    hook,
    `update webhook_progress
     set ${earlier('waits_until')}, ${earlier('failing_since')}, ${earlier('failed_at')}
     where app_no = $app`,
  )
  await sql(hook, `update webhook_parked set ${earlier('retry_at')} where app_no = $app`)
}

const progress = async (hook: Hooked) => {
  const [row] = await sql<{ failures: number; probes: number; waiting: boolean; seconds: number }>(
    hook,
    `select failures, probes, waits_until is not null as waiting,
       extract(epoch from waits_until - now())::float as seconds
     from webhook_progress where app_no = $app`,
  )
  assert.ok(row)
  return row
}

/** The cursor in the database. */
const cursorOf = async (hook: Hooked) => {
  const [row] = await sql<{ position: number }>(
    hook,
    'select position from webhook_progress where app_no = $app',
  )
  return row?.position ?? 0
}

/** Adds events that the webhook doesn't subscribe to. */
const foreignEvents = ({ app }: Hooked, count: number) =>
  rows(
    app.cell.db,
    `insert into event_bodies (app_no, type, key, payload)
     select ${app.no}, 'app.settings.updated', 'app', '{"settings":{}}'
     from generate_series(1, ${count})`,
  )

suite('deliveries', () => {
  test('an event is sent in an envelope, signed as Standard Webhooks specifies', async () => {
    const hook = await hooked({ useBasicAuth: true, username: 'ana', password: 'pass1' })
    await groups(hook, 'one')
    await until('it was called', () => hook.delivered().length === 1)
    const [call] = hook.calls()
    assert.ok(call)
    const { group, members, by } = call.json.data
    assert.deepEqual(call.json, {
      trigger: 'group_created',
      data: { group, members, by },
      appId: hook.app.id,
      region: 'us',
      webhook: 'a',
    })
    assert.deepEqual(new Webhook(hook.secret).verify(call.body, call.headers), call.json)
    assert.throws(() => new Webhook(hook.secret).verify(`${call.body} `, call.headers))
    assert.equal(call.headers.authorization, `Basic ${btoa('ana:pass1')}`)
    assert.equal(call.headers['content-type'], 'application/json')
  })

  test('both secrets sign during a rotation', async () => {
    const hook = await hooked()
    const { secret } = await hook.app.client.webhooks.rotateSecret('a')
    await groups(hook, 'one')
    await until('it was called', () => hook.delivered().length === 1)
    const [call] = hook.calls()
    assert.ok(call)
    for (const each of [hook.secret, secret]) new Webhook(each).verify(call.body, call.headers)
    await sql(hook, `update webhooks set old_secret_until = now() where app_no = $app`)
    await until('the old secret has expired', async () => {
      await hook.app.client.groups.update('one', { name: `one${hook.calls().length}` })
      const last = hook.calls().at(-1)
      return last?.headers['webhook-signature']?.split(' ').length === 1
    })
    const last = hook.calls().at(-1)
    assert.ok(last)
    new Webhook(secret).verify(last.body, last.headers)
    assert.throws(() => new Webhook(hook.secret).verify(last.body, last.headers))
  })

  test('receipts have the shape that webhooks use', async () => {
    const { app, path } = await hooked()
    await app.client.webhooks.addTriggers('a', { triggerIds: ['message_read_receipt'] })
    for (const uid of ['ana', 'bo']) await app.client.users.create({ uid, name: uid })
    const ana = app.client.onBehalfOf('ana')
    const sent = await ana.messages.send({
      receiver: 'bo',
      receiverType: 'user',
      data: { text: 'Hi' },
    })
    await app.client.onBehalfOf('bo').conversations.markUserRead('ana', {})
    const call = await until('it was called', () => taken(receiver, path)[0])
    assert.equal(call.json.trigger, 'message_read_receipt')
    const { body, ...data } = call.json.data
    assert.deepEqual(data, {
      receiver: 'ana',
      receiverType: 'user',
      type: 'receipts',
      sender: 'bo',
      messageSender: 'ana',
    })
    const { timestamp } = body
    const messageId = (sent as { id: string }).id
    const user = snapshotOf(await app.client.users.get('bo'))
    assert.deepEqual(body, { action: 'read', messageId, user, timestamp })
  })

  test('receipts of all members have the same shape, from the app itself', async () => {
    const { app, path } = await hooked()
    const [, bo, cy] = await app.users('ana', 'bo', 'cy')
    const members = { participants: ['bo', 'cy'] }
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'ana', members })
    const triggerIds = ['message_read_by_all', 'message_delivered_to_all']
    await app.client.webhooks.addTriggers('a', { triggerIds })
    const { id } = await app.as('ana').sendText('g', 'Hi', { receiverType: 'group' })
    for (const user of [bo, cy]) await user.conversations.markGroupRead('g', {})
    const ofAll = () =>
      taken(receiver, path).filter(({ json }) => triggerIds.includes(json.trigger))
    await until('both triggers were called', () => ofAll().length === 2)
    const calls = ofAll().sort((one, other) => one.json.trigger.localeCompare(other.json.trigger))
    const createdAt = calls[0]?.json.data.body.user.createdAt
    const user = { uid: 'app_system', name: 'System', role: 'default', createdAt }
    assert.deepEqual(
      calls.map(({ json: { trigger, data } }) => {
        const { timestamp, ...body } = data.body
        assert.ok(Number.isInteger(timestamp))
        return { trigger, ...data, body }
      }),
      [
        ['message_delivered_to_all', 'deliveredToAll'],
        ['message_read_by_all', 'readByAll'],
      ].map(([trigger, action]) => ({
        ...{ trigger, receiver: 'g', receiverType: 'group', type: 'receipts' },
        ...{ sender: 'app_system', messageSender: 'ana' },
        body: { action, messageId: id, user },
      })),
    )
  })

  test('calls and meetings send the data of their triggers, and which of the two it is', async () => {
    const { app, path } = await hooked()
    const [ana, bo] = await app.users('ana', 'bo')
    const kinds = ['started', 'participant_joined', 'participant_left', 'ended']
    const triggerIds = [
      ...['call', 'meeting'].flatMap((prefix) => kinds.map((kind) => `${prefix}_${kind}`)),
      ...['call_initiated', 'call_rejected', 'call_cancelled'],
    ]
    await app.client.webhooks.addTriggers('a', { triggerIds })
    const toBo = { receiver: 'bo', type: 'audio' } as const
    const call = await ana.calls.start(toBo)
    await bo.calls.join(call.sessionId, {})
    await bo.calls.leave(call.sessionId, {})
    const rejected = await ana.calls.start(toBo)
    await bo.calls.reject(rejected.sessionId, {})
    const meeting = await ana.calls.start({ ...toBo, type: 'video', mode: 'meet' })
    await ana.calls.leave(meeting.sessionId, {})
    await until('all were called', () =>
      taken(receiver, path).some(({ json }) => json.trigger === 'meeting_ended'),
    )
    const calls = taken(receiver, path).map(({ json }) => json)
    const talk = await ana.calls.get(call.sessionId)
    const meet = await ana.calls.get(meeting.sessionId)
    type Ended = typeof talk
    const of = ({ sessionId }: Ended) => ({ sessionId })
    const occupant = ({ participants, type }: Ended, name: string, left = true) => {
      const place = participants.find(({ uid }) => uid === name)
      return {
        ...{ uid: name, name, joined_at: place?.joinedAt, audio_call: String(type === 'audio') },
        ...(left && { left_at: place?.leftAt }),
      }
    }
    const session = (
      prefix: string,
      type: string,
      record: Ended,
      uids: string[],
      leaver: string,
    ) => [
      [`${prefix}_started`, type, { created_at: record.startedAt, ...of(record) }],
      ...uids.map((uid) => [
        ...[`${prefix}_participant_joined`, type],
        { occupant: occupant(record, uid, false), ...of(record) },
      ]),
      [
        ...[`${prefix}_participant_left`, type],
        { occupant: occupant(record, leaver), ...of(record) },
      ],
      [
        ...[`${prefix}_ended`, type],
        {
          ...{ created_at: record.startedAt, destroyed_at: record.endedAt, ...of(record) },
          all_occupants: uids.map((uid) => occupant(record, uid)),
        },
      ],
    ]
    assert.deepEqual(
      calls.flatMap(({ trigger, type, data }) => (data.call ? [] : [[trigger, type, data]])),
      [
        ...session('call', 'call', talk, ['ana', 'bo'], 'bo'),
        ...session('meeting', 'meet', meet, ['ana'], 'ana'),
      ],
    )
    assert.deepEqual(
      calls.flatMap(({ trigger, type, data: { call: message } }) =>
        message ? [[trigger, type, message.category, message.type, message.data.action]] : [],
      ),
      [
        ['call_initiated', undefined, 'call', 'audio', 'initiated'],
        ['call_initiated', undefined, 'call', 'audio', 'initiated'],
        ['call_rejected', undefined, 'call', 'audio', 'rejected'],
      ],
    )
  })

  test('a disabled webhook sends nothing and continues where it was once it is enabled', async () => {
    const hook = await hooked()
    await groups(hook, 'one')
    await until('it was called', () => hook.delivered().length === 1)
    await hook.app.client.webhooks.update('a', { enabled: false })
    await groups(hook, 'two', 'three')
    const other = await hooked()
    await groups(other, 'else')
    await until('another webhook was called', () => other.delivered().length === 1)
    assert.deepEqual(hook.delivered(), ['one'])
    await hook.app.client.webhooks.update('a', { enabled: true })
    await until('it was called', () => hook.delivered().length === 3)
    assert.deepEqual(hook.delivered().toSorted(), ['one', 'three', 'two'])
  })

  test('a failed order key and its later events wait; other keys do not', async () => {
    const hook = await hooked()
    let works = false
    respondTo(hook, (name) => (name.startsWith('bad') && !works ? 500 : 200))
    await groups(hook, 'bad', 'good')
    for (const name of ['bad2', 'bad3']) await hook.app.client.groups.update('bad', { name })
    await hook.app.client.groups.update('good', { name: 'good2' })
    await until('the other events arrive', () => hook.delivered().length === 2)
    assert.deepEqual(hook.delivered(), ['good', 'good2'])
    await until('the rest is in the backlog', async () => {
      const [backlog] = await sql<{ n: number }>(
        hook,
        'select count(*)::int as n from webhook_backlog where app_no = $app',
      )
      return backlog?.n === 3
    })
    const failed = hook.calls().filter((call) => !call.taken)
    assert.deepEqual(
      failed.map(({ json }) => json.data.group.name),
      ['bad'],
    )
    works = true
    await pass(hook, '6 seconds')
    await until('they arrive', () => hook.delivered().length === 5)
    assert.deepEqual(hook.delivered(), ['good', 'good2', 'bad', 'bad2', 'bad3'])
    await until('nothing is parked', async () => (await parked(hook)).length === 0)
    const ids = hook.calls().map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length - 1, 'the retry has the id of the first attempt')
  })

  test('an event that was erased while it waited is passed over', async () => {
    const hook = await hooked()
    let works = false
    respondTo(hook, () => (works ? 200 : 500))
    await groups(hook, 'bad')
    await hook.app.client.groups.update('bad', { name: 'bad2' })
    await until('both are in the backlog', async () => {
      const found = await sql(hook, 'select from webhook_backlog where app_no = $app')
      return found.length === 2
    })
    // As an erasure does; it deletes the backlog a little later.
    for (const change of [
      `update event_bodies set type = 'event.erased', key = '', payload = '{}'`,
      `update event_positions set type = 'event.erased'`,
    ]) {
      const { cell, no } = hook.app
      await queryAt(cell.url, `${change} where app_no = ${no} and type = 'group.created'`)
    }
    const before = hook.calls().length
    works = true
    // A slow machine may have tried once more meanwhile: the next delay is five minutes.
    await pass(hook, '10 minutes')
    await until('nothing is parked', async () => (await parked(hook)).length === 0)
    assert.deepEqual(hook.delivered(), ['bad2'])
    assert.equal(hook.calls().length, before + 1)
  })

  test('after nine scheduled retries an event is a dead letter, and the next one is sent', async () => {
    const hook = await hooked()
    respondTo(hook, (name) => (name === 'bad' ? 503 : 200))
    await groups(hook, 'bad')
    await until('it failed', async () => (await parked(hook)).length === 1)
    await hook.app.client.groups.update('bad', { name: 'next' })
    const hours = 3600
    const schedule = [
      5,
      300,
      1800,
      2 * hours,
      5 * hours,
      10 * hours,
      14 * hours,
      20 * hours,
      24 * hours,
    ]
    for (const [retry, delay] of schedule.entries()) {
      const [wait] = await until('it is parked', async () => {
        const waits = await parked(hook)
        return waits[0]?.tries === retry + 1 && waits
      })
      assert.ok(wait)
      assert.ok(wait.seconds <= delay * 1.1, `retry ${retry + 1} in ${wait.seconds} s`)
      // Time has passed since, perhaps a lot on a busy machine.
      assert.ok(wait.seconds > delay * 0.9 - 120, `retry ${retry + 1} in ${wait.seconds} s`)
      await pass(hook, `${Math.ceil(wait.seconds) + 1} seconds`)
    }
    await until('the next event arrives', () => hook.delivered().length === 1)
    assert.deepEqual(hook.delivered(), ['next'])
    assert.equal(hook.calls().filter((call) => !call.taken).length, 10)
    const dead = await until('it is a dead letter', async () => {
      const { data } = await hook.app.client.webhooks.listDeadLetters('a')
      return data.length > 0 && data
    })
    assert.deepEqual(
      dead.map(({ count, type, reason }) => ({ count, type, reason })),
      [{ count: 1, type: 'group.created', reason: 'exhausted' }],
    )
  })

  test('without retries, a failure is a dead letter at once', async () => {
    const hook = await hooked({ retryOnFailure: false })
    respondTo(hook, (name) => (name === 'bad' ? 404 : 200))
    await groups(hook, 'bad')
    await hook.app.client.groups.update('bad', { name: 'next' })
    await until('the next event arrives', () => hook.delivered().length === 1)
    const { data } = await until('it is a dead letter', async () => {
      const letters = await hook.app.client.webhooks.listDeadLetters('a')
      return letters.data.length === 1 && letters
    })
    assert.equal(data[0]?.reason, 'noRetry')
  })

  test('an event of a type that only a newer version knows is a dead letter', async () => {
    const hook = await hooked()
    await sql(
      hook,
      `update webhooks set types = types || '{later.event}', since = since || '{0}'
       where app_no = $app`,
    )
    await sql(
      hook,
      `insert into event_bodies (app_no, type, key, payload)
       values ($app, 'later.event', 'app', '{"later": true}')`,
    )
    await groups(hook, 'next')
    await until('the next event arrives', () => hook.delivered().length === 1)
    const { data } = await until('it is a dead letter', async () => {
      const letters = await hook.app.client.webhooks.listDeadLetters('a')
      return letters.data.length === 1 && letters
    })
    assert.deepEqual([data[0]?.type, data[0]?.reason], ['later.event', 'unknownType'])
  })

  test('after 20 failed keys in a row the webhook is only probed until the receiver is back', async () => {
    const hook = await hooked()
    let works = false
    respondTo(hook, () => (works ? 200 : 500))
    const first = Array.from({ length: 25 }, (_, n) => `g${n}`)
    await groups(hook, ...first)
    await until('it waits', async () => (await progress(hook)).waiting)
    const before = await until('current calls have ended', async () => {
      const { length } = hook.calls()
      const logged = await hook.app.client.webhooks.listDeliveries('a', { limit: 1000 })
      return logged.data.length === length && length
    })
    await groups(hook, 'later')
    await pass(hook, '6 seconds')
    await until('it was probed', async () => (await progress(hook)).probes === 2)
    assert.equal(hook.calls().length, before + 1)
    assert.ok((await progress(hook)).seconds > 100, 'the second probe is minutes later')
    works = true
    await pass(hook, '6 minutes')
    await until('all events arrive', () => hook.delivered().length === 26)
    await until('it no longer waits', async () => !(await progress(hook)).waiting)
    assert.deepEqual((await hook.app.client.webhooks.listDeadLetters('a')).data, [])
  })

  test('a webhook is disabled after five days of failures, with an event', async () => {
    const hook = await hooked()
    let works = false
    respondTo(hook, () => (works ? 200 : 500))
    await groups(hook, 'one', 'two')
    await until('both failed', async () => (await parked(hook)).length === 2)
    for (const tries of [2, 3]) {
      await pass(hook, '40 hours')
      await until('both were retried', async () =>
        (await parked(hook)).every((key) => key.tries === tries),
      )
      assert.equal((await hook.app.client.webhooks.get('a')).enabled, true)
    }
    await pass(hook, '42 hours')
    await until('it is disabled', async () => !(await hook.app.client.webhooks.get('a')).enabled)
    await until('it was announced', async () =>
      (await hook.app.eventTypes()).includes('webhook.disabled'),
    )
    works = true
    await hook.app.client.webhooks.update('a', { enabled: true })
    await until('all events arrive', () => hook.delivered().length === 2)
  })

  test('a quiet week after a failure does not disable a webhook', async () => {
    const hook = await hooked({ retryOnFailure: false })
    let works = false
    respondTo(hook, () => (works ? 200 : 500))
    const letters = async () => (await hook.app.client.webhooks.listDeadLetters('a')).data.length
    await groups(hook, 'one')
    await until('it failed', async () => (await letters()) === 1)
    await pass(hook, '6 days')
    await foreignEvents(hook, 1_001)
    await until('the cursor moved', async () => (await cursorOf(hook)) > 1_000)
    assert.equal((await hook.app.client.webhooks.get('a')).enabled, true)
    await groups(hook, 'two')
    await until('it failed again', async () => (await letters()) === 2)
    works = true
    await groups(hook, 'three')
    await until('it is still called', () => hook.delivered().length === 1)
    assert.equal((await hook.app.client.webhooks.get('a')).enabled, true)
  })

  test('a new URL is tried at once, whatever failed at the old one', async () => {
    const hook = await hooked()
    respondTo(hook, () => 500)
    const names = Array.from({ length: 22 }, (_, n) => `g${n}`)
    await groups(hook, ...names)
    await until('it waits', async () => (await progress(hook)).waiting)
    await pass(hook, '6 seconds')
    await until('it was probed', async () => (await progress(hook)).probes === 2)
    const path = `/hook${++nth}`
    await hook.app.client.webhooks.update('a', { webhookURL: receiver.url + path })
    await until('all events arrive', () => taken(receiver, path).length === 22)
    assert.equal((await progress(hook)).waiting, false)
  })

  test('a probe of the old URL does not bring its wait back', async () => {
    const hook = await hooked()
    await groups(hook, 'one')
    await until('it was called', () => hook.delivered().length === 1)
    // What a worker writes if it began its probe before the owner changed the webhook.
    const batch = { failures: 20, waiting: true, probes: 3, waitSeconds: 9e4, attempts: [] }
    const [written] = await sql<{ restarted: boolean }>(
      hook,
      `select r.restarted from webhooks w
       join webhook_progress g on g.app_no = w.app_no and g.webhook_no = w.no
       join leases l on l.job = 'webhooks/' || w.shard,
       record_deliveries(
         l.job, l.worker_id, l.epoch, $app, w.no, g.position, g.position, '${JSON.stringify(batch)}') r
       where w.app_no = $app`,
    )
    assert.equal(written?.restarted, true)
    const { waiting, failures, probes } = await progress(hook)
    assert.deepEqual({ waiting, failures, probes }, { waiting: false, failures: 0, probes: 0 })
  })

  test('a new trigger applies to later events only, even if the cursor lags behind', async () => {
    const hook = await hooked()
    const { webhooks, users, blockedUsers, events } = hook.app.client
    for (const uid of ['ana', 'bo', 'cy']) await users.create({ uid, name: uid })
    await blockedUsers.block('ana', { blockedUids: ['bo'] })
    await until('it has a position', async () => {
      return (await events.list({ types: ['user.blocked'] })).data.length === 1
    })
    await webhooks.addTriggers('a', { triggerIds: ['user_blocked'] })
    // After a restart it reads from the stored cursor, which is before all of this.
    await webhooks.update('a', { enabled: false })
    const other = await hooked()
    await groups(other, 'else')
    await until('another webhook was called', () => other.delivered().length === 1)
    await webhooks.update('a', { enabled: true })
    await blockedUsers.block('ana', { blockedUids: ['cy'] })
    await until('it was called', () => hook.calls().length > 0)
    const { last } = (await events.list()).meta
    await until('all events were sent', async () => (await cursorOf(hook)) >= last)
    const blocked = hook.calls().map(({ json }) => Object.keys(json.data.users))
    assert.deepEqual(blocked, [['cy']])
  })

  test('an event that arrives while a change of the webhook is being read is sent too', async () => {
    const hook = await hooked()
    const { cell, no } = hook.app
    // With the same order key, so that they arrive in order.
    const announced = (name: string) =>
      sql(
        hook,
        `insert into event_bodies (app_no, type, key, payload)
         values ($app, 'group.created', 'group:one', '{"group":{"name":"${name}"}}')`,
      )
    let last = 0
    const unsubscribe = server.deps.bus.subscribe(sequencedSubject(cell.id), (data) => {
      last = JSON.parse(data)[no] ?? last
    })
    await announced('known')
    await until('the first event arrives', () => hook.delivered().length === 1)
    const before = (await hook.app.client.events.list()).meta.last
    // Rereading the webhook waits for this lock; reading new events does not.
    await cell.db.tx(async (tx) => {
      // A timeout after ten seconds would run the transaction again, with duplicate events.
      await rows(tx, 'set local idle_in_transaction_session_timeout = 0')
      await rows(tx, 'lock table apps in access exclusive mode')
      await sql(hook, 'update webhooks set updated_at = now() where app_no = $app')
      await announced('read')
      await until('the change is being read', async () => {
        const waiting = await rows(
          cell.db,
          `select from pg_stat_activity where wait_event_type = 'Lock' and query = $1`,
          [findActiveWebhook.text],
        )
        return waiting.length > 0
      })
      await announced('meanwhile')
      await until('the worker knows of the event', () => last === before + 2)
    })
    unsubscribe()
    await until('all events arrive', () => hook.delivered().length === 3)
    assert.deepEqual(hook.delivered(), ['known', 'read', 'meanwhile'])
  })

  test('a broken connection and a redirect are failures, and redirects are not followed', async () => {
    const hook = await hooked()
    respondTo(hook, (name) => ({ cut: 0, moved: 302 })[name] ?? 200)
    await groups(hook, 'cut', 'moved', 'fine')
    const failed = await until('both attempts are logged', async () => {
      const { data } = await hook.app.client.webhooks.listDeliveries('a', { failed: true })
      return data.length === 2 && data
    })
    assert.deepEqual(
      failed.map(({ status }) => status ?? 0).toSorted((a, b) => a - b),
      [0, 302],
    )
    assert.equal(failed.find(({ status }) => status === 302)?.answer, 'status 302')
    assert.ok(failed.find(({ error }) => error))
    assert.ok(!receiver.received.some(({ path }) => path === '/followed'))
  })

  test('replays of one event and of a range have the same ids and keep the order', async () => {
    const hook = await hooked()
    await groups(hook, 'one', 'two')
    await hook.app.client.groups.update('one', { name: 'one2' })
    await until('all events arrive', () => hook.delivered().length === 3)
    const { webhooks, events } = hook.app.client
    const log = await until('all events have positions', async () => {
      const { data } = await events.list({ types: ['group.created', 'group.updated'] })
      return data.length === 3 && data
    })
    const positions = log.map(({ position }) => position)
    const [from = 0, second = 0, to = 0] = positions
    assert.deepEqual(await webhooks.replayEvents('a', { from: second }), { events: 1 })
    await until('the replayed event arrives', () => hook.calls().length === 4)
    assert.deepEqual(await webhooks.replayEvents('a', { from: 1, to }), { events: 3 })
    await until('all replayed events arrive', () => hook.calls().length === 7)
    assert.equal(hook.delivered().length, 3)
    const again = hook.calls().slice(4)
    const ids = again.map(({ id }) => Number(id.split('_').at(-1)))
    assert.ok(ids.indexOf(from) < ids.indexOf(to), 'events of one group in order')
    await until('nothing is parked', async () => (await parked(hook)).length === 0)

    const last = (await events.list()).meta.last
    for (const body of [{ from: last + 9 }, { from: 3, to: 2 }, { from: 1, to: 10_001 }]) {
      const { status } = await hook.app.call('POST', '/v3/webhooks/a/replays', { body })
      assert.equal(status, 400, JSON.stringify(body))
    }
  })

  test('the log of deliveries is paged', async () => {
    const hook = await hooked()
    await groups(hook, 'one', 'two', 'three')
    await until('all deliveries are logged', async () => {
      const { data } = await hook.app.client.webhooks.listDeliveries('a')
      return data.length === 3
    })
    const { webhooks } = hook.app.client
    const page = await webhooks.listDeliveries('a', { limit: 2 })
    assert.equal(page.data.length, 2)
    assert.ok(page.meta.next)
    const rest = await webhooks.listDeliveries('a', { before: page.meta.next })
    assert.deepEqual(rest.meta, {})
    const all = [...page.data, ...rest.data]
    assert.equal(new Set(all.map(({ position }) => position)).size, 3)
    for (const { success, status, answer, try: tried } of all)
      assert.deepEqual([success, status, answer, tried], [true, 200, 'status 200', 1])
    assert.deepEqual((await webhooks.listDeliveries('a', { failed: true })).data, [])
  })

  test('all rows of a deleted webhook are removed', async () => {
    const hook = await hooked()
    respondTo(hook, () => 500)
    await groups(hook, 'one')
    await until('it failed', async () => (await parked(hook)).length === 1)
    await hook.app.client.webhooks.delete('a')
    await until('all rows are removed', async () => {
      const [left] = await sql<{ n: number }>(
        hook,
        `select (select count(*) from webhooks where app_no = $app)
           + (select count(*) from webhook_progress where app_no = $app)
           + (select count(*) from webhook_parked where app_no = $app)
           + (select count(*) from webhook_backlog where app_no = $app) as n`,
      )
      return left?.n === 0
    })
  })
})

suite('a cursor older than the log', () => {
  const old = useServer({ roles: ['api', 'worker'], env: OPEN })

  test('expired events are counted as dead letters, and the rest is delivered', async () => {
    const hook = await hooked({}, old)
    respondTo(hook, (name) => (name === 'bad' ? 500 : 200))
    await groups(hook, 'bad')
    await until('it failed', async () => (await parked(hook)).length === 1)
    await hook.app.client.webhooks.update('a', { enabled: false })
    await groups(hook, 'one', 'two')
    const [cursor] = await sql<{ position: number }>(
      hook,
      'select position from webhook_progress where app_no = $app',
    )
    const { last } = await until('all events have positions', async () => {
      const { data, meta } = await hook.app.client.events.list({ types: ['group.created'] })
      return data.length === 3 && meta
    })
    await maintainEventLog(hook.app.cell.url, 14, Date.now() + 20 * DAY_MS)
    await hook.app.client.webhooks.update('a', { enabled: true })
    const letters = await until('the dead letters are listed', async () => {
      const { data } = await hook.app.client.webhooks.listDeadLetters('a')
      return data.length === 2 && data
    })
    assert.deepEqual(
      letters.map(({ reason }) => reason),
      ['expired', 'expired'],
    )
    assert.deepEqual(
      letters.map(({ count }) => count),
      [1, last - (cursor?.position ?? 0)],
    )
  })
})
