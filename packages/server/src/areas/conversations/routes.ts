import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ErrorCode } from '@loquat/protocol'
import type { Feature } from '../../core/access/definitions.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import { sendJson } from '../../platform/http/serialization.ts'
import {
  markConversationDelivered,
  markConversationRead,
  markConversationUnread,
  resetConversation,
  updateConversation,
} from './actions.ts'
import { kinds, ofOwner, VIEW, viewKeyOf } from './kinds.ts'
import { pageOfConversations } from './page.ts'
import { refusePurge } from './policy.ts'
import { readConversation } from './record.ts'
import {
  ConversationListQuery,
  ConversationRecord,
  ConversationTags,
  Reset,
  UnreadAfter,
  Upto,
} from './schema.ts'

const tags = ['conversations']
const UNSEEN: ErrorCode = 'ERR_CONVERSATION_NOT_ACCESSIBLE'

export const conversationRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { starts } = deps
    app.get(
      '/conversations',
      {
        config: {
          ...ofOwner,
          feature: 'listConversations',
          onBehalfOf: 'optional',
          checksUser: true,
        },
        schema: {
          operationId: 'listConversations',
          tags,
          summary: 'List conversations',
          querystring: ConversationListQuery,
          response: { 200: Page(ConversationRecord) },
        },
      },
      async ({ actor, query }, reply) =>
        sendJson(reply, await pageOfConversations(deps, starts, actor, query)),
    )

    for (const { kind, path, params, name, what, unknown } of kinds) {
      const config = (feature: Feature | typeof VIEW, ...more: ErrorCode[]) => ({
        ...ofOwner,
        feature,
        errors: [unknown, UNSEEN, ...more] as ErrorCode[],
      })

      app.get(
        path,
        {
          config: config('getConversation'),
          schema: {
            operationId: `get${name}Conversation`,
            tags,
            summary: `Get ${what}`,
            params,
            response: { 200: Data(ConversationRecord) },
          },
        },
        async ({ actor, params }) => {
          const { uid, withId } = await viewKeyOf(actor, kind, params)
          return { data: await readConversation(actor, uid, kind, withId) }
        },
      )

      app.put(
        path,
        {
          config: config(VIEW),
          schema: {
            operationId: `update${name}Conversation`,
            tags,
            summary: `Set your tags for ${what}`,
            params,
            body: ConversationTags,
            response: { 200: Data(ConversationRecord) },
          },
        },
        async ({ actor, params, body }) => {
          const viewKey = await viewKeyOf(actor, kind, params)
          if (body.tags) await updateConversation(deps, actor, viewKey, body.tags)
          return { data: await readConversation(actor, viewKey.uid, kind, viewKey.withId) }
        },
      )

      app.delete(
        path,
        {
          config: config('deleteConversationForUser', 'ERR_PERMISSION_DENIED'),
          schema: {
            operationId: `reset${name}Conversation`,
            tags,
            summary: `Clear ${what}`,
            params,
            body: Reset,
            response: { 200: Acknowledged },
          },
        },
        async ({ actor, params, body }) => {
          const viewKey = await viewKeyOf(actor, kind, params)
          if (body?.conversationWith && body.conversationWith !== viewKey.withId) {
            throw badRequest({
              conversationWith: ['conversationWith must be the user in the path'],
            })
          }
          const forAll = body?.deleteMessagesPermanently ?? false
          if (forAll) refuseIf(refusePurge(actor))
          return { data: await resetConversation(deps, actor, viewKey, forAll) }
        },
      )

      for (const { done, operationId, action } of [
        {
          done: 'delivered',
          operationId: `mark${name}ConversationDelivered`,
          action: markConversationDelivered,
        },
        { done: 'read', operationId: `mark${name}ConversationRead`, action: markConversationRead },
      ]) {
        app.post(
          `${path}/${done}`,
          {
            config: config(VIEW, 'ERR_MESSAGE_ID_NOT_FOUND'),
            schema: {
              operationId,
              tags,
              summary: `Mark ${what} as ${done}`,
              params,
              body: Upto,
              response: { 200: Acknowledged },
            },
          },
          async ({ actor, params, body }) => {
            const viewKey = await viewKeyOf(actor, kind, params)
            return { data: await action(deps, actor, viewKey, body?.messageId) }
          },
        )
      }

      app.delete(
        `${path}/read`,
        {
          config: config(VIEW, 'ERR_MESSAGE_ID_NOT_FOUND'),
          schema: {
            operationId: `mark${name}ConversationUnread`,
            tags,
            summary: `Mark ${what} as unread from a message onwards`,
            params,
            body: UnreadAfter,
            response: { 200: Acknowledged },
          },
        },
        async ({ actor, params, body }) => {
          const viewKey = await viewKeyOf(actor, kind, params)
          return { data: await markConversationUnread(deps, actor, viewKey, body.messageId) }
        },
      )
    }
  }
