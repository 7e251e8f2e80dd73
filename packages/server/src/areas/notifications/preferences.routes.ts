import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NewChoices, UserPreferences } from '../../core/notifications/choices.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { getMutes, muteConversations, unmuteConversations } from './mutes.actions.ts'
import {
  getPreferences,
  getTimeZone,
  resetNotificationPreferences,
  updateNotificationPreferences,
  updateNotificationPreferencesTimezone,
} from './preferences.actions.ts'
import {
  LiftedMutes,
  MutedConversations,
  NewMutes,
  NewTimeZone,
  OfUser,
  TimeZone,
} from './preferences.schema.ts'
import { NO_FEATURE } from './schema.ts'
import { NotificationSettings } from './settings.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: 'self',
  onBehalfOf: 'ignored',
  rate: 'standard',
  feature: NO_FEATURE,
}
const tags = ['notification_preferences']
const MUTED = ['muted_conversations']

export const notificationPreferenceRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/notifications/v1/preferences',
      {
        config: access,
        schema: {
          operationId: 'getNotificationPreferences',
          tags,
          summary: 'Get what holds for a user',
          description: "The app's settings with the user's own choices, where the app allows them.",
          querystring: OfUser,
          response: { 200: Data(NotificationSettings) },
        },
      },
      async ({ actor, query }) => ({ data: await getPreferences(actor.app, query.uid) }),
    )

    app.patch(
      '/notifications/v1/preferences',
      {
        config: access,
        schema: {
          operationId: 'updateNotificationPreferences',
          tags,
          summary: "Change a user's preferences",
          description:
            "Fields that you leave out keep their values. What the app doesn't let users choose is ignored.",
          querystring: OfUser,
          body: NewChoices,
          response: { 200: Data(NotificationSettings) },
        },
      },
      async ({ actor, query, body }) => ({
        data: await updateNotificationPreferences(deps, actor, query.uid, body),
      }),
    )

    app.delete(
      '/notifications/v1/preferences',
      {
        config: access,
        schema: {
          operationId: 'resetNotificationPreferences',
          tags,
          summary: "Reset a user's preferences to the app's settings",
          description: 'Muted conversations, the time zone and contact details stay.',
          querystring: OfUser,
          response: { 200: Data(UserPreferences) },
        },
      },
      async ({ actor, query }) => ({
        data: await resetNotificationPreferences(deps, actor, query.uid),
      }),
    )

    app.get(
      '/notifications/v1/preferences/mute',
      {
        config: access,
        schema: {
          operationId: 'listMutedConversations',
          tags: MUTED,
          summary: 'List the conversations that a user has muted',
          querystring: OfUser,
          response: { 200: Data(MutedConversations) },
        },
      },
      async ({ actor, query }) => ({
        data: { mutedConversations: await getMutes(actor.app, query.uid) },
      }),
    )

    app.put(
      '/notifications/v1/preferences/mute',
      {
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'muteConversations',
          tags: MUTED,
          summary: 'Mute conversations for a user',
          description: 'Muting again changes the end.',
          querystring: OfUser,
          body: NewMutes,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, query, body }) => ({
        data: await muteConversations(deps, actor, query.uid, body),
      }),
    )

    app.delete(
      '/notifications/v1/preferences/mute',
      {
        config: access,
        schema: {
          operationId: 'unmuteConversations',
          tags: MUTED,
          summary: 'Unmute conversations',
          querystring: OfUser,
          body: LiftedMutes,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, query, body }) => ({
        data: await unmuteConversations(deps, actor, query.uid, body),
      }),
    )

    app.get(
      '/notifications/v1/preferences/timezone',
      {
        config: access,
        schema: {
          operationId: 'getNotificationPreferencesTimezone',
          tags,
          summary: "Get a user's time zone",
          querystring: OfUser,
          response: { 200: Data(TimeZone) },
        },
      },
      async ({ actor, query }) => ({ data: await getTimeZone(actor.app, query.uid) }),
    )

    app.patch(
      '/notifications/v1/preferences/timezone',
      {
        config: access,
        schema: {
          operationId: 'updateNotificationPreferencesTimezone',
          tags,
          summary: "Change a user's time zone",
          description: "The schedule of the user's preferences follows its clock.",
          querystring: OfUser,
          body: NewTimeZone,
          response: { 200: Data(TimeZone) },
        },
      },
      async ({ actor, query, body: { timezone } }) => ({
        data: await updateNotificationPreferencesTimezone(deps, actor, query.uid, timezone),
      }),
    )
  }
