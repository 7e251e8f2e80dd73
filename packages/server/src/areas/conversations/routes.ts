import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ErrorCode } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import { badRequest, noAccess } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import { PageStarts } from '../../platform/lists/page-starts.ts'
import { clearConversation, mark, tagConversation } from './actions.ts'
import { kinds, ofOwner, placeOf } from './kinds.ts'
import { pageOfConversations } from './page.ts'
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
    const starts = new PageStarts(deps.cache)
    app.get(
      '/conversations',
      {
        config: { ...ofOwner, onBehalfOf: 'optional' },
        schema: {
          operationId: 'listConversations',
          tags,
          summary: 'List conversations',
          querystring: ConversationListQuery,
          response: { 200: Page(ConversationRecord) },
        },
      },
      async ({ actor, query }) => pageOfConversations(deps, starts, actor, query),
    )

    for (const { kind, path, params, name, what, unknown } of kinds) {
      const config = (...more: ErrorCode[]) => ({
        ...ofOwner,
        errors: [unknown, UNSEEN, ...more] as ErrorCode[],
      })

      app.get(
        path,
        {
          config: config(),
          schema: {
            operationId: `get${name}Conversation`,
            tags,
            summary: `Get ${what}`,
            params,
            response: { 200: Data(ConversationRecord) },
          },
        },
        async ({ actor, params }) => {
          const { uid, withId } = await placeOf(actor, kind, params)
          return { data: await readConversation(actor, uid, kind, withId) }
        },
      )

      app.put(
        path,
        {
          config: config(),
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
          const place = await placeOf(actor, kind, params)
          if (body.tags) await tagConversation(deps, actor, place, body.tags)
          return { data: await readConversation(actor, place.uid, kind, place.withId) }
        },
      )

      app.delete(
        path,
        {
          config: config(),
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
          const place = await placeOf(actor, kind, params)
          if (body?.conversationWith && body.conversationWith !== place.withId) {
            throw badRequest({
              conversationWith: ['conversationWith must be the user in the path'],
            })
          }
          const forAll = body?.deleteMessagesPermanently ?? false
          // A user may not delete the other user's copy.
          if (forAll && actor.kind === 'user') {
            throw noAccess('deleteMessagesPermanently needs an API key.')
          }
          return { data: await clearConversation(deps, actor, place, forAll) }
        },
      )

      for (const done of ['delivered', 'read'] as const) {
        app.post(
          `${path}/${done}`,
          {
            config: config('ERR_MESSAGE_ID_NOT_FOUND'),
            schema: {
              operationId: `mark${name}Conversation${done === 'read' ? 'Read' : 'Delivered'}`,
              tags,
              summary: `Mark ${what} as ${done}`,
              params,
              body: Upto,
              response: { 200: Acknowledged },
            },
          },
          async ({ actor, params, body }) => {
            const place = await placeOf(actor, kind, params)
            return { data: await mark(deps, actor, place, done, body?.messageId) }
          },
        )
      }

      app.delete(
        `${path}/read`,
        {
          config: config('ERR_MESSAGE_ID_NOT_FOUND'),
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
          const place = await placeOf(actor, kind, params)
          return { data: await mark(deps, actor, place, 'unread', body.messageId) }
        },
      )
    }
  }
