import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { IdPage } from '../../platform/http/id-page.ts'
import { Acknowledged } from '../../platform/http/schemas.ts'
import { READ_ERRORS } from '../messages/errors.ts'
import { MessageParams } from '../messages/schema.ts'
import { flagMessage, listFlagged, reviewFlaggedMessage } from './flags.actions.ts'
import { FlagDecision, FlaggedMessage, FlagQuery, NewFlag } from './flags.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['flagged_messages']

export const flagRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/messages/:id/flagged',
      {
        config: {
          ...access,
          users: true,
          onBehalfOf: 'required',
          feature: { none: 'The contract has no feature for flags.' },
          permission: 'listMessages',
          errors: [...READ_ERRORS, 'ERR_MESSAGE_ACTION_NOT_ALLOWED', 'ERR_REASON_NOT_FOUND'],
        },
        schema: {
          operationId: 'flagMessage',
          tags: ['messages'],
          summary: 'Flag a message',
          params: MessageParams,
          body: NewFlag,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await flagMessage(deps, actor, params.id, body),
      }),
    )

    app.get(
      '/moderation/flagged-messages',
      {
        config: access,
        schema: {
          operationId: 'listFlaggedMessages',
          tags,
          summary: 'List messages that users flagged',
          querystring: FlagQuery,
          response: { 200: IdPage(FlaggedMessage) },
        },
      },
      async ({ actor, query }) => listFlagged(actor, query),
    )

    app.patch(
      '/moderation/flagged-messages/:id',
      {
        config: { ...access, errors: ['ERR_MESSAGE_ID_NOT_FOUND'] },
        schema: {
          operationId: 'reviewFlaggedMessage',
          tags,
          summary: 'Drop the flags of a message, or hide it',
          params: MessageParams,
          body: FlagDecision,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await reviewFlaggedMessage(deps, actor, params.id, body),
      }),
    )
  }
