import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { IdPage } from '../../platform/http/id-page.ts'
import { Acknowledged } from '../../platform/http/schemas.ts'
import { reviewBlockedMessage } from './reviews.actions.ts'
import { listReviews } from './reviews.list.ts'
import { BlockedMessage, BlockedParams, Decision, ReviewQuery } from './reviews.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['blocked_messages']

export const reviewRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/moderation/blocked-messages',
      {
        config: access,
        schema: {
          operationId: 'listBlockedMessages',
          tags,
          summary: 'List blocked messages that wait for a review',
          querystring: ReviewQuery,
          response: { 200: IdPage(BlockedMessage) },
        },
      },
      async ({ actor, query }) => listReviews(actor, 'open', query),
    )

    app.patch(
      '/moderation/blocked-messages/:messageId',
      {
        config: {
          ...access,
          errors: ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_MESSAGE_ACTION_NOT_ALLOWED'],
        },
        schema: {
          operationId: 'reviewBlockedMessage',
          tags,
          summary: 'Approve or reject a blocked message',
          params: BlockedParams,
          body: Decision,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await reviewBlockedMessage(deps, actor, params.messageId, body),
      }),
    )

    app.get(
      '/moderation/reviewed-messages',
      {
        config: access,
        schema: {
          operationId: 'listBlockedMessagesReviewed',
          tags,
          summary: 'List blocked messages that were reviewed',
          querystring: ReviewQuery,
          response: { 200: IdPage(BlockedMessage) },
        },
      },
      async ({ actor, query }) => listReviews(actor, 'done', query),
    )
  }
