import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()

suite('updateNotificationSettings', () => {
  test('changes single fields and stores only what differs from the defaults', async () => {
    const app = await server.newApp()
    const { notificationSettings } = app.client
    const before = await notificationSettings.get()
    assert.equal(before.preferences.group.messagesSetting, 2)
    assert.equal(before.preferences.call.initiatedSetting, 2)
    assert.deepEqual(before.preferences.mute.schedulePreferenceSetting.monday, {
      from: 0,
      to: 2359,
      dnd: false,
    })
    await notificationSettings.update({
      preferences: {
        group: { messagesSetting: 3, repliesSetting: 2 },
        mute: { schedulePreferenceSetting: { friday: { to: 1800 } } },
        push: { customJson: { a: { b: 1 } } },
      },
      sound: { chat: 'ping.aiff' },
    })
    await notificationSettings.update({ preferences: { push: { customJson: { c: 2 } } } })
    const after = await notificationSettings.get()
    assert.deepEqual(after, {
      ...before,
      preferences: {
        ...before.preferences,
        group: { ...before.preferences.group, messagesSetting: 3 },
        mute: {
          ...before.preferences.mute,
          schedulePreferenceSetting: {
            ...before.preferences.mute.schedulePreferenceSetting,
            friday: { from: 0, to: 1800, dnd: false },
          },
        },
        push: { ...before.preferences.push, customJson: { c: 2 } },
      },
      sound: { chat: 'ping.aiff', call: 'default' },
    })
    const stored = 'select settings from notification_settings where app_no = $1'
    const own = { group: { messagesSetting: 3 }, push: { customJson: { c: 2 } } }
    const mute = { schedulePreferenceSetting: { friday: { to: 1800 } } }
    assert.deepEqual(await rows(app.cell.db, stored, [app.no]), [
      { settings: { preferences: { ...own, mute }, sound: { chat: 'ping.aiff' } } },
    ])
  })

  test('has no row for an app whose settings are the defaults', async () => {
    const app = await server.newApp()
    const { notificationSettings } = app.client
    await notificationSettings.update({ sound: { call: 'ring.aiff' } })
    await notificationSettings.update({ sound: { call: 'default' } })
    const stored = 'select from notification_settings where app_no = $1'
    assert.deepEqual(await rows(app.cell.db, stored, [app.no]), [])
  })

  test('ignores unknown fields and refuses unknown values', async () => {
    const app = await server.newApp()
    const change = (body: unknown) => app.call('PATCH', '/v3/notifications/v1/settings', { body })
    const { body } = await change({ preferences: { group: { colour: 'red' } }, theme: 1 })
    assert.equal(body.data.success, true)
    const bad = [
      { group: { messagesSetting: 4 } },
      { group: { memberLeftSetting: 3 } },
      { email: { intervalInSeconds: 59 } },
      { mute: { schedulePreferenceSetting: { monday: { from: 1270 } } } },
      { mute: { schedulePreferenceSetting: { monday: { from: 1200, to: 1159 } } } },
    ]
    for (const preferences of bad) {
      await refused(change({ preferences }), 'ERR_BAD_REQUEST')
    }
  })

  test('loses no change that another one meets', async () => {
    const app = await server.newApp()
    const { notificationSettings } = app.client
    await Promise.all([
      notificationSettings.update({ sound: { chat: 'a' } }),
      notificationSettings.update({ sound: { call: 'b' } }),
    ])
    assert.deepEqual((await notificationSettings.get()).sound, { chat: 'a', call: 'b' })
  })
})

suite('resetNotificationSettings', () => {
  test('brings the defaults back', async () => {
    const { notificationSettings } = (await server.newApp()).client
    const before = await notificationSettings.get()
    await notificationSettings.update({ templates: { usePrivacyTemplate: 2 } })
    await notificationSettings.reset()
    assert.deepEqual(await notificationSettings.get(), before)
  })
})
