import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { MessageRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import { Data } from '../../platform/http/schemas.ts'
import type { Access } from '../access/plugin.ts'
import { showMessage } from './actions.ts'
import { READ_ERRORS } from './errors.ts'
import { cutPage, idRange } from './id-page.ts'
import { toMessages } from './record.ts'
import { saveMessage, unsaveMessage } from './saves.actions.ts'
import { listSavedDown, listSavedUp } from './saves.queries.ts'
import { IdPage, MarkedQuery, MessageParams } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'required',
  rate: 'standard',
}
const tags = ['messages']

export const savedMessageRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/messages/saved',
      {
        config: access,
        schema: {
          operationId: 'listSavedMessages',
          tags,
          summary: 'List saved messages',
          querystring: MarkedQuery,
          response: { 200: IdPage(MessageRecord) },
        },
      },
      async ({ actor: { app, uid = '' }, query }) => {
        const { down, ...range } = { ...idRange(query), appNo: app.no, uid }
        const rows = await (down ? listSavedDown : listSavedUp).many(app.cell.db, range)
        const { shown, meta } = cutPage(rows, query)
        return { data: await toMessages(app.cell.db, app.no, shown, { viewer: uid }), meta }
      },
    )

    app.post(
      '/messages/:id/save',
      {
        config: {
          ...access,
          errors: [
            ...READ_ERRORS,
            'ERR_MESSAGE_ACTION_NOT_ALLOWED',
            'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED',
          ],
        },
        schema: {
          operationId: 'saveMessage',
          tags,
          summary: 'Save a message',
          params: MessageParams,
          response: { 200: Data(MessageRecord) },
        },
      },
      async ({ actor, params }) => {
        await saveMessage(deps, actor, params.id)
        return { data: await showMessage(actor, params.id) }
      },
    )

    app.delete(
      '/messages/:id/save',
      {
        config: { ...access, errors: READ_ERRORS },
        schema: {
          operationId: 'unsaveMessage',
          tags,
          summary: 'Remove a message from the saved messages',
          params: MessageParams,
          response: { 200: Data(MessageRecord) },
        },
      },
      async ({ actor, params }) => {
        await unsaveMessage(deps, actor, params.id)
        return { data: await showMessage(actor, params.id) }
      },
    )
  }
