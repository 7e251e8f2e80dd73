import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { Id } from '../../platform/http/schemas.ts'
import type { Access } from '../access/plugin.ts'
import { UidParams } from '../users/schema.ts'
import { historyOfGroup, historyWithUser } from './history.ts'
import {
  HistoryQuery,
  MessageListQuery,
  MessagesOrCounts,
  UserHistoryQuery,
} from './list.schema.ts'
import { listMessages } from './list.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
const tags = ['messages']

export const messageListRoutes =
  (_deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/messages',
      {
        config: access,
        schema: {
          operationId: 'listMessages',
          tags,
          summary: 'List or search messages',
          querystring: MessageListQuery,
          response: { 200: MessagesOrCounts },
        },
      },
      async ({ actor, query }) => listMessages(actor, query),
    )

    app.get(
      '/users/:uid/messages',
      {
        config: access,
        schema: {
          operationId: 'listUserMessages',
          tags,
          summary: 'List the messages of a 1:1 conversation',
          params: UidParams,
          querystring: UserHistoryQuery,
          response: { 200: MessagesOrCounts },
        },
      },
      async ({ actor, params, query }) => historyWithUser(actor, params.uid, query),
    )

    app.get(
      '/groups/:guid/messages',
      {
        config: {
          ...access,
          errors: ['ERR_GUID_NOT_FOUND', 'ERR_GROUP_NOT_JOINED', 'ERR_BANNED_GROUPMEMBER'],
        },
        schema: {
          operationId: 'listGroupMessages',
          tags,
          summary: 'List the messages of a group',
          params: Type.Object({ guid: Id('GUID of the group.') }),
          querystring: HistoryQuery,
          response: { 200: MessagesOrCounts },
        },
      },
      async ({ actor, params, query }) => historyOfGroup(actor, params.guid, query),
    )
  }
