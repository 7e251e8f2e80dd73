import type { Story } from './story.ts'

/** Of what the app notifies its users, and what one of them prefers. */
export async function manageNotifications(story: Story): Promise<void> {
  await story.show('updateNotificationSettings', {
    body: {
      preferences: {
        group: { messagesSetting: 3, memberJoinedOverride: false },
        bypassPreferencesForMentions: true,
      },
      templates: {
        textMessageTemplateDefault: {
          titleGroup: 'Ward: {{message.data.entities.receiver.entity.name}}',
        },
      },
    },
  })
  await story.show('updateNotificationSettings', {
    title: 'The hours of a day end before they begin',
    body: {
      preferences: { mute: { schedulePreferenceSetting: { monday: { from: 2200, to: 600 } } } },
    },
    status: 400,
  })
  await story.show('getNotificationSettings')
  await managePreferences(story)
  await story.show('resetNotificationSettings')
}

async function managePreferences(story: Story): Promise<void> {
  const query = { uid: 'amira' }
  await story.show('updateNotificationPreferencesTimezone', {
    query,
    body: { timezone: 'Europe/Vienna' },
  })
  await story.show('getNotificationPreferencesTimezone', { query })
  await story.show('updateNotificationPreferences', {
    query,
    body: {
      groupPreferences: { groupMessages: 2 },
      mutePreferences: {
        hold: true,
        schedule: { saturday: { dnd: true }, sunday: { from: 1000, to: 2000 } },
      },
    },
  })
  await story.show('getNotificationPreferences', { query })
  await story.show('resetNotificationPreferences', { query })
  await story.show('muteConversations', {
    query,
    body: { conversations: [{ id: 'ward-3', type: 'group', until: 1893456000000 }] },
  })
  await story.show('listMutedConversations', { query })
  await story.show('unmuteConversations', {
    query,
    body: { conversations: [{ id: 'ward-3', type: 'group' }] },
  })
  await story.show('updateContactDetails', {
    as: 'amira',
    body: { email: 'amira@example.org', phno: '+43100000000' },
  })
  await story.show('getContactDetails', { as: 'amira' })
  await story.show('deleteContactDetails', { as: 'amira' })
}
