import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { MessageRecord } from '@loquat/protocol'
import { shownTo } from '../../core/access/visible.ts'
import { showMessage } from '../../core/message-access.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { cutPage, IdPage, idRange } from '../../platform/http/id-page.ts'
import { Data } from '../../platform/http/schemas.ts'
import { READ_ERRORS } from '../messages/errors.ts'
import { MarkedQuery, MessageParams } from '../messages/schema.ts'
import { saveMessage, unsaveMessage } from './actions.ts'
import { listSavedDown, listSavedUp } from './queries.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'required',
  rate: 'standard',
}
const tags = ['messages']

const SAVES = { none: 'Saved messages have no feature in the contract.' }

export const savedMessageRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/messages/saved',
      {
        config: { ...access, feature: 'listMessages', permission: 'listMessages' },
        schema: {
          operationId: 'listSavedMessages',
          tags,
          summary: 'List saved messages',
          querystring: MarkedQuery,
          response: { 200: IdPage(MessageRecord) },
        },
      },
      async ({ actor, query }) => {
        const { app, uid = '' } = actor
        const { down, ...range } = { ...idRange(query), appNo: app.no, uid, ...shownTo(actor) }
        const rows = await (down ? listSavedDown : listSavedUp).many(app.cell.db, range)
        const { shown, meta } = cutPage(rows, query)
        return { data: await toMessages(app.cell.db, app.no, shown, asSeenBy(actor)), meta }
      },
    )

    app.post(
      '/messages/:id/save',
      {
        config: {
          ...access,
          feature: SAVES,
          permission: 'listMessages',
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
        config: { ...access, feature: SAVES, permission: 'listMessages', errors: READ_ERRORS },
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
