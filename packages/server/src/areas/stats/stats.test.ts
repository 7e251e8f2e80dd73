import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { queryAt } from '../../../test/databases.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { until } from '../../../test/until.ts'
import { Presence } from '../presence/presence.ts'
import { storeSettings } from '../settings/actions.ts'
import { Counters } from './counters.ts'
import { rollUp, samplePeaks } from './queries.ts'

const server = useServer({ roles: ['api', 'worker'] })

const DAY_MS = 86_400_000

/** Waits until every event is in the log and counted. */
async function settle(app: TestApp) {
  await until('every event is counted', async () => {
    await rollUp.one(app.cell.db, { appNo: app.no, limit: 1_000 })
    const [{ left = 1 } = {}] = await rows<{ left: number }>(
      app.cell.db,
      `select (select count(*) from outbox where app_no = ${app.no})
         + (select position from positions where app_no = ${app.no})
         - (select position from usage_progress where app_no = ${app.no}) as left`,
    )
    return left === 0
  })
}

const stats = async (app: TestApp, from = Date.now() - DAY_MS, to = Date.now() + DAY_MS) =>
  app.client.stats.get({ fromDate: from, toDate: to })

suite('usage.rollUp', () => {
  test('is done with an app whose position moved on without events', async () => {
    const app = await server.newApp()
    await settle(app)
    // As after a break in the log.
    const moved = 'update positions set position = position + 1000000000000 where app_no = $1'
    await rows(app.cell.db, moved, [app.no])
    await settle(app)
    await app.users('ann')
    await settle(app)
    assert.equal((await stats(app)).counts['user.created'], 1)
  })
})

suite('getStats', () => {
  test('counts each user who sent a message, connected or used a token once', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob', 'cat', 'dan', 'eve')
    await app.as('ann').sendText('eve')
    await app.as('ann').sendText('eve')
    const presence = new Presence(server.deps, { graceMs: 0 })
    presence.connect(app, 'bob', { connectedAt: 0 })
    presence.connect(app, 'ann', { connectedAt: 0 })
    await presence.beat()
    await samplePeaks.run(app.cell.db, {})
    const counters = new Counters(server.deps)
    counters.saw(app, 'cat')
    counters.saw(app, 'cat')
    await counters.close()
    // A minute passes.
    await queryAt(app.cell.url, `update usage_seen set day = day - 1 where app_no = ${app.no}`)
    await settle(app)
    const { metrics, counts, time_range } = await stats(app)
    assert.deepEqual(metrics, {
      audio_minutes: 0,
      video_minutes: 0,
      recorded_minutes: 0,
      active_users: 3,
      concurrent_users: 2,
    })
    assert.equal(counts['message.sent'], 2)
    assert.equal(counts['messages.user.message'], 2)
    assert.equal(counts['user.created'], 5)
    assert.equal(counts['user.connection.changed'], 2)
    assert.ok(time_range.toDate > time_range.fromDate)
    await presence.close()
  })

  test("doesn't count the app itself and agents as active users", async () => {
    const app = await server.newApp()
    await app.users('ann')
    await app.client.users.create({ uid: 'ai', name: 'AI', role: '@agentic' })
    await app.as('ai').sendText('ann')
    const presence = new Presence(server.deps, { graceMs: 0 })
    presence.connect(app, 'ai', { connectedAt: 0 })
    await presence.beat()
    await presence.close()
    const counters = new Counters(server.deps)
    counters.saw(app, 'ai')
    await counters.close()
    await queryAt(app.cell.url, `update usage_seen set day = day - 1 where app_no = ${app.no}`)
    await app.sendText('ann')
    await settle(app)
    const { metrics, counts } = await stats(app)
    assert.equal(counts['message.sent'], 2)
    assert.ok(counts['user.connection.changed'])
    assert.equal(metrics.active_users, 0)
  })

  test('counts the distinct users of any range of days exactly', async () => {
    const { no, cell } = await server.newApp()
    const active: Set<string>[] = []
    for (let day = 0; day < 60; day++) {
      const share = Math.random() ** 3
      const uids = Array.from({ length: 300 }, (_, n) => `u${n}`).filter(
        () => Math.random() < share,
      )
      active.push(new Set(uids))
      for (const some of [uids, uids.slice(0, 10)]) {
        const names = some.map((uid) => `'${uid}'`).join(',')
        await rows(
          cell.db,
          `select record_activity(${no}, date '2024-01-01' + ${day}, array[${names}]::text[])`,
        )
      }
    }
    for (let tries = 0; tries < 200; tries++) {
      const [a, b] = [Math.random() * 60, Math.random() * 60]
        .map(Math.floor)
        .toSorted((one, two) => one - two) as [number, number]
      const [{ users = 0 } = {}] = await rows<{ users: number }>(
        cell.db,
        `select coalesce(sum(users), 0)::bigint as users from usage_returns where app_no = ${no}
         and day between date '2024-01-01' + ${a} and date '2024-01-01' + ${b}
         and before < date '2024-01-01' + ${a}`,
      )
      const distinct = new Set(active.slice(a, b + 1).flatMap((uids) => [...uids]))
      assert.equal(users, distinct.size, `days ${a} to ${b}`)
    }
  })

  test('counts requests by operation and status, separately from other counters', async () => {
    const app = await server.newApp()
    await app.users('ann')
    await refused(app.client.users.get('nobody'), 'ERR_UID_NOT_FOUND')
    const counters = new Counters(server.deps)
    counters.count(app, 'webhook.delivered')
    counters.count(app, 'webhook.delivered')
    await counters.tell()
    counters.count(app, 'webhook.delivered')
    await counters.close()
    const counts = await until('requests are counted', async () => {
      const found = (await stats(app)).counts
      return found['api.getUser.404'] ? found : undefined
    })
    assert.equal(counts['api.getUser.404'], 1)
    assert.equal(counts['api.createUser.200'], 1)
    assert.equal(counts['webhook.delivered'], 3)
  })

  test('counts refused requests if their credential was valid', async () => {
    const app = await server.newApp()
    await storeSettings(server.deps, app, { 'rate.core': 1 })
    const create = { body: { uid: 'x', name: 'X' }, apiKey: app.authKey }
    // Of three, two fall into one minute.
    for (let n = 0; n < 3; n++) await app.call('POST', '/v3/users', create)
    await app.as('a b').call('GET', '/v3/conversations')
    await app.as('nobody').call('GET', '/v3/conversations')
    await app.call('GET', '/v3/users', { apiKey: '0'.repeat(40) })
    await app.call('GET', '/v3/users', { apiKey: null })
    const counts = await until('requests are counted', async () => {
      const found = (await stats(app)).counts
      return found['api.listConversations.404'] ? found : undefined
    })
    const { 'api.createUser.403': forbidden = 0, 'api.createUser.429': limited = 0 } = counts
    assert.ok(limited > 0)
    assert.equal(forbidden + limited, 3)
    assert.equal(counts['api.listConversations.400'], 1)
    assert.equal(counts['api.listUsers.401'], undefined)
  })

  test('refuses ranges that are empty, too long or not in Unix time', async () => {
    const app = await server.newApp()
    for (const query of [
      ...['', '?fromDate=1700000000', '?fromDate=x&toDate=1', '?fromDate=2&toDate=2'],
      ...['?fromDate=1700000001&toDate=1700000000', '?fromDate=1700000000&toDate=1700000000'],
      `?fromDate=1700000000&toDate=${1_700_000_000 + 367 * 86_400}`,
      // Neither seconds nor milliseconds.
      ...['?fromDate=170000000&toDate=1700000000', '?fromDate=1700000000&toDate=17000000000'],
      '?fromDate=1700000000&toDate=170259200000',
    ]) {
      await refused(app.call('GET', `/v3/stats${query}`), 'ERR_BAD_REQUEST')
    }
    const data = await app.client.stats.get({ fromDate: 1700000000, toDate: 1702592000000 })
    assert.deepEqual(data.time_range, { fromDate: 1700000000000, toDate: 1702592000000 })
    assert.equal(data.metrics.active_users, 0)
  })
})

suite('getDailyStats', () => {
  const days = async (app: TestApp, from: string, to: string) => {
    const window = `fromDate=${Date.parse(from)}&toDate=${Date.parse(to)}`
    return (await app.call('GET', `/v3/stats/days?${window}`)).body.data.days
  }

  test('returns every day of the range, without a gap', async () => {
    const app = await server.newApp()
    const { no, cell } = app
    for (const [day, uids] of [
      ['2024-01-01', 'ann,bob'],
      ['2024-01-03', 'bob,cat,dan'],
    ]) {
      await rows(
        cell.db,
        `select record_activity(${no}, '${day}', string_to_array('${uids}', ','))`,
      )
    }
    await rows(
      cell.db,
      `insert into usage_days (app_no, day, what, count) values
         (${no}, '2024-01-03', 'message.sent', 5), (${no}, '2024-01-03', 'api.getUser.200', 7),
         (${no}, '2024-01-03', 'api.getUser.404', 2), (${no}, '2024-01-03', 'apis', 100),
         (${no}, '2024-01-03', 'webhook.delivered', 4), (${no}, '2024-01-03', 'webhook.failed', 1),
         (${no}, '2024-01-03', 'call.audio.ms', 90000), (${no}, '2024-01-04', 'message.sent', 9)`,
    )
    await rows(
      cell.db,
      `insert into usage_peaks (app_no, day, online) values (${no}, '2024-01-03', 3)`,
    )
    const quiet = {
      activeUsers: 0,
      concurrentUsers: 0,
      messagesSent: 0,
      apiCalls: 0,
      apiErrors: 0,
      webhookCalls: 0,
      webhookFailures: 0,
      audioMinutes: 0,
      videoMinutes: 0,
    }
    assert.deepEqual(await days(app, '2024-01-01', '2024-01-04'), [
      { ...quiet, day: '2024-01-01', activeUsers: 2 },
      { ...quiet, day: '2024-01-02' },
      {
        day: '2024-01-03',
        activeUsers: 3,
        concurrentUsers: 3,
        messagesSent: 5,
        apiCalls: 9,
        apiErrors: 2,
        webhookCalls: 5,
        webhookFailures: 1,
        audioMinutes: 1.5,
        videoMinutes: 0,
      },
    ])
  })

  test('refuses more than a year', async () => {
    const app = await server.newApp()
    assert.equal((await days(app, '2024-01-01', '2025-01-01')).length, 366)
    const window = `fromDate=1700000000&toDate=${1_700_000_000 + 367 * 86_400}`
    assert.equal((await app.call('GET', `/v3/stats/days?${window}`)).status, 400)
  })
})

suite('getMessageStats', () => {
  test('counts messages and receipts in steps of five minutes, without a gap', async () => {
    const app = await server.newApp()
    await app.users('ann', 'bob')
    await app.as('ann').sendText('bob')
    await app.as('ann').sendText('bob')
    await app.as('bob').conversations.markUserRead('ann')
    await settle(app)
    const { appId, startTime, endTime, dataPoints } = await app.client.stats.getMessage()
    assert.equal(appId, app.id)
    assert.equal(dataPoints.length, 12)
    assert.equal(Number(endTime) - Number(startTime), 3_600_000)
    for (const [n, { startTime: from, endTime: to }] of dataPoints.entries()) {
      assert.equal(Number(from), Number(startTime) + n * 300_000)
      assert.equal(Number(to) - Number(from), 300_000)
    }
    const sum = (what: 'messagesSent' | 'readReceipts') =>
      dataPoints.reduce((all, point) => all + point[what], 0)
    assert.equal(sum('messagesSent'), 2)
    assert.equal(sum('readReceipts'), 1)
  })

  test('refuses more than a day, and days older than a week', async () => {
    const app = await server.newApp()
    const of = (from: number, to: number) =>
      app.call('GET', `/v3/stats/messages?fromDate=${from}&toDate=${to}`)
    // It doesn't begin with a step, so the day touches one step more.
    const start = Math.floor(Date.now() / DAY_MS - 5) * 86_400 + 20
    assert.equal((await of(start, start + 86_401)).status, 400)
    assert.equal((await of(start, start)).status, 400)
    const { body } = await of(start, start + 86_400)
    assert.equal(body.data.dataPoints.length, 289)
    const old = await of(start - 3 * 86_400, start - 3 * 86_400 + 60)
    assert.equal(old.status, 400)
    const [, oldest = ''] = old.body.error.details.fromDate[0].match(/must be (\d+) or later/)
    assert.ok(Math.abs(Number(oldest) - (Date.now() / 1_000 - 7 * 86_400)) < 3_600)
  })
})
