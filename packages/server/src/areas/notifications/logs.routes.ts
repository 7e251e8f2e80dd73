import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { getLogSettings, listLogs, updateNotificationLogSettings } from './logs.actions.ts'
import { LogPage, LogQuery, LogSettings, NewLogSettings } from './logs.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['notification_logs']

export const notificationLogRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/notifications/v1/logs',
      {
        config: access,
        schema: {
          operationId: 'listNotificationLogs',
          tags,
          summary: 'List who was notified of what, and why not, newest first',
          description:
            'Only while logging is on; entries stay for up to 14 days. A page may have fewer than 20 entries, or none, although there are more: go on as long as `meta.next` is there. In the other direction, `meta.previous` leads to newer entries.',
          querystring: LogQuery,
          response: { 200: LogPage },
        },
      },
      async ({ actor: { app: own }, query }) => listLogs(own.cell.db, own.no, query),
    )

    app.get(
      '/notifications/v1/logs/settings',
      {
        config: access,
        schema: {
          operationId: 'getNotificationLogSettings',
          tags,
          summary: 'Get whether notifications are logged',
          response: { 200: LogSettings },
        },
      },
      async ({ actor: { app: own } }) => ({ data: await getLogSettings(own.cell.db, own.no) }),
    )

    app.put(
      '/notifications/v1/logs/settings',
      {
        config: access,
        schema: {
          operationId: 'updateNotificationLogSettings',
          tags,
          summary: 'Start or stop the log of notifications',
          description: 'Logging stops by itself after seven days.',
          body: NewLogSettings,
          response: { 200: LogSettings },
        },
      },
      async ({ actor, body }) => ({
        data: await updateNotificationLogSettings(deps, actor, body),
      }),
    )
  }
