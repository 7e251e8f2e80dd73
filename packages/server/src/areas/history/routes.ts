import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ReceiptRecord } from '@loquat/protocol'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { readMessage } from '../../core/message-access.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { IdPage } from '../../platform/http/id-page.ts'
import { Id } from '../../platform/http/schemas.ts'
import { sendJson } from '../../platform/http/serialization.ts'
import { READ_ERRORS } from '../messages/errors.ts'
import { MessageParams } from '../messages/schema.ts'
import { UidParams } from '../users/schema.ts'
import { historyOfGroup, historyWithUser } from './conversation.ts'
import { listMessages } from './list.page.ts'
import { receiptsOf } from './receipts.ts'
import {
  HistoryQuery,
  MessageListQuery,
  MessagesOrCounts,
  ReceiptQuery,
  UserHistoryQuery,
  UserMessagesOrCounts,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
/** Histories check their acting user themselves. */
const ofConversation: Access = { ...access, checksUser: true }
const tags = ['messages']

/** Sends a page that is already JSON as it is. */
const sent = <T extends object>(reply: FastifyReply, answer: T | string): T =>
  typeof answer === 'string' ? (sendJson(reply, answer) as unknown as T) : answer

export const historyRoutes =
  ({ secrets, starts }: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const tools = { secrets, starts }

    app.get(
      '/messages',
      {
        config: { ...access, feature: 'listMessages', permission: 'listMessages' },
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
        config: { ...ofConversation, feature: 'getUserMessages', permission: 'listMessages' },
        schema: {
          operationId: 'listUserMessages',
          tags,
          summary: 'List the messages of a 1:1 conversation, or all messages of a user',
          description:
            'With an acting user, lists the messages between that user and the one in the path. With an API key alone, lists every message that the user in the path sent, to users and groups, or received from users and the app; messages that others sent to groups are not among them.',
          params: UidParams,
          querystring: UserHistoryQuery,
          response: { 200: UserMessagesOrCounts },
        },
      },
      async ({ actor, params, query }, reply) =>
        sent(reply, await historyWithUser(tools, actor, params.uid, query)),
    )

    app.get(
      '/groups/:guid/messages',
      {
        config: {
          ...ofConversation,
          feature: 'getGroupMessages',
          permission: 'listMessages',
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
      async ({ actor, params, query }, reply) =>
        sent(reply, await historyOfGroup(actor, params.guid, query)),
    )

    app.get(
      '/messages/:id/receipts',
      {
        config: {
          ...access,
          feature: 'getMessage',
          permission: 'listMessages',
          scopePermission: 'listMembers',
          errors: READ_ERRORS,
        },
        schema: {
          operationId: 'listMessageReceipts',
          tags,
          summary: 'List the receipts of a message',
          params: MessageParams,
          querystring: ReceiptQuery,
          response: { 200: IdPage(ReceiptRecord) },
        },
      },
      async ({ actor, params, query }) => {
        const message = await readMessage(actor, params.id)
        return receiptsOf(actor, message, query.id ?? '', query.limit)
      },
    )
  }
