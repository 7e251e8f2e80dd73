import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { queryAt } from '../../../test/databases.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { maintainLogs } from '../../core/logs.ts'
import { type LogEntry, recordLog } from '../../core/notifications/log.ts'
import { maintainPartitions } from '../../platform/events/partitions.ts'
import { listLogs } from './logs.actions.ts'

const DAY_MS = 86_400_000
const server = useServer()

const entry = (more: Partial<LogEntry> = {}): LogEntry => ({
  ...{ uid: 'ben', channel: 'push', trigger: 'after_message', messageId: 4_000_000_000_000_001 },
  ...{ category: 'message', type: 'text', sender: 'amira', receiver: 'ben', receiverType: 'user' },
  ...{ triggered: false, reason: 'DND_PREFERENCE' },
  sentAt: new Date(1_700_000_000_000),
  startedAt: new Date(1_700_000_000_100),
  endedAt: new Date(1_700_000_000_130),
  ...more,
})

const record = (app: TestApp, ...entries: Partial<LogEntry>[]) =>
  recordLog(app.cell.db, app.no, entries.map(entry))

/** One after the other: entries of one call have no order. */
async function recordInOrder(app: TestApp, uids: string[]): Promise<void> {
  for (const uid of uids) await record(app, { uid })
}

suite('updateNotificationLogSettings', () => {
  test('logs for seven days, and nothing before and after', async () => {
    const app = await server.newApp()
    const { notificationLogs } = app.client
    const uids = async () => (await notificationLogs.list()).data.map(({ uid }) => uid)
    assert.deepEqual(await notificationLogs.getSettings(), { enabled: false })
    await record(app, { uid: 'early' })
    const { enabled, until = 0 } = await notificationLogs.updateSettings({ enabled: true })
    assert.equal(enabled, true)
    assert.ok(Math.abs(until - Date.now() - 7 * 86_400_000) < 600_000)
    assert.deepEqual(await notificationLogs.getSettings(), { enabled, until })
    await record(app, { uid: 'in-time' })
    await rows(app.cell.db, 'update notification_logging set until = now() where app_no = $1', [
      app.no,
    ])
    await record(app, { uid: 'late' })
    assert.deepEqual(await notificationLogs.getSettings(), { enabled: false })
    assert.deepEqual(await uids(), ['in-time'])
    await notificationLogs.updateSettings({ enabled: true })
    await notificationLogs.updateSettings({ enabled: false })
    await record(app, { uid: 'off' })
    assert.deepEqual(await uids(), ['in-time'])
  })
})

suite('entries of the log', () => {
  test('go after 14 days', async () => {
    const app = await server.newApp()
    const { notificationLogs } = app.client
    await notificationLogs.updateSettings({ enabled: true })
    const move = async (uid: string, days: number) => {
      await maintainPartitions(app.cell.url, 100, Date.now() - days * DAY_MS, 'notification_logs')
      const sql = 'update notification_logs set day = day - $3::int where app_no = $1 and uid = $2'
      await queryAt(app.cell.url, sql, [app.no, uid, days])
    }
    await recordInOrder(app, ['old', 'recent', 'today'])
    await move('recent', 12)
    await move('old', 15)
    const uids = async () => (await notificationLogs.list()).data.map(({ uid }) => uid)
    assert.deepEqual(await uids(), ['today', 'recent', 'old'])
    await maintainLogs(app.cell.url, 14)
    assert.deepEqual(await uids(), ['today', 'recent'])
  })
})

suite('listNotificationLogs', () => {
  test('shows what was recorded, with the end of a push token', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const { notificationLogs } = app.client
    await notificationLogs.updateSettings({ enabled: true })
    await record(app, {
      ...{ receiver: 'team', receiverType: 'group', provider: 'fcm', providerId: 'fcm-1' },
      ...{ platform: 'fcm_web', pushToken: 'secret-token-12345678', payload: { data: { a: 1 } } },
      ...{ triggered: true, success: false, reason: 'NOT_FOUND' },
      ...{ trigger: 'message_reaction_added', reactionId: 7, reactionSender: 'zoe' },
    })
    const { data, meta } = await notificationLogs.list()
    const [{ _id: id, ...shown } = { _id: '' }] = data
    assert.deepEqual(shown, {
      ...{ uid: 'ben', member: 'ben', component: 'notifications', channel: 'push' },
      ...{ trigger: 'message_reaction_added', messageId: '4000000000000001', reactionId: '7' },
      ...{ messageCategory: 'message', messageType: 'text', messageSentAtMS: 1_700_000_000_000 },
      ...{ sender: 'amira', receiver: 'team', receiverType: 'group', reactionSender: 'zoe' },
      ...{ provider: 'fcm', providerId: 'fcm-1', platform: 'fcm_web', tokenType: 'chat' },
      ...{ pushToken: '****12345678', payload: { data: { a: 1 } }, notificationTriggered: true },
      ...{ success: false, reason: 'NOT_FOUND', processingStartedAtMS: 1_700_000_000_100 },
      ...{ processingEndedAtMS: 1_700_000_000_130, totalProcessingTimeInMS: 30 },
    })
    const previous = { affix: 'prepend', messageId: '4000000000000001', logId: id }
    assert.deepEqual(meta, { previous, current: { limit: 20, count: 1 } })
    assert.deepEqual((await other.client.notificationLogs.list()).data, [])
  })

  test('finds entries by every filter', async () => {
    const app = await server.newApp()
    const { notificationLogs } = app.client
    await notificationLogs.updateSettings({ enabled: true })
    const sentAt = new Date(1_700_000_500_000)
    const different: [Partial<LogEntry>, query: Record<string, unknown>][] = [
      [{ uid: 'eve' }, { uid: 'eve' }],
      [{ messageId: 5 }, { messageId: 5 }],
      [{ reactionId: 9 }, { reactionId: 9 }],
      [{ sentAt }, { from: 1_700_000_400_000, to: 1_700_000_500_000 }],
      [{ sentAt: new Date(1_600_000_000_000) }, { to: 1_600_000_000_000 }],
      [{ category: 'interactive' }, { messageCategory: 'interactive' }],
      [{ type: 'image' }, { messageType: 'image' }],
      [{ trigger: 'after_group_left' }, { trigger: 'after_group_left' }],
      [{ sender: 'zoe' }, { sender: 'zoe' }],
      [{ receiver: 'team', receiverType: 'group' }, { receiver: 'team' }],
      [
        { uid: 'kim', receiverType: 'group' },
        { member: 'kim', receiverType: 'group' },
      ],
      [{ reactionSender: 'max' }, { reactionSender: 'max' }],
      [{ uid: 'lea', reactionId: 1 }, { reactionReceiver: 'lea' }],
      [{ channel: 'sms' }, { channel: 'sms' }],
      [{ provider: 'apns' }, { provider: 'apns' }],
      [{ triggered: true }, { notificationTriggered: true }],
      [{ reason: 'MISSING_PHNO' }, { reason: 'MISSING_PHNO' }],
      [{ success: false }, { success: false }],
    ]
    for (const [more] of different) await record(app, more)
    for (const [index, [more, query]] of different.entries()) {
      const { data } = await notificationLogs.list(query as never)
      assert.equal(data.length, 1, JSON.stringify([index, more, query]))
    }
  })

  test('pages in both directions, also past many entries that do not match', async () => {
    const app = await server.newApp()
    await app.client.notificationLogs.updateSettings({ enabled: true })
    const uids = Array.from({ length: 25 }, (_, n) => `u${String(n).padStart(2, '0')}`)
    await recordInOrder(app, uids)
    const first = await app.client.notificationLogs.list()
    assert.deepEqual(
      first.data.map(({ uid }) => uid),
      uids.toReversed().slice(0, 20),
    )
    const { affix, logId } = first.meta.next ?? assert.fail()
    const second = await app.client.notificationLogs.list({ affix, logId })
    assert.deepEqual(
      second.data.map(({ uid }) => uid),
      uids.toReversed().slice(20),
    )
    assert.equal(second.meta.next, undefined)
    const back = second.meta.previous ?? assert.fail()
    const again = await app.client.notificationLogs.list({ affix: back.affix, logId: back.logId })
    assert.deepEqual(again.data, first.data)

    // A scan of ten entries finds u03 in its third page only, and then no more.
    const pages = []
    let cursor = {}
    for (;;) {
      const query = {
        sender: 'amira',
        reason: 'DND_PREFERENCE' as const,
        receiver: 'ben',
        ...cursor,
      }
      const page = await listLogs(
        app.cell.db,
        app.no,
        { ...query, from: 1 },
        { scan: 10, limit: 20 },
      )
      pages.push(page.data.length)
      if (!page.meta.next) break
      cursor = { affix: 'append', logId: page.meta.next.logId }
    }
    assert.deepEqual(pages, [10, 10, 5])
    const sought = { reason: 'MISSING_EMAIL' as const }
    const empty = await listLogs(app.cell.db, app.no, sought, { scan: 10, limit: 20 })
    assert.equal(empty.data.length, 0)
    assert.equal(empty.meta.next?.affix, 'append')
  })

  test('refuses a cursor that is none', async () => {
    const app = await server.newApp()
    await refused(app.call('GET', '/v3/notifications/v1/logs?logId=x'), 'ERR_BAD_REQUEST')
  })
})
