import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { MessageRecord } from '@loquat/protocol'
import { Type } from 'typebox'
import { findHeadWith, getHeadOf } from '../../core/heads.ts'
import { showMessage } from '../../core/message-access.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { IdPage } from '../../platform/http/id-page.ts'
import { Data, Id } from '../../platform/http/schemas.ts'
import { READ_ERRORS } from '../messages/errors.ts'
import { MarkedQuery, MessageParams } from '../messages/schema.ts'
import { UidParams } from '../users/schema.ts'
import { pinMessage, unpinMessage } from './actions.ts'
import { pinnedOf } from './list.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
const tags = ['messages']

const PINS = { none: 'Pins have no feature in the contract.' }
const UNPIN_ERRORS = [...READ_ERRORS, 'ERR_PERMISSION_DENIED'] as const
const PIN_ERRORS = [
  ...UNPIN_ERRORS,
  'ERR_MESSAGE_ACTION_NOT_ALLOWED',
  'ERR_BLOCKED_RECEIVER',
  'ERR_BLOCKED_SENDER',
  'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED',
] as const

export const pinnedMessageRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    for (const { method, action, errors, speaks, operationId, summary } of [
      {
        method: 'POST',
        operationId: 'pinMessage',
        action: pinMessage,
        summary: 'Pin a message in its conversation',
        errors: PIN_ERRORS,
        speaks: true,
      },
      {
        method: 'DELETE',
        operationId: 'unpinMessage',
        action: unpinMessage,
        summary: 'Unpin a message',
        errors: UNPIN_ERRORS,
        speaks: false,
      },
    ] as const) {
      app.route({
        method,
        url: '/messages/:id/pin',
        config: { ...access, feature: PINS, permission: 'listMessages', speaks, errors },
        schema: {
          operationId,
          tags,
          summary,
          params: MessageParams,
          response: { 200: Data(MessageRecord) },
        },
        async handler({ actor, params }) {
          await action(deps, actor, params.id)
          return { data: await showMessage(actor, params.id) }
        },
      })
    }

    app.get(
      '/users/:uid/messages/pinned',
      {
        config: {
          ...access,
          onBehalfOf: 'required',
          feature: 'getUserMessages',
          permission: 'listMessages',
        },
        schema: {
          operationId: 'listUserMessagesPinned',
          tags,
          summary: 'List the pinned messages of a 1:1 conversation',
          params: UidParams,
          querystring: MarkedQuery,
          response: { 200: IdPage(MessageRecord) },
        },
      },
      async ({ actor, params, query }) =>
        pinnedOf(actor, await findHeadWith(actor, params.uid), query),
    )

    app.get(
      '/groups/:guid/messages/pinned',
      {
        config: {
          ...access,
          feature: 'getGroupMessages',
          permission: 'listMessages',
          errors: ['ERR_GUID_NOT_FOUND', 'ERR_GROUP_NOT_JOINED', 'ERR_BANNED_GROUPMEMBER'],
        },
        schema: {
          operationId: 'listGroupMessagesPinned',
          tags,
          summary: 'List the pinned messages of a group',
          params: Type.Object({ guid: Id('GUID of the group.') }),
          querystring: MarkedQuery,
          response: { 200: IdPage(MessageRecord) },
        },
      },
      async ({ actor, params, query }) =>
        pinnedOf(actor, await getHeadOf(actor, params.guid), query),
    )
  }
