import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ErrorCode } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import { PageStarts } from '../../platform/cache/page-starts.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import type { Actor } from '../access/actor.ts'
import type { Access } from '../access/plugin.ts'
import type { ConversationKind } from '../messages/queries.ts'
import { UidParams } from '../users/schema.ts'
import {
  checkCounterpart,
  clearConversation,
  mark,
  type Place,
  tagConversation,
} from './actions.ts'
import { pageOfConversations } from './page.ts'
import { readConversation } from './record.ts'
import {
  ConversationListQuery,
  ConversationRecord,
  ConversationTags,
  GuidParams,
  Reset,
  UnreadAfter,
  Upto,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'required',
  rate: 'standard',
}
const tags = ['conversations']
const UNSEEN: ErrorCode = 'ERR_CONVERSATION_NOT_ACCESSIBLE'

/** What the two kinds of conversations differ in. */
const kinds = [
  {
    kind: 'user' as const,
    path: '/users/:uid/conversation',
    params: UidParams,
    name: 'User',
    what: 'the conversation with a user',
    unknown: 'ERR_UID_NOT_FOUND' as const,
  },
  {
    kind: 'group' as const,
    path: '/groups/:guid/conversation',
    params: GuidParams,
    name: 'Group',
    what: "a group's conversation",
    unknown: 'ERR_GUID_NOT_FOUND' as const,
  },
]

/** The actor's place; the header is required, so there is a user. */
async function placeOf(actor: Actor, kind: ConversationKind, params: object): Promise<Place> {
  const [withId = ''] = Object.values(params)
  const place = { uid: actor.uid ?? '', kind, withId }
  await checkCounterpart(actor, place)
  return place
}

export const conversationRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const starts = new PageStarts(deps.cache)
    app.get(
      '/conversations',
      {
        config: { ...access, onBehalfOf: 'optional' },
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
        ...access,
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
            summary: `Set the own tags of ${what}`,
            params,
            body: ConversationTags,
            response: { 200: Data(ConversationRecord) },
          },
        },
        async ({ actor, params, body }) => {
          const place = await placeOf(actor, kind, params)
          await tagConversation(deps, actor, place, body.tags)
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
            summary: `Clear ${what} away`,
            params,
            body: Reset,
            response: { 200: Acknowledged },
          },
        },
        async ({ actor, params, body }) => {
          const place = await placeOf(actor, kind, params)
          if (body?.conversationWith && body.conversationWith !== place.withId) {
            throw badRequest({ conversationWith: ['conversationWith is not the user of the path'] })
          }
          const forAll = body?.deleteMessagesPermanently ?? false
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
            summary: `Mark ${what} as unread from a message on`,
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
