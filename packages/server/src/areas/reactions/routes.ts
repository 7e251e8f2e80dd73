import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { MessageRecord } from '@loquat/protocol'
import { readMessage, showMessage } from '../../core/message-access.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import { READ_ERRORS } from '../messages/errors.ts'
import { MessageParams } from '../messages/schema.ts'
import { addMessageReaction, removeMessageReaction } from './actions.ts'
import { reactionsOf } from './list.ts'
import { ReactionParams, ReactionQuery, Reactions } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
const tags = ['messages']

const ADD_ERRORS = [
  'ERR_MESSAGE_ACTION_NOT_ALLOWED',
  'ERR_BLOCKED_RECEIVER',
  'ERR_BLOCKED_SENDER',
  'ERR_PLAN_QUOTA_RESTRICTION',
] as const

const REACTIONS = { none: 'Reactions have permissions of scopes, and no feature.' }

export const reactionRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/messages/:id/reactions',
      {
        config: {
          ...access,
          feature: REACTIONS,
          permission: 'listMessages',
          scopePermission: 'listReactions',
          errors: READ_ERRORS,
        },
        schema: {
          operationId: 'listMessageReactions',
          tags,
          summary: 'List the reactions to a message',
          params: MessageParams,
          querystring: ReactionQuery,
          response: { 200: Reactions },
        },
      },
      async ({ actor, params, query }) =>
        reactionsOf(actor, await readMessage(actor, params.id), query),
    )

    app.get(
      '/messages/:id/reactions/:reaction',
      {
        config: {
          ...access,
          feature: REACTIONS,
          permission: 'listMessages',
          scopePermission: 'listReactions',
          errors: READ_ERRORS,
        },
        schema: {
          operationId: 'listMessageReactionsByValue',
          tags,
          summary: 'List the reactions to a message by value',
          params: ReactionParams,
          querystring: ReactionQuery,
          response: { 200: Reactions },
        },
      },
      async ({ actor, params, query }) =>
        reactionsOf(actor, await readMessage(actor, params.id), query, params.reaction),
    )

    for (const { method, action, errors, operationId, summary, more } of [
      {
        method: 'POST',
        operationId: 'addMessageReaction',
        action: addMessageReaction,
        summary: 'React to a message',
        errors: [...READ_ERRORS, ...ADD_ERRORS],
        more: { scopePermission: 'addReaction', speaks: true },
      },
      {
        method: 'DELETE',
        operationId: 'removeMessageReaction',
        action: removeMessageReaction,
        summary: 'Remove a reaction',
        errors: READ_ERRORS,
        more: {},
      },
    ] as const) {
      app.route({
        method,
        url: '/messages/:id/reactions/:reaction',
        config: {
          ...access,
          ...more,
          onBehalfOf: 'required',
          feature: REACTIONS,
          permission: 'listMessages',
          errors,
        },
        schema: {
          operationId,
          tags,
          summary,
          params: ReactionParams,
          response: { 200: Data(MessageRecord) },
        },
        async handler({ actor, params: { id, reaction } }) {
          await action(deps, actor, { id, reaction })
          return { data: await showMessage(actor, id) }
        },
      })
    }
  }
