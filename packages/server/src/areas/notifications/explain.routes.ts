import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import { explainNotification } from './explain.actions.ts'
import { ExplainQuery, NotificationExplanation } from './explain.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}

export const explainRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/notifications/v1/explain',
      {
        config: { ...access, errors: ['ERR_UID_NOT_FOUND', 'ERR_MESSAGE_ID_NOT_FOUND'] },
        schema: {
          operationId: 'explainNotification',
          tags: ['notifications'],
          summary: 'Explain why a user is notified of a message, or not',
          description:
            'For each channel and device, with the first reason against it. It uses the settings of today and the time of the message; `log` says what really happened.',
          querystring: ExplainQuery,
          response: { 200: Data(NotificationExplanation) },
        },
      },
      async ({ actor, query }) => ({ data: await explainNotification(deps, actor.app, query) }),
    )
  }
