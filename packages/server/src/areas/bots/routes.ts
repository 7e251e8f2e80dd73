import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { UserRecord } from '@loquat/protocol'
import { toUser, withTags } from '../../core/user-record.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data, pageOf } from '../../platform/http/schemas.ts'
import { sendJson } from '../../platform/http/serialization.ts'
import { PICTURE_ERRORS } from '../files/pictures.actions.ts'
import { SEND_ERRORS } from '../messages/errors.ts'
import { MESSAGE_BYTES, NewMessage, SendAnswer } from '../messages/schema.ts'
import { Removal, UidParams } from '../users/schema.ts'
import { createBot, deleteBot, sendBotMessage } from './actions.ts'
import { listBots } from './queries.ts'
import { BotListQuery, Bots, NewBot } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const core: Access = { ...access, rate: 'core' }
const tags = ['bots']

export const botRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/bots',
      {
        config: {
          ...core,
          errors: [
            'ERR_BOT_ALREADY_EXISTS',
            'ERR_UID_ALREADY_EXISTS',
            'ERR_ROLE_NOT_FOUND',
            'ERR_PLAN_QUOTA_RESTRICTION',
            ...PICTURE_ERRORS,
          ],
        },
        schema: {
          operationId: 'createBot',
          tags,
          summary: 'Create a bot',
          body: NewBot,
          response: { 200: Data(UserRecord) },
        },
      },
      async ({ actor, body }) => ({ data: await createBot(deps, actor, body) }),
    )

    app.get(
      '/bots',
      {
        config: access,
        schema: {
          operationId: 'listBots',
          tags,
          summary: 'List bots',
          querystring: BotListQuery,
          response: { 200: Bots },
        },
      },
      async ({ actor: { app }, query }) =>
        pageOf(query, await listBots.many(app.cell.db, { appNo: app.no }), (row) =>
          withTags(toUser(row), row),
        ),
    )

    app.delete(
      '/bots/:uid',
      {
        config: { ...core, errors: ['ERR_BOT_NOT_FOUND', 'ERR_UID_NOT_FOUND'] },
        schema: {
          operationId: 'deleteBot',
          tags,
          summary: 'Deactivate or permanently delete a bot',
          params: UidParams,
          body: Removal,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await deleteBot(deps, actor, params.uid, body?.permanent ?? false),
      }),
    )

    app.post(
      '/bots/:uid/messages',
      {
        bodyLimit: MESSAGE_BYTES,
        config: { ...access, queued: true, errors: ['ERR_BOT_NOT_FOUND', ...SEND_ERRORS] },
        schema: {
          operationId: 'sendBotMessage',
          tags,
          summary: 'Send a message as a bot',
          params: UidParams,
          body: NewMessage,
          response: { 200: SendAnswer },
        },
      },
      async ({ actor, params, body }, reply) =>
        sendJson(reply, await sendBotMessage(deps, actor, params.uid, body)),
    )
  }
