import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { MessageRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Limiter } from '../../platform/cache/limiter.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { CONTENT_ERRORS } from '../messages/errors.ts'
import { MESSAGE_BYTES, MessageParams } from '../messages/schema.ts'
import {
  createCheckedMessage,
  deleteCheckedMessage,
  listCheckedMessages,
  readChecked,
  updateCheckedMessage,
} from './checked.actions.ts'
import {
  CheckedMessageChanges,
  CheckedPage,
  CheckedQuery,
  NewCheckedMessage,
} from './checked.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['checked_messages']
const errors = ['ERR_MESSAGE_ID_NOT_FOUND'] as const

export const checkedRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const counting = { ...deps, tries: new Limiter(deps.cache) }
    app.post(
      '/moderation/messages',
      {
        bodyLimit: MESSAGE_BYTES,
        config: {
          ...access,
          errors: [
            ...CONTENT_ERRORS,
            ...(['ERR_EMPTY_MESSAGE_TYPE', 'ERR_INVALID_MESSAGE_TYPE'] as const),
            ...(['ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND', 'ERR_ROLE_NOT_FOUND'] as const),
            ...(['ERR_EMPTY_GROUP_PASS', 'ERR_PLAN_QUOTA_RESTRICTION'] as const),
          ],
        },
        schema: {
          operationId: 'createCheckedMessage',
          tags,
          summary: 'Check a message without sending it',
          description:
            "The app's rules check the message, and it is stored with the result. Nobody receives it, and it is in no conversation.",
          body: NewCheckedMessage,
          response: { 200: Data(MessageRecord) },
        },
      },
      async ({ actor, body }) => ({ data: await createCheckedMessage(counting, actor, body) }),
    )

    app.get(
      '/moderation/messages',
      {
        config: access,
        schema: {
          operationId: 'listCheckedMessages',
          tags,
          summary: 'List checked messages',
          querystring: CheckedQuery,
          response: { 200: CheckedPage },
        },
      },
      async ({ actor, query }) => listCheckedMessages(actor, query),
    )

    app.get(
      '/moderation/messages/:id',
      {
        config: { ...access, errors: [...errors] },
        schema: {
          operationId: 'getCheckedMessage',
          tags,
          summary: 'Get a checked message',
          params: MessageParams,
          response: { 200: Data(MessageRecord) },
        },
      },
      async ({ actor, params }) => ({
        data: await readChecked(actor.app.cell.db, actor, params.id),
      }),
    )

    app.put(
      '/moderation/messages/:id',
      {
        bodyLimit: MESSAGE_BYTES,
        config: { ...access, errors: [...errors, ...CONTENT_ERRORS] },
        schema: {
          operationId: 'updateCheckedMessage',
          tags,
          summary: 'Change a checked message',
          description: 'It is checked anew, even if nothing changes.',
          params: MessageParams,
          body: CheckedMessageChanges,
          response: { 200: Data(MessageRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateCheckedMessage(deps, actor, params.id, body),
      }),
    )

    app.delete(
      '/moderation/messages/:id',
      {
        config: { ...access, errors: [...errors] },
        schema: {
          operationId: 'deleteCheckedMessage',
          tags,
          summary: 'Delete a checked message',
          params: MessageParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteCheckedMessage(deps, actor, params.id) }),
    )
  }
