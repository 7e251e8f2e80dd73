import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import {
  getSettings,
  resetNotificationSettings,
  updateNotificationSettings,
} from './settings.actions.ts'
import { NotificationSettings, SettingsChanges } from './settings.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['notification_settings']

export const notificationSettingsRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/notifications/v1/settings',
      {
        config: access,
        schema: {
          operationId: 'getNotificationSettings',
          tags,
          summary: 'Get the settings of notifications',
          response: { 200: Data(NotificationSettings) },
        },
      },
      async ({ actor: { app: own } }) => ({ data: await getSettings(own.cell.db, own.no) }),
    )

    app.patch(
      '/notifications/v1/settings',
      {
        config: access,
        schema: {
          operationId: 'updateNotificationSettings',
          tags,
          summary: 'Change the settings of notifications',
          description: 'Fields that you leave out keep their values.',
          body: SettingsChanges,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, body }) => ({ data: await updateNotificationSettings(deps, actor, body) }),
    )

    app.delete(
      '/notifications/v1/settings',
      {
        config: access,
        schema: {
          operationId: 'resetNotificationSettings',
          tags,
          summary: 'Reset the settings of notifications to their defaults',
          response: { 200: Acknowledged },
        },
      },
      async ({ actor }) => ({ data: await resetNotificationSettings(deps, actor) }),
    )
  }
