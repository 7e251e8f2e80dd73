import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()

const TOMORROW = Date.now() + 86_400_000

const rowsOf = async (app: TestApp) => [
  ...(await rows(app.cell.db, 'select uid from notification_users where app_no = $1', [app.no])),
  ...(await rows(app.cell.db, 'select uid from notification_mutes where app_no = $1', [app.no])),
]

suite('updateNotificationPreferences', () => {
  test("changes what the app lets users choose, and nothing of others'", async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const { notificationSettings, notificationPreferences } = app.client
    await notificationSettings.update({
      preferences: {
        group: { repliesSetting: 1, repliesOverride: false },
        mute: { dndPreferenceOverride: false },
      },
    })
    const before = await notificationPreferences.get({ uid: 'amira' })
    assert.deepEqual(before, await notificationSettings.get())
    const changed = await notificationPreferences.update(
      {
        groupPreferences: { groupMessages: 3, groupReplies: 2, groupMemberLeft: 2 },
        mutePreferences: { dnd: 2, hold: true, schedule: { sunday: { dnd: true } } },
        usePrivacyTemplate: true,
      },
      { uid: 'amira' },
    )
    assert.deepEqual(await notificationPreferences.get({ uid: 'amira' }), changed)
    const { group, mute } = changed.preferences
    assert.deepEqual(
      [group.messagesSetting, group.repliesSetting, group.memberLeftSetting],
      [3, 1, 2],
    )
    assert.deepEqual([mute.dndPreferenceSetting, mute.holdPreferenceSetting], [1, true])
    assert.equal(mute.schedulePreferenceSetting.sunday.dnd, true)
    assert.equal(changed.templates.usePrivacyTemplate, 2)
    assert.deepEqual(await notificationPreferences.get({ uid: 'ben' }), before)
  })

  test("keeps a choice when the app's settings change, unless users may not choose any more", async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { notificationSettings, notificationPreferences } = app.client
    const messages = async () => {
      const { preferences } = await notificationPreferences.get({ uid: 'amira' })
      return preferences.oneOnOne.messagesSetting
    }
    await notificationPreferences.update(
      { oneOnOnePreferences: { oneOnOneMessages: 2 } },
      { uid: 'amira' },
    )
    await notificationSettings.update({ preferences: { oneOnOne: { messagesSetting: 1 } } })
    assert.equal(await messages(), 2)
    await notificationSettings.update({ preferences: { oneOnOne: { messagesOverride: false } } })
    assert.equal(await messages(), 1)
  })

  test('has no row for a user who chose nothing that counts', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { notificationPreferences, notificationSettings } = app.client
    await notificationPreferences.update({}, { uid: 'amira' })
    await notificationSettings.update({ preferences: { mute: { dndPreferenceOverride: false } } })
    await notificationPreferences.update({ mutePreferences: { dnd: 2 } }, { uid: 'amira' })
    assert.deepEqual(await rowsOf(app), [])
    const choices = { groupPreferences: { groupMessages: 3 as const } }
    await notificationPreferences.update(choices, { uid: 'amira' })
    const stored = 'select choices from notification_users where app_no = $1'
    assert.deepEqual(await rows(app.cell.db, stored, [app.no]), [{ choices }])
  })

  test('refuses a day that ends before it begins, and unknown users', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { notificationPreferences } = app.client
    const schedule = { monday: { from: 900 } }
    await notificationPreferences.update({ mutePreferences: { schedule } }, { uid: 'amira' })
    const late = { mutePreferences: { schedule: { monday: { to: 859 } } } }
    await refused(notificationPreferences.update(late, { uid: 'amira' }), 'ERR_BAD_REQUEST')
    await refused(notificationPreferences.update({}, { uid: 'ghost' }), 'ERR_UID_NOT_FOUND')
    await refused(notificationPreferences.get({ uid: 'ghost' }), 'ERR_UID_NOT_FOUND')
  })
})

suite('resetNotificationPreferences', () => {
  test("answers with the app's settings, and leaves no row", async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { notificationPreferences, notificationSettings } = app.client
    await notificationSettings.update({ preferences: { group: { messagesSetting: 1 } } })
    const choice = { groupPreferences: { groupMessages: 3 as const } }
    await notificationPreferences.update(choice, { uid: 'amira' })
    const reset = await notificationPreferences.reset({ uid: 'amira' })
    assert.equal(reset.groupPreferences.groupMessages, 1)
    assert.deepEqual([reset.mutePreferences.dnd, reset.oneOnOnePreferences.oneOnOneReplies], [1, 2])
    assert.equal(reset.usePrivacyTemplate, false)
    assert.deepEqual(await rowsOf(app), [])
  })
})

suite('muteConversations', () => {
  test('lasts until its end, and can be changed', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const { mutedConversations } = app.client
    const [team, ben] = [
      { id: 'team', type: 'group' as const },
      { id: 'ben', type: 'oneOnOne' as const },
    ]
    const conversations = [
      { ...team, until: TOMORROW },
      { ...ben, until: TOMORROW },
      { ...ben, until: TOMORROW + 1 },
    ]
    await mutedConversations.mute({ conversations }, { uid: 'amira' })
    assert.deepEqual((await mutedConversations.list({ uid: 'amira' })).mutedConversations, [
      { ...ben, until: TOMORROW + 1 },
      { ...team, until: TOMORROW },
    ])
    await rows(
      app.cell.db,
      `update notification_mutes set until = now() where app_no = $1 and with_id = 'ben'`,
      [app.no],
    )
    assert.deepEqual((await mutedConversations.list({ uid: 'amira' })).mutedConversations, [
      { ...team, until: TOMORROW },
    ])
    assert.deepEqual((await mutedConversations.list({ uid: 'ben' })).mutedConversations, [])
  })

  test('needs an end in the future, and leaves out what the app forbids', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { mutedConversations, notificationSettings } = app.client
    const mute = (type: 'group' | 'oneOnOne', until: number) =>
      mutedConversations.mute({ conversations: [{ id: 'x', type, until }] }, { uid: 'amira' })
    await refused(mute('group', Date.now() - 1), 'ERR_BAD_REQUEST')
    const forbidden = { mute: { mutedGroupsOverride: false } }
    await notificationSettings.update({ preferences: forbidden })
    await mute('group', TOMORROW)
    await mute('oneOnOne', TOMORROW)
    const { mutedConversations: muted } = await mutedConversations.list({ uid: 'amira' })
    assert.deepEqual(muted, [{ id: 'x', type: 'oneOnOne', until: TOMORROW }])
  })

  test('ends with the user, the other user and the group', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    await app.client.groups.create({ guid: 'team', name: 'Team', type: 'public' })
    const conversations = [
      { id: 'team', type: 'group' as const, until: TOMORROW },
      { id: 'ben', type: 'oneOnOne' as const, until: TOMORROW },
    ]
    for (const uid of ['amira', 'cleo']) {
      await app.client.mutedConversations.mute({ conversations }, { uid })
      await app.client.notificationPreferences.updateTimezone({ timezone: 'Asia/Tokyo' }, { uid })
    }
    await app.client.users.delete('amira', { permanent: true })
    await app.client.users.delete('ben', { permanent: true })
    await app.client.groups.delete('team')
    assert.deepEqual(await rowsOf(app), [{ uid: 'cleo' }])
  })
})

suite('unmuteConversations', () => {
  test('lifts only what is named', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { mutedConversations } = app.client
    const both = (['oneOnOne', 'group'] as const).map((type) => ({ id: 'x', type }))
    const conversations = both.map((one) => ({ ...one, until: TOMORROW }))
    await mutedConversations.mute({ conversations }, { uid: 'amira' })
    await mutedConversations.unmute({ conversations: both.slice(0, 1) }, { uid: 'amira' })
    const { mutedConversations: muted } = await mutedConversations.list({ uid: 'amira' })
    assert.deepEqual(muted, [{ id: 'x', type: 'group', until: TOMORROW }])
  })
})

suite('updateNotificationPreferencesTimezone', () => {
  test('takes names of the IANA database', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { notificationPreferences } = app.client
    const zone = () => notificationPreferences.getTimezone({ uid: 'amira' })
    assert.deepEqual(await zone(), { timezone: 'UTC' })
    await notificationPreferences.updateTimezone({ timezone: 'Asia/Kolkata' }, { uid: 'amira' })
    assert.deepEqual(await zone(), { timezone: 'Asia/Kolkata' })
    for (const timezone of ['Mars/Base', '+02:00', '', 'UTC; drop', 'Europe/Paris\n']) {
      const set = notificationPreferences.updateTimezone({ timezone }, { uid: 'amira' })
      await refused(set, 'ERR_BAD_REQUEST')
    }
  })
})

suite('updateContactDetails, deleteContactDetails', () => {
  test('stores what it gets, and forgets both', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    assert.deepEqual(await amira.contactDetails.get(), {})
    await amira.contactDetails.update({ email: 'a@example.org' })
    const phno = '+33100000000'
    const both = { email: 'a@example.org', phno }
    assert.deepEqual(await amira.contactDetails.update({ phno }), both)
    for (const bad of [{ email: 'nobody' }, { phno: '0100' }, { phno: '+0100' }]) {
      await refused(amira.contactDetails.update(bad), 'ERR_BAD_REQUEST')
    }
    assert.deepEqual(await amira.contactDetails.get(), both)
    await amira.contactDetails.delete()
    assert.deepEqual(await amira.contactDetails.get(), {})
    assert.deepEqual(await rowsOf(app), [])
  })
})
