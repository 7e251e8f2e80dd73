import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { deleteConversation, findByPrintedId } from './by-id.actions.ts'
import { ofOwner } from './kinds.ts'
import { readConversation } from './record.ts'
import { ConversationParams, ConversationRecord } from './schema.ts'

const tags = ['conversations']
/** Devices can't call these: new clients should not start with deprecated operations. */
const forServers: Access = { ...ofOwner, users: false }
const DEPRECATED = {
  since: '2026-11-15',
  successors: ['/v3/users/{uid}/conversation', '/v3/groups/{guid}/conversation'],
}
const UNKNOWN = ['ERR_CONVERSATION_NOT_FOUND', 'ERR_CONVERSATION_NOT_ACCESSIBLE'] as const

export const deprecatedConversationRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/conversations/:conversationId',
      {
        config: {
          ...forServers,
          feature: 'getConversation',
          errors: UNKNOWN,
          deprecated: DEPRECATED,
        },
        schema: {
          operationId: 'getConversation',
          tags,
          summary: 'Get a conversation by id',
          params: ConversationParams,
          response: { 200: Data(ConversationRecord) },
        },
      },
      async ({ actor, params }) => {
        const { uid, kind, withId } = await findByPrintedId(
          actor.app.cell.db,
          actor,
          params.conversationId,
        )
        return { data: await readConversation(actor, uid, kind, withId) }
      },
    )

    app.delete(
      '/conversations/:conversationId',
      {
        config: {
          ...forServers,
          feature: 'deleteConversationForUser',
          permission: 'deleteMessage',
          errors: [...UNKNOWN, 'ERR_GROUP_NO_ADMIN_SCOPE'],
          deprecated: DEPRECATED,
        },
        schema: {
          operationId: 'deleteConversation',
          tags,
          summary: 'Clear a conversation for everyone',
          params: ConversationParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteConversation(deps, actor, params.conversationId),
      }),
    )
  }
